#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/lsp/context.h"
#include "compiler/lsp/index.h"

namespace wf::lsp {

// A call whose parentheses are open.
struct OpenCall {
  std::string module, name;         // of the callee; module: empty without one
  size_t unnamed = 0;               // arguments before the place that have no label, what a pipe gives among them
  std::vector<std::string> labels;  // of those that have one
  std::string label;                // of the argument at the place
  bool indexed = false;             // `sum[i](`
  bool begins = false;              // nothing of the argument at the place stands yet
};

std::optional<OpenCall> CallAround(const Context& context);  // the innermost

size_t ParameterAt(const OpenCall& call, const Thing& callee);  // which one the place is in; `takes.size()`: none

}  // namespace wf::lsp
