#pragma once

#include <cstdint>
#include <span>

#include "runtime/onnx/infer.h"

namespace wf::onnx {

// About how long one core takes for a node, at most INT64_MAX; extents that are not known count as 1.
struct Work {
  int64_t ns = 0;
  int64_t tiny_ns = 0;  // where what a product sums may be subnormal, which takes processors many times as long
};
Work WorkOf(const Node& node, std::span<const Known> known);

}  // namespace wf::onnx
