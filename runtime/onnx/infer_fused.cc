// Shape rules of com.microsoft's fused operators.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/rules.h"

namespace wf::onnx {
namespace {

using base::Status;

bool Same(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Dim::ProvedDifferent(a[i], b[i])) return false;
  }
  return true;
}

// Input i, when it is there, has this shape, and the type of input `like`.
Status HasShape(const NodeContext& node, size_t i, const Shape& wanted, size_t like = 0) {
  if (!node.has_in(i)) return Status::Ok();
  WF_RETURN_IF_ERROR(node.SameType(like, i));
  if (Same(node.in(i).dim, wanted)) return Status::Ok();
  return node.Fail(fmt::format("input {} is {}, wanted {}", i, node.InType(i), ToString(node.in(i).dtype, wanted)));
}

Status IsI32(const NodeContext& node, size_t i) {
  if (!node.has_in(i) || node.in(i).dtype == WF_I32) return Status::Ok();
  return node.Fail(fmt::format("input {} is {}, wanted i32", i, node.InType(i)));
}

Status LacksInputs(const NodeContext& node, std::initializer_list<size_t> inputs) {
  for (const size_t i : inputs) {
    if (node.has_in(i)) return node.NotBuilt(fmt::format("input {} is not supported", i));
  }
  return Status::Ok();
}

Status LacksAttributes(const NodeContext& node, std::initializer_list<const char*> attributes) {
  for (const char* each : attributes) {
    if (node.node.Int(each, 0) > 0) return node.NotBuilt(fmt::format("attribute `{}` is not supported", each));
  }
  return Status::Ok();
}

void Set(NodeContext& node, size_t i, Shape dim) {
  if (!node.has_out(i)) return;
  node.out(i).dtype = node.in(0).dtype;
  node.out(i).dim = std::move(dim);
}

Status HeadsOf(const NodeContext& node, const char* attribute, int64_t otherwise, int64_t& heads) {
  heads = node.node.Int(attribute, otherwise);
  if (heads < 1 || heads > (int64_t{1} << 20)) return node.Fail(fmt::format("{} {}", attribute, heads));
  return Status::Ok();
}

// Heads of equal size share a row.
Status SizeOfHead(const NodeContext& node, const Dim& row, int64_t heads, Dim& size) {
  if (!row.is_constant()) return node.NotBuilt("rows whose extent is not constant are not supported");
  if (*row.constant() % heads != 0 || *row.constant() == 0)
    return node.Fail(fmt::format("{} heads for rows of {}", heads, *row.constant()));
  size = *row.constant() / heads;
  return Status::Ok();
}

// Of which kernels know the forms [batch], [2 batch], [3 batch + 2], [batch, total] and [batch, s, total].
Status CheckMask(const NodeContext& node, size_t i, const Dim& batch, const Dim& s, const Dim& total) {
  if (!node.has_in(i)) return Status::Ok();
  WF_RETURN_IF_ERROR(IsI32(node, i));
  const Shape& mask = node.in(i).dim;
  const bool fits = Same(mask, {batch}) || Same(mask, {Dim(2) * batch}) || Same(mask, {Dim(3) * batch + Dim(2)}) ||
                    Same(mask, {batch, total}) || Same(mask, {batch, s, total});
  return fits ? Status::Ok() : node.NotBuilt(fmt::format("a mask {} is not supported", node.InType(i)));
}

// wanted: [batch, heads, s, total], of which the first two may be 1.
Status CheckAdded(const NodeContext& node, size_t i, const Shape& wanted) {
  if (!node.has_in(i)) return Status::Ok();
  WF_RETURN_IF_ERROR(node.SameType(0, i));
  const Shape& added = node.in(i).dim;
  bool fits = added.size() == 4;
  for (size_t axis = 0; fits && axis < 4; ++axis) fits = added[axis] == Dim(1) || !Dim::ProvedDifferent(added[axis], wanted[axis]);
  return fits ? Status::Ok() : node.NotBuilt(fmt::format("an input {} to add, {}, is not supported", i, node.InType(i)));
}

}  // namespace

