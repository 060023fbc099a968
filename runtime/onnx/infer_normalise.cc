// Shape rules of normalisations.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

// Input i, when it is there, has the type of input 0 and broadcasts to its shape.
Status FitsInput(NodeContext& node, size_t i) {
  if (!node.has_in(i)) return Status::Ok();
  WF_RETURN_IF_ERROR(node.SameType(0, i));
  const Shape &x = node.in(0).dim, &given = node.in(i).dim;
  bool fits = given.size() <= x.size();
  for (size_t k = 0; fits && k < given.size(); ++k) {
    const Dim& extent = x[x.size() - given.size() + k];
    fits = given[k] == Dim(1) || !Dim::ProvedDifferent(given[k], extent);
  }
  return fits ? Status::Ok() : node.Fail(fmt::format("{} does not broadcast to {}", node.InType(i), node.InType(0)));
}

// Inputs 1 and 2 are vectors of this extent.
Status AreVectors(NodeContext& node, const Dim& extent) {
  for (size_t i = 1; i < 3; ++i) {
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    WF_RETURN_IF_ERROR(node.Rank(i, 1));
    if (Dim::ProvedDifferent(node.in(i).dim[0], extent))
      return node.Fail(fmt::format("input {} is {}, input 0 is {}", i, node.InType(i), node.InType(0)));
  }
  return Status::Ok();
}

Status HasChannels(const NodeContext& node) {
  return node.rank(0) >= 2 ? Status::Ok() : node.Fail(fmt::format("input {} has no channels", node.InType(0)));
}

Status SameAsInput(NodeContext& node) {
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

// Outputs of one value for each row.
void SetRows(NodeContext& node, size_t axis, uint8_t dtype, size_t first) {
  for (size_t i = first; i < 3; ++i) {
    if (!node.has_out(i)) continue;
    node.out(i).dtype = dtype;
    node.out(i).dim = node.in(0).dim;
    std::fill(node.out(i).dim.begin() + static_cast<ptrdiff_t>(axis), node.out(i).dim.end(), Dim(1));
  }
}

}  // namespace

Status InferLayerNormalization(NodeContext& node) {
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", -1), node.rank(0), axis));
  for (size_t i = 1; i < 3; ++i) WF_RETURN_IF_ERROR(FitsInput(node, i));
  const uint8_t stash = DTypeOf(static_cast<int>(std::clamp<int64_t>(node.node.Int("stash_type", 1), 0, 1000)));
  if (stash != WF_F32 && stash != WF_BF16 && stash != WF_F64 && stash != WF_F16)
    return node.NotBuilt(fmt::format("stash_type {} is not supported", node.node.Int("stash_type", 1)));
  SetRows(node, axis, stash, 1);
  return SameAsInput(node);
}

Status InferSkipLayerNormalization(NodeContext& node) {
  const bool simple = node.node.op == Op::kMsSkipSimplifiedLayerNormalization;
  if (node.rank(0) < 2) return node.Fail(fmt::format("input {} has no rows", node.InType(0)));
  const Dim& n = node.in(0).dim.back();
  WF_RETURN_IF_ERROR(FitsInput(node, 1));
  for (size_t axis = 1; axis <= node.rank(1); ++axis) {  // only whole samples repeat
    const bool repeats = node.in(1).dim[node.rank(1) - axis] == Dim(1) && node.in(0).dim[node.rank(0) - axis] != Dim(1);
    if (repeats && axis != node.rank(0)) return node.NotBuilt(fmt::format("{} beside {} is not supported", node.InType(1), node.InType(0)));
  }
  for (size_t i = 2; i < (simple ? 4 : 5); ++i) {
    if (!node.has_in(i)) continue;
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    WF_RETURN_IF_ERROR(node.Rank(i, 1));
    if (Dim::ProvedDifferent(node.in(i).dim[0], n))
      return node.Fail(fmt::format("input {} is {}, input 0 is {}", i, node.InType(i), node.InType(0)));
  }
  SetRows(node, node.rank(0) - 1, WF_F32, 1);
  if (node.has_out(3)) {
    node.out(3).dtype = node.in(0).dtype;
    node.out(3).dim = node.in(0).dim;
  }
  return SameAsInput(node);
}

Status InferInstanceNormalization(NodeContext& node) {
  WF_RETURN_IF_ERROR(HasChannels(node));
  WF_RETURN_IF_ERROR(AreVectors(node, node.in(0).dim[1]));
  return SameAsInput(node);
}

Status InferGroupNormalization(NodeContext& node) {
  WF_RETURN_IF_ERROR(HasChannels(node));
  const int64_t groups = node.node.Int("num_groups", 0);
  const Dim& channels = node.in(0).dim[1];
  if (groups < 1 || (channels.is_constant() && *channels.constant() % groups != 0))
    return node.Fail(fmt::format("{} groups for {}", groups, node.InType(0)));
  WF_RETURN_IF_ERROR(AreVectors(node, node.node.opset < 21 ? Dim(groups) : channels));
  return SameAsInput(node);
}

Status InferMeanVarianceNormalization(NodeContext& node) {
  std::vector<int64_t> axes = {0, 2, 3};
  if (const Attribute* given = node.node.Find("axes")) axes = given->ints;
  for (const int64_t each : axes) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(each, node.rank(0), axis));
  }
  return SameAsInput(node);
}

Status InferLpNormalization(NodeContext& node) {
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", -1), node.rank(0), axis));
  const int64_t p = node.node.Int("p", 2);
  if (p != 1 && p != 2) return node.Fail(fmt::format("p is {}, wanted 1 or 2", p));
  return SameAsInput(node);
}

Status InferLrn(NodeContext& node) {
  WF_RETURN_IF_ERROR(HasChannels(node));
  const int64_t size = node.node.Int("size", 0);
  if (size < 1 || size > (int64_t{1} << 30)) return node.Fail(fmt::format("size is {}", size));
  return SameAsInput(node);
}

Status InferBatchNormalization(NodeContext& node) {
  const Known& x = node.in(0);
  WF_RETURN_IF_ERROR(HasChannels(node));
  const bool each = node.node.opset < 9 && node.node.Int("spatial", 1) == 0;  // statistics for each element
  Shape wanted = each ? Shape(x.dim.begin() + 1, x.dim.end()) : Shape{x.dim[1]};
  for (size_t i = 1; i < 5; ++i) {
    WF_RETURN_IF_ERROR(node.Rank(i, wanted.size()));
    const bool half = x.dtype == WF_F16 || x.dtype == WF_BF16;  // whose statistics may be wider
    if (!half || node.in(i).dtype != WF_F32) WF_RETURN_IF_ERROR(node.SameType(0, i));
    for (size_t axis = 0; axis < wanted.size(); ++axis) {
      if (Dim::ProvedDifferent(node.in(i).dim[axis], wanted[axis]))
        return node.Fail(fmt::format("input {} is {}, input 0 is {}", i, node.InType(i), node.InType(0)));
    }
  }
  for (size_t i = 1; i < 5; ++i) {
    if (!node.has_out(i)) continue;
    if (node.node.opset >= 14 && (i > 2 || node.node.Int("training_mode", 0) == 0))
      return node.Fail(fmt::format("output {} outside of training", i));
    node.out(i).dtype = node.in(i < 3 ? i + 2 : i).dtype;
    node.out(i).dim = wanted;
  }
  return SameAsInput(node);
}

}  // namespace wf::onnx
