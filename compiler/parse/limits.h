#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/diag/codes.h"

namespace wf::parse {

// Bounds on what reaches the parser, whose stack grows with nesting. Measured with 8 MB of stack: 20,000 brackets or 100,000 signs crash
// it.
inline constexpr int kMaxBracketDepth = 200;
inline constexpr int kMaxPrefixRun = 64;
inline constexpr int kMaxOperators = 4096;
inline constexpr size_t kMaxTokens = 500'000;
inline constexpr size_t kMaxMistakes = 100;  // of tokens, and of syntax, in one file; then reading stops

// Watches tokens go by and says which limit the newest one breaks. Counts operators along the deepest path of the tree to be: `,` and `;`
// start again from where their bracket began, and the next link of an `else if` chain from where the chain did. What nests to the right
// without brackets counts for several: `if`, `match`, `for`, `fold`,
// `??`,
// `=>`, prefix operators and `list<`.
// Bounds: kMaxBracketDepth levels.   Cost: O(1) per token.
class LimitCheck {
 public:
  // `type`: a token type of the lexer. Returns the code to report, or nothing.
  std::optional<diag::Code> Add(size_t type);
  // Bytes that belong to no token, comments, and what the holes of a string hold: names, members, indices; they count as tokens.
  std::optional<diag::Code> AddBad();
  std::optional<diag::Code> AddComment();
  std::optional<diag::Code> AddHoles(std::string_view token);

 private:
  static constexpr int kNoIf = -1;
  struct Level {
    int at_open = 0, deepest = 0;     // of the bracket, and of its elements so far
    int at_if = kNoIf, branches = 0;  // where the newest `if` began, and the deepest of its conditions and arms so far
  };
  std::optional<diag::Code> Count(size_t tokens);
  void Weigh(size_t type, size_t previous);
  void Restart();  // an element or a statement ends here
  void Open();
  void Close();

  std::vector<Level> levels_{Level{}};
  int operators_ = 0, prefix_run_ = 0;
  size_t previous_ = 0, count_ = 0;
};

}  // namespace wf::parse