Status InferFusedMatMul(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  Shape sides[2] = {node.in(0).dim, node.in(1).dim};
  for (size_t i = 0; i < 2; ++i) {
    const bool turned = node.node.Int(i == 0 ? "transA" : "transB", 0) != 0;
    if (sides[i].empty() || (turned && sides[i].size() < 2)) return node.Fail(fmt::format("input {} is {}", i, node.InType(i)));
    if (turned) std::swap(sides[i].back(), sides[i][sides[i].size() - 2]);
  }
  return MultipliedShape(node, std::move(sides[0]), std::move(sides[1]));
}

Status InferBiasGelu(NodeContext& node) {
  if (node.has_in(1)) {
    if (node.rank(0) == 0) return node.Fail("a bias for a scalar");
    WF_RETURN_IF_ERROR(HasShape(node, 1, {node.in(0).dim.back()}));
  }
  return InferSame(node);
}

Status InferEmbedLayerNormalization(NodeContext& node) {
  for (const size_t i : {0, 2, 3, 5, 6}) {
    if (!node.has_in(i)) return node.Fail(fmt::format("input {} is absent but required", i));
  }
  WF_RETURN_IF_ERROR(node.Rank(0, 2));
  WF_RETURN_IF_ERROR(node.Rank(2, 2));
  const Shape& words = node.in(0).dim;
  const Dim& n = node.in(2).dim[1];
  for (const size_t i : {0, 1, 7, 8}) WF_RETURN_IF_ERROR(IsI32(node, i));
  for (const size_t i : {1, 7}) WF_RETURN_IF_ERROR(HasShape(node, i, words));
  for (const size_t i : {5, 6}) WF_RETURN_IF_ERROR(HasShape(node, i, {n}, 2));
  for (const size_t i : {3, 4}) {
    if (node.has_in(i)) WF_RETURN_IF_ERROR(node.Rank(i, 2));
    if (node.has_in(i)) WF_RETURN_IF_ERROR(HasShape(node, i, {node.in(i).dim[0], n}, 2));
  }
  if (node.has_in(1) != node.has_in(4)) return node.Fail("segments without their table, or a table without segments");
  if (node.has_in(8) && !Same(node.in(8).dim, words) && !Same(node.in(8).dim, {Dim(1), words[1]}))
    return node.Fail(fmt::format("positions {} for {}", node.InType(8), node.InType(0)));
  const uint8_t dtype = node.in(2).dtype;
  node.out(0) = {dtype, {words[0], words[1], n}, {}};
  if (node.has_out(1)) node.out(1) = {WF_I32, {words[0]}, {}};
  if (node.has_out(2)) node.out(2) = {dtype, {words[0], words[1], n}, {}};
  return Status::Ok();
}

// Written as other nodes when a file is read (compound.h).
Status InferCompound(NodeContext& node) { return node.NotBuilt("it is not supported here"); }

Status InferAttention(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) WF_RETURN_IF_ERROR(node.Rank(i, i == 0 ? 3 : 2));
  WF_RETURN_IF_ERROR(LacksInputs(node, {6}));
  WF_RETURN_IF_ERROR(LacksAttributes(node, {"do_rotary", "past_present_share_buffer"}));
  const Shape &x = node.in(0).dim, &weights = node.in(1).dim;
  int64_t heads = 0;
  WF_RETURN_IF_ERROR(HeadsOf(node, "num_heads", 0, heads));
  if (Dim::ProvedDifferent(x[2], weights[0]) || !weights[1].is_constant())
    return node.Fail(fmt::format("weights {} for {}", node.InType(1), node.InType(0)));
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  WF_RETURN_IF_ERROR(HasShape(node, 2, {weights[1]}));
  const auto sizes = node.node.Ints("qkv_hidden_sizes");
  const int64_t all = *weights[1].constant(), v = sizes.empty() ? all / 3 : sizes.back(), q = (all - v) / 2;
  const bool fits = (sizes.empty() && all % 3 == 0) || (sizes.size() == 3 && sizes[0] == sizes[1] && sizes[0] == q && 2 * q + v == all);
  if (!fits || q % heads != 0 || v % heads != 0 || q < 1 || v < 1)
    return node.Fail(fmt::format("{} heads for weights {}", heads, node.InType(1)));
  Dim total = x[1];
  if (node.has_in(4) || node.has_out(1)) {
    if (q != v) return node.NotBuilt("a past of keys and values of different sizes");
    const Dim past = node.has_in(4) && node.rank(4) == 5 ? node.in(4).dim[3] : Dim(0);
    WF_RETURN_IF_ERROR(HasShape(node, 4, {Dim(2), x[0], Dim(heads), past, Dim(q / heads)}));
    total = past + x[1];
    Set(node, 1, {Dim(2), x[0], Dim(heads), total, Dim(q / heads)});
  }
  WF_RETURN_IF_ERROR(CheckMask(node, 3, x[0], x[1], total));
  WF_RETURN_IF_ERROR(CheckAdded(node, 5, {x[0], Dim(heads), x[1], total}));
  Set(node, 0, {x[0], x[1], Dim(v)});
  return Status::Ok();
}

