#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/sema/build_body.h"
#include "compiler/sema/build_checks.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

// Dimensions: where symbols get their values from, and what they are worth here.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

// What messages tell of an extent: of a u64, all of it.
ValueId AsWritten(const ir::Builder& b, ValueId extent) {
  const ir::Op& op = b.body()[extent];
  return op.kind == OpKind::kConvert && b.DTypeOf(op.args[0]) == DType::kU64 ? op.args[0] : extent;
}

}  // namespace

void BodyWriter::BindFresh(const std::vector<FreshSymbol>& fresh, ValueId value, TypeRef type) {
  for (const FreshSymbol& symbol : fresh) {
    const auto known = frame_->symbols.find(symbol.symbol);
    if (known != frame_->symbols.end() && b_.IsVisible(known->second)) continue;  // the same, and visible for longer
    if (const std::optional<ValueId> solved = SolveAt(value, type, symbol)) frame_->symbols[symbol.symbol] = *solved;
  }
}

std::optional<ValueId> BodyWriter::SolveAt(ValueId value, TypeRef type, const FreshSymbol& fresh) {
  for (const uint32_t field : fresh.path) {
    if (type->kind != TypeKind::kRecord || field >= type->fields.size()) return {};
    value = b_.Field(value, field);
    type = type->fields[field].type;
  }
  if (fresh.axis == FreshSymbol::kWholeValue || type->kind == TypeKind::kScalar) return ToI64(value);
  if (type->kind != TypeKind::kTensor || fresh.axis >= type->dims.size()) return {};
  const ValueId extent = b_.Dim(value, fresh.axis);
  return b_.Binary(OpKind::kDiv, b_.Sub(extent, b_.I64(fresh.add)), b_.I64(fresh.mul));
}

std::optional<ValueId> BodyWriter::SymbolValue(const std::string& symbol, Frame* frame) {
  if (symbol == kAnySymbol) return {};  // each `_` is another: that of a parameter is not that of what is made of it
  if (const std::optional<ValueId> size = SizeOfSlice(Dim::Symbol(symbol), frame)) return size;
  const auto bound = frame->symbols.find(symbol);
  if (bound != frame->symbols.end() && b_.IsVisible(bound->second)) return bound->second;
  const auto argument = frame->arguments.find(symbol);
  if (argument != frame->arguments.end() && frame->caller != nullptr) {
    if (const std::optional<ValueId> value = DimIn(*argument->second, frame->caller)) return value;
  }
  if (frame->function != nullptr) return SymbolFromParams(symbol, frame);
  if (outer_ == nullptr || (at_hand_only_ && !outer_->IsAtHand(b_, symbol))) return {};
  return outer_->Symbol(*this, symbol);
}

std::optional<ValueId> BodyWriter::SymbolFromParams(const std::string& symbol, Frame* frame) {
  for (LocalId i = 0; i < frame->function->n_params; ++i) {
    const Local& param = frame->function->locals[i];
    const auto value = frame->locals.find(i);
    if (value == frame->locals.end()) continue;
    if (param.type->kind == TypeKind::kScalar && param.name == symbol && !ir::IsFloat(param.type->dtype)) return ToI64(value->second);
    if (param.type->kind != TypeKind::kTensor) continue;
    for (uint32_t axis = 0; axis < param.type->dims.size(); ++axis) {
      const std::optional<Dim::Linear> linear = param.type->dims[axis].AsLinear();
      if (!linear || linear->symbol != symbol) continue;
      return SolveAt(value->second, param.type, {.symbol = symbol, .path = {}, .axis = axis, .mul = linear->mul, .add = linear->add});
    }
  }
  return {};
}

