#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/abi/token_table.h"

namespace wf::tokens {

// The nodes of a trie of texts, which are not empty, each once and in the order of their bytes.
// Cost: O(bytes) of memory; time in proportion to that, but for the gaps between nodes, which are passed over once they are few.
std::vector<abi::TokenNode> TrieOf(const std::vector<std::pair<std::string_view, uint32_t>>& texts);

}  // namespace wf::tokens
