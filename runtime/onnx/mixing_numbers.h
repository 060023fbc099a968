#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/onnx/infer_context.h"

// Of the few numbers that are computed from shapes, as in Sqrt(Cast(Shape(x))[2]): which depend on the number of samples.
namespace wf::onnx {

// By element, row by row; nothing: it is not followed.
using ByElement = std::optional<std::vector<bool>>;

// For output 0 of a node. of_input: the same for an input.   Bounds: kMaxContent elements.
ByElement FollowNumbers(NodeContext& node, const std::function<ByElement(size_t)>& of_input);

// How many elements such a value has; nothing: more, or an unknown number.
std::optional<size_t> NumbersIn(const Known& known);

}  // namespace wf::onnx