ValueId BodyWriter::FloorDiv(ValueId a, ValueId b) {
  const ValueId divisor = b_.IsConstant(b) && !b_.IsConstant(b, 0) ? b : b_.Emit(OpKind::kCheckDivisor, b_.TypeOf(b), {b});
  const ValueId quotient = b_.Binary(OpKind::kDiv, a, divisor);
  if (IsNatural(a) && IsNatural(divisor)) return quotient;
  const ValueId rest = b_.Binary(OpKind::kRem, a, divisor), zero = b_.I64(0);
  const ValueId differ = b_.Binary(OpKind::kNe, b_.Binary(OpKind::kLt, rest, zero), b_.Binary(OpKind::kLt, divisor, zero));
  const ValueId rounds = b_.Binary(OpKind::kAnd, b_.Binary(OpKind::kNe, rest, zero), differ);
  return b_.Sub(quotient, b_.Convert(rounds, DType::kI64));
}

std::optional<ValueId> BodyWriter::AtomIn(const Dim::Atom& atom, Frame* frame) {
  if (atom.division.empty()) return SymbolValue(atom.symbol, frame);
  const std::optional<ValueId> a = DimIn(atom.division[0], frame), b = DimIn(atom.division[1], frame);
  if (!a || !b) return {};
  return FloorDiv(*a, *b);
}

// Nothing, too, where the body would have to wait for a symbol.
std::optional<ValueId> BodyWriter::DimAtHand(const Dim& dim) {
  const bool at_hand_only = std::exchange(at_hand_only_, true);
  const std::optional<ValueId> value = DimIn(dim, frame_);
  at_hand_only_ = at_hand_only;
  return value;
}

namespace {

bool IsPlain(const Dim& dim) { return dim.is_constant() || dim.symbol().has_value(); }

}  // namespace

std::optional<ValueId> BodyWriter::SizeOfSlice(const Dim& dim, const Frame* frame) const {
  const std::vector<ElementLoops::Size>& sizes = elements_.sizes;
  if (sizes.empty()) return {};
  const std::vector<std::string> symbols = dim.Symbols();
  if (std::find(symbols.begin(), symbols.end(), kAnySymbol) != symbols.end()) return {};  // each `_` is another
  const auto size = std::find_if(sizes.rbegin(), sizes.rend(), [&](const ElementLoops::Size& each) {
    return each.frame == frame && each.dim == dim && b_.IsVisible(each.value);
  });
  return size == sizes.rend() ? std::nullopt : std::optional(size->value);
}

std::optional<ValueId> BodyWriter::DimIn(const Dim& dim, Frame* frame) {
  if (const std::optional<ValueId> size = SizeOfSlice(dim, frame)) return size;
  ValueId sum = b_.I64(0);
  for (const Dim::Term& term : dim.terms()) {
    ValueId product = b_.I64(term.coefficient);
    for (const Dim::Atom& atom : term.atoms) {
      const std::optional<ValueId> value = AtomIn(atom, frame);
      if (!value) return {};
      product = b_.Mul(product, *value);
    }
    sum = b_.Add(sum, product);
  }
  return sum;
}

// Whether computing the dimension may wrap. Its terms without their signs are summed in f64, which is wrong by far less than 2^62: below
// that no step has left an i64. Constant 0: none can, or the dimension has no value yet.
ValueId BodyWriter::Wraps(const Dim& dim) {
  constexpr double kMost = 0x1p62;
  ValueId wraps = b_.Bool(false);
  if (IsPlain(dim)) return wraps;
  double most = 0;
  std::vector<std::vector<ValueId>> factors;  // of each term
  for (const Dim::Term& term : dim.terms()) {
    double most_of_term = std::abs(static_cast<double>(term.coefficient));
    factors.emplace_back();
    for (const Dim::Atom& atom : term.atoms) {
      for (const Dim& part : atom.division) wraps = b_.Binary(OpKind::kOr, wraps, Wraps(part));
      const std::optional<ValueId> value = AtomIn(atom, frame_);
      if (!value) return b_.Bool(false);
      factors.back().push_back(*value);
      most_of_term *= ir::BoundsOf(b_, counters_, *value).magnitude();
    }
    most += most_of_term;
  }
  if (most < kMost) return wraps;
  ValueId sum = b_.F64(0);
  for (size_t i = 0; i < factors.size(); ++i) {
    ValueId product = b_.F64(std::abs(static_cast<double>(dim.terms()[i].coefficient)));
    for (const ValueId factor : factors[i]) product = b_.Mul(product, b_.Unary(OpKind::kAbs, b_.Convert(factor, DType::kF64)));
    sum = b_.Add(sum, product);
  }
  return b_.Binary(OpKind::kOr, wraps, b_.Not(b_.Binary(OpKind::kLt, sum, b_.F64(kMost))));
}

