#pragma once

#include <cstdint>

namespace wf::base {

// digits x 10^exponent; `digits` may end in zeros.
struct Decimal {
  uint64_t digits;
  int exponent;
};

// The decimal of the fewest digits that is nearer to `value` than to any other number of its type, and of these the nearest.
// REQUIRES: a finite number above zero.
Decimal ShortestDecimal(float value);
Decimal ShortestDecimal(double value);

}  // namespace wf::base
