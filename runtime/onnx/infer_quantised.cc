// Shape rules of operators on integers that stand for other numbers by a scale and a zero point.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

bool IsOne(const Shape& dim) { return dim.size() < 2 && !Dim::ProvedDifferent(Product(dim), 1) && Product(dim).is_constant(); }

bool Differ(const Shape& a, const Shape& b) {
  bool differ = a.size() != b.size();
  for (size_t i = 0; !differ && i < a.size(); ++i) differ = Dim::ProvedDifferent(a[i], b[i]);
  return differ;
}

bool IsByte(uint8_t dtype) { return dtype == WF_I8 || dtype == WF_U8; }

Status WantByte(const NodeContext& node, size_t i) {
  return IsByte(node.in(i).dtype) ? Status::Ok() : node.Fail(fmt::format("input {} is {}, wanted i8 or u8", i, node.InType(i)));
}

Status WantScale(const NodeContext& node, size_t i) {
  const uint8_t dtype = node.in(i).dtype;
  const bool fits = dtype == WF_F32 || dtype == WF_F16 || dtype == WF_BF16;
  return fits ? Status::Ok() : node.Fail(fmt::format("scale {}, wanted f32, f16 or bf16", node.InType(i)));
}

// A parameter of the axis at `from_end` of input `of`: one for all, one for each index, or the other axes of that input beside it, too.
Status WantAlong(const NodeContext& node, size_t i, size_t of, size_t from_end) {
  const Shape &dim = node.in(i).dim, &whole = node.in(of).dim;
  if (IsOne(dim)) return Status::Ok();
  bool fits = false;
  if (dim.size() == 1) {
    fits = whole.size() >= from_end && !Dim::ProvedDifferent(dim[0], whole[whole.size() - from_end]);
  } else if (dim.size() == whole.size() && dim.size() >= 2) {
    fits = true;
    for (size_t axis = 0; axis < dim.size(); ++axis) {
      const bool summed = axis + 3 - from_end == dim.size();  // the axis that the product sums over
      const bool one = axis + 2 < dim.size() && dim[axis] == Dim(1);
      fits = fits && (one || !Dim::ProvedDifferent(dim[axis], summed ? Dim(1) : whole[axis]));
    }
  }
  return fits ? Status::Ok() : node.Fail(fmt::format("input {} is {}, which does not go along {}", i, node.InType(i), node.InType(of)));
}

Status WantOne(const NodeContext& node, size_t i) {
  return Dim::ProvedDifferent(Product(node.in(i).dim), 1) ? node.Fail(fmt::format("input {} is {}, wanted a scalar", i, node.InType(i)))
                                                          : Status::Ok();
}

// Input i, if it is there, has the type of input `of`.
Status WantZeroOf(const NodeContext& node, size_t i, size_t of) { return node.has_in(i) ? node.SameType(of, i) : Status::Ok(); }

// Types of x, w and y and their parameters in the order of QLinearConv and QLinearMatMul.
Status CheckScaled(NodeContext& node) {
  for (const size_t i : {0, 3, 7}) WF_RETURN_IF_ERROR(WantByte(node, static_cast<size_t>(i)));
  for (const size_t i : {1, 4, 6}) WF_RETURN_IF_ERROR(WantScale(node, static_cast<size_t>(i)));
  WF_RETURN_IF_ERROR(node.SameType(0, 2));
  WF_RETURN_IF_ERROR(node.SameType(3, 5));
  WF_RETURN_IF_ERROR(WantOne(node, 6));
  return WantOne(node, 7);
}

// A parameter of the weights of a convolution: one for all or one for each filter.
Status WantFilters(const NodeContext& node, size_t i, size_t weights) {
  const Shape& dim = node.in(i).dim;
  const bool fits = IsOne(dim) || (dim.size() == 1 && !Dim::ProvedDifferent(dim[0], node.in(weights).dim[0]));
  return fits ? Status::Ok() : node.Fail(fmt::format("input {} is {} for weights {}", i, node.InType(i), node.InType(weights)));
}

}  // namespace