// 7004 where the dimension has a value that is not the one of its polynomial: what is compared with it has wrapped.
void BodyWriter::RequireExact(const Dim& dim) {
  const ValueId wraps = Wraps(dim);
  if (b_.IsConstant(wraps, 0)) return;
  if (elements_.depth > 0) return b_.StickyIf(wraps, code::kDimension);
  const ir::BlockId message = b_.Open({});
  std::vector<ValueId> shown;
  const std::string format = "numbers that come to 2^62 or more in the shape " + Told({dim}, {}, shown);
  b_.Close(b_.Emit(OpKind::kText, b_.types().String(), std::move(shown), ir::AddText(c_.out, format)));
  b_.FailIf(wraps, code::kDimension, message);
}

ir::TypeId BodyWriter::TypeOf(TypeRef type) {
  ir::TypeTable& types = b_.types();
  switch (type->kind) {
    case TypeKind::kScalar:
      return types.Scalar(type->dtype);
    case TypeKind::kString:
      return types.String();
    case TypeKind::kBytes:
      return types.Bytes();
    case TypeKind::kTensor: {
      std::vector<int64_t> dims;
      for (const Dim& dim : type->dims) {
        const std::optional<ValueId> value = dim.is_constant() ? b_.I64(*dim.constant()) : DimIn(dim, frame_);
        dims.push_back(value && b_.IsConstant(*value) ? std::max<int64_t>(static_cast<int64_t>(b_.body()[*value].imm), 0) : -1);  // Extent
      }
      return types.Tensor(type->dtype, std::move(dims));
    }
    case TypeKind::kRecord: {
      std::vector<ir::Field> fields;
      for (const Field& field : type->fields) fields.push_back({field.name, TypeOf(field.type)});
      return types.Record(type->name, std::move(fields));
    }
    case TypeKind::kList:
      return types.List(TypeOf(type->element));
    case TypeKind::kMap:
      return types.Map(TypeOf(type->element));
    case TypeKind::kOptional:
      return types.Optional(TypeOf(type->element));
    case TypeKind::kNever:  // of the elements of `[]`: there are none
      return types.Scalar(DType::kBool);
    case TypeKind::kNone:
      return types.Optional(types.Scalar(DType::kBool));
    case TypeKind::kError:
    case TypeKind::kVariable:
      break;
  }
  WF_CHECK(false, static_cast<int>(type->kind));
  return ir::TypeId::kNone;
}

