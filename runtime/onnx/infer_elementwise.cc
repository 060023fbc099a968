// Shape rules of operators that compute each element on its own.
#include <fmt/format.h>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/rules.h"

namespace wf::onnx {

using base::Status;

Status InferBitShift(NodeContext& node) {
  const std::string_view direction = node.node.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return node.Fail(fmt::format("direction `{}`, wanted LEFT or RIGHT", direction));
  const uint8_t dtype = node.in(0).dtype;
  if (dtype != WF_U8 && dtype != WF_U16 && dtype != WF_U32 && dtype != WF_U64)
    return node.NotBuilt(fmt::format("a shift of {}, whose integers have a sign", node.InType(0)));
  return InferBroadcast(node);
}

Status InferCastLike(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckTextCast(node, node.in(1).dtype));
  node.out(0).dtype = node.in(1).dtype;
  node.out(0).dim = node.in(0).dim;
  if (node.out(0).dtype == node.in(0).dtype) node.out(0).content = node.in(0).content;
  return Status::Ok();
}

Status InferCompare(NodeContext& node) {
  WF_RETURN_IF_ERROR(InferBroadcast(node));
  node.out(0).dtype = WF_BOOL;
  node.out(0).content.reset();
  return Status::Ok();
}

Status InferPRelu(NodeContext& node) {
  WF_RETURN_IF_ERROR(InferBroadcast(node));
  const Shape &x = node.in(0).dim, &out = node.out(0).dim;
  bool same = x.size() == out.size();
  for (size_t i = 0; same && i < x.size(); ++i) same = !Dim::ProvedDifferent(x[i], out[i]);
  if (!same) return node.Fail(fmt::format("the slope {} does not broadcast to {}", node.InType(1), node.InType(0)));
  node.out(0).dim = x;
  return Status::Ok();
}

Status InferTest(NodeContext& node) {
  node.out(0).dtype = WF_BOOL;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

Status InferVariadic(NodeContext& node) {
  Shape shape = node.in(0).dim;
  for (size_t i = 1; i < node.node.in.size(); ++i) {
    if (!node.has_in(i)) return node.Fail(fmt::format("input {} is absent", i));
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    auto both = BroadcastShape(shape, node.in(i).dim, node.unknown);
    if (!both)
      return node.Fail(
          fmt::format("input {} does not broadcast with {} of those before it", node.InType(i), ToString(node.in(0).dtype, shape)));
    shape = *std::move(both);
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

}  // namespace wf::onnx
