#include <algorithm>

#include "compiler/sema/build_body.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/abi/dtype.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

// Tensors: elementwise operations, slices, builds, reductions.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {
bool IsOne(TypeRef type, size_t axis) {
  return type->kind == TypeKind::kTensor && axis < type->dims.size() && type->dims[axis].constant() == 1;
}
}  // namespace

// The checker has proved or planted a check that axes agree, so any operand whose axis is not 1 gives the extent; a static one is best.
// What is 1 by its type was compared with that, and may be known here as any extent.
std::vector<ValueId> BodyWriter::BroadcastExtents(const std::vector<ValueId>& operands, const std::vector<TypeRef>& types) {
  size_t rank = 0;
  for (const ValueId operand : operands) rank = std::max(rank, b_.Known(operand).dims.size());
  std::vector<ValueId> extents;
  for (size_t axis = 0; axis < rank; ++axis) {
    ValueId extent = ValueId::kNone;
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<int64_t>& dims = b_.Known(operands[i]).dims;
      if (axis + dims.size() < rank) continue;
      const size_t own = axis + dims.size() - rank;
      const bool is_one = IsOne(types[i], own);
      if (is_one && extent != ValueId::kNone) continue;
      const bool is_better = extent == ValueId::kNone || b_.IsConstant(extent, 1) || (dims[own] > 1 && !b_.IsConstant(extent));
      if (is_better) extent = is_one ? b_.I64(1) : b_.Dim(operands[i], own);
    }
    extents.push_back(extent);
  }
  return extents;
}

ValueId BodyWriter::LoadBroadcast(ValueId operand, TypeRef type, const Indices& indices) {
  const std::vector<int64_t> dims = b_.Known(operand).dims;
  const bool is_doubtful = elements_.is_refused || elements_.may_be_long || (elements_.may_be_short && !IsReady(operand));
  Indices own(indices.end() - static_cast<ptrdiff_t>(dims.size()), indices.end());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1 || IsOne(type, axis)) own[axis] = b_.I64(0);
    if (is_doubtful && dims[axis] != 1) own[axis] = b_.Binary(OpKind::kIndexOrZero, own[axis], b_.Dim(operand, axis));
  }
  return b_.Load(operand, std::move(own));
}

namespace {

ValueId IsBeyondMemory(ir::Builder& b, const ir::Counters& counters, const std::vector<ValueId>& extents) {
  ValueId beyond = b.Bool(false);
  for (const ValueId extent : extents) {
    if (ir::BoundsOf(b, counters, extent).most <= abi::kMostExtent) continue;
    beyond = b.Binary(OpKind::kOr, beyond, b.Binary(OpKind::kLt, b.I64(abi::kMostExtent), extent));
  }
  return beyond;
}

bool Divides(const Dim& dim) {
  const std::vector<Dim::Term> terms = dim.terms();
  return std::any_of(terms.begin(), terms.end(), [](const Dim::Term& term) {
    return std::any_of(term.atoms.begin(), term.atoms.end(), [](const Dim::Atom& atom) { return !atom.division.empty(); });
  });
}

}  // namespace

bool BodyWriter::IsReady(ValueId value) const {
  const ir::Op* op = &b_.body()[value];
  while (op->kind == OpKind::kField) op = &b_.body()[op->args[0]];
  return op->kind == OpKind::kSlot;
}

// What an axis has by its type, so that an index that runs over the same symbols is known to fit. Only of values that are ready: those have
// the shape that their type says, others may be of a loop that goes on with what a check refused. A division may bring a check of its own.
ValueId BodyWriter::AxisExtent(ValueId tensor, TypeRef type, size_t axis) {
  const ValueId own = b_.Dim(tensor, axis);
  if (elements_.is_refused || b_.IsConstant(own) || !IsReady(tensor) || Divides(type->dims[axis])) return own;
  return DimAtHand(type->dims[axis]).value_or(own);
}

ValueId BodyWriter::WriteI64(const Expr& expr) {
  const ValueId value = Write(expr);
  return value == ValueId::kNone ? b_.I64(0) : ToI64(value);
}

ValueId BodyWriter::WriteIndex(const Expr& expr) {
  const ValueId tensor = Write(*expr.args[0]);
  if (tensor == ValueId::kNone) return b_.Zero(TypeOf(expr.type));
  const bool is_slice = std::any_of(expr.subscripts.begin(), expr.subscripts.end(), [](const Subscript& s) { return s.is_slice; });
  if (is_slice || expr.subscripts.size() < b_.Known(tensor).dims.size()) return Slice(expr, tensor);
  Indices indices;
  for (size_t axis = 0; axis < expr.subscripts.size(); ++axis) {
    indices.push_back(CheckedIndex(*expr.subscripts[axis].first, AxisExtent(tensor, expr.args[0]->type, axis)));
  }
  return b_.Load(tensor, std::move(indices));
}

