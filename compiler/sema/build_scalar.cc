#include <algorithm>

#include "compiler/sema/build_body.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/walk.h"
#include "runtime/base/check.h"

// Scalars, text, choice and calls.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

DType WideOf(DType dtype) {
  if (dtype == DType::kF16 || dtype == DType::kBf16) return DType::kF32;
  return dtype == DType::kU8 || dtype == DType::kU16 ? DType::kU32 : DType::kI32;
}

}  // namespace

ValueId BodyWriter::WriteUnary(const Expr& expr, ValueId a) {
  const OpKind kind = expr.unary == UnaryOp::kNot ? OpKind::kNot : OpKind::kNeg;
  return Map({a}, TypesOf(expr.args), [&](const std::vector<ValueId>& x) { return b_.Unary(kind, x[0]); });
}

ValueId BodyWriter::WriteBinary(const Expr& expr, ValueId a, ValueId b) {
  const ir::TypeKind kind = b_.Known(a).kind;
  if (kind != ir::TypeKind::kScalar && kind != ir::TypeKind::kTensor) {
    const ValueId equal = Equal(a, b);
    return expr.binary == BinaryOp::kNe ? b_.Not(equal) : equal;
  }
  const bool divides = expr.binary == BinaryOp::kDiv || expr.binary == BinaryOp::kRem;
  const ir::Place outer_place = Enter(divides ? expr.args[1]->span : expr.span);
  const ValueId value = Map({a, b}, TypesOf(expr.args), [&](const std::vector<ValueId>& x) { return Arithmetic(expr.binary, x[0], x[1]); });
  b_.set_place(outer_place);
  return value;
}

ValueId BodyWriter::Arithmetic(BinaryOp op, ValueId a, ValueId b) {
  const DType dtype = b_.DTypeOf(a);
  if (ir::IsStorageOnly(dtype) && op != BinaryOp::kEq && op != BinaryOp::kNe) {
    a = b_.Convert(a, WideOf(dtype));
    b = b_.Convert(b, WideOf(dtype));
  }
  switch (op) {
    case BinaryOp::kAdd:
      return b_.Add(a, b);
    case BinaryOp::kSub:
      return b_.Sub(a, b);
    case BinaryOp::kMul:
      return b_.Mul(a, b);
    case BinaryOp::kDiv:
    case BinaryOp::kRem: {
      const bool is_safe = ir::IsFloat(dtype) || (b_.IsConstant(b) && !b_.IsConstant(b, 0));
      const ValueId divisor = is_safe ? b : b_.Emit(OpKind::kCheckDivisor, b_.TypeOf(b), {b});
      return b_.Binary(op == BinaryOp::kDiv ? OpKind::kDiv : OpKind::kRem, a, divisor);
    }
    case BinaryOp::kEq:
      return b_.Binary(OpKind::kEq, a, b);
    case BinaryOp::kNe:
      return b_.Binary(OpKind::kNe, a, b);
    case BinaryOp::kLt:
      return b_.Binary(OpKind::kLt, a, b);
    case BinaryOp::kLe:
      return b_.Binary(OpKind::kLe, a, b);
    case BinaryOp::kGt:
      return b_.Binary(OpKind::kLt, b, a);
    case BinaryOp::kGe:
      return b_.Binary(OpKind::kLe, b, a);
  }
  return a;
}

// One bool, whatever the type.
ValueId BodyWriter::Equal(ValueId a, ValueId b) {
  const ir::Type type = b_.Known(a);
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      return b_.Binary(OpKind::kEq, a, b);
    case ir::TypeKind::kString:
    case ir::TypeKind::kBytes:
      return b_.Emit(OpKind::kStringEqual, b_.ScalarType(DType::kBool), {a, b});
    case ir::TypeKind::kRecord: {
      ValueId equal = b_.Bool(true);
      for (size_t i = 0; i < type.fields.size(); ++i) equal = b_.Binary(OpKind::kAnd, equal, Equal(b_.Field(a, i), b_.Field(b, i)));
      return equal;
    }
    case ir::TypeKind::kList:
      return EqualLists(a, b);
    case ir::TypeKind::kOptional:
      return EqualOptionals(a, b);
    case ir::TypeKind::kTensor:
    case ir::TypeKind::kMap:
      break;
  }
  WF_CHECK(false, b_.types().ToString(b_.TypeOf(a)));
  return a;
}

