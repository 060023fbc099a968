#pragma once

#include "compiler/ir/builder.h"

// exp log tanh erf sin cos pow in primitive operations: one definition each, the same bits in the interpreter and on every CPU.
namespace wf::ir {

// `kind`: kExp .. kPow; x (and y of pow): f32 or f64. Errors of at most 2 units in the last place for f32 (erf: 3), 4 for f64 (pow: 16).
// Infinities, NaN, zeros, overflow and denormals as C says.
ValueId EmitMath(Builder& builder, OpKind kind, ValueId x, ValueId y = ValueId::kNone);
constexpr size_t kMathOps = 32;  // that the shortest of them, exp of f32, comes to, roughly
inline bool IsMath(OpKind kind) { return kind >= OpKind::kExp && kind <= OpKind::kPow; }

}  // namespace wf::ir
