// Shape rules of recurrent layers.
#include <fmt/format.h>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

enum RecurrentInput : size_t { kX, kW, kR, kBias, kLengths, kFirstH, kFirstC, kPeepholes };

struct Layer {
  Dim steps, batch, hidden;
  int64_t gates = 1, directions = 1;
  bool batch_first = false;
};

Status HasDims(const NodeContext& node, size_t i, const Shape& wanted) {
  if (!node.has_in(i)) return Status::Ok();
  if (i != kLengths) WF_RETURN_IF_ERROR(node.SameType(kX, i));
  bool fits = node.rank(i) == wanted.size();
  for (size_t axis = 0; fits && axis < wanted.size(); ++axis) fits = !Dim::ProvedDifferent(node.in(i).dim[axis], wanted[axis]);
  return fits ? Status::Ok() : node.Fail(fmt::format("input {} is {}, wanted {}", i, node.InType(i), ToString(node.in(i).dtype, wanted)));
}

Status ReadLayer(const NodeContext& node, Layer& layer) {
  WF_RETURN_IF_ERROR(node.Rank(kX, 3));
  WF_RETURN_IF_ERROR(node.Rank(kR, 3));
  const std::string_view direction = node.node.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return node.Fail(fmt::format("direction `{}`", direction));
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.gates = node.node.op == Op::kLSTM ? 4 : node.node.op == Op::kGRU ? 3 : 1;
  layer.batch_first = node.node.Int("layout", 0) != 0;
  const Shape& x = node.in(kX).dim;
  layer.steps = x[layer.batch_first ? 1 : 0];
  layer.batch = x[layer.batch_first ? 0 : 1];
  layer.hidden = node.in(kR).dim[2];
  const int64_t hidden = node.node.Int("hidden_size", layer.hidden.constant().value_or(1));
  if (hidden < 1 || hidden > (int64_t{1} << 30) || Dim::ProvedDifferent(layer.hidden, hidden))
    return node.Fail(fmt::format("hidden_size {} for {}", hidden, node.InType(kR)));
  if (node.node.Find("hidden_size") != nullptr) layer.hidden = hidden;
  return Status::Ok();
}

}  // namespace

Status InferRecurrent(NodeContext& node) {
  Layer layer;
  WF_RETURN_IF_ERROR(ReadLayer(node, layer));
  const Dim directions(layer.directions), width = Dim(layer.gates) * layer.hidden;
  WF_RETURN_IF_ERROR(HasDims(node, kW, {directions, width, node.in(kX).dim[2]}));
  WF_RETURN_IF_ERROR(HasDims(node, kR, {directions, width, layer.hidden}));
  WF_RETURN_IF_ERROR(HasDims(node, kBias, {directions, Dim(2) * width}));
  WF_RETURN_IF_ERROR(HasDims(node, kLengths, {layer.batch}));
  if (node.has_in(kLengths) && node.in(kLengths).dtype != WF_I32)
    return node.Fail(fmt::format("lengths {}, wanted i32", node.InType(kLengths)));
  const Shape state = layer.batch_first ? Shape{layer.batch, directions, layer.hidden} : Shape{directions, layer.batch, layer.hidden};
  WF_RETURN_IF_ERROR(HasDims(node, kFirstH, state));
  WF_RETURN_IF_ERROR(HasDims(node, kFirstC, state));
  WF_RETURN_IF_ERROR(HasDims(node, kPeepholes, {directions, Dim(3) * layer.hidden}));
  const Shape all = layer.batch_first ? Shape{layer.batch, layer.steps, directions, layer.hidden}
                                      : Shape{layer.steps, directions, layer.batch, layer.hidden};
  for (size_t i = 0; i < 3; ++i) {
    if (!node.has_out(i)) continue;
    node.out(i).dtype = node.in(kX).dtype;
    node.out(i).dim = i == 0 ? all : state;
  }
  return Status::Ok();
}

}  // namespace wf::onnx
