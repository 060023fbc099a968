#pragma once

#include <cstdint>

namespace wf::kernels {

// v times the normal distribution below v, where v = x + bias; bias, input 1 or absent, repeats along the last axis. kTanh: the
// distribution by its usual approximation.
struct BiasGelu {
  enum class Kind : uint8_t { kErf, kTanh };
  Kind kind = Kind::kErf;
};

}  // namespace wf::kernels
