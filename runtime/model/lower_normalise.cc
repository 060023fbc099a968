#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

Status LowerBatchNormalization(Lowering& of) {
  const bool old = of.node.opset < 14;
  bool training = of.node.Int("training_mode", 0) != 0;
  for (size_t i = 1; old && i < of.node.out.size(); ++i) training = training || of.context.has_out(i);
  of.lowered.params = kernels::BatchNorm{of.node.Float("epsilon", 1e-5f), of.node.Float("momentum", 0.9f), training,
                                         of.node.opset < 9 && of.node.Int("spatial", 1) == 0};
  return Status::Ok();
}

Status LowerLayerNormalization(Lowering& of) {
  const bool simple = of.node.op == Op::kSimplifiedLayerNormalization;
  of.lowered.params = kernels::LayerNorm{FromEnd(of.node.Int("axis", -1), of.context.rank(0)),
                                         of.node.Float("epsilon", 1e-5f),
                                         !simple,
                                         simple ? size_t{0} : size_t{1},
                                         simple ? size_t{1} : size_t{2},
                                         0};
  return Status::Ok();
}

// Inputs: x, skip, scale, shift, bias; the simplified form has no shift.
Status LowerSkipLayerNormalization(Lowering& of) {
  const bool simple = of.node.op == Op::kMsSkipSimplifiedLayerNormalization;
  of.lowered.params = kernels::LayerNorm{of.context.rank(0) - 1, of.node.Float("epsilon", simple ? 1e-6f : 1e-12f), !simple, 1, 2, 3};
  const auto in = [&](size_t i) { return of.context.has_in(i) ? of.node.in[i] : -1; };
  of.lowered.in = {in(0), in(2), simple ? -1 : in(3), in(1), in(simple ? 3 : 4)};
  return Status::Ok();
}

Status LowerInstanceNormalization(Lowering& of) {
  of.lowered.params = kernels::GroupNorm{of.context.in(0).dim[1].constant().value_or(1), of.node.Float("epsilon", 1e-5f)};
  return Status::Ok();
}

Status LowerGroupNormalization(Lowering& of) {
  of.lowered.params = kernels::GroupNorm{of.node.Int("num_groups", 1), of.node.Float("epsilon", 1e-5f)};
  return Status::Ok();
}

Status LowerMeanVarianceNormalization(Lowering& of) {
  std::vector<int64_t> axes = {0, 2, 3};
  if (const onnx::Attribute* given = of.node.Find("axes")) axes = given->ints;
  kernels::MeanVariance norm{std::vector<bool>(of.context.rank(0), false)};
  for (const int64_t each : axes) norm.axis[FromEnd(each, norm.axis.size())] = true;
  of.lowered.params = std::move(norm);
  return Status::Ok();
}

Status LowerLpNormalization(Lowering& of) {
  of.lowered.params = kernels::LpNorm{FromEnd(of.node.Int("axis", -1), of.context.rank(0)), static_cast<int>(of.node.Int("p", 2))};
  return Status::Ok();
}

Status LowerLrn(Lowering& of) {
  of.lowered.params =
      kernels::LocalNorm{of.node.Int("size", 1), of.node.Float("alpha", 1e-4f), of.node.Float("beta", 0.75f), of.node.Float("bias", 1)};
  return Status::Ok();
}

Status LowerEmbedLayerNormalization(Lowering& of) {
  of.lowered.params = kernels::EmbedNorm{of.node.Float("epsilon", 1e-12f)};
  return Status::Ok();
}

}  // namespace wf::model