// Both are none, or neither is and what they hold is equal.
ValueId BodyWriter::EqualOptionals(ValueId a, ValueId b) {
  const ir::TypeId boolean = b_.ScalarType(DType::kBool);
  const ValueId has_a = b_.Emit(OpKind::kHas, boolean, {a}), has_b = b_.Emit(OpKind::kHas, boolean, {b});
  const ir::BlockId then = b_.Open({});
  b_.Close(Equal(b_.Emit(OpKind::kUnwrap, b_.Known(a).element, {a}), b_.Emit(OpKind::kUnwrap, b_.Known(b).element, {b})));
  const ir::BlockId otherwise = b_.Open({});
  b_.Close(b_.Not(b_.Binary(OpKind::kOr, has_a, has_b)));
  return b_.If(b_.Binary(OpKind::kAnd, has_a, has_b), boolean, then, otherwise);
}

ValueId BodyWriter::EqualLists(ValueId a, ValueId b) {
  const ir::TypeId boolean = b_.ScalarType(DType::kBool);
  const ValueId length = ListLen(a), same_length = b_.Binary(OpKind::kEq, length, ListLen(b));
  const ir::BlockId then = b_.Open({});
  const ir::BlockId step = b_.Open({b_.ScalarType(DType::kI64), boolean});
  const ValueId index = b_.Param(0), so_far = b_.Param(1);
  b_.Close(b_.Binary(OpKind::kAnd, so_far, Equal(ElementOf(a, index), ElementOf(b, index))));
  b_.Close(b_.Emit(OpKind::kFold, boolean, {length, b_.Bool(true)}, 0, {step}));
  const ir::BlockId otherwise = b_.Open({});
  b_.Close(b_.Bool(false));
  return b_.If(same_length, boolean, then, otherwise);
}

ValueId BodyWriter::WriteLazy(const Expr& expr, ValueId first) {
  const bool is_and = expr.kind == ExprKind::kAnd;
  if (b_.IsConstant(first, is_and)) return Write(*expr.args[1]);
  if (b_.IsConstant(first)) {
    if (!IsOfConstants(*expr.args[0])) Name(*expr.args[1]);
    return first;
  }
  const ir::BlockId lazy = b_.Open({});
  const ValueId second = Write(*expr.args[1]);
  b_.Close(second == ValueId::kNone ? b_.Bool(false) : second);
  const ir::BlockId known = b_.Open({});
  b_.Close(b_.Bool(!is_and));
  return b_.If(first, b_.ScalarType(DType::kBool), is_and ? lazy : known, is_and ? known : lazy);
}

ValueId BodyWriter::WriteCoalesce(const Expr& expr) {
  const ValueId optional = Write(*expr.args[0]);
  if (optional == ValueId::kNone) return b_.Zero(TypeOf(expr.type));
  const ir::TypeId element = b_.Known(optional).element;
  const ValueId has = b_.Emit(OpKind::kHas, b_.ScalarType(DType::kBool), {optional});
  const Expr& other = *expr.args[1];
  if (other.kind == ExprKind::kFail) {
    WriteFailure(other.code, other.args.empty() ? nullptr : other.args[0].get(), b_.Not(has), other.span);
    return b_.Emit(OpKind::kUnwrap, element, {optional});
  }
  const ir::BlockId then = b_.Open({});
  const ValueId kept = expr.type->kind == TypeKind::kOptional ? optional : b_.Emit(OpKind::kUnwrap, element, {optional});
  b_.Close(kept);
  const ir::BlockId otherwise = b_.Open({});
  ValueId fallback = Write(other);
  if (fallback == ValueId::kNone) fallback = b_.Zero(b_.TypeOf(kept));
  b_.Close(fallback);
  const ir::TypeId type = ir::Join(b_.types(), b_.TypeOf(kept), b_.TypeOf(fallback));
  WF_CHECK(type != ir::TypeId::kNone);
  return b_.If(has, type, then, otherwise);
}

ValueId BodyWriter::WriteBlock(const Expr& expr) {
  if (outer_ == nullptr || !outer_->IsFlattened(expr)) {
    for (const BlockStep& step : expr.steps) {
      const ValueId value = Write(*step.value);
      if (value == ValueId::kNone) return expr.type->kind == TypeKind::kNever ? ValueId::kNone : b_.Zero(TypeOf(expr.type));
      if (step.is_let) {
        Bind(step.local, value);
      } else {
        if (step.message != nullptr && b_.IsConstant(value, 1)) Name(*step.message);
        WriteFailure(step.code, step.message.get(), b_.Not(value), step.span);
      }
    }
  }
  return Write(*expr.args[0]);
}

namespace {

bool IsOfShape(TypeRef type, const std::string& symbol) {
  bool found = false;
  ForEachDim(type, [&](const Dim& dim) {
    const std::vector<std::string> symbols = dim.Symbols();
    found = found || std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
  });
  return found;
}

}  // namespace

