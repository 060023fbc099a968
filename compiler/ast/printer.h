#pragma once

#include <string>

#include "compiler/ast/nodes.h"

namespace wf::ast {

// The tree as text, for `--emit=ast` and as the oracle of tests: one line for each node, indented below its parent, with its role, kind,
// text and place (`line:column-line:column`, the end is the first column after it). Same tree, same text.
std::string Print(const File& file, const source::SourceMap& sources);

}  // namespace wf::ast
