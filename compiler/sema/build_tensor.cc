#include <algorithm>

#include "compiler/sema/build_body.h"
#include "runtime/base/check.h"

// Tensors: elementwise operations, slices, builds, reductions.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

// The checker has proved or planted a check that axes agree, so any operand whose axis is not 1 gives the extent; a static one is best.
std::vector<ValueId> BodyWriter::BroadcastExtents(const std::vector<ValueId>& operands) {
  size_t rank = 0;
  for (const ValueId operand : operands) rank = std::max(rank, b_.Known(operand).dims.size());
  std::vector<ValueId> extents;
  for (size_t axis = 0; axis < rank; ++axis) {
    ValueId extent = ValueId::kNone;
    for (const ValueId operand : operands) {
      const std::vector<int64_t>& dims = b_.Known(operand).dims;
      if (axis + dims.size() < rank) continue;
      const size_t own = axis + dims.size() - rank;
      const bool is_better = extent == ValueId::kNone || b_.IsConstant(extent, 1) || (dims[own] > 1 && !b_.IsConstant(extent));
      if (is_better) extent = b_.Dim(operand, own);
    }
    extents.push_back(extent);
  }
  return extents;
}

ValueId BodyWriter::LoadBroadcast(ValueId operand, const Indices& indices) {
  const std::vector<int64_t> dims = b_.Known(operand).dims;
  Indices own(indices.end() - static_cast<ptrdiff_t>(dims.size()), indices.end());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) own[axis] = b_.I64(0);
  }
  return b_.Load(operand, std::move(own));
}

ValueId BodyWriter::WriteIndex(const Expr& expr) {
  const ValueId tensor = Write(*expr.args[0]);
  if (tensor == ValueId::kNone) return Zero(TypeOf(expr.type));
  const bool is_slice = std::any_of(expr.subscripts.begin(), expr.subscripts.end(), [](const Subscript& s) { return s.is_slice; });
  if (is_slice || expr.subscripts.size() < b_.Known(tensor).dims.size()) return Slice(expr, tensor);
  Indices indices;
  for (size_t axis = 0; axis < expr.subscripts.size(); ++axis) {
    indices.push_back(b_.CheckIndex(ToI64(Write(*expr.subscripts[axis].first)), b_.Dim(tensor, axis)));
  }
  return b_.Load(tensor, std::move(indices));
}

// x[a:b, :, i]; axes without a subscript are kept whole. 0 <= a <= b <= extent is checked where it is not known.
ValueId BodyWriter::Slice(const Expr& expr, ValueId tensor) {
  const size_t rank = b_.Known(tensor).dims.size();
  std::vector<ValueId> extents, starts;  // starts: per axis of the tensor; the index itself where there is no slice
  std::vector<bool> is_kept;
  for (size_t axis = 0; axis < rank; ++axis) {
    const ValueId extent = b_.Dim(tensor, axis);
    const Subscript* const subscript = axis < expr.subscripts.size() ? &expr.subscripts[axis] : nullptr;
    is_kept.push_back(subscript == nullptr || subscript->is_slice);
    if (!is_kept.back()) {
      starts.push_back(b_.CheckIndex(ToI64(Write(*subscript->first)), extent));
      continue;
    }
    ValueId first = subscript != nullptr && subscript->first ? ToI64(Write(*subscript->first)) : b_.I64(0);
    ValueId last = subscript != nullptr && subscript->last ? ToI64(Write(*subscript->last)) : extent;
    const ValueId below = b_.Binary(OpKind::kLt, first, b_.I64(0)), crossed = b_.Binary(OpKind::kLt, last, first);
    const ValueId beyond = b_.Binary(OpKind::kLt, extent, last);
    if (!(IsNatural(first) && b_.IsConstant(first, 0))) b_.StickyIf(b_.Binary(OpKind::kOr, below, crossed), 7001);
    if (last != extent) b_.StickyIf(b_.Binary(OpKind::kOr, beyond, crossed), 7001);
    const bool is_plain = b_.IsConstant(first, 0) && last == extent;
    if (!is_plain && !(b_.IsConstant(first) && b_.IsConstant(last) && b_.IsConstant(extent))) {
      first = b_.Binary(OpKind::kMin, b_.Binary(OpKind::kMax, first, b_.I64(0)), extent);
      last = b_.Binary(OpKind::kMin, b_.Binary(OpKind::kMax, last, first), extent);
    }
    extents.push_back(b_.Sub(last, first));
    starts.push_back(first);
  }
  for (ValueId& extent : extents) extent = Extent(extent);
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  Indices indices;
  for (size_t axis = 0, kept = 0; axis < rank; ++axis) {
    indices.push_back(is_kept[axis] ? b_.Add(b_.Param(kept), starts[axis]) : starts[axis]);
    kept += is_kept[axis];
  }
  b_.Close(b_.Load(tensor, std::move(indices)));
  return b_.Build(b_.DTypeOf(tensor), std::move(extents), block);
}

