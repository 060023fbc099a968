#include <algorithm>
#include <iterator>
#include <utility>

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
  if (of.context.has_out(1)) {
    of.lowered.params =
        kernels::ArgPool{of.node.Int("storage_order", 0) != 0, window->kernel, window->stride, window->dilation, window->pad_begin};
    return Status::Ok();
  }
  for (size_t i = 0; i < in.size() && of.node.Int("#whole_windows", 0) != 0; ++i) {
    const int64_t last = (Extents(of.known_out(0).dim, 2)[i] - 1) * window->stride[i],
                  length = (window->kernel[i] - 1) * window->dilation[i] + 1;
    window->pad_end[i] = std::max(window->pad_end[i], last + length - in[i] - window->pad_begin[i]);
  }
  const bool mean = of.node.op == Op::kAveragePool, count = of.node.Int("count_include_pad", 0) != 0;
  of.lowered.params = kernels::Pool{mean,
                                    count,
                                    window->kernel,
                                    window->stride,
                                    window->dilation,
                                    window->pad_begin,
                                    window->pad_end,
                                    of.node.op == Op::kLpPool ? of.node.Int("p", 2) : 0};
  return Status::Ok();
}

Status LowerGlobalPool(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2);
  const std::vector<int64_t> one(in.size(), 1), zero(in.size(), 0);
  if (in.size() > 3 || of.node.op == Op::kGlobalLpPool) {  // over more axes than pooling takes it is a reduction
    std::vector<bool> axes(in.size() + 2, true);
    axes[0] = axes[1] = false;
    using enum kernels::ReduceOp;
    const kernels::ReduceOp op = of.node.op == Op::kGlobalMaxPool ? kMax : of.node.op == Op::kGlobalLpPool ? kLp : kMean;
    of.lowered.params = kernels::Reduce{axes, op, static_cast<double>(of.node.Int("p", 2))};
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
  using enum kernels::ReduceOp;
  constexpr std::pair<Op, kernels::ReduceOp> kReductions[] = {
      {Op::kReduceL1, kL1},         {Op::kReduceL2, kL2},
      {Op::kReduceLogSum, kLogSum}, {Op::kReduceLogSumExp, kLogSumExp},
      {Op::kReduceMax, kMax},       {Op::kReduceMean, kMean},
      {Op::kReduceMin, kMin},       {Op::kReduceProd, kProd},
      {Op::kReduceSum, kSum},       {Op::kReduceSumSquare, kSumSquare},
  };
  const auto* row =
      std::find_if(std::begin(kReductions), std::end(kReductions), [&](const auto& each) { return each.first == of.node.op; });
  WF_CHECK(row != std::end(kReductions), of.node.Describe());
  kernels::Reduce reduce{std::vector<bool>(rank, false), row->second};
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
