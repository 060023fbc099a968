#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wf::parse {

std::vector<std::string> Keywords();       // in the order of the grammar
bool IsName(std::string_view text);        // a NAME, and no keyword
size_t TypeOfWord(std::string_view word);  // letters, digits and `_`, no digit first: the type of its token

// Sequences of declarations, statements or members, as bits.
enum Sequence : uint16_t {
  kAtTop = 1,
  kInFile = 2,
  kInBody = 4,
  kInBlock = 8,
  kInStage = 16,
  kInTest = 32,
  kInService = 64,
  kInValue = 128
};
inline constexpr uint16_t kDeclarations = kAtTop | kInFile;
inline constexpr uint16_t kStatements = kInBody | kInBlock | kInStage | kInTest;

std::vector<std::string> Starters(uint16_t sequences);  // the words that begin a member of one of them
bool Starts(size_t token, uint16_t sequences);          // whether a keyword of that type does

}  // namespace wf::parse