ValueId BodyWriter::WriteBuild(const Expr& expr) {
  std::vector<ValueId> extents;
  for (const ExprPtr& extent : expr.extents) extents.push_back(Extent(ToI64(Write(*extent))));
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  for (size_t axis = 0; axis < extents.size(); ++axis) Bind(expr.index_locals[axis], b_.Param(axis));
  ++tensor_depth_;
  const ValueId element = Write(*expr.args[0]);
  --tensor_depth_;
  b_.Close(element);
  return b_.Build(b_.DTypeOf(element), std::move(extents), block);
}

ValueId BodyWriter::WriteReduce(const Expr& expr) {
  const ValueId extent = Extent(ToI64(Write(*expr.extents[0])));
  if (expr.reduce == ir::ReduceKind::kMin || expr.reduce == ir::ReduceKind::kMax) {
    b_.StickyIf(b_.Binary(OpKind::kEq, extent, b_.I64(0)), 7005);
  }
  const ir::BlockId block = b_.Open(Integers(1));
  Bind(expr.index_locals[0], b_.Param(0));
  ++tensor_depth_;
  const ValueId element = Write(*expr.args[0]);
  --tensor_depth_;
  b_.Close(element);
  return b_.Reduce(expr.reduce, expr.type->dtype, extent, block);
}

ValueId BodyWriter::WriteReshape(const Expr& expr, ValueId tensor) {
  std::vector<ValueId> extents;
  for (const Dim& dim : expr.type->dims) {
    const std::optional<ValueId> extent = DimIn(dim, frame_);
    WF_CHECK(extent.has_value(), dim.ToString());
    extents.push_back(Extent(*extent));
  }
  ValueId wanted = b_.I64(1), found = b_.I64(1);
  for (const ValueId extent : extents) wanted = b_.Mul(wanted, extent);
  for (size_t axis = 0; axis < b_.Known(tensor).dims.size(); ++axis) found = b_.Mul(found, b_.Dim(tensor, axis));
  const ValueId differ = b_.Binary(OpKind::kNe, wanted, found);
  if (!b_.IsConstant(differ, 0)) {  // sema proves most; what is left stops the node before the memory is read
    const ir::BlockId message = b_.Open({});
    b_.Close(b_.Emit(OpKind::kText, b_.types().String(), {found, wanted}, ir::AddText(c_.out, "{} elements cannot take a shape of {}")));
    b_.FailIf(differ, 7004, message);
  }
  return b_.Reshape(tensor, std::move(extents));
}

bool BodyWriter::IsNatural(ValueId value) const {
  const ir::Op& op = b_.body()[value];
  switch (op.kind) {
    case OpKind::kScalar:
      return static_cast<int64_t>(op.imm) >= 0;
    case OpKind::kDim:
    case OpKind::kListLen:
    case OpKind::kStringLen:
      return true;
    case OpKind::kMax:
      return IsNatural(op.args[0]) || IsNatural(op.args[1]);
    case OpKind::kMin:
    case OpKind::kMul:  // may wrap, but then the tensor would not fit in memory
      return IsNatural(op.args[0]) && IsNatural(op.args[1]);
    case OpKind::kAdd:
      return IsNatural(op.args[0]) && IsNatural(op.args[1]) && b_.IsConstant(op.args[1]);
    case OpKind::kDiv:
      return IsNatural(op.args[0]) && b_.IsConstant(op.args[1]) && IsNatural(op.args[1]);
    default:
      return false;
  }
}

ValueId BodyWriter::Extent(ValueId value) {
  if (IsNatural(value) && b_.body()[value].kind != OpKind::kMul) return value;
  b_.StickyIf(b_.Binary(OpKind::kLt, value, b_.I64(0)), 7004);
  return b_.Binary(OpKind::kMax, value, b_.I64(0));
}

}  // namespace wf::sema
