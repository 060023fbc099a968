#pragma once

#include <cstdint>

namespace wf::base {

// The bits of f16 and bf16: rounded once, to the nearest, ties to even. What is too large is infinity.
uint16_t HalfFromDouble(double value);
double DoubleFromHalf(uint16_t half);
uint16_t BfloatFromDouble(double value);
float FloatFromBfloat(uint16_t bfloat);

}  // namespace wf::base