Status InferMultiHeadAttention(NodeContext& node) {
  if (node.rank(0) != 3 || !node.has_in(1) || !node.has_in(2) || node.rank(1) > 4 || node.rank(1) < 3 || node.rank(2) != node.rank(1))
    return node.NotBuilt("a form other than query [b, s, n] with key and value of 3 or 4 axes is not supported");
  WF_RETURN_IF_ERROR(LacksInputs(node, {8, 9}));
  int64_t heads = 0;
  WF_RETURN_IF_ERROR(HeadsOf(node, "num_heads", 0, heads));
  const Shape &q = node.in(0).dim, &k = node.in(1).dim, &v = node.in(2).dim;
  const bool heads_first = k.size() == 4;
  Dim size, v_size = v.back();
  WF_RETURN_IF_ERROR(SizeOfHead(node, q[2], heads, size));
  if (!heads_first) WF_RETURN_IF_ERROR(SizeOfHead(node, v[2], heads, v_size));
  if (!v_size.is_constant()) return node.NotBuilt("rows whose extent is not constant are not supported");
  const Dim length = k[heads_first ? 2 : 1], width = Dim(heads) * size, v_width = Dim(heads) * v_size;
  WF_RETURN_IF_ERROR(HasShape(node, 1, heads_first ? Shape{q[0], Dim(heads), length, size} : Shape{q[0], length, width}));
  WF_RETURN_IF_ERROR(HasShape(node, 2, heads_first ? Shape{q[0], Dim(heads), length, v_size} : Shape{q[0], length, v_width}));
  WF_RETURN_IF_ERROR(HasShape(node, 3, {width + width + v_width}));
  const Dim past = node.has_in(6) && node.rank(6) == 4 ? node.in(6).dim[2] : Dim(0), total = past + length;
  WF_RETURN_IF_ERROR(HasShape(node, 6, {q[0], Dim(heads), past, size}));
  WF_RETURN_IF_ERROR(HasShape(node, 7, {q[0], Dim(heads), past, v_size}));
  if (node.has_in(6) != node.has_in(7)) return node.Fail("past keys without past values");
  WF_RETURN_IF_ERROR(CheckMask(node, 4, q[0], q[1], total));
  WF_RETURN_IF_ERROR(CheckAdded(node, 5, {q[0], Dim(heads), q[1], total}));
  Set(node, 0, {q[0], q[1], v_width});
  Set(node, 1, {q[0], Dim(heads), total, size});
  Set(node, 2, {q[0], Dim(heads), total, v_size});
  return Status::Ok();
}

