// Labels of arguments and of results.

#include <algorithm>
#include <iterator>

#include "compiler/lsp/call.h"
#include "compiler/lsp/completion.h"
#include "compiler/lsp/scope.h"

namespace wf::lsp {

void AddLabels(Completion& at) {
  const auto call = CallAround(at.context);
  const Thing* callee = call && call->begins ? CalleeOf(at.query, call->module, call->name, call->indexed) : nullptr;
  if (callee != nullptr && !callee->about.empty()) return;  // what is built in takes its arguments by place
  for (size_t i = call ? call->unnamed : 0; callee != nullptr && i < callee->takes.size(); ++i) {
    const auto& [name, text] = callee->takes[i];
    if (std::find(call->labels.begin(), call->labels.end(), name) == call->labels.end()) at.items.Add(name + ":", kFieldItem, text);
  }
}

void AddResultLabels(Completion& at) {
  const auto& words = at.context.words;
  const bool begins = words.size() >= 2 && words[0] == "return" && words[1] == "(" && (words.back() == "(" || words.back() == ",");
  if (!begins) return;
  int depth = 0;
  std::set<std::string> written;
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "(" || words[i] == "[") ++depth;
    if (words[i] == ")" || words[i] == "]") --depth;
    if (depth == 0 && words[i] == ":") written.insert(words[i - 1]);
  }
  for (const Analysis* analysis : AnalysesOf(at.query)) {
    const ast::Decl* around = depth == 0 ? DeclAround(at.query, *analysis) : nullptr;
    const auto* workflow = around != nullptr ? ast::DynAs<ast::WorkflowDecl>(*around) : nullptr;
    if (workflow == nullptr || !workflow->result) continue;
    for (const ast::Type::Field& field : workflow->result->fields) {
      if (field.type && !written.contains(field.label.text))
        at.items.Add(field.label.text + ":", kFieldItem, field.label.text + ": " + std::string(analysis->sources().Text(field.type->span)));
    }
  }
  const auto& head = at.context.around;  // of a workflow that is not closed yet
  const auto arrow = std::find(head.begin(), head.end(), "->");
  for (auto word = arrow; depth == 0 && !head.empty() && head.front() == "workflow" && word != head.end(); ++word) {
    if (*word == ":" && !written.contains(*std::prev(word))) at.items.Add(*std::prev(word) + ":", kFieldItem);
  }
}

}  // namespace wf::lsp
