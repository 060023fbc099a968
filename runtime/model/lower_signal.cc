#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

// The integer that input i is, or `otherwise` where there is none.
Status NumberOf(const Lowering& of, const char* name, size_t i, int64_t otherwise, int64_t& out) {
  std::optional<std::vector<int64_t>> given;
  WF_RETURN_IF_ERROR(of.context.IntsOf(name, i, given));
  out = given && !given->empty() ? given->front() : otherwise;
  return Status::Ok();
}

}  // namespace

Status LowerDft(Lowering& of) {
  const std::vector<int64_t> x = Extents(of.context.in(0).dim, 0);
  int64_t axis = of.node.Int("axis", 1);
  if (of.node.opset >= 20) WF_RETURN_IF_ERROR(NumberOf(of, "axis of input 2", 2, -2, axis));
  kernels::Dft dft{FromEnd(axis, x.size()), 0, of.node.Int("inverse", 0) != 0};
  WF_RETURN_IF_ERROR(NumberOf(of, "dft_length", 1, x[dft.axis], dft.length));
  of.lowered.params = dft;
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerStft(Lowering& of) {
  kernels::ShortDft dft;
  const auto otherwise = of.context.has_in(2) ? of.context.in(2).dim[0] : of.context.in(0).dim[1];
  WF_RETURN_IF_ERROR(NumberOf(of, "frame_step", 1, 1, dft.step));
  WF_RETURN_IF_ERROR(NumberOf(of, "frame_length", 3, otherwise.constant().value_or(1), dft.length));
  if (of.context.has_in(2) && of.context.in(2).dim[0] != onnx::Dim(dft.length))
    return of.context.Fail("frames of another length than their window");
  of.lowered.params = dft;
  of.KeepInputs(1);
  if (of.context.has_in(2)) of.lowered.in.push_back(of.node.in[2]);
  return Status::Ok();
}

Status LowerSignalWindow(Lowering& of) {
  kernels::SignalWindow window;
  if (of.node.op == Op::kHammingWindow) window = {25.0 / 46, 21.0 / 46, 0};
  if (of.node.op == Op::kBlackmanWindow) window = {0.42, 0.5, 0.08};
  window.periodic = of.node.Int("periodic", 1) != 0;
  of.lowered.params = window;
  return Status::Ok();
}

Status LowerMelWeightMatrix(Lowering& of) {
  kernels::MelWeights mels;
  WF_RETURN_IF_ERROR(NumberOf(of, "dft_length", 1, 0, mels.length));
  WF_RETURN_IF_ERROR(NumberOf(of, "sample_rate", 2, 1, mels.sample_rate));
  of.lowered.params = mels;
  of.lowered.in = {of.node.in[3], of.node.in[4]};
  return Status::Ok();
}

Status LowerClassLoss(Lowering& of) {
  kernels::ClassLoss loss;
  loss.softmax = of.node.op == Op::kSoftmaxCrossEntropyLoss;
  const std::string_view reduction = of.node.String("reduction", "mean");
  using enum kernels::ClassLoss::Reduction;
  loss.reduction = reduction == "none" ? kNone : reduction == "sum" ? kSum : kMean;
  if (of.node.Find("ignore_index") != nullptr) loss.ignored = of.node.Int("ignore_index", 0);
  of.lowered.params = loss;
  return Status::Ok();
}

}  // namespace wf::model
