// Which kind of thing may be typed next, told by the tokens before it.

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "compiler/lsp/completion.h"
#include "compiler/sema/settings.h"

namespace wf::lsp {
namespace {

// Where an arm begins, and behind a `|` in one.
bool WantsPattern(const Context& context) {
  if (!context.in_match) return false;
  int depth = 0;
  bool in_value = false;
  for (const std::string& word : context.words) {
    if (word == "(" || word == "[") ++depth;
    if (word == ")" || word == "]") --depth;
    if (depth == 0 && (word == "=>" || word == ",")) in_value = word == "=>";
  }
  const std::string last = context.last();
  return depth == 0 && !in_value && (last.empty() || last == "," || last == "|" || last == "}");
}

bool IsDType(const std::string& word) {
  for (int dtype = 1; dtype <= static_cast<int>(ir::DType::kF64); ++dtype) {
    if (ir::NameOf(static_cast<ir::DType>(dtype)) == word) return true;
  }
  return false;
}

// In the brackets of `f32[n, 2 * m]`.
bool WantsExtent(const Context& context) {
  const auto& words = context.words;
  size_t open = words.size();
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "[") open = at;
    if (words[at] == "]") open = words.size();
  }
  return open < words.size() && open > 0 && IsDType(words[open - 1]);
}

bool WantsType(const Context& context) {
  const auto& words = context.words;
  const bool signature = context.block == Block::kFile || context.block == Block::kRecord;
  const std::string last = context.last();
  if (signature)
    return context.head() != "const" || std::find(words.begin(), words.end(), "=") == words.end()
               ? last == ":" || last == "->" || last == "<"
               : false;
  const bool binding = (context.head() == "let" || context.head() == "node") && words.size() >= 3 && words[2] == ":";
  return binding && std::find(words.begin(), words.end(), "=") == words.end();
}

bool IsOfSettings(Block block) {
  return block == Block::kNodeSettings || block == Block::kStageSettings || block == Block::kModelSettings ||
         block == Block::kRemoteSettings || block == Block::kService;
}

bool Are(const std::vector<std::string>& words, std::string_view only) { return words.size() == 1 && words.front() == only; }

}  // namespace

Wanted WantedAt(const Context& context, bool in_string) {
  if (context.inside) return Wanted::kFile;
  if (in_string) return Wanted::kNothing;
  if (context.IsBehindDot()) return Wanted::kMember;
  if (context.in_hole) return context.words.empty() ? Wanted::kNameInHole : Wanted::kNothing;
  if (context.head() == "import") return Wanted::kModule;
  if (context.head() == "error" && context.last() == "as") return Wanted::kStatus;
  if (context.last() == "fails" || context.last() == "fail") return Wanted::kError;
  if (context.block == Block::kTest && Are(context.words, "stub")) return Wanted::kStubbed;
  if (WantsPattern(context)) return Wanted::kPattern;
  if (context.words.empty()) return Wanted::kStatement;
  if (context.block == Block::kService && Are(context.words, "model")) return Wanted::kServedModel;
  if (context.block == Block::kService && Are(context.words, "workflow")) return Wanted::kServedWorkflow;
  if (WantsExtent(context)) return Wanted::kExtent;
  if (WantsType(context)) return Wanted::kType;
  return IsOfSettings(context.block) ? Wanted::kSettingValue : Wanted::kValue;
}

}  // namespace wf::lsp
