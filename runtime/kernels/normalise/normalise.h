#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Contracts that divide the elements of a tensor by how far they spread.
namespace wf::kernels {

// y = (v - mean) / sqrt(variance + epsilon) * scale + shift, mean and variance over the axes from `axis` on, of v = x + skip + bias. Inputs
// x, scale, shift, skip, bias; all but x may be absent. scale and shift broadcast to x, rows of skip and bias repeat. Without `centre` the
// mean is taken for 0. Outputs behind y, of f32 or f64 whatever x is: `mean`, `inverse` (1 / sqrt), both one a row, and `sum` (v) where
// these indices say, 0 for none.
struct LayerNorm {
  size_t axis = 0;
  float epsilon = 1e-5f;
  bool centre = true;
  size_t mean = 0, inverse = 0, sum = 0;
};

// The same over x [n, c, ...] for each of `groups` parts of the channels; inputs x, scale, shift: one for each channel, or for each group.
struct GroupNorm {
  int64_t groups = 1;
  float epsilon = 1e-5f;
};

// (x - mean) / (standard deviation + 1e-9) over the marked axes.
struct MeanVariance {
  std::vector<bool> axis;
};

// x / (sum of |x|^p)^(1/p) along the axis, p 1 or 2; 0 where that is 0.
struct LpNorm {
  size_t axis = 0;
  int p = 2;
};

// x / (bias + alpha / size * sum of squares over the `size` channels around)^beta; x [n, c, ...].
struct LocalNorm {
  int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
};

}  // namespace wf::kernels
