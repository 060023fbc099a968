#pragma once

#include <string>

#include "compiler/sema/body.h"

namespace wf::sema {

// What to write for an index without an extent. `extent`: the code for it; empty: the program has none that fits.
std::string ToBound(const std::string& index, const std::string& extent);
// Of `[i, j] => e`, an index of which has no extent, neither written nor by the `wanted` type, which may be null.
void ReportNoExtents(Body& body, const ast::LambdaExpr& expr, TypeRef wanted);

}  // namespace wf::sema
