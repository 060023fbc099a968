#pragma once

#include <cstdint>

#include "runtime/abi/values.h"

namespace wf::model {

int64_t CountOf(const wf_tensor& tensor);  // of elements

// Which kinds of numbers there are among elements. Integers and bools are numbers.
struct Kinds {
  bool finite = false, infinite = false, nan = false;
  bool all_finite() const { return !infinite && !nan; }
};
Kinds KindsOf(uint8_t dtype, const void* elements, int64_t count);

// At most that of any element but 0, and at most 0: -24 where one is 1e-7. That of what has no exponents is 0.
int LeastExponent(uint8_t dtype, const void* elements, int64_t count);
// Whether what sums products of two such elements may have subnormal floats on its way. exponent: the sum of the two LeastExponent.
bool MayUnderflow(uint8_t dtype, int exponent);

// An element of a dense tensor; of 64 bits the first digits.
double NumberAt(uint8_t dtype, const void* elements, int64_t at);

}  // namespace wf::model
