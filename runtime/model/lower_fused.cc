// com.microsoft's fused operators, as kernels/attention and kernels/gelu have them.
#include <cmath>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

// Inputs of the contract from those of the node, -1 where there is none.
std::vector<int> Order(const Lowering& of, std::initializer_list<int> inputs) {
  std::vector<int> in;
  for (const int i : inputs) in.push_back(i >= 0 && of.context.has_in(static_cast<size_t>(i)) ? of.node.in[static_cast<size_t>(i)] : -1);
  return in;
}

int64_t Extent(const onnx::Known& known, size_t axis) { return known.dim[axis].constant().value_or(1); }

float ScaleOf(const onnx::Node& node, int64_t size) {
  const float scale = node.Float("scale", 0);
  return scale != 0 ? scale : static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
}

}  // namespace

Status LowerBiasGelu(Lowering& of) {
  using enum kernels::BiasGelu::Kind;
  if (of.node.op == Op::kMsQuickGelu) {
    of.lowered.params = kernels::Unary{kernels::UnaryOp::kSwish, of.node.Float("alpha", 1.702f)};
  } else if (of.context.has_in(1)) {
    of.lowered.params = kernels::BiasGelu{of.node.op == Op::kMsFastGelu ? kTanh : kErf};
  } else {
    of.lowered.params = kernels::Unary{of.node.op == Op::kMsFastGelu ? kernels::UnaryOp::kGeluTanh : kernels::UnaryOp::kGelu};
    of.KeepInputs(1);
  }
  return Status::Ok();
}

Status LowerAttention(Lowering& of) {
  kernels::Attention attention;
  attention.heads = attention.kv_heads = of.node.Int("num_heads", 1);
  const auto sizes = of.node.Ints("qkv_hidden_sizes");
  const int64_t all = Extent(of.context.in(1), 1), v = sizes.empty() ? all / 3 : sizes.back();
  attention.size = (all - v) / 2 / attention.heads;
  attention.v_size = v / attention.heads;
  attention.scale = ScaleOf(of.node, attention.size);
  attention.filter = of.node.Float("mask_filter_value", -10000);
  attention.causal = of.node.Int("unidirectional", 0) != 0;
  attention.joined = true;
  attention.total = Extent(of.context.in(0), 1) + (of.context.has_in(4) ? Extent(of.context.in(4), 3) : 0);
  of.lowered.params = attention;
  of.lowered.in = Order(of, {0, -1, -1, 1, 2, 3, 5, 4, -1});
  return Status::Ok();
}

Status LowerMultiHeadAttention(Lowering& of) {
  kernels::Attention attention;
  attention.heads = attention.kv_heads = of.node.Int("num_heads", 1);
  const bool heads_first = of.context.rank(1) == 4;
  attention.size = Extent(of.context.in(0), 2) / attention.heads;
  attention.v_size = heads_first ? Extent(of.context.in(2), 3) : Extent(of.context.in(2), 2) / attention.heads;
  attention.scale = ScaleOf(of.node, attention.size);
  attention.filter = of.node.Float("mask_filter_value", -10000);
  attention.causal = of.node.Int("unidirectional", 0) != 0;
  attention.plain = of.node.Int("plain", 0) != 0;  // of one that was written out: files have no such attribute
  attention.total = Extent(of.context.in(1), heads_first ? 2 : 1) + (of.context.has_in(6) ? Extent(of.context.in(6), 2) : 0);
  of.lowered.params = attention;
  of.lowered.in = Order(of, {0, 1, 2, -1, 3, 4, 5, 6, 7});
  return Status::Ok();
}

Status LowerGroupQueryAttention(Lowering& of) {
  kernels::Attention attention;
  attention.heads = of.node.Int("num_heads", 1);
  attention.kv_heads = of.node.Int("kv_num_heads", 1);
  const bool packed = !of.context.has_in(1);
  attention.size = attention.v_size = Extent(of.context.in(0), 2) / (packed ? attention.heads + 2 * attention.kv_heads : attention.heads);
  attention.scale = ScaleOf(of.node, attention.size);
  attention.softcap = of.node.Float("softcap", 0);
  attention.window = of.node.Int("local_window_size", -1);
  attention.smooth = of.node.Int("smooth_softmax", 0) > 0;
  attention.causal = true;
  attention.interleaved = of.node.Int("rotary_interleaved", 0) != 0;
  std::optional<std::vector<int64_t>> total;
  WF_RETURN_IF_ERROR(of.context.IntsOf("total_sequence_length", 6, total));
  if (!total || total->size() != 1) return of.context.Fail("the total of the lengths is no scalar");
  attention.first = total->front() == Extent(of.context.in(0), 1);
  attention.total = std::max(total->front(), of.context.has_in(3) ? Extent(of.context.in(3), 2) : int64_t{0});
  of.lowered.params = attention;
  of.lowered.in = Order(of, {0, 1, 2, -1, -1, -1, 10, 3, 4, 5, 7, 8, 11, 9});
  return Status::Ok();
}

Status LowerRotaryEmbedding(Lowering& of) {
  const size_t rank = of.context.rank(0);
  kernels::Rotary rotary;
  rotary.interleaved = of.node.Int("interleaved", 0) != 0;
  if (rank == 4) {
    rotary.heads = Extent(of.context.in(0), 1);
    rotary.size = Extent(of.context.in(0), 3);
  } else {
    const int64_t row = Extent(of.context.in(0), 2), heads = of.node.Int("num_heads", 0);
    rotary.heads = heads != 0 ? heads : row / (2 * Extent(of.context.in(2), 1));
    rotary.size = row / rotary.heads;
  }
  of.lowered.params = rotary;
  return Status::Ok();
}

}  // namespace wf::model
