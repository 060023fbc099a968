#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Samples input 0 anew along each axis. The coordinate in the input of output position x is given by `from`; what lies outside is the edge,
// or with `crop` the value `outside`.
struct Resize {
  enum class Mode : uint8_t { kNearest, kLinear, kCubic };
  enum class From : uint8_t { kHalfPixel, kHalfPixelSymmetric, kHalfPixelOrFirst, kAlignCorners, kAsymmetric, kCrop, kHalfPixelUnshifted };
  enum class Rounding : uint8_t { kPreferFloor, kPreferCeil, kFloor, kCeil };
  Mode mode = Mode::kNearest;
  From from = From::kHalfPixel;
  Rounding rounding = Rounding::kPreferFloor;
  bool antialias = false;        // where it shrinks, all that lies under the stretched filter counts
  bool exclude_outside = false;  // weights of what lies outside are 0, and those of the others sum to 1
  double cubic_a = -0.75;
  float outside = 0;
  std::vector<double> scale;                     // per axis: output by input
  std::vector<double> region_begin, region_end;  // per axis, of kCrop: in parts of the input
};

}  // namespace wf::kernels
