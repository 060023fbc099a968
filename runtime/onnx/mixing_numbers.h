#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/onnx/infer_context.h"

// Of the few numbers that are computed from shapes, as in Sqrt(Cast(Shape(x))[2]): which depend on the number of samples.
namespace wf::onnx {

// One of them.
struct Number {
  bool by_samples = false;          // it may depend on how many there are
  std::vector<double> values = {};  // what it is for several numbers of samples, and for several of other extents; empty: not followed
};

// By element, row by row; nothing: it is not followed.
using ByElement = std::optional<std::vector<Number>>;

// The same for each number of samples.
Number ConstantNumber(double value);
// by_samples: it may depend on them, but where `values` are there and are the same for all numbers of samples.
Number NumberOf(std::vector<double> values, bool by_samples);
// Of an extent, or what is computed from such; `samples`: the symbol of their number.
Number NumberOf(const Dim& dim, const std::string& samples, bool by_samples);

// For an output of a node. of_input: the same for an input.   Bounds: kMaxContent elements.
ByElement FollowNumbers(NodeContext& node, size_t output, const std::function<ByElement(size_t)>& of_input);

// How many elements such a value has; nothing: more, or an unknown number.
std::optional<size_t> NumbersIn(const Known& known);

}  // namespace wf::onnx
