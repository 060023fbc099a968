#pragma once

namespace wf::kernels {

// (x - mean) / sqrt(variance + epsilon) * scale + shift over axis 1; inputs x, scale, shift, mean, variance.
struct BatchNorm {
  float epsilon = 1e-5f;
};

}  // namespace wf::kernels