namespace {

std::set<std::string> SymbolsIn(const Dim& dim) {
  const std::vector<std::string> symbols = dim.Symbols();
  return {symbols.begin(), symbols.end()};
}

// Of nothing but numbers and `_` nothing.
bool HasName(const Dim& dim) {
  const std::vector<std::string> symbols = dim.Symbols();
  return !symbols.empty() && std::none_of(symbols.begin(), symbols.end(),
                                          [](const std::string& symbol) { return symbol.substr(0, symbol.find('#')) == kAnySymbol; });
}

bool IsOfParams(const Dim& dim, const Function& function) {
  std::set<std::string> known;
  for (LocalId i = 0; i < function.n_params; ++i) {
    known.insert(function.locals[i].name);
    ForEachDim(function.locals[i].type, [&](const Dim& each) { known.merge(SymbolsIn(each)); });
  }
  const std::set<std::string> used = SymbolsIn(dim);
  return std::includes(known.begin(), known.end(), used.begin(), used.end());
}

// What the symbol of a function is to its caller.
std::optional<Dim> InCaller(const std::string& symbol, const auto& frame) {
  const auto argument = frame.arguments.find(symbol);
  if (argument != frame.arguments.end()) return *argument->second;
  const Function* caller = frame.caller->function;
  for (LocalId i = 0; caller != nullptr && i < frame.function->n_params; ++i) {
    const auto value = frame.locals.find(i);
    if (frame.function->locals[i].name != symbol || value == frame.locals.end()) continue;
    for (LocalId local = 0; local < caller->n_params; ++local) {
      const auto its_value = frame.caller->locals.find(local);
      if (its_value != frame.caller->locals.end() && its_value->second == value->second) return Dim::Symbol(caller->locals[local].name);
    }
  }
  return {};
}

}  // namespace

// The dimension as a reader of the program knows it: "`a / b`" in the program itself; of the standard library what the program gave it, or
// "`height` of `image.resize`". Empty: nothing of the sort.
std::string BodyWriter::NameOf(Dim dim) {
  const Frame* frame = frame_;
  while (frame->function != nullptr && frame->function->is_std && frame->caller != nullptr) {
    bool is_known = true;
    Dim outer = dim.Substitute([&](const std::string& symbol) {
      const std::optional<Dim> value = InCaller(symbol, *frame);
      is_known = is_known && value.has_value();
      return value;
    });
    if (!is_known || outer.fault() != Dim::Fault::kNone || !HasName(outer)) break;
    dim = std::move(outer);
    frame = frame->caller;
  }
  if (!HasName(dim)) return "";
  const Function* library = frame->function != nullptr && frame->function->is_std ? frame->function : nullptr;
  if (library == nullptr) return "`" + dim.ToString() + "`";
  const bool is_called_by_it = frame->caller != nullptr && frame->caller->function != nullptr && frame->caller->function->is_std;
  if (is_called_by_it || !IsOfParams(dim, *library)) return "";
  return "`" + dim.ToString() + "` of `" + library->name.substr(0, library->name.find('<')) + "`";
}

// "[3, h*w], where h is {} and w is {}", whose holes `args` get: what is computed may have wrapped, so what it comes from is told.
std::string BodyWriter::Told(const std::vector<Dim>& dims, const std::vector<ValueId>& extents, std::vector<ValueId>& args) {
  std::string shape, where;
  std::set<std::string> symbols;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_plain = IsPlain(dims[i]);
    shape += (i == 0 ? "" : ", ") + (is_plain ? "{}" : dims[i].ToString());
    if (is_plain) args.push_back(extents[i]);
    if (!is_plain) symbols.merge(SymbolsIn(dims[i]));
  }
  for (const std::string& symbol : symbols) {
    const std::optional<ValueId> value = SymbolValue(symbol, frame_);
    WF_CHECK(value.has_value(), symbol);
    where += (where.empty() ? ", where " : " and ") + symbol.substr(0, symbol.find('#')) + " is {}";
    args.push_back(AsWritten(b_, *value));
  }
  return "[" + shape + "]" + where;
}

namespace {

// `message` holds {0} for `left` and {1} for `right`.
ir::BlockId MessageOfDims(ir::Builder& b, ir::Program& program, const std::string& message, ValueId left, ValueId right) {
  std::string format;
  std::vector<ValueId> args;
  for (size_t i = 0; i < message.size(); ++i) {
    const std::string hole = message.substr(i, 3);
    if (hole == "{0}" || hole == "{1}") {
      args.push_back(AsWritten(b, hole == "{0}" ? left : right));
      format += "{}";
      i += 2;
    } else {
      format += message[i];
    }
  }
  const ir::BlockId block = b.Open({});
  b.Close(args.empty() ? b.Text(format) : b.Emit(OpKind::kText, b.types().String(), std::move(args), ir::AddText(program, format)));
  return block;
}

}  // namespace

