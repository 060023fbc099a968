// Shape rules of operators whose numbers are random.
#include <fmt/format.h>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/rules.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

// By attribute `dtype`, a type of ONNX.
Status TypeOf(const NodeContext& node, uint8_t otherwise, uint8_t& dtype) {
  const Attribute* given = node.node.Find("dtype");
  dtype = given == nullptr ? otherwise : given->i > 0 && given->i < 64 ? DTypeOf(static_cast<int>(given->i)) : 0;
  if (dtype != 0 && dtype != kStringType) return Status::Ok();
  return node.NotBuilt(fmt::format("elements of the type that `dtype` {} is are not supported", given == nullptr ? 0 : given->i));
}

Status FloatOf(const NodeContext& node, uint8_t otherwise, uint8_t& dtype) {
  WF_RETURN_IF_ERROR(TypeOf(node, otherwise, dtype));
  return IsFloat(dtype) ? Status::Ok() : node.Fail(fmt::format("random numbers of type {}, which is no float", TypeName(dtype)));
}

}  // namespace

Status InferBernoulli(NodeContext& node) {
  WF_RETURN_IF_ERROR(TypeOf(node, node.in(0).dtype, node.out(0).dtype));
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

Status InferMultinomial(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 2));
  WF_RETURN_IF_ERROR(TypeOf(node, WF_I32, node.out(0).dtype));
  if (node.out(0).dtype != WF_I32 && node.out(0).dtype != WF_I64)
    return node.Fail(fmt::format("classes of type {}, wanted i32 or i64", TypeName(node.out(0).dtype)));
  node.out(0).dim = {node.in(0).dim[0], Dim(node.node.Int("sample_size", 1))};
  return Status::Ok();
}

Status InferRandom(NodeContext& node) {
  const Attribute* shape = node.node.Find("shape");
  if (shape == nullptr) return node.Fail("attribute `shape` is missing");
  WF_RETURN_IF_ERROR(FloatOf(node, WF_F32, node.out(0).dtype));
  node.out(0).dim.assign(shape->ints.begin(), shape->ints.end());
  return Status::Ok();
}

Status InferRandomLike(NodeContext& node) {
  WF_RETURN_IF_ERROR(FloatOf(node, node.in(0).dtype, node.out(0).dtype));
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

// The mask is bool from opset 10 on, before that of the elements' type.
Status InferDropout(NodeContext& node) {
  if (node.has_in(1) && !IsFloat(node.in(1).dtype)) return node.Fail(fmt::format("the ratio is {}, wanted a float", node.InType(1)));
  if (node.has_in(2) && node.in(2).dtype != WF_BOOL) return node.Fail(fmt::format("training_mode is {}, wanted bool", node.InType(2)));
  for (size_t i = 1; i < 3; ++i) {
    if (node.has_in(i) && Dim::ProvedDifferent(Product(node.in(i).dim), 1))
      return node.Fail(fmt::format("input {} is no scalar", node.InType(i)));
  }
  if (node.has_out(1)) {
    node.out(1).dtype = node.node.opset < 10 ? node.in(0).dtype : uint8_t{WF_BOOL};
    node.out(1).dim = node.in(0).dim;
  }
  return InferSame(node);
}

}  // namespace wf::onnx
