// Operators that pick by index, rank and count.
#include <algorithm>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

kernels::Reduction ReductionOf(const onnx::Node& node) {
  using enum kernels::Reduction;
  const std::string_view reduction = node.String("reduction", "none");
  return reduction == "add" ? kAdd : reduction == "mul" ? kMul : reduction == "max" ? kMax : reduction == "min" ? kMin : kNone;
}

std::optional<size_t> AxisOf(const Lowering& of) {
  const onnx::Attribute* axis = of.node.Find("axis");
  return axis == nullptr ? std::nullopt : std::optional(FromEnd(axis->i, of.context.rank(0)));
}

int64_t Count(const std::vector<int64_t>& dim) {
  int64_t count = 1;
  for (const int64_t extent : dim) count *= extent;
  return count;
}

}  // namespace

Status LowerGatherElements(Lowering& of) {
  of.lowered.params = kernels::GatherElements{FromEnd(of.node.Int("axis", 0), of.context.rank(0))};
  return Status::Ok();
}

Status LowerGatherND(Lowering& of) {
  of.lowered.params = kernels::GatherND{static_cast<size_t>(of.node.Int("batch_dims", 0))};
  return Status::Ok();
}

Status LowerScatter(Lowering& of) {
  of.lowered.params = kernels::ScatterElements{FromEnd(of.node.Int("axis", 0), of.context.rank(0)), ReductionOf(of.node)};
  return Status::Ok();
}

Status LowerScatterND(Lowering& of) {
  of.lowered.params = kernels::ScatterND{ReductionOf(of.node)};
  return Status::Ok();
}

Status LowerOneHot(Lowering& of) {
  of.lowered.params = kernels::OneHot{FromEnd(of.node.Int("axis", -1), of.context.rank(0) + 1)};
  return Status::Ok();
}

Status LowerTopK(Lowering& of) {
  of.lowered.params = kernels::TopK{FromEnd(of.node.Int("axis", -1), of.context.rank(0)), of.node.Int("largest", 1) != 0};
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerArgExtreme(Lowering& of) {
  of.lowered.params = kernels::ArgExtreme{FromEnd(of.node.Int("axis", 0), of.context.rank(0)), of.node.op == Op::kArgMax,
                                          of.node.Int("select_last_index", 0) != 0};
  return Status::Ok();
}

Status LowerHardmax(Lowering& of) {
  const bool flat = of.node.opset < 13;  // older forms take everything behind the axis together
  const size_t rank = of.context.rank(0), axis = FromEnd(of.node.Int("axis", flat ? 1 : -1), rank);
  of.lowered.params = kernels::Hardmax{axis, flat ? rank : axis + 1};
  return Status::Ok();
}

Status LowerCumSum(Lowering& of) {
  const auto axis = of.context.Numbers(1);
  if (!axis || axis->size() != 1) return of.context.NotBuilt("its axis is computed from data, which is not supported");
  of.lowered.params =
      kernels::CumSum{FromEnd((*axis)[0], of.context.rank(0)), of.node.Int("exclusive", 0) != 0, of.node.Int("reverse", 0) != 0};
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerNonZero(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  of.lowered.params = kernels::NonZero{};
  of.lowered.counts = true;
  of.lowered.most = {std::max<int64_t>(static_cast<int64_t>(in.size()), 1), Count(in)};
  return Status::Ok();
}

Status LowerCompress(Lowering& of) {
  std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  const auto axis = AxisOf(of);
  const int64_t tests = Extents(of.context.in(1).dim, 0)[0];
  if (!axis) in = {Count(in)};
  in[axis.value_or(0)] = std::min(in[axis.value_or(0)], tests);
  of.lowered.params = kernels::Compress{axis};
  of.lowered.counts = true;
  of.lowered.most = std::move(in);
  return Status::Ok();
}

Status LowerUnique(Lowering& of) {
  std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  const auto axis = AxisOf(of);
  if (!axis) in = {Count(in)};
  of.lowered.params = kernels::Unique{axis, of.node.Int("sorted", 1) != 0, of.context.in(0).dtype == onnx::kStringType};
  of.lowered.counts = true;
  of.lowered.most = std::move(in);
  return Status::Ok();
}

Status LowerNonMaxSuppression(Lowering& of) {
  const std::vector<int64_t> scores = Extents(of.context.in(1).dim, 0);
  int64_t each = scores[2];
  if (const auto limit = of.context.Numbers(2); limit && limit->size() == 1) each = std::clamp<int64_t>((*limit)[0], 0, each);
  if (!of.context.has_in(2)) each = 0;
  of.lowered.params = kernels::NonMaxSuppression{of.node.Int("center_point_box", 0) != 0};
  of.lowered.counts = true;
  of.lowered.most = {scores[0] * scores[1] * each, 3};
  return Status::Ok();
}

}  // namespace wf::model