// False: a symbol in it has no value yet.
bool BodyWriter::WriteCheck(const DimCheck& check, int32_t code) {
  if (check.is_held || check.is_count) return true;
  const std::optional<ValueId> left = DimIn(check.left, frame_), right = DimIn(check.right, frame_);
  if (!left || !right) return false;
  RequireExact(check.left);
  RequireExact(check.right);
  const ValueId differ = check.is_least ? b_.Binary(OpKind::kLt, *right, *left) : b_.Binary(OpKind::kNe, *left, *right);
  if (b_.IsConstant(differ, 0)) return true;
  if (elements_.depth > 0) {
    b_.StickyIf(differ, code);
    elements_.is_refused = true;
    return true;
  }
  for (const DimCheck::Told& told : check.told) {
    ValueId fails = differ;
    for (const auto& [dim, extent] : told.where)
      fails = b_.Binary(OpKind::kAnd, fails, b_.Binary(OpKind::kEq, *DimIn(dim, frame_), b_.I64(extent)));
    b_.FailIf(fails, code, MessageOfDims(b_, c_.out, told.message, *left, *right));
  }
  b_.FailIf(differ, code, MessageOfDims(b_, c_.out, check.message, *left, *right));
  return true;
}

// That a value has the shape which its type says here.
void BodyWriter::WriteShapeCheck(ValueId value, TypeRef type, const std::string& what) {
  if (type->kind == TypeKind::kRecord) {
    for (uint32_t i = 0; i < type->fields.size(); ++i) WriteShapeCheck(b_.Field(value, i), type->fields[i].type, what);
    return;
  }
  if (type->kind != TypeKind::kTensor) return;
  for (uint32_t axis = 0; axis < type->dims.size(); ++axis) {
    const std::optional<ValueId> wanted = DimIn(type->dims[axis], frame_);
    if (!wanted) continue;
    RequireExact(type->dims[axis]);
    const ValueId found = b_.Dim(value, axis);
    const ValueId differ = b_.Binary(OpKind::kNe, *wanted, found);
    if (b_.IsConstant(differ, 0)) continue;
    const ir::BlockId message = b_.Open({});
    const std::string format = "axis " + std::to_string(axis) + " of " + what + " is {}, wanted {}";
    b_.Close(b_.Emit(OpKind::kText, b_.types().String(), {found, *wanted}, ir::AddText(c_.out, format)));
    b_.FailIf(differ, code::kDimension, message);
  }
}

ValueId BodyWriter::WriteStub(const Function& stub, const Expr& call) {
  const auto args = WriteArgs(call);
  if (!args) return ValueId::kNone;
  Frame frame{.function = &stub, .caller = frame_, .locals = {}, .symbols = {}, .arguments = {}};
  for (size_t i = 0; i < args->size(); ++i) frame.locals[static_cast<LocalId>(i)] = (*args)[i];
  frame_ = &frame;
  for (LocalId i = 0; i < args->size(); ++i) {
    WriteShapeCheck((*args)[i], stub.locals[i].type, "`" + stub.locals[i].name + "` of the stub");
    frame.locals[i] = OfType((*args)[i], stub.locals[i].type);
  }
  const ValueId value = Write(*stub.body);
  LeaveFrame();
  if (value == ValueId::kNone) return value;
  BindFresh(call.fresh, value, call.type);
  WriteShapeCheck(value, call.type, "the stub's value");
  return OfType(value, call.type);
}

void BodyWriter::WriteChecks(const std::vector<DimCheck>& checks, int32_t code) {
  for (const DimCheck& check : checks) {
    const bool is_known = WriteCheck(check, code);
    WF_CHECK(is_known, check.left.ToString(), check.right.ToString());
  }
}

