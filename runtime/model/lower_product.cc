#include "runtime/model/lowering.h"
#include "runtime/onnx/einsum.h"
#include "runtime/onnx/transposed.h"

namespace wf::model {

using base::Status;

Status LowerConvTranspose(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2), kernel = Extents(of.context.in(1).dim, 2);
  const auto window = onnx::ReadTransposed(of.node, in.size(), kernel);
  if (!window.ok()) return window.status();
  kernels::ConvTranspose conv{window->window.stride, window->window.dilation, {}, of.node.Int("group", 1), of.then};
  for (size_t i = 0; i < in.size(); ++i) conv.pad_begin.push_back(onnx::TransposedBegin(*window, i, in[i]));
  of.lowered.params = std::move(conv);
  return Status::Ok();
}

Status LowerDeformConv(Lowering& of) {
  const auto window = onnx::ReadWindow(of.node, 2, Extents(of.context.in(1).dim, 2));
  if (!window.ok()) return window.status();
  const auto pair = [](const std::vector<int64_t>& values) { return std::array<int64_t, 2>{values[0], values[1]}; };
  of.lowered.params = kernels::DeformConv{pair(window->stride), pair(window->dilation), pair(window->pad_begin), of.node.Int("group", 1),
                                          of.node.Int("offset_group", 1)};
  return Status::Ok();
}

Status LowerDet(Lowering& of) {
  of.lowered.params = kernels::Det{};
  return Status::Ok();
}

Status LowerInverse(Lowering& of) {
  of.lowered.params = kernels::Inverse{};
  return Status::Ok();
}

Status LowerEinsum(Lowering& of) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < of.node.in.size(); ++i) ranks.push_back(of.context.rank(i));
  auto labels = onnx::ParseEinsum(of.node.String("equation", ""), ranks);
  if (!labels.ok()) return labels.status();
  of.lowered.params = kernels::Einsum{std::move(labels->in), labels->out_rank, labels->labels};
  return Status::Ok();
}

Status LowerFusedMatMul(Lowering& of) {
  of.lowered.params = kernels::MatMul{of.node.Int("transA", 0) != 0, of.node.Int("transB", 0) != 0, of.node.Float("alpha", 1), 1, of.then};
  return Status::Ok();
}

Status LowerMatMulNBits(Lowering& of) {
  of.lowered.params = kernels::MatMulNBits{of.node.Int("K", 0), of.node.Int("N", 0), of.node.Int("bits", 4), of.node.Int("block_size", 32)};
  of.KeepInputs(std::min<size_t>(of.node.in.size(), 4));
  const auto move = [&](size_t from, size_t to) {
    if (!of.context.has_in(from)) return;
    of.lowered.in.resize(to + 1, -1);
    of.lowered.in[to] = of.node.in[from];
  };
  move(5, 4);
  move(4, 5);
  return Status::Ok();
}

Status LowerMatMulBnb4(Lowering& of) {
  of.lowered.params =
      kernels::MatMulBnb4{of.node.Int("K", 0), of.node.Int("N", 0), of.node.Int("block_size", 64), of.node.Int("quant_type", 0) == 1};
  return Status::Ok();
}

}  // namespace wf::model
