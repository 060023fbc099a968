#include <algorithm>

#include "compiler/sema/build_body.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/walk.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

// Lists, and loops over them.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

ValueId BodyWriter::LengthOf(ValueId source) {
  const ir::Type& type = b_.Known(source);
  switch (type.kind) {
    case ir::TypeKind::kTensor:
      return b_.Dim(source, 0);
    case ir::TypeKind::kString:
    case ir::TypeKind::kBytes:
      return b_.Emit(OpKind::kStringLen, b_.ScalarType(DType::kI64), {source});
    case ir::TypeKind::kScalar:  // a range
      return Extent(ToI64(source));
    case ir::TypeKind::kList:
    case ir::TypeKind::kMap:
    case ir::TypeKind::kRecord:
    case ir::TypeKind::kOptional:
      break;
  }
  const ir::Op& op = b_.body()[source];
  if (op.kind == OpKind::kListMake) return b_.I64(static_cast<int64_t>(op.args.size()));
  if (op.kind == OpKind::kListOfTensor) return b_.Dim(op.args[0], 0);
  return ListLen(source);
}

ValueId BodyWriter::ElementOf(ValueId source, ValueId index) {
  const ir::Type type = b_.Known(source);
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      return b_.Convert(index, type.dtype);
    case ir::TypeKind::kList:
      return b_.Emit(OpKind::kListGet, type.element, {source, index});
    case ir::TypeKind::kTensor: {
      if (type.dims.size() == 1) return b_.Load(source, {index});
      std::vector<ValueId> extents;
      for (size_t axis = 1; axis < type.dims.size(); ++axis) extents.push_back(b_.Dim(source, axis));
      const ir::BlockId block = b_.Open(Integers(extents.size()));
      Indices indices{index};
      for (size_t axis = 0; axis < extents.size(); ++axis) indices.push_back(b_.Param(axis));
      b_.Close(b_.Load(source, std::move(indices)));
      return b_.Build(type.dtype, std::move(extents), block);
    }
    case ir::TypeKind::kString:
    case ir::TypeKind::kBytes:
    case ir::TypeKind::kRecord:
    case ir::TypeKind::kMap:
    case ir::TypeKind::kOptional:
      break;
  }
  WF_CHECK(false, b_.types().ToString(b_.TypeOf(source)));
  return source;
}

BodyWriter::Sources BodyWriter::WriteSources(const Loop& loop) {
  Sources sources;
  for (const ExprPtr& source : loop.sources) sources.values.push_back(Write(*source));
  sources.count = CountOf(sources.values);
  return sources;
}

ValueId BodyWriter::CountOf(const std::vector<ValueId>& sources) {
  ValueId count = LengthOf(sources[0]);
  for (size_t i = 1; i < sources.size(); ++i) {
    const ValueId length = LengthOf(sources[i]);
    const ValueId differ = b_.Binary(OpKind::kNe, count, length);
    if (b_.IsConstant(differ, 0)) continue;
    if (elements_.depth > 0) {
      b_.StickyIf(differ, code::kZip);
      count = b_.Binary(OpKind::kMin, count, length);
      continue;
    }
    const ir::BlockId message = b_.Open({});
    const ir::TypeId string = b_.types().String();
    b_.Close(b_.Emit(OpKind::kText, string, {count, length}, ir::AddText(c_.out, "`zip` of {} and {} elements")));
    b_.FailIf(differ, code::kZip, message);
  }
  return count;
}

void BodyWriter::BindLoop(const Loop& loop, const Sources& sources, ValueId index) {
  size_t local = 0;
  if (loop.enumerate) Bind(loop.locals[local++], index);
  for (size_t i = 0; i < sources.values.size(); ++i) Bind(loop.locals[local + i], ElementOf(sources.values[i], index));
}

