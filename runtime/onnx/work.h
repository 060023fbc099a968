#pragma once

#include <cstdint>
#include <span>

#include "runtime/onnx/infer.h"

namespace wf::onnx {

// About how many multiply-adds, or as long steps, a node takes; extents that are not known count as 1. At most INT64_MAX.
int64_t WorkOf(const Node& node, std::span<const Known> known);

}  // namespace wf::onnx
