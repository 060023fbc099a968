#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/value.h"
#include "compiler/sema/type.h"
#include "runtime/base/status.h"

namespace wf::sema {

// Reads one JSON text as a value of `type`. Nesting is bounded by the type: what it does not name is refused. A tensor is nested arrays;
// `_` takes the extent found. Errors: kInvalidArgument with line, column (in bytes) and what was wanted; kResourceExhausted: as values it
// takes more than `max_bytes`.   Cost: one pass.
base::Result<ir::Value> ReadJson(std::string_view text, TypeRef type, uint64_t max_bytes);

// The type with each `_` replaced by the extent that `value` has; of elements that differ in it, `_` is left.
TypeRef TypeOfValue(Types& types, TypeRef type, const ir::Value& value);

}  // namespace wf::sema