ValueId BodyWriter::WriteListLoop(const Expr& expr) {
  const Sources sources = WriteSources(*expr.loop);
  ++loop_depth_;
  std::vector<ir::BlockId> blocks;
  if (expr.condition) {
    blocks.push_back(b_.Open(Integers(1)));
    BindLoop(*expr.loop, sources, b_.Param(0));
    const ValueId holds = Write(*expr.condition);
    b_.Close(holds == ValueId::kNone ? b_.Bool(false) : holds);  // it fails
  }
  blocks.push_back(b_.Open(Integers(1)));
  BindLoop(*expr.loop, sources, b_.Param(0));
  const ValueId item = Write(*expr.args[0]);
  --loop_depth_;
  b_.Close(item == ValueId::kNone ? b_.Zero(TypeOf(expr.type->element)) : item);
  const ir::TypeId type = item == ValueId::kNone ? TypeOf(expr.type) : b_.types().List(b_.TypeOf(item));
  return b_.Emit(expr.condition ? OpKind::kListFilter : OpKind::kListBuild, type, {sources.count}, 0, std::move(blocks));
}

namespace {

// Whether something in it may have other extents than its type says, or calls what may.
bool MayBeRefused(const Expr& expr) {
  bool may_be = false;
  ForEachInside(expr, [&](const Expr& inside) {
    const auto is_slice = [](const Subscript& subscript) { return subscript.is_slice; };
    may_be = may_be || !inside.checks.empty() || inside.kind == ExprKind::kCallFn || inside.kind == ExprKind::kBuiltin ||
             inside.kind == ExprKind::kListIndex || std::any_of(inside.subscripts.begin(), inside.subscripts.end(), is_slice);
  });
  return may_be;
}

}  // namespace

ValueId BodyWriter::WriteFold(const Expr& expr) {
  const ValueId initial = Write(*expr.args[0]);
  if (initial == ValueId::kNone) return b_.Zero(TypeOf(expr.type));
  const Sources sources = WriteSources(*expr.loop);
  const ir::TypeId type = ir::Join(b_.types(), TypeOf(expr.type), b_.TypeOf(initial));
  WF_CHECK(type != ir::TypeId::kNone);
  const ir::BlockId block = b_.Open({b_.ScalarType(DType::kI64), type});
  const ValueId index = b_.Param(0);
  Bind(expr.local, b_.Param(1));
  BindLoop(*expr.loop, sources, index);
  ++loop_depth_;
  // Among elements what is refused is only noted, wherever it stands, and the next turn goes on with it.
  if (elements_.depth > 0 && HasExtents(expr.type) && MayBeRefused(*expr.args[1])) elements_.may_be_short = elements_.may_be_long = true;
  const ValueId next = Write(*expr.args[1]);
  --loop_depth_;
  b_.Close(next == ValueId::kNone ? b_.Zero(type) : Held(next, type));
  return b_.Emit(OpKind::kFold, type, {sources.count, initial}, 0, {block});
}

// Stops the node where tensors to be stacked have other shapes than the first; in a loop over elements the operation sets its bit.
void BodyWriter::RequireOneShape(ValueId list) {
  const ir::Type item = b_.types()[b_.Known(list).element];
  if (item.kind != ir::TypeKind::kTensor || elements_.depth > 0) return;
  const ir::TypeId integer = b_.ScalarType(DType::kI64);
  const auto extent = [&](ValueId index, size_t axis) { return b_.Dim(ElementOf(list, index), axis); };
  for (size_t axis = 0; axis < item.dims.size(); ++axis) {
    if (item.dims[axis] >= 0) continue;
    // The first that differs from the one before it, as long as there is none 0. Nothing of the list is read unless the loop runs.
    const ir::BlockId step = b_.Open({integer, integer});
    const ValueId index = b_.Param(0), so_far = b_.Param(1);
    const ValueId before = b_.Binary(OpKind::kMax, b_.Sub(index, b_.I64(1)), b_.I64(0));
    const ValueId differs = b_.Binary(OpKind::kNe, extent(index, axis), extent(before, axis));
    b_.Close(b_.Select(b_.Binary(OpKind::kAnd, differs, b_.Binary(OpKind::kEq, so_far, b_.I64(0))), index, so_far));
    const ValueId found = b_.Emit(OpKind::kFold, integer, {ListLen(list), b_.I64(0)}, 0, {step});
    const ir::BlockId message = b_.Open({});
    const std::string format =
        "tensors of different shapes are stacked: axis " + std::to_string(axis) + " is {} in element {}, {} in element 0";
    b_.Close(
        b_.Emit(OpKind::kText, b_.types().String(), {extent(found, axis), found, extent(b_.I64(0), axis)}, ir::AddText(c_.out, format)));
    b_.FailIf(b_.Binary(OpKind::kNe, found, b_.I64(0)), code::kDimension, message);
  }
}