// In a loop an index that points nowhere becomes 0, and the body fails at its end; elsewhere there is time to say what it was.
ValueId BodyWriter::CheckedIndex(const Expr& expr, ValueId extent) {
  const ValueId index = WriteI64(expr);
  const ir::Place outer_place = Enter(expr.span);
  if (elements_.depth == 0 && loop_depth_ == 0) FailOutside(index, extent, "index {} of an axis of {}");
  const ValueId checked = b_.CheckIndex(index, extent);
  b_.set_place(outer_place);
  return checked;
}

// A slice has the extent that its ends say, so a check decides whether the elements exist: before the memory is read, or, in a loop over
// elements, at each of them. Yields what is true of one that is out of range there, else nothing.
ValueId BodyWriter::CheckSlice(ValueId first, ValueId last, ValueId extent) {
  ValueId is_out = b_.Binary(OpKind::kLt, last, first);
  if (!IsNatural(first)) is_out = b_.Binary(OpKind::kOr, is_out, b_.Binary(OpKind::kLt, first, b_.I64(0)));
  if (last != extent) is_out = b_.Binary(OpKind::kOr, is_out, b_.Binary(OpKind::kLt, extent, last));
  if (b_.IsConstant(is_out, 0)) return ValueId::kNone;
  if (elements_.depth > 0) {
    b_.StickyIf(is_out, code::kIndex);
    return is_out;
  }
  const ir::BlockId message = b_.Open({});
  const ir::TypeId string = b_.types().String();
  b_.Close(b_.Emit(OpKind::kText, string, {first, last, extent}, ir::AddText(c_.out, "slice {}:{} of an axis of {}")));
  b_.FailIf(is_out, code::kIndex, message);
  return ValueId::kNone;
}

// Of a slice in a loop over elements, whose check has been noted: nothing is made of what is out of range, and nothing that has its extent
// goes through it.
ValueId BodyWriter::UnlessOut(ValueId is_out, ValueId size, const Dim& dim) {
  const ValueId known = DimIn(dim, frame_).value_or(size);
  if (b_.IsConstant(known)) return known;  // as its type has it, in range or not: each element is checked
  const ValueId value = b_.Select(is_out, b_.I64(0), size);
  elements_.may_be_short = true;
  elements_.sizes.push_back({frame_, dim, value});
  return value;
}

// x[a:b, :, i]; axes without a subscript are kept whole.
ValueId BodyWriter::Slice(const Expr& expr, ValueId tensor) {
  const size_t rank = b_.Known(tensor).dims.size();
  std::vector<ValueId> extents, starts;  // starts: per axis of the tensor; the index itself where there is no slice
  std::vector<bool> is_kept, is_checked;
  for (size_t axis = 0; axis < rank; ++axis) {
    const ValueId extent = AxisExtent(tensor, expr.args[0]->type, axis);
    const Subscript* const subscript = axis < expr.subscripts.size() ? &expr.subscripts[axis] : nullptr;
    is_kept.push_back(subscript == nullptr || subscript->is_slice);
    is_checked.push_back(false);
    if (!is_kept.back()) {
      starts.push_back(CheckedIndex(*subscript->first, extent));
      continue;
    }
    const ValueId first = subscript != nullptr && subscript->first ? WriteI64(*subscript->first) : b_.I64(0);
    const ValueId last = subscript != nullptr && subscript->last ? WriteI64(*subscript->last) : extent;
    const bool is_whole = b_.IsConstant(first, 0) && last == extent;
    if (subscript != nullptr) {
      RequireExact(subscript->from);
      RequireExact(subscript->to);
    }
    const ValueId is_out = is_whole ? ValueId::kNone : CheckSlice(first, last, extent);
    is_checked.back() = is_out != ValueId::kNone;
    const ValueId size = is_whole ? extent : b_.Binary(OpKind::kMax, b_.Sub(last, first), b_.I64(0));
    extents.push_back(is_checked.back() ? UnlessOut(is_out, size, expr.type->dims[extents.size()]) : size);
    starts.push_back(first);
  }
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  Indices indices;
  for (size_t axis = 0, kept = 0; axis < rank; ++axis) {
    const ValueId index = is_kept[axis] ? b_.Add(b_.Param(kept), starts[axis]) : starts[axis];
    indices.push_back(is_checked[axis] ? b_.CheckIndex(index, b_.Dim(tensor, axis)) : index);
    kept += is_kept[axis];
  }
  b_.Close(b_.Load(tensor, std::move(indices)));
  return b_.Build(b_.DTypeOf(tensor), std::move(extents), block);
}

