#pragma once

#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

// Where a symbol of the signature is said by parameters, of those symbols that stand on an axis that JSON's `[]` can leave open.
std::vector<ir::Axis> AxesOf(const Workflow& workflow);

}  // namespace wf::sema
