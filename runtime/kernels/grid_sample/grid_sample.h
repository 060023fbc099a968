#pragma once

#include <cstdint>

namespace wf::kernels {

// x [n, c, s...] sampled at the points of a grid [n, o..., axes] -> [n, c, o...]. A point has a coordinate for each spatial axis, the last
// axis first, from -1 to 1: the middles of the first and the last element with align_corners, else their outer edges.
struct GridSample {
  enum class Mode : uint8_t { kNearest, kLinear, kCubic };
  enum class Padding : uint8_t { kZeros, kBorder, kReflection };
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

// theta [n, axes, axes + 1] -> the grid that GridSample reads, [n, s..., axes].
struct AffineGrid {
  bool align_corners = false;
};

// Regions [r, 4] (x, y, x, y, times scale) of the images [n, c, h, w] that input 2 (i64) names -> [r, c, rows, columns], the mean or the
// largest of samples in each cell. Fails for an image that is not there and a region much larger than its image.
struct RoiAlign {
  bool largest = false, half_pixel = true;
  int64_t samples = 0;  // per cell and axis; 0: one per element
  float scale = 1;
};

}  // namespace wf::kernels
