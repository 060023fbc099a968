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

// An element of a dense tensor; of 64 bits the first digits.
double NumberAt(uint8_t dtype, const void* elements, int64_t at);

}  // namespace wf::model
