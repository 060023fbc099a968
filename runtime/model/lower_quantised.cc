#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;

namespace {

kernels::Scaling KernelScaling(const onnx::Scaling& scaling) { return {scaling.axis, scaling.block}; }

// The order of kernels::IntegerInputs, for an operator whose sums are not scaled back: a, b and their zero points.
void TakeUnscaled(Lowering& of) {
  const auto in = [&](size_t i) { return of.node.has_in(i) ? of.node.in[i] : -1; };
  of.lowered.in = {in(0), -1, in(2), in(1), -1, in(3)};
}

Status LowerIntegerConv(Lowering& of, size_t weights) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2), kernel = Extents(of.context.in(weights).dim, 2);
  auto window = onnx::ReadWindow(of.node, in.size(), kernel);
  if (!window.ok()) return window.status();
  onnx::ResolvePads(*window, in);
  of.lowered.params = kernels::IntegerConv{window->stride, window->dilation, window->pad_begin, of.node.Int("group", 1)};
  return Status::Ok();
}

}  // namespace

Status LowerConvInteger(Lowering& of) {
  TakeUnscaled(of);
  return LowerIntegerConv(of, 1);
}

Status LowerQLinearConv(Lowering& of) { return LowerIntegerConv(of, 3); }

Status LowerMatMulInteger(Lowering& of) {
  TakeUnscaled(of);
  of.lowered.params = kernels::IntegerMatMul{};
  return Status::Ok();
}

Status LowerQLinearMatMul(Lowering& of) {
  of.lowered.params = kernels::IntegerMatMul{};
  return Status::Ok();
}

Status LowerQuantizeLinear(Lowering& of) {
  onnx::Scaling scaling;
  WF_RETURN_IF_ERROR(onnx::ReadScaling(of.context, scaling));
  of.lowered.params = kernels::Quantise{KernelScaling(scaling)};
  return Status::Ok();
}

Status LowerDequantizeLinear(Lowering& of) {
  onnx::Scaling scaling;
  WF_RETURN_IF_ERROR(onnx::ReadScaling(of.context, scaling));
  of.lowered.params = kernels::Dequantise{KernelScaling(scaling)};
  return Status::Ok();
}

Status LowerDynamicQuantizeLinear(Lowering& of) {
  of.lowered.params = kernels::DynamicQuantise{};
  return Status::Ok();
}

}  // namespace wf::model
