#pragma once

#include <set>

#include "compiler/ir/ir.h"

namespace wf::ir {

// The operations of the block, and of the blocks within it, that depend on the value: by what they read, or by what their blocks do.
std::set<ValueId> FindVarying(const Body& body, BlockId block, ValueId value);

}  // namespace wf::ir
