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

// What follows the node; the optimiser joins nothing else to it.
kernels::Within WithinOf(const kernels::Unary& then) {
  if (then.op == kernels::UnaryOp::kRelu) return {.low = 0};
  if (then.op == kernels::UnaryOp::kClip) return {then.alpha, then.beta};
  WF_CHECK(then.op == kernels::UnaryOp::kIdentity);
  return {};
}

Status LowerIntegerConv(Lowering& of, size_t weights) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2), kernel = Extents(of.context.in(weights).dim, 2);
  auto window = onnx::ReadWindow(of.node, in.size(), kernel);
  if (!window.ok()) return window.status();
  onnx::ResolvePads(*window, in);
  of.lowered.params = kernels::IntegerConv{window->stride, window->dilation, window->pad_begin, of.node.Int("group", 1), WithinOf(of.then)};
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

Status LowerMatMulIntegerToFloat(Lowering& of) {
  const auto in = [&](size_t i) { return of.node.has_in(i) ? of.node.in[i] : -1; };
  of.lowered.in = {in(0), in(2), in(4), in(1), in(3), in(5), -1, -1, in(6)};
  of.lowered.params = kernels::IntegerMatMul{};
  return Status::Ok();
}

Status LowerQLinearBinary(Lowering& of) {
  const bool adds = of.node.op == onnx::Op::kMsQLinearAdd;
  of.lowered.params = kernels::IntegerBinary{adds ? kernels::IntegerBinary::Op::kAdd : kernels::IntegerBinary::Op::kMul, WithinOf(of.then)};
  return Status::Ok();
}

Status LowerQLinearMatMul(Lowering& of) {
  of.lowered.params = kernels::IntegerMatMul{WithinOf(of.then)};
  return Status::Ok();
}

Status LowerQuantizeLinear(Lowering& of) {
  onnx::Scaling scaling;
  WF_RETURN_IF_ERROR(onnx::ReadScaling(of.context, scaling));
  of.lowered.params = kernels::Quantise{KernelScaling(scaling), onnx::NarrowOf(of.known_out(0).dtype), of.node.Int("saturate", 1) != 0};
  return Status::Ok();
}

Status LowerDequantizeLinear(Lowering& of) {
  onnx::Scaling scaling;
  WF_RETURN_IF_ERROR(onnx::ReadScaling(of.context, scaling));
  of.lowered.params = kernels::Dequantise{KernelScaling(scaling)};
  return Status::Ok();
}

Status LowerGatherBlockQuantized(Lowering& of) {
  const onnx::Known& data = of.context.in(0);
  const size_t rank = data.dim.size();
  kernels::GatherBlocks blocks;
  blocks.axis = FromEnd(of.node.Int("gather_axis", 0), rank);
  blocks.block_axis = FromEnd(of.node.Int("quantize_axis", 1), rank);
  blocks.block = of.node.Int("block_size", 128);
  blocks.is_packed = data.dtype == WF_U8 && of.node.Int("bits", 4) == 4;
  blocks.zero = data.dtype != WF_U8 ? 0 : blocks.is_packed ? 8 : 128;
  of.lowered.params = blocks;
  return Status::Ok();
}

Status LowerDynamicQuantizeLinear(Lowering& of) {
  of.lowered.params = kernels::DynamicQuantise{};
  return Status::Ok();
}

}  // namespace wf::model