Status ReadScaling(const NodeContext& node, Scaling& scaling) {
  const Shape &x = node.in(0).dim, &scale = node.in(1).dim;
  const int64_t block = node.node.Int("block_size", 0);
  scaling = {};
  if (block < 0 || block > INT32_MAX) return node.Fail(fmt::format("block_size {}", block));
  if (!IsOne(scale)) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 1), x.size(), axis));
    Shape wanted = {x[axis]};
    if (block > 0) {
      wanted = x;
      wanted[axis] = Dim::FloorDiv(x[axis] + (block - 1), Dim(block));
    }
    if (Differ(scale, wanted))
      return node.Fail(fmt::format("scale {} for axis {} of {}{}", node.InType(1), axis, node.InType(0),
                                   block > 0 ? fmt::format(" in blocks of {}", block) : ""));
    scaling = {static_cast<int64_t>(axis), block};
  }
  const bool same = !node.has_in(2) || (scaling.axis < 0 ? IsOne(node.in(2).dim) : !Differ(node.in(2).dim, scale));
  return same ? Status::Ok() : node.Fail(fmt::format("zero point {} beside scale {}", node.InType(2), node.InType(1)));
}

Status InferQuantizeLinear(NodeContext& node) {
  const Attribute* given = node.node.Find("output_dtype");
  const bool is_given = given != nullptr && given->i != 0;
  uint8_t dtype = is_given && given->i > 0 && given->i < 64 ? DTypeOf(static_cast<int>(given->i)) : 0;
  if (node.has_in(2)) {
    if (is_given && dtype != node.in(2).dtype) return node.Fail(fmt::format("output_dtype {} and zero point {}", given->i, node.InType(2)));
    dtype = node.in(2).dtype;
  } else if (!is_given) {
    dtype = WF_U8;
  }
  if (!IsByte(dtype) && dtype != WF_I16 && dtype != WF_U16 && !IsNarrow(dtype)) {
    return node.NotBuilt(fmt::format("a result of {}; i8, u8, i16, u16 and what has fewer bits are supported",
                                     dtype == 0 ? "another type" : TypeName(dtype)));
  }
  if (node.node.Int("precision", 0) > 1) return node.NotBuilt("a `precision` other than that of f32 is not supported");
  const uint8_t from = node.in(0).dtype;
  if (from != WF_I32 && (!IsFloat(from) || from == WF_F64)) return node.NotBuilt(fmt::format("{} to quantise", node.InType(0)));
  WF_RETURN_IF_ERROR(WantScale(node, 1));
  Scaling scaling;
  WF_RETURN_IF_ERROR(ReadScaling(node, scaling));
  node.out(0).dtype = dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

Status InferDequantizeLinear(NodeContext& node) {
  const uint8_t from = node.in(0).dtype;
  if (!IsByte(from) && from != WF_I16 && from != WF_U16 && from != WF_I32 && !IsNarrow(from))
    return node.NotBuilt(fmt::format("{} as quantised numbers", node.InType(0)));
  WF_RETURN_IF_ERROR(WantScale(node, 1));
  WF_RETURN_IF_ERROR(WantZeroOf(node, 2, 0));
  Scaling scaling;
  WF_RETURN_IF_ERROR(ReadScaling(node, scaling));
  node.out(0).dtype = node.in(1).dtype;
  if (const int64_t given = node.node.Int("output_dtype", 0); given != 0 && DTypeOf(static_cast<int>(given)) != node.in(1).dtype)
    return node.NotBuilt(fmt::format("a result of another type than that of the scale, {}, is not supported", TypeName(node.in(1).dtype)));
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

// Elements of 4 bits in u8 lie two in a byte, and so do their zero points.
Status InferGatherBlockQuantized(NodeContext& node) {
  const uint8_t from = node.in(0).dtype;
  const int64_t bits = node.node.Int("bits", 4), block = node.node.Int("block_size", 128);
  const base::Narrow narrow = NarrowOf(from);
  if (from != WF_U8 && narrow != base::Narrow::kU4 && narrow != base::Narrow::kI4)
    return node.NotBuilt(fmt::format("{} as quantised numbers", node.InType(0)));
  if (bits != 4 && (bits != 8 || from != WF_U8)) return node.NotBuilt(fmt::format("{} bits in {} are not supported", bits, node.InType(0)));
  if (block < 16 || block > (1 << 20) || (block & (block - 1)) != 0) return node.Fail(fmt::format("block_size {}", block));
  WF_RETURN_IF_ERROR(WantScale(node, 2));
  WF_RETURN_IF_ERROR(WantZeroOf(node, 3, 0));
  const bool is_packed = from == WF_U8 && bits == 4;
  size_t axis = 0, block_axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("gather_axis", 0), node.rank(0), axis));
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("quantize_axis", 1), node.rank(0), block_axis));
  if (axis == block_axis || (from == WF_U8 && (axis != 0 || block_axis + 1 != node.rank(0))))
    return node.NotBuilt(fmt::format("taken along axis {} and in blocks along {}, {}, is not supported", axis, block_axis, node.InType(0)));
  Shape whole = node.in(0).dim, taken = node.in(1).dim;
  if (is_packed) whole.back() = Dim(2) * whole.back();
  Shape scales = whole;
  scales[block_axis] = Dim::FloorDiv(whole[block_axis] + Dim(block - 1), Dim(block));
  if (Differ(node.in(2).dim, scales))
    return node.Fail(fmt::format("scale {} for {} in blocks of {}", node.InType(2), node.InType(0), block));
  if (is_packed) scales.back() = Dim::FloorDiv(scales.back() + Dim(1), Dim(2));
  if (node.has_in(3) && Differ(node.in(3).dim, scales))
    return node.Fail(fmt::format("zero point {} beside scale {}", node.InType(3), node.InType(2)));
  if (node.in(1).dtype != WF_I32 && node.in(1).dtype != WF_I64) return node.Fail(fmt::format("indices {}", node.InType(1)));
  node.out(0).dtype = node.in(2).dtype;
  Shape& out = node.out(0).dim;
  out.assign(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(axis));
  out.insert(out.end(), taken.begin(), taken.end());
  out.insert(out.end(), whole.begin() + static_cast<ptrdiff_t>(axis) + 1, whole.end());
  return out.size() <= WF_MAX_RANK ? Status::Ok() : node.NotBuilt(fmt::format("a result of {} axes", out.size()));
}

