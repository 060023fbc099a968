#pragma once

#include <optional>
#include <unordered_set>

#include "compiler/ir/builder.h"

namespace wf::sema {

using Indexes = std::unordered_set<ir::ValueId>;  // that loops over elements count

// What an i64 that is proved to be 0 or more is at most; nothing for others. What comes from a request may be any number, so that sums and
// products of it wrap.
std::optional<double> MostOfNatural(const ir::Builder& b, const Indexes& indices, ir::ValueId value);

// What an i64 is at most, whatever its sign.
double MostOf(const ir::Builder& b, const Indexes& indices, ir::ValueId value);

}  // namespace wf::sema
