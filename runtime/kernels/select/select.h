#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

// Contracts of which only the elements tell how much they find. Outputs have room for the most that can be; what is found lies dense at
// the beginning of each, and the extents of output 0 are written into the last output, i64, one per axis.
namespace wf::kernels {

struct NonZero {};  // the coordinates of elements other than 0, [axes, found]; a scalar counts as one element

struct Compress {  // where input 1 is true, along the axis or of all elements; what lies behind its end is left out
  std::optional<size_t> axis;
};

// Different elements, or slices along the axis, sorted or as they first occur; then, i64 and each only where somebody reads it: where each
// first occurs, which of them each element is, and how often each occurs. NaN counts as equal to NaN, and as larger than every number.
struct Unique {
  std::optional<size_t> axis;
  bool sorted = true;
  bool of_texts = false;  // the elements are numbers of Buffers::texts, in whose order they are
};

// boxes [n, b, 4], scores [n, classes, b], then, each may be absent: the most boxes of a class (i64), the overlap above which a box is left
// out, the score that a box must exceed. -> [found, 3] of image, class, box, by class and falling score.
struct NonMaxSuppression {
  bool centered = false;  // boxes are x, y, width, height; else two corners y, x
};

}  // namespace wf::kernels