Status InferGroupQueryAttention(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 3));
  WF_RETURN_IF_ERROR(LacksAttributes(node, {"qk_output"}));
  if (!node.has_in(5) || !node.has_in(6)) return node.Fail("lengths and their total are required");
  int64_t heads = 0, kv_heads = 0;
  WF_RETURN_IF_ERROR(HeadsOf(node, "num_heads", 0, heads));
  WF_RETURN_IF_ERROR(HeadsOf(node, "kv_num_heads", 0, kv_heads));
  if (heads % kv_heads != 0) return node.Fail(fmt::format("{} heads beside {} of keys", heads, kv_heads));
  const Shape& q = node.in(0).dim;
  const bool packed = !node.has_in(1);
  Dim size;
  WF_RETURN_IF_ERROR(SizeOfHead(node, q[2], packed ? heads + 2 * kv_heads : heads, size));
  if (packed != !node.has_in(2)) return node.Fail("keys without values");
  for (const size_t i : {1, 2}) WF_RETURN_IF_ERROR(HasShape(node, i, {q[0], q[1], Dim(kv_heads) * size}));
  for (const size_t i : {5, 6}) WF_RETURN_IF_ERROR(IsI32(node, i));
  if (node.rank(5) > 2 || Dim::ProvedDifferent(Product(node.in(5).dim), q[0]))
    return node.Fail(fmt::format("lengths {} for {}", node.InType(5), node.InType(0)));
  const Dim past = node.has_in(3) && node.rank(3) == 4 ? node.in(3).dim[2] : Dim(0);
  for (const size_t i : {3, 4}) WF_RETURN_IF_ERROR(HasShape(node, i, {q[0], Dim(kv_heads), past, size}));
  if (node.has_in(3) != node.has_in(4)) return node.Fail("past keys without past values");
  if (node.has_in(9) && (node.in(9).dtype != WF_I64 || !Same(node.in(9).dim, {q[0], q[1]})))
    return node.Fail(fmt::format("positions {} for {}", node.InType(9), node.InType(0)));
  if (node.has_in(10)) WF_RETURN_IF_ERROR(node.Rank(10, 4));
  if (node.has_in(10)) WF_RETURN_IF_ERROR(CheckAdded(node, 10, {q[0], Dim(heads), q[1], node.in(10).dim[3]}));
  WF_RETURN_IF_ERROR(HasShape(node, 11, {Dim(heads)}));
  const bool rotates = node.node.Int("do_rotary", 0) != 0;
  for (const size_t i : {7, 8}) {
    if (rotates != node.has_in(i)) return node.Fail("do_rotary and its cosines and sines belong together");
    if (rotates) WF_RETURN_IF_ERROR(node.Rank(i, 2));
    if (!rotates) continue;
    WF_RETURN_IF_ERROR(HasShape(node, i, node.in(7).dim));
    const auto turned = node.in(i).dim[1].constant();
    if (!turned || 2 * *turned > *size.constant())
      return node.Fail(fmt::format("cosines {} for heads of {}", node.InType(i), *size.constant()));
  }
  Dim total = node.unknown.Next();
  if (const auto given = node.Numbers(6); given && given->size() == 1 && past.is_constant())
    total = std::max(given->front(), *past.constant());
  Set(node, 0, {q[0], q[1], Dim(heads) * size});
  for (const size_t i : {1, 2}) Set(node, i, {q[0], Dim(kv_heads), total, size});
  return Status::Ok();
}

Status InferRotaryEmbedding(NodeContext& node) {
  WF_RETURN_IF_ERROR(LacksAttributes(node, {"is_packed_batching"}));
  if (node.node.Float("scale", 1) != 1) return node.NotBuilt("a scale is not supported");
  const Shape& x = node.in(0).dim;
  if (x.size() != 3 && x.size() != 4) return node.Fail(fmt::format("input {} has neither 3 nor 4 axes", node.InType(0)));
  if (node.in(1).dtype != WF_I64) return node.Fail(fmt::format("positions {}, wanted i64", node.InType(1)));
  const Dim& s = x[x.size() == 4 ? 2 : 1];
  if (node.in(1).dim != Shape{Dim(1)} && !Same(node.in(1).dim, {x[0], s}))
    return node.Fail(fmt::format("positions {} for {}", node.InType(1), node.InType(0)));
  for (const size_t i : {2, 3}) WF_RETURN_IF_ERROR(node.Rank(i, 2));
  for (const size_t i : {2, 3}) WF_RETURN_IF_ERROR(HasShape(node, i, node.in(2).dim));
  const auto half = node.in(2).dim[1].constant();
  if (!half || *half < 1) return node.NotBuilt(fmt::format("cosines {} are not supported", node.InType(2)));
  Dim size = x.back();
  if (x.size() == 3) {
    int64_t heads = node.node.Int("num_heads", 0);
    if (heads == 0 && x[2].is_constant()) heads = *x[2].constant() / (2 * *half);  // the whole of each head is turned
    if (heads < 1) return node.Fail(fmt::format("cosines {} for {}", node.InType(2), node.InType(0)));
    WF_RETURN_IF_ERROR(SizeOfHead(node, x[2], heads, size));
  }
  if (size.constant().value_or(0) < 2 * *half) return node.Fail(fmt::format("cosines {} for heads of {}", node.InType(2), size.ToString()));
  return InferSame(node);
}

