#pragma once

#include <vector>

#include "compiler/sema/typed.h"

// Internal to BuildIr: when the checks of an expression are made, whose value may be a task's.
namespace wf::sema {

// Of each check of the expression: it names a dimension which only the value knows.
std::vector<bool> ChecksOfResult(const Expr& expr);
bool HasChecksOfArgs(const Expr& call);
// Whether those of its arguments are made before the task that it is.
bool IsCheckedBefore(const Expr& cut);
// Whether the value of what was cut out is still to be checked where it is read.
bool IsCheckedWhereRead(const Expr& cut);

}  // namespace wf::sema