ValueId BodyWriter::WriteCall(const Expr& expr, std::vector<ValueId> args) {
  const Function& function = c_.program.functions[expr.index];
  if (function.body == nullptr && function.native.empty()) {
    c_.misses_body = true;  // its mistakes are told, and nothing else of it is there
    return ValueId::kNone;
  }
  Frame frame{.function = &function, .caller = frame_, .locals = {}, .symbols = {}, .arguments = {}};
  for (size_t i = 0; i < args.size(); ++i) frame.locals[static_cast<LocalId>(i)] = args[i];
  for (const auto& [symbol, dim] : expr.symbols) {
    frame.arguments[symbol] = &dim;
    if (!dim.symbol() && IsOfShape(function.result, symbol)) RequireExact(dim);
  }
  frame_ = &frame;
  if (!expr.checks.empty()) {
    for (LocalId i = 0; i < args.size(); ++i) frame.locals[i] = args[i] = OfType(args[i], function.locals[i].type);
  }
  c_.writes_calls = true;
  c_.calls.push_back({&expr.span, &function.name});
  ValueId value = ValueId::kNone;
  if (function.body != nullptr) {
    value = Write(*function.body);
  } else {
    const ir::TypeId type = TypeOf(function.result);
    value = b_.Emit(OpKind::kNative, type, std::move(args), ir::AddNative(c_.out, function.native));
  }
  c_.calls.pop_back();
  std::vector<ElementLoops::Size> kept;  // sizes of slices that the result has, as the caller calls them
  for (size_t axis = 0; axis < std::min(function.result->dims.size(), expr.type->dims.size()); ++axis) {
    const std::optional<ValueId> size = SizeOfSlice(function.result->dims[axis], frame_);
    if (size) kept.push_back({frame.caller, expr.type->dims[axis], *size});
  }
  LeaveFrame();
  elements_.sizes.insert(elements_.sizes.end(), kept.begin(), kept.end());
  return value;
}

// All elements equal, infinities too, or no further apart than the tolerance; NaN is close to nothing.
ValueId BodyWriter::WriteClose(const Expr& expr, const std::vector<ValueId>& args) {
  const ValueId close = Map({args[0], args[1]}, TypesOf(expr.args), [&](const std::vector<ValueId>& x) {
    const ValueId near = b_.Binary(OpKind::kLe, b_.Unary(OpKind::kAbs, b_.Sub(x[0], x[1])), args[2]);
    return b_.Binary(OpKind::kOr, near, b_.Binary(OpKind::kEq, x[0], x[1]));
  });
  if (!IsTensor(close)) return close;
  ValueId count = b_.I64(1);
  for (size_t axis = 0; axis < b_.Known(close).dims.size(); ++axis) count = b_.Mul(count, b_.Dim(close, axis));
  const ValueId flat = b_.Reshape(close, {count});
  const ir::BlockId block = b_.Open(Integers(1));
  b_.Close(b_.Load(flat, {b_.Param(0)}));
  return b_.Reduce(ir::ReduceKind::kAll, DType::kBool, count, block);
}

ValueId BodyWriter::WriteBuiltin(const Expr& expr, const std::vector<ValueId>& args) {
  switch (static_cast<Builtin>(expr.index)) {
    case Builtin::kLen:
      return IsTensor(args[0]) ? AxisExtent(args[0], expr.args[0]->type, 0) : LengthOf(args[0]);
    case Builtin::kStr: {
      const ir::TypeKind kind = b_.Known(args[0]).kind;
      if (kind == ir::TypeKind::kString) return args[0];
      if (kind == ir::TypeKind::kBytes) return b_.Emit(OpKind::kStringFromBytes, b_.types().String(), args);
      return b_.Emit(OpKind::kText, b_.types().String(), args, ir::AddText(c_.out, "{}"));
    }
    case Builtin::kListOf: {
      ir::Type item = b_.Known(args[0]);
      item.dims.erase(item.dims.begin());
      if (item.dims.empty()) item.kind = ir::TypeKind::kScalar;
      return b_.Emit(OpKind::kListOfTensor, b_.types().List(b_.types().Intern(item)), args);
    }
    case Builtin::kStack: {
      const bool fails = expr.args[0]->kind == ExprKind::kList && b_.body()[args[0]].args.size() != expr.args[0]->args.size();
      if (fails) return b_.Zero(TypeOf(expr.type));
      const ir::Type item = b_.types()[b_.Known(args[0]).element];
      std::vector<int64_t> dims = item.dims;
      const std::vector<Dim>& stated = expr.args[0]->type->element->dims;  // of every item; `_` may differ
      if (std::any_of(stated.begin(), stated.end(), IsAny)) RequireOneShape(args[0]);
      const ir::Op& list = b_.body()[args[0]];
      dims.insert(dims.begin(), list.kind == OpKind::kListMake ? static_cast<int64_t>(list.args.size()) : -1);
      return WithExtents(b_.Emit(OpKind::kTensorOfList, b_.types().Tensor(item.dtype, std::move(dims)), args), stated);
    }
    case Builtin::kReshape:
      return WriteReshape(expr, args);
    case Builtin::kJsonParse:
      return b_.Emit(OpKind::kNative, TypeOf(expr.type), args, ir::AddNative(c_.out, "wf_n_json_parse"));
    case Builtin::kJsonBuild:
      return b_.Emit(OpKind::kNative, b_.types().String(), args, ir::AddNative(c_.out, "wf_n_json_build"));
    case Builtin::kKeys:
      return b_.Emit(OpKind::kMapKeys, b_.types().List(b_.types().String()), args);
    case Builtin::kMapValues:
      return b_.Emit(OpKind::kMapValues, TypeOf(expr.type), args);
    case Builtin::kClose: {
      return WriteClose(expr, args);
    }
    case Builtin::kAbs:
    case Builtin::kMin:
    case Builtin::kMax:
    case Builtin::kFloor:
    case Builtin::kCeil:
    case Builtin::kRound:
    case Builtin::kTrunc:
    case Builtin::kSqrt:
    case Builtin::kExp:
    case Builtin::kLog:
    case Builtin::kTanh:
    case Builtin::kErf:
    case Builtin::kSin:
    case Builtin::kCos:
    case Builtin::kPow:
      return Map(args, TypesOf(expr.args),
                 [&](const std::vector<ValueId>& x) { return WriteMathBuiltin(expr.index, x, expr.type->dtype); });
    case Builtin::kTokenizer:
      break;  // a constant by now
  }
  WF_CHECK(false, expr.index);
  return ValueId::kNone;
}

