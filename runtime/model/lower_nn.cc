#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

Status LowerConv(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2), kernel = Extents(of.context.in(1).dim, 2);
  auto window = onnx::ReadWindow(of.node, in.size(), kernel);
  if (!window.ok()) return window.status();
  onnx::ResolvePads(*window, in);
  of.lowered.params = kernels::Conv{window->stride, window->dilation, window->pad_begin, of.node.Int("group", 1), of.then};
  return Status::Ok();
}

Status LowerPool(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2);
  auto window = onnx::ReadWindow(of.node, in.size(), {});
  if (!window.ok()) return window.status();
  onnx::ResolvePads(*window, in);
  const uint8_t dtype = of.context.in(0).dtype;
  if (of.context.has_out(1) || dtype == WF_I8 || dtype == WF_U8) {  // of bytes there are maxima alone
    of.lowered.params =
        kernels::ArgPool{of.node.Int("storage_order", 0) != 0, window->kernel, window->stride, window->dilation, window->pad_begin};
    return Status::Ok();
  }
  const bool mean = of.node.op == Op::kAveragePool, count = of.node.Int("count_include_pad", 0) != 0;
  of.lowered.params = kernels::Pool{mean, count, window->kernel, window->stride, window->dilation, window->pad_begin, window->pad_end};
  return Status::Ok();
}

Status LowerGlobalPool(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2);
  const std::vector<int64_t> one(in.size(), 1), zero(in.size(), 0);
  if (in.size() > 3) {  // a mean over many axes is a reduction; inference bounds the maximum to what pooling takes
    std::vector<bool> axes(in.size() + 2, true);
    axes[0] = axes[1] = false;
    of.lowered.params = kernels::Reduce{axes, true};
    return Status::Ok();
  }
  of.lowered.params = kernels::Pool{of.node.op == Op::kGlobalAveragePool, false, in, one, one, zero, zero};
  return Status::Ok();
}

Status LowerGemm(Lowering& of) {
  of.lowered.params = kernels::MatMul{of.node.Int("transA", 0) != 0, of.node.Int("transB", 0) != 0, of.node.Float("alpha", 1),
                                      of.node.Float("beta", 1), of.then};
  return Status::Ok();
}

Status LowerMatMul(Lowering& of) {
  of.lowered.params = kernels::MatMul{false, false, 1, 1, of.then};
  return Status::Ok();
}

Status LowerBatchNormalization(Lowering& of) {
  of.lowered.params = kernels::BatchNorm{of.node.Float("epsilon", 1e-5f)};
  return Status::Ok();
}

Status LowerSoftmax(Lowering& of) {
  const bool flat = of.node.opset < 13;  // older forms take everything behind the axis together
  const size_t rank = of.context.rank(0), axis = FromEnd(of.node.Int("axis", flat ? 1 : -1), rank);
  of.lowered.params = kernels::Softmax{axis, flat ? rank : axis + 1, of.node.op == Op::kLogSoftmax};
  return Status::Ok();
}

Status LowerReduce(Lowering& of) {
  const size_t rank = of.context.rank(0);
  std::optional<std::vector<int64_t>> axes;
  WF_RETURN_IF_ERROR(of.context.IntsOf("axes", 1, axes));
  kernels::Reduce reduce{std::vector<bool>(rank, false), of.node.op == Op::kReduceMean};
  if (axes && !axes->empty()) {
    for (const int64_t each : *axes) reduce.axis[FromEnd(each, rank)] = true;
  } else if (of.node.Int("noop_with_empty_axes", 0) == 0) {
    reduce.axis.assign(rank, true);
  }
  of.lowered.params = std::move(reduce);
  of.KeepInputs(1);
  return Status::Ok();
}

}  // namespace wf::model
