#include "compiler/lsp/call.h"

#include <algorithm>

#include "compiler/parse/words.h"

namespace wf::lsp {
namespace {

using Words = std::vector<std::string>;

// Braces are not among the words: of a block that is closed, its `}` alone is left.
bool Opens(const std::string& word) { return word == "(" || word == "["; }
bool Closes(const std::string& word) { return word == ")" || word == "]"; }

// The name in front of what is opened at `at`, of `sum` in `sum[i](`; none: it is a group.
std::optional<size_t> CalleeBefore(const Words& words, size_t at) {
  int closed = 0;
  while (at > 0 && (closed > 0 || words[at - 1] == "]")) {
    --at;
    closed += words[at] == "]" ? 1 : words[at] == "[" ? -1 : 0;
  }
  return at > 0 && parse::IsName(words[at - 1]) ? std::optional(at - 1) : std::nullopt;
}

// Where the innermost call is open: the position of its parenthesis. One of a group or of a list leads on to what is around it.
std::optional<size_t> OpenParenthesis(const Words& words) {
  int closed = 0;
  for (size_t at = words.size(); at-- > 0;) {
    if (Closes(words[at])) ++closed;
    if (!Opens(words[at])) continue;
    if (closed-- > 0) continue;
    closed = 0;
    if (words[at] == "(" && CalleeBefore(words, at)) return at;
  }
  return std::nullopt;
}

// From `begin` on, the arguments that commas part, the one at the place included.
std::vector<Words> Arguments(const Words& words, size_t begin) {
  std::vector<Words> arguments(1);
  int depth = 0;
  for (size_t at = begin; at < words.size(); ++at) {
    depth += Opens(words[at]) ? 1 : Closes(words[at]) ? -1 : 0;
    if (depth == 0 && words[at] == ",") {
      arguments.emplace_back();
    } else {
      arguments.back().push_back(words[at]);
    }
  }
  return arguments;
}

// `fn f(`: what stands in these is no call.
bool Declares(const std::string& word) {
  for (const std::string_view declarer : {"fn", "node", "model", "remote", "workflow", "stub"}) {
    if (word == declarer) return true;
  }
  return false;
}

std::string LabelOf(const Words& argument) { return argument.size() >= 2 && argument[1] == ":" ? argument.front() : ""; }

}  // namespace

std::optional<OpenCall> CallAround(const Context& context) {
  const Words& words = context.words;
  const auto open = OpenParenthesis(words);
  if (!open) return std::nullopt;
  size_t callee = *CalleeBefore(words, *open);
  if (callee >= 1 && Declares(words[callee - 1])) return std::nullopt;
  OpenCall call;
  call.name = words[callee];
  call.indexed = callee + 1 < *open;
  if (callee >= 2 && words[callee - 1] == ".") call.module = words[callee -= 2];
  if (callee >= 1 && words[callee - 1] == "|>") call.unnamed = 1;
  const std::vector<Words> arguments = Arguments(words, *open + 1);
  for (size_t at = 0; at + 1 < arguments.size(); ++at) {
    const std::string label = LabelOf(arguments[at]);
    if (label.empty()) {
      ++call.unnamed;
    } else {
      call.labels.push_back(label);
    }
  }
  call.label = LabelOf(arguments.back());
  call.begins = arguments.back().empty();
  return call;
}

size_t ParameterAt(const OpenCall& call, const Thing& callee) {
  if (call.label.empty()) return call.labels.empty() ? std::min(call.unnamed, callee.takes.size()) : callee.takes.size();
  const auto named = [&](const FieldText& one) { return one.first == call.label; };
  return static_cast<size_t>(std::find_if(callee.takes.begin(), callee.takes.end(), named) - callee.takes.begin());
}

}  // namespace wf::lsp
