#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lsp/analysis.h"
#include "compiler/lsp/token_text.h"

namespace wf::lsp {

// What a place in the text, sound or not, stands in.
enum class Block : uint8_t {
  kFile,
  kBody,
  kStage,
  kFn,
  kTest,
  kRecord,
  kService,
  kNodeSettings,
  kStageSettings,
  kModelSettings,
  kRemoteSettings,
  kOther
};

struct Context {
  Block block = Block::kFile;
  std::vector<std::string> words;   // tokens of the statement before the place, the one being typed not among them
  std::vector<std::string> names;   // that may be used there, by the tokens before it alone
  std::vector<std::string> around;  // of the statement in whose block the place is, up to there, other blocks included
  std::string closers;              // of all that is open at the place: with them the text is one that ends there
  std::string string;               // what the string before the place holds so far, where it is inside one
  bool inside = false;              // of a string or comment, where nothing is offered
  bool in_hole = false;             // of a string: `words` are those of the hole
  bool in_match = false;            // right in the braces of a `match`, among its arms

  std::string last() const { return words.empty() ? "" : words.back(); }
  std::string head() const { return words.empty() ? "" : words.front(); }
  bool IsBehindDot() const { return !inside && words.size() >= 2 && words.back() == "." && words.front() != "import"; }
};

// Whether IsBehindDot may hold where the text before the place is `before`: cheaper than the context, which tells.
bool SeemsBehindDot(std::string_view before);

Context ContextAt(const TokenText& tokens, uint32_t byte);
Context ContextAt(const Analysis& analysis, uint32_t byte);  // in its root

}  // namespace wf::lsp