// What is stacked of nothing has the extents, too, that its items have by symbols of their type; of something they are those of an item.
ValueId BodyWriter::WithExtents(ValueId stacked, const std::vector<Dim>& stated) {
  const std::vector<int64_t> dims = b_.Known(stacked).dims;
  const bool has_items = dims[0] > 0;
  std::vector<ValueId> extents{b_.Dim(stacked, 0)};
  bool adds = false;
  for (size_t axis = 1; axis < dims.size(); ++axis) {
    const Dim& dim = stated[axis - 1];
    std::optional<ValueId> own = IsAny(dim) ? std::nullopt : DimIn(dim, frame_);
    if (own) own = has_items ? b_.Binary(OpKind::kMax, *own, b_.I64(0)) : Extent(*own, &dim);
    const bool is_open = own && dims[axis] < 0;
    extents.push_back(is_open ? *own : b_.Dim(stacked, axis));
    adds = adds || is_open;
  }
  return adds && !elements_.is_doubtful() ? b_.Reshape(stacked, std::move(extents)) : stacked;
}

ValueId BodyWriter::IsOutside(ValueId index, ValueId count) {
  return b_.Binary(OpKind::kOr, b_.Binary(OpKind::kLt, index, b_.I64(0)), b_.Binary(OpKind::kLe, count, index));
}

void BodyWriter::FailOutside(ValueId index, ValueId count, const std::string& text) {
  const ValueId is_out = IsOutside(index, count);
  if (b_.IsConstant(is_out, 0)) return;
  const ir::BlockId message = b_.Open({});
  b_.Close(b_.Emit(OpKind::kText, b_.types().String(), {index, count}, ir::AddText(c_.out, text)));
  b_.FailIf(is_out, code::kIndex, message);
}

// A list may be empty, so unlike a tensor's its checked index, 0 where it failed, may have no element behind it.
ValueId BodyWriter::WriteListIndex(const Expr& expr) {
  const ValueId list = Write(*expr.args[0]);
  const ValueId written = Write(*expr.args[1]);
  if (list == ValueId::kNone || written == ValueId::kNone) return b_.Zero(TypeOf(expr.type));
  const ir::TypeId element = b_.Known(list).element;
  const ValueId index = ToI64(written), length = LengthOf(list);
  if (b_.IsConstant(index) && b_.IsConstant(length) && b_.body()[index].imm < b_.body()[length].imm) {
    return b_.Emit(OpKind::kListGet, element, {list, index});
  }
  const ir::Place outer_place = Enter(expr.args[1]->span);
  const ValueId is_out = elements_.depth == 0 ? ValueId::kNone : IsOutside(index, length);
  if (elements_.depth == 0) {
    FailOutside(index, length, "index {} of a list of {}");
  } else {
    b_.StickyIf(is_out, code::kIndex);
    elements_.may_be_short = elements_.may_be_short || HasExtents(expr.type);
  }
  b_.set_place(outer_place);
  if (elements_.depth == 0) return b_.Emit(OpKind::kListGet, element, {list, index});
  const ir::BlockId otherwise = b_.Open({});
  b_.Close(b_.Zero(element));
  const ir::BlockId then = b_.Open({});
  b_.Close(b_.Emit(OpKind::kListGet, element, {list, index}));
  return b_.If(is_out, element, otherwise, then);
}

}  // namespace wf::sema
