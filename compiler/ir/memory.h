#pragma once

#include <cstdint>
#include <functional>

#include "compiler/ir/type.h"
#include "compiler/ir/value.h"
#include "runtime/abi/values.h"

// Values as runtime/abi/values.h lays them out: what natives are given, and what they give.
namespace wf::ir {

using Allocate = std::function<void*(uint64_t bytes)>;  // aligned to 64; null: there is no more

// Reads a value as the runtime would.
Value Take(const TypeTable& types, TypeId type, const void* address);
// Writes one to `address`, which has LayoutOf(type).size bytes, with what it points at in memory of `allocate`. False: there was none.
bool Put(const TypeTable& types, TypeId type, const Value& value, void* address, const Allocate& allocate);

// Of a tensor's value, rows without gaps; without its elements.
wf_tensor DenseTensor(const Type& type, const Value& value);

}  // namespace wf::ir
