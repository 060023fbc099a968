#pragma once

#include "compiler/ir/ir.h"

namespace wf::ir {

// Whether indices follow from divisors, by what they read or by the loops and choices around them, and no divisor from an index: where
// both fail, the index is wrong because a divisor of 1 stood in for the 0.
bool IsDivisorFirst(const Body& body);
inline constexpr uint32_t kDivisorBit = code::kDivisor - kFirstSticky;  // of what a body has noted

}  // namespace wf::ir