ValueId BodyWriter::WriteExtent(const Expr& expr, const Dim& dim) {
  const ir::Place outer_place = Enter(expr.span);
  RequireExact(dim);  // first: no message tells a number that has wrapped
  const bool is_widened = expr.kind == ExprKind::kConvert && expr.args[0]->span == expr.span;  // by us: told as it was
  const ValueId written = Write(is_widened ? *expr.args[0] : expr);
  if (is_widened && written != ValueId::kNone) BindFresh(expr.fresh, ToI64(written), expr.type);
  const ValueId extent = written == ValueId::kNone ? b_.I64(0) : Extent(ToI64(written), nullptr, NameOf(dim), written);
  b_.set_place(outer_place);
  return extent;
}

ValueId BodyWriter::WriteBuild(const Expr& expr) {
  std::vector<ValueId> extents;
  for (size_t axis = 0; axis < expr.extents.size(); ++axis) {
    extents.push_back(WriteExtent(*expr.extents[axis], expr.type->dims[axis]));
  }
  RequireSmall(extents);
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  for (size_t axis = 0; axis < extents.size(); ++axis) BindIndex(expr.index_locals[axis], b_.Param(axis), extents[axis]);
  ++elements_.depth;
  const ValueId element = Write(*expr.args[0]);
  LeaveElements();
  b_.Close(element);
  return b_.Build(b_.DTypeOf(element), std::move(extents), block);
}

ValueId BodyWriter::WriteReduce(const Expr& expr) {
  const ValueId extent = WriteExtent(*expr.extents[0], expr.dim);
  if (expr.reduce == ir::ReduceKind::kMin || expr.reduce == ir::ReduceKind::kMax) {
    b_.StickyIf(b_.Binary(OpKind::kEq, extent, b_.I64(0)), code::kEmpty);
  }
  const ir::BlockId block = b_.Open(Integers(1));
  BindIndex(expr.index_locals[0], b_.Param(0), extent);
  ++elements_.depth;
  const ValueId element = Write(*expr.args[0]);
  LeaveElements();
  b_.Close(element);
  return b_.Reduce(expr.reduce, expr.type->dtype, extent, block);
}

// Whether the tensor has another number of elements than the extents say. Both are products of numbers up to 2^40 that come from requests,
// so they are taken in f64, which is exact below 2^53; beyond that they are told to differ, more than any memory has.
ValueId BodyWriter::CountDiffers(const std::vector<ValueId>& extents, ValueId tensor) {
  ValueId wanted = b_.F64(1), found = b_.F64(1);
  for (const ValueId extent : extents) wanted = b_.Mul(wanted, b_.Convert(extent, DType::kF64));
  for (size_t axis = 0; axis < b_.Known(tensor).dims.size(); ++axis) found = b_.Mul(found, b_.Convert(b_.Dim(tensor, axis), DType::kF64));
  const ValueId is_exact = b_.Binary(OpKind::kLt, found, b_.F64(0x1p53));
  return b_.Not(b_.Binary(OpKind::kAnd, is_exact, b_.Binary(OpKind::kEq, wanted, found)));
}

// An axis beside a 0 takes no memory, however long it is, nor does a tensor that becomes part of another loop; what is computed with
// extents, `len` of a list among them, relies on it that they do not wrap (ir::BoundsOf).
void BodyWriter::RequireSmall(const Indices& extents, const std::vector<Dim>* reshaped) {
  const ValueId beyond = IsBeyondMemory(b_, counters_, extents);
  if (b_.IsConstant(beyond, 0)) return;
  if (elements_.depth > 0) return b_.StickyIf(beyond, code::kDimension);
  const ir::BlockId message = b_.Open({});
  std::vector<ValueId> shown;
  const std::string format = reshaped == nullptr ? "" : "an extent longer than any memory in the shape " + Told(*reshaped, extents, shown);
  b_.Close(reshaped == nullptr ? b_.Text("an axis longer than any memory")
                               : b_.Emit(OpKind::kText, b_.types().String(), std::move(shown), ir::AddText(c_.out, format)));
  b_.FailIf(beyond, reshaped == nullptr ? code::kMemoryCap : code::kDimension, message);
}

