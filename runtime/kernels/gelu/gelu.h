#pragma once

#include <cstdint>

namespace wf::kernels {

// v times the normal distribution below v, where v = x + bias; bias, input 1 or absent, repeats along the last axis. kTanh: the
// distribution by its usual approximation; kSigmoid: sigmoid(alpha v) in its place.
struct BiasGelu {
  enum class Kind : uint8_t { kErf, kTanh, kSigmoid };
  Kind kind = Kind::kErf;
  float alpha = 1.702f;
};

}  // namespace wf::kernels