void BodyWriter::WriteChecksOfArgs(const Expr& call) {
  std::vector<bool> done = ChecksOfResult(call);
  WriteChecksOf(call, done, true);
}

ValueId BodyWriter::WriteCut(const Expr& expr, ir::SlotId slot) {
  const ValueId value = b_.Slot(slot);
  const bool is_stub = expr.kind == ExprKind::kCallModel && c_.stubs.contains({expr.kind, expr.index});  // its task checks its value
  if (is_stub) return value;
  BindFresh(expr.fresh, value, expr.type);
  if (!IsCheckedWhereRead(expr)) return value;
  std::vector<bool> done(expr.checks.size(), false);
  if (IsCheckedBefore(expr)) {
    done = ChecksOfResult(expr);
    done.flip();
  }
  WriteChecksOf(expr, done, true);
  return Checked(value, expr);
}

// A value that was checked against the type, for which what reads it is written. Extents that are known here may differ from those that the
// type says: a check has failed then. What follows is never reached, or is of a loop over elements that goes on, with zeros. There an
// extent that only the type says may not be that of the value, either.
ValueId BodyWriter::OfType(ValueId value, ir::TypeId stated) {
  const bool fits = ir::Fits(b_.types(), b_.TypeOf(value), stated);
  if (b_.TypeOf(value) == stated || (fits && !elements_.is_doubtful())) return value;
  const ir::Type type = b_.types()[stated];
  if (type.kind == ir::TypeKind::kRecord) {
    std::vector<ValueId> fields;
    for (uint32_t i = 0; i < type.fields.size(); ++i) fields.push_back(OfType(b_.Field(value, i), type.fields[i].type));
    return b_.Record(stated, std::move(fields));
  }
  if (type.kind != ir::TypeKind::kTensor) return fits ? value : b_.Zero(stated);
  std::vector<ValueId> extents;
  bool is_said = false;  // an extent of the value by the type alone
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    extents.push_back(type.dims[axis] < 0 ? b_.Dim(value, axis) : b_.I64(type.dims[axis]));
    is_said = is_said || (type.dims[axis] >= 0 && b_.Known(value).dims[axis] < 0);
  }
  if (fits && !is_said) return value;
  const ValueId zero = b_.Scalar(type.dtype, 0);
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  Indices indices;
  for (size_t axis = 0; fits && axis < extents.size(); ++axis)
    indices.push_back(b_.Binary(OpKind::kIndexOrZero, b_.Param(axis), b_.Dim(value, axis)));
  b_.Close(fits ? b_.Load(value, std::move(indices)) : zero);
  return b_.Build(type.dtype, std::move(extents), block);
}

ValueId BodyWriter::Held(ValueId value, ir::TypeId stated) {
  return value == ValueId::kNone || !elements_.is_doubtful() ? value : OfType(value, stated);
}

// The type waits for nothing that its checks have not read.
ValueId BodyWriter::OfType(ValueId value, TypeRef type) {
  const bool at_hand_only = std::exchange(at_hand_only_, true);
  const ir::TypeId stated = TypeOf(type);
  at_hand_only_ = at_hand_only;
  return OfType(value, stated);
}

ValueId BodyWriter::Checked(ValueId value, const Expr& expr) {
  const bool may_differ = value != ValueId::kNone && !expr.checks.empty() && expr.type->kind != TypeKind::kNever;
  return may_differ ? OfType(value, expr.type) : value;
}

// Before the expression where the symbols have values by then, else after it.
void BodyWriter::WriteChecksOf(const Expr& expr, std::vector<bool>& done, bool is_last) {
  for (size_t i = 0; i < expr.checks.size(); ++i) {
    if (done[i]) continue;
    done[i] = WriteCheck(expr.checks[i], code::kDimension);
    WF_CHECK(done[i] || !is_last, expr.checks[i].left.ToString(), expr.checks[i].right.ToString());
  }
}

}  // namespace wf::sema