// Stops the node before the memory is read.
void BodyWriter::RequireCount(const std::vector<Dim>& dims, const std::vector<ValueId>& extents, ValueId tensor) {
  const ValueId differs = CountDiffers(extents, tensor);
  const ir::BlockId message = b_.Open({});
  ValueId found = b_.I64(1);
  for (size_t axis = 0; axis < b_.Known(tensor).dims.size(); ++axis) found = b_.Mul(found, b_.Dim(tensor, axis));
  std::vector<ValueId> shown{found};
  const std::string format = "{} elements cannot take the shape " + Told(dims, extents, shown);
  b_.Close(b_.Emit(OpKind::kText, b_.types().String(), std::move(shown), ir::AddText(c_.out, format)));
  b_.FailIf(differs, code::kDimension, message);
}

// In a loop over elements: empty where the counts differ, and the body fails at its end.
ValueId BodyWriter::ReshapeOrEmpty(ValueId tensor, std::vector<ValueId> extents) {
  const ValueId differs = b_.Binary(OpKind::kOr, CountDiffers(extents, tensor), IsBeyondMemory(b_, counters_, extents));
  b_.StickyIf(differs, code::kDimension);
  elements_.may_be_short = true;
  std::vector<int64_t> dims;  // those that its type says; the others are 0
  for (const ValueId extent : extents) dims.push_back(b_.IsConstant(extent) ? static_cast<int64_t>(b_.body()[extent].imm) : 0);
  const ir::TypeId empty = b_.types().Tensor(b_.DTypeOf(tensor), std::move(dims));
  return WriteEither(differs, [&] { return b_.Zero(empty); }, [&] { return b_.Reshape(tensor, std::move(extents)); });
}

// args: the tensor, then the extents, which the type need not hold: beside a fallback of another shape it has `_`.
ValueId BodyWriter::WriteReshape(const Expr& expr, const std::vector<ValueId>& args) {
  const ValueId tensor = args[0];
  std::vector<ValueId> extents;
  for (const Dim& dim : expr.type->dims) {
    const std::optional<ValueId> known = IsAny(dim) ? std::nullopt : DimIn(dim, frame_);
    if (known) RequireExact(dim);
    extents.push_back(Extent(known.value_or(args[extents.size() + 1]), &dim));
  }
  ValueId wanted = b_.I64(1), found = b_.I64(1);
  for (const ValueId extent : extents) wanted = b_.Mul(wanted, extent);
  for (size_t axis = 0; axis < b_.Known(tensor).dims.size(); ++axis) found = b_.Mul(found, b_.Dim(tensor, axis));
  const bool is_proved = b_.IsConstant(b_.Binary(OpKind::kNe, wanted, found), 0);
  if (!is_proved && elements_.depth > 0) return ReshapeOrEmpty(tensor, std::move(extents));
  if (!is_proved) RequireCount(expr.type->dims, extents, tensor);
  RequireSmall(extents, &expr.type->dims);
  return b_.Reshape(tensor, std::move(extents));
}

void BodyWriter::BindIndex(LocalId local, ValueId param, ValueId extent) {
  Bind(local, param);
  counters_[param] = extent;
}

bool BodyWriter::IsNatural(ValueId value) const { return ir::BoundsOf(b_, counters_, value).least >= 0; }

ValueId BodyWriter::Extent(ValueId value, const Dim* dim, const std::string& written, ValueId told) {
  if (IsNatural(value)) return value;
  const ValueId is_negative = b_.Binary(OpKind::kLt, value, b_.I64(0));
  if (elements_.depth > 0) {
    b_.StickyIf(is_negative, code::kDimension);
  } else if (!b_.IsConstant(is_negative, 0)) {
    const ir::BlockId message = b_.Open({});
    std::vector<ValueId> shown;
    std::string format = "an axis of {} elements" + (written.empty() ? "" : " (" + written + ")");
    if (dim == nullptr) {
      shown = {told == ValueId::kNone ? value : told};
    } else {
      format = "an extent below 0 in the shape " + Told({*dim}, {value}, shown);
    }
    b_.Close(b_.Emit(OpKind::kText, b_.types().String(), std::move(shown), ir::AddText(c_.out, format)));
    b_.FailIf(is_negative, code::kDimension, message);
  }
  return b_.Binary(OpKind::kMax, value, b_.I64(0));
}

}  // namespace wf::sema