Status InferMatMulNBits(NodeContext& node) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const int64_t k = node.node.Int("K", 0), n = node.node.Int("N", 0), bits = node.node.Int("bits", 4),
                block = node.node.Int("block_size", 0);
  if (k < 1 || k > kMost || n < 1 || n > kMost || block < 16 || block > 4096 || (block & (block - 1)) != 0)
    return node.Fail(fmt::format("K {}, N {}, block_size {}", k, n, block));
  if (bits != 2 && bits != 4 && bits != 8) return node.NotBuilt(fmt::format("{} bits are not supported", bits));
  if (node.rank(0) == 0 || Dim::ProvedDifferent(node.in(0).dim.back(), k))
    return node.Fail(fmt::format("input {} for K {}", node.InType(0), k));
  const int64_t blocks = (k + block - 1) / block, zero_bytes = (blocks * bits + 7) / 8;
  if (node.in(1).dtype != WF_U8 || !Same(node.in(1).dim, {Dim(n), Dim(blocks), Dim(block * bits / 8)}))
    return node.Fail(fmt::format("weights {}, wanted u8[{}, {}, {}]", node.InType(1), n, blocks, block * bits / 8));
  WF_RETURN_IF_ERROR(node.SameType(0, 2));
  if (Dim::ProvedDifferent(Product(node.in(2).dim), Dim(n) * Dim(blocks))) return node.Fail(fmt::format("scales {}", node.InType(2)));
  if (node.has_in(3)) {
    const bool packed = node.in(3).dtype == WF_U8;
    if (!packed) WF_RETURN_IF_ERROR(node.SameType(0, 3));
    if (Dim::ProvedDifferent(Product(node.in(3).dim), Dim(n) * Dim(packed ? zero_bytes : blocks)))
      return node.Fail(fmt::format("zero points {}", node.InType(3)));
  }
  WF_RETURN_IF_ERROR(IsI32(node, 4));
  if (node.has_in(4) && !Same(node.in(4).dim, {Dim(k)}) && !Same(node.in(4).dim, {Dim(blocks * block)}))
    return node.Fail(fmt::format("groups {}, wanted i32[{}]", node.InType(4), k));
  WF_RETURN_IF_ERROR(HasShape(node, 5, {Dim(n)}));
  Shape out = node.in(0).dim;
  out.back() = n;
  Set(node, 0, std::move(out));
  return Status::Ok();
}

Status InferMatMulBnb4(NodeContext& node) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const int64_t k = node.node.Int("K", 0), n = node.node.Int("N", 0), block = node.node.Int("block_size", 0),
                type = node.node.Int("quant_type", -1);
  if (k < 1 || k > kMost || n < 1 || n > kMost || block < 16 || block > 4096 || (block & (block - 1)) != 0)
    return node.Fail(fmt::format("K {}, N {}, block_size {}", k, n, block));
  if (type != 0 && type != 1) return node.NotBuilt(fmt::format("quant_type {} is not supported", type));
  if (node.rank(0) == 0 || Dim::ProvedDifferent(node.in(0).dim.back(), k))
    return node.Fail(fmt::format("input {} for K {}", node.InType(0), k));
  if (node.in(1).dtype != WF_U8 || Dim::ProvedDifferent(Product(node.in(1).dim), (n * k + 1) / 2))
    return node.Fail(fmt::format("weights {}, wanted u8[{}]", node.InType(1), (n * k + 1) / 2));
  WF_RETURN_IF_ERROR(node.SameType(0, 2));
  if (Dim::ProvedDifferent(Product(node.in(2).dim), (n * k + block - 1) / block))
    return node.Fail(fmt::format("scales {}", node.InType(2)));
  Shape out = node.in(0).dim;
  out.back() = n;
  Set(node, 0, std::move(out));
  return Status::Ok();
}

}  // namespace wf::onnx
