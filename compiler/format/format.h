#pragma once

#include <string>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"

namespace wf::format {

inline constexpr size_t kLineWidth = 100;

// The text of `file` laid out in the one style of the language. The same tokens in the same order, but for commas after the last element
// of a bracket, and all comments; formatting the result again changes nothing. REQUIRES: the file parsed without errors.
std::string Format(const ast::File& file, const source::SourceMap& sources);

}  // namespace wf::format