ValueId BodyWriter::WriteMathBuiltin(uint32_t builtin, const std::vector<ValueId>& args, DType dtype) {
  static constexpr OpKind kKinds[] = {OpKind::kAbs,  OpKind::kMin,   OpKind::kMax,  OpKind::kFloor, OpKind::kCeil,
                                      OpKind::kRint, OpKind::kTrunc, OpKind::kSqrt, OpKind::kExp,   OpKind::kLog,
                                      OpKind::kTanh, OpKind::kErf,   OpKind::kSin,  OpKind::kCos,   OpKind::kPow};
  const OpKind kind = kKinds[builtin - static_cast<uint32_t>(Builtin::kAbs)];
  std::vector<ValueId> wide = args;
  if (ir::IsStorageOnly(dtype)) {
    for (ValueId& value : wide) value = b_.Convert(value, WideOf(dtype));
  }
  if (kind == OpKind::kAbs && !ir::IsSigned(b_.DTypeOf(wide[0]))) return args[0];
  const ValueId value = wide.size() == 2 ? b_.Binary(kind, wide[0], wide[1]) : b_.Unary(kind, wide[0]);
  return b_.Convert(value, dtype);
}

namespace {

// A long template is made of parts, for the code that makes a text takes time to compile that grows faster than its holes.
ValueId FormatOf(ir::Builder& b, ir::Program& out, const std::string& format, const std::vector<ValueId>& args) {
  constexpr size_t kHoles = 256;
  if (args.size() <= kHoles) return b.Emit(OpKind::kText, b.types().String(), args, ir::AddText(out, format));
  std::vector<ValueId> parts;
  std::string whole;
  for (size_t from = 0, first = 0; first < args.size(); first += kHoles) {
    const size_t last = std::min(first + kHoles, args.size());
    size_t end = from;
    for (size_t i = first; i < last; ++i) end = format.find("{}", end) + 2;
    if (last == args.size()) end = format.size();
    const std::vector<ValueId> some(args.begin() + static_cast<ptrdiff_t>(first), args.begin() + static_cast<ptrdiff_t>(last));
    parts.push_back(FormatOf(b, out, format.substr(from, end - from), some));
    whole += "{}";
    from = end;
  }
  return FormatOf(b, out, whole, parts);
}

}  // namespace

ValueId BodyWriter::WriteText(const Expr& expr) {
  if (expr.args.empty()) return b_.Text(expr.text);
  std::vector<ValueId> args;
  for (const ExprPtr& arg : expr.args) {
    args.push_back(Write(*arg));
    if (args.back() == ValueId::kNone) return b_.Text("");
  }
  return FormatOf(b_, c_.out, expr.text, args);
}

ValueId BodyWriter::WriteConst(const Expr& expr) {
  const Const& constant = c_.program.consts[expr.index];
  if (constant.type->kind == TypeKind::kScalar) return b_.Scalar(constant.type->dtype, constant.value.bits);
  c_.constants.resize(c_.program.consts.size(), -1);
  int64_t& index = c_.constants[expr.index];
  if (index < 0) index = static_cast<int64_t>(ir::AddConstant(c_.out, TypeOf(constant.type), constant.value));
  return b_.Constant(static_cast<size_t>(index));
}

}  // namespace wf::sema
