#pragma once

namespace wf::kernels {

// (x - mean) / sqrt(variance + epsilon) * scale + shift over axis 1; inputs x, scale, shift, mean, variance, which are one for each
// channel, or for each element of a sample when `each` is set. training: mean and variance are those of x; outputs 1 and 2 are then the
// given ones times momentum plus those times 1 - momentum, 3 and 4 those themselves.
struct BatchNorm {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training = false, each = false;
};

}  // namespace wf::kernels