Status InferDynamicQuantizeLinear(NodeContext& node) {
  if (node.in(0).dtype != WF_F32) return node.Fail(fmt::format("{} to quantise, wanted f32", node.InType(0)));
  node.out(0).dtype = WF_U8;
  node.out(0).dim = node.in(0).dim;
  if (node.has_out(1)) node.out(1).dtype = WF_F32;
  if (node.has_out(2)) node.out(2).dtype = WF_U8;
  return Status::Ok();
}

Status InferMatMulInteger(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) {
    WF_RETURN_IF_ERROR(WantByte(node, i));
    WF_RETURN_IF_ERROR(WantZeroOf(node, 2 + i, i));
    if (node.has_in(2 + i)) WF_RETURN_IF_ERROR(WantAlong(node, 2 + i, i, i == 0 ? 2 : 1));
  }
  WF_RETURN_IF_ERROR(MultipliedShape(node, node.in(0).dim, node.in(1).dim));
  node.out(0).dtype = WF_I32;
  return Status::Ok();
}

// Inputs a, b, their scales, their zero points, a bias.
Status InferMatMulIntegerToFloat(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) {
    WF_RETURN_IF_ERROR(WantByte(node, i));
    if (node.in(2 + i).dtype != WF_F32) return node.Fail(fmt::format("scale {}, wanted f32", node.InType(2 + i)));
    WF_RETURN_IF_ERROR(WantAlong(node, 2 + i, i, i == 0 ? 2 : 1));
    WF_RETURN_IF_ERROR(WantZeroOf(node, 4 + i, i));
    if (node.has_in(4 + i)) WF_RETURN_IF_ERROR(WantAlong(node, 4 + i, i, i == 0 ? 2 : 1));
  }
  WF_RETURN_IF_ERROR(MultipliedShape(node, node.in(0).dim, node.in(1).dim));
  node.out(0).dtype = WF_F32;
  if (!node.has_in(6)) return Status::Ok();
  const Known& bias = node.in(6);
  const Shape& out = node.out(0).dim;
  const bool fits = bias.dtype == WF_F32 && bias.dim.size() == 1 && !out.empty() && !Dim::ProvedDifferent(bias.dim[0], out.back());
  return fits ? Status::Ok() : node.Fail(fmt::format("bias {} for weights {}", node.InType(6), node.InType(1)));
}

