#pragma once

#include <string_view>

namespace wf::ir {

// What is guessed of code that the compiler does not see, in nanoseconds of one core. A unit is what NATIVE of runtime_symbols.def says.
struct NativeCost {
  float ns, ns_per_unit;
};
NativeCost CostOfNative(std::string_view symbol);
std::string_view TurnsOfNative(std::string_view symbol);  // NATIVE_TURNS; empty: it has none

inline constexpr float kTextNsPerByte = 0.05F;  // of the strings that a text is made of
inline constexpr float kComputeNs = 100'000;    // above this a task goes to the pool

}  // namespace wf::ir
