#pragma once

#include <cstdint>
#include <string>

#include "compiler/lsp/token_text.h"

namespace wf::lsp {

// A text without what stands in other bodies than the one at `byte`: what may be known there is what it was, stands where it stood, and
// costs a fraction to read and check. Bodies of functions that constants call stay, and those that are not closed.
std::string OutlineAround(const TokenText& tokens, uint32_t byte);

}  // namespace wf::lsp