Status InferQLinearMatMul(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckScaled(node));
  for (const size_t i : {1, 2}) WF_RETURN_IF_ERROR(WantAlong(node, static_cast<size_t>(i), 0, 2));
  for (const size_t i : {4, 5}) WF_RETURN_IF_ERROR(WantAlong(node, static_cast<size_t>(i), 3, 1));
  WF_RETURN_IF_ERROR(MultipliedShape(node, node.in(0).dim, node.in(3).dim));
  node.out(0).dtype = node.in(7).dtype;
  return Status::Ok();
}

Status InferConvInteger(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) {
    WF_RETURN_IF_ERROR(WantByte(node, i));
    WF_RETURN_IF_ERROR(WantZeroOf(node, 2 + i, i));
  }
  WF_RETURN_IF_ERROR(ConvShape(node, 1, SIZE_MAX));
  if (node.has_in(2)) WF_RETURN_IF_ERROR(WantOne(node, 2));
  if (node.has_in(3)) WF_RETURN_IF_ERROR(WantFilters(node, 3, 1));
  node.out(0).dtype = WF_I32;
  return Status::Ok();
}

// Sums and products in the order a, b, y, each with scale and zero point.
Status InferQLinearBinary(NodeContext& node) {
  for (const size_t i : {0, 3}) WF_RETURN_IF_ERROR(WantByte(node, static_cast<size_t>(i)));
  WF_RETURN_IF_ERROR(node.SameType(0, 3));
  for (const size_t i : {1, 4, 6}) {
    WF_RETURN_IF_ERROR(WantScale(node, static_cast<size_t>(i)));
    WF_RETURN_IF_ERROR(WantOne(node, static_cast<size_t>(i)));
  }
  for (const size_t i : {2, 5, 7}) {
    WF_RETURN_IF_ERROR(WantZeroOf(node, static_cast<size_t>(i), 0));
    if (node.has_in(static_cast<size_t>(i))) WF_RETURN_IF_ERROR(WantOne(node, static_cast<size_t>(i)));
  }
  auto shape = BroadcastShape(node.in(0).dim, node.in(3).dim, node.unknown);
  if (!shape) return node.Fail(fmt::format("inputs {} and {} do not broadcast", node.InType(0), node.InType(3)));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = *std::move(shape);
  return Status::Ok();
}

Status InferQLinearConv(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckScaled(node));
  if (node.has_in(8) && node.in(8).dtype != WF_I32) return node.Fail(fmt::format("bias {}, wanted i32", node.InType(8)));
  WF_RETURN_IF_ERROR(ConvShape(node, 3, 8));
  for (const size_t i : {1, 2}) WF_RETURN_IF_ERROR(WantOne(node, static_cast<size_t>(i)));
  for (const size_t i : {4, 5}) WF_RETURN_IF_ERROR(WantFilters(node, static_cast<size_t>(i), 3));
  node.out(0).dtype = node.in(7).dtype;
  return Status::Ok();
}

}  // namespace wf::onnx
