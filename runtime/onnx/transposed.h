#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/onnx/infer.h"

namespace wf::onnx {

// Window of a transposed convolution.
struct TransposedWindow {
  Window window;
  std::vector<int64_t> more;    // output_padding
  std::vector<int64_t> wanted;  // output_shape, or empty
};
// Errors: a wrong number of values, or values out of range; text without file and node.
base::Result<TransposedWindow> ReadTransposed(const Node& node, size_t spatial, std::span<const int64_t> kernel);
Dim TransposedExtent(const TransposedWindow& window, size_t axis, const Dim& in);  // of the output
// What is cut from the beginning of an axis of this extent.
int64_t TransposedBegin(const TransposedWindow& window, size_t axis, int64_t in);

}  // namespace wf::onnx
