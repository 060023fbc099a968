// Shape rules of operators that compare, rank and count elements.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

// A scalar, or one element.
Status CheckScalar(const NodeContext& node, size_t i, const char* what) {
  if (!node.has_in(i) || !Dim::ProvedDifferent(Product(node.in(i).dim), 1)) return Status::Ok();
  return node.Fail(fmt::format("the {} is {}, wanted one element", what, node.InType(i)));
}

}  // namespace

Status InferTopK(NodeContext& node) {
  const Known& in = node.in(0);
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", -1), in.dim.size(), axis));
  Shape shape = in.dim;
  shape[axis] = node.unknown.Next();
  if (node.node.opset < 10) {
    if (node.node.Find("k") == nullptr) return node.Fail("attribute `k` is missing");
    shape[axis] = Dim(node.node.Int("k", 0));
  } else {
    if (!node.has_in(1)) return node.Fail("it has no k");
    WF_RETURN_IF_ERROR(CheckScalar(node, 1, "k"));
    if (const auto& k = node.Content(1)) shape[axis] = k->front();
  }
  const auto k = shape[axis].constant(), extent = in.dim[axis].constant();
  if (k && (*k < 0 || (extent && *k > *extent))) return node.Fail(fmt::format("the first {} of axis {} of {}", *k, axis, node.InType(0)));
  for (size_t i = 0; i < 2; ++i) {
    if (!node.has_out(i)) continue;
    node.out(i).dtype = i == 0 ? in.dtype : static_cast<uint8_t>(WF_I64);
    node.out(i).dim = shape;
  }
  return Status::Ok();
}

Status InferArgExtreme(NodeContext& node) {
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 0), node.rank(0), axis));
  Shape shape = node.in(0).dim;
  if (shape[axis] == Dim(0)) return node.Fail(fmt::format("axis {} of {} has no element", axis, node.InType(0)));
  if (node.node.Int("keepdims", 1) != 0) {
    shape[axis] = Dim(1);
  } else {
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  }
  node.out(0).dtype = WF_I64;
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

Status InferCumSum(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckScalar(node, 1, "axis"));
  if (node.in(1).dtype != WF_I64 && node.in(1).dtype != WF_I32)
    return node.Fail(fmt::format("the axis is {}, wanted i32 or i64", node.InType(1)));
  size_t axis = 0;
  if (const auto numbers = node.Numbers(1); numbers && !numbers->empty()) WF_RETURN_IF_ERROR(node.Axis((*numbers)[0], node.rank(0), axis));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

Status InferHardmax(NodeContext& node) {
  size_t axis = 0;
  const int64_t wanted = node.node.Int("axis", node.node.opset < 13 ? 1 : -1);
  const bool flattened = node.node.opset < 13 && wanted == static_cast<int64_t>(node.rank(0));  // one element a row
  if (!flattened) WF_RETURN_IF_ERROR(node.Axis(wanted, node.rank(0), axis));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

// The number of different elements is one unknown of all outputs that have it.
Status InferUnique(NodeContext& node) {
  const Known& in = node.in(0);
  const Dim found = node.unknown.Next();
  Shape shape = {found};
  Dim all = Product(in.dim);
  if (const Attribute* attribute = node.node.Find("axis")) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(attribute->i, in.dim.size(), axis));
    shape = in.dim;
    all = shape[axis];
    shape[axis] = found;
  }
  node.out(0).dtype = in.dtype;
  node.out(0).dim = shape;
  for (size_t i = 1; i < 4; ++i) {
    if (!node.has_out(i)) continue;
    node.out(i).dtype = WF_I64;
    node.out(i).dim = {i == 2 ? all : found};
  }
  return Status::Ok();
}

Status InferNonMaxSuppression(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) WF_RETURN_IF_ERROR(node.Rank(i, 3));
  const Shape &boxes = node.in(0).dim, &scores = node.in(1).dim;
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  if (Dim::ProvedDifferent(boxes[2], 4) || Dim::ProvedDifferent(boxes[0], scores[0]) || Dim::ProvedDifferent(boxes[1], scores[2])) {
    return node.Fail(fmt::format("boxes {} and scores {}", node.InType(0), node.InType(1)));
  }
  for (size_t i = 2; i < 5; ++i) WF_RETURN_IF_ERROR(CheckScalar(node, i, "limit"));
  if (node.has_in(2) && node.in(2).dtype != WF_I64) return node.Fail(fmt::format("the most boxes are {}, wanted i64", node.InType(2)));
  for (size_t i = 3; i < 5; ++i) {
    if (node.has_in(i) && node.in(i).dtype != WF_F32) return node.Fail(fmt::format("a threshold {}, wanted f32", node.InType(i)));
  }
  node.out(0).dtype = WF_I64;
  node.out(0).dim = {node.unknown.Next(), Dim(3)};
  return Status::Ok();
}

}  // namespace wf::onnx
