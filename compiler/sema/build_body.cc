#include "compiler/sema/build_body.h"

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "compiler/sema/build_checks.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/errors.h"
#include "compiler/sema/walk.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

uint32_t BuildContext::LineOf(const Span& span) const {
  if (sources == nullptr || span.file == source::FileId::kNone || span.file != root) return 0;
  return sources->PositionOf(span.file, span.begin).line;
}

void BuildContext::StopAt(const Span& span) {
  if (too_large != nullptr) return;
  too_large = &span;
  calls_there = calls;
}

// Chains of operators lean to the left and may be thousands long, so they are walked up and not down.
ValueId BodyWriter::Write(const Expr& expr) {
  std::vector<const Expr*> chain;
  const Expr* first = &expr;
  const auto is_link = [&](const Expr& link) {
    const bool is_operator = link.kind == ExprKind::kBinary || link.kind == ExprKind::kAnd || link.kind == ExprKind::kOr;
    return is_operator && link.type->kind != TypeKind::kNever && (outer_ == nullptr || !outer_->CutSlot(link));
  };
  for (; is_link(*first); first = first->args[0].get()) chain.push_back(first);
  ++nesting_;
  ValueId value = WriteOne(*first);
  for (size_t i = chain.size(); i-- > 0;) {
    const ir::Place outer_place = Enter(chain[i]->span);
    value = Checked(WriteOperator(*chain[i], value), *chain[i]);
    BindFresh(chain[i]->fresh, value, chain[i]->type);
    b_.set_place(outer_place);
  }
  --nesting_;
  return value;
}

// The place of what is written next; the place to go back to. Of what stands in the standard library its caller knows the call.
ir::Place BodyWriter::Enter(const Span& span) {
  const ir::Place outer_place = b_.place();
  ir::Place place = outer_place;
  if (frame_->function != nullptr && frame_->function->is_std) {
    place.is_within = true;
  } else if (span.file != source::FileId::kNone) {
    const uint32_t line = c_.LineOf(span);
    place = {line != 0 ? line : outer_place.line, span};
  }
  b_.set_place(place);
  return outer_place;
}

void BodyWriter::StopBeyond(const char* limit) {
  c_.ops_left = 0;
  if (c_.too_large == nullptr) c_.limit = limit;
}

// Counts what was written since the last call, and the call; true when there is too much of it, or too deep.
bool BodyWriter::IsTooLarge(const Expr& expr) {
  const size_t written = b_.body().ops.size() - counted_;
  c_.ops_left -= std::min(c_.ops_left, written);
  counted_ += written;
  if (nesting_ > kMaxNesting) StopBeyond(kNestingLimit);
  if (c_.visits_left == 0) {
    StopBeyond("2000000 expressions; functions are written out where they are called");
  } else {
    --c_.visits_left;
  }
  if (c_.ops_left == 0) c_.StopAt(expr.span);
  return c_.ops_left == 0;
}

ValueId BodyWriter::WriteOne(const Expr& expr) {
  const ir::Place outer_place = Enter(expr.span);
  ValueId value = ValueId::kNone;
  if (IsTooLarge(expr)) {
    if (expr.type->kind != TypeKind::kNever) value = b_.Zero(TypeOf(expr.type));
  } else if (expr.type->kind == TypeKind::kNever) {
    WriteNever(expr);
  } else if (const auto slot = outer_ != nullptr ? outer_->CutSlot(expr) : std::nullopt) {
    value = WriteCut(expr, *slot);
  } else {
    value = WriteChecked(expr);
  }
  b_.set_place(outer_place);
  return value;
}

namespace {
// A call's arguments are values before anything of it is compared.
bool ReadsArgsFirst(ExprKind kind) { return kind == ExprKind::kCallFn || kind == ExprKind::kCallExtern || kind == ExprKind::kBuiltin; }
}  // namespace

// The expression between the checks of its arguments and those of its own value: all that it has are written here, once.
ValueId BodyWriter::WriteChecked(const Expr& expr) {
  const std::vector<bool> of_result = ChecksOfResult(expr);
  std::vector<bool> done = of_result;
  ValueId value = ValueId::kNone;
  if (ReadsArgsFirst(expr.kind)) {
    if (const auto args = WriteArgs(expr)) value = expr.kind == ExprKind::kBuiltin ? WriteBuiltin(expr, *args) : WriteCall(expr, *args);
  } else {
    WriteChecksOf(expr, done, false);
    value = WriteKind(expr);
    WriteChecksOf(expr, done, true);
  }
  if (value == ValueId::kNone) value = b_.Zero(TypeOf(expr.type));  // it always fails; what reads it is written like any other
  BindFresh(expr.fresh, value, expr.type);
  done = of_result;
  done.flip();
  WriteChecksOf(expr, done, true);
  return Checked(value, expr);
}

// kBinary, kAnd, kOr, its first operand written already.
ValueId BodyWriter::WriteOperator(const Expr& expr, ValueId first) {
  if (first == ValueId::kNone) PassOver(*expr.args[1]);
  if (first == ValueId::kNone || IsTooLarge(expr)) return b_.Zero(TypeOf(expr.type));
  if (expr.kind != ExprKind::kBinary) return WriteLazy(expr, first);
  const ValueId second = Write(*expr.args[1]);
  if (second == ValueId::kNone) return b_.Zero(TypeOf(expr.type));
  WriteChecks(expr.checks, code::kDimension);
  const bool is_dim = !expr.dim.is_constant();  // and is computed as one: they are one number, whatever a check has noted
  const std::optional<ValueId> quotient = is_dim ? DimAtHand(expr.dim) : std::nullopt;
  return quotient ? *quotient : WriteBinary(expr, first, second);
}

std::optional<std::vector<ValueId>> BodyWriter::WriteAsTheyStand(const std::vector<ExprPtr>& exprs) {
  std::vector<ValueId> values(exprs.size());
  bool is_whole = true;
  for (const size_t i : TextOrder(exprs)) {
    if (is_whole) values[i] = Write(*exprs[i]);
    if (!is_whole) PassOver(*exprs[i]);
    is_whole = is_whole && values[i] != ValueId::kNone;
  }
  return is_whole ? std::optional(std::move(values)) : std::nullopt;
}

// What stands behind a failure that is certain is not computed; extents that are read of it are 0.
void BodyWriter::PassOver(const Expr& expr) {
  ForEachInside(expr, [&](const Expr& inner) {
    for (const FreshSymbol& fresh : inner.fresh) frame_->symbols[fresh.symbol] = b_.I64(0);
  });
  Name(expr);
}

std::optional<std::vector<ValueId>> BodyWriter::WriteArgs(const Expr& call) {
  auto args = WriteAsTheyStand(call.args);
  if (args) WriteChecksOfArgs(call);
  return args;
}

ValueId BodyWriter::WriteKind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kScalar: {
      const uint64_t mask = ir::SizeOf(expr.type->dtype) == 8 ? ~uint64_t{0} : (uint64_t{1} << (ir::SizeOf(expr.type->dtype) * 8)) - 1;
      return b_.Scalar(expr.type->dtype, expr.bits & mask);
    }
    case ExprKind::kText:
      return WriteText(expr);
    case ExprKind::kNone:
      return b_.Emit(OpKind::kNone, TypeOf(expr.type));
    case ExprKind::kLocal:
      return ReadLocal(expr.local);
    case ExprKind::kDimValue: {
      const std::optional<ValueId> value = DimIn(expr.dim, frame_);
      WF_CHECK(value.has_value(), expr.dim.ToString());
      return *value;
    }
    case ExprKind::kConst:
      return WriteConst(expr);
    case ExprKind::kIf:
      return WriteIf(expr, 0);
    case ExprKind::kBlock:
      return WriteBlock(expr);
    case ExprKind::kListLoop:
      return WriteListLoop(expr);
    case ExprKind::kFold:
      return WriteFold(expr);
    case ExprKind::kBuild:
      return WriteBuild(expr);
    case ExprKind::kReduce:
      return WriteReduce(expr);
    case ExprKind::kIndex:
      return WriteIndex(expr);
    case ExprKind::kCoalesce:
      return WriteCoalesce(expr);
    case ExprKind::kListIndex:
      return WriteListIndex(expr);
    case ExprKind::kSome:
    case ExprKind::kField:
    case ExprKind::kRecord:
    case ExprKind::kList:
    case ExprKind::kUnary:
    case ExprKind::kConvert:
    case ExprKind::kHas:
    case ExprKind::kUnwrap:
    case ExprKind::kMapIndex:
    case ExprKind::kMeta:
      return WriteOfArgs(expr);
    case ExprKind::kBinary:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kFail:
    case ExprKind::kCallModel:
    case ExprKind::kCallWorkflow:
    case ExprKind::kCallRemote:
    case ExprKind::kEach:
    case ExprKind::kCallFn:
    case ExprKind::kCallExtern:
    case ExprKind::kBuiltin:
      break;  // written elsewhere
  }
  WF_CHECK(false, static_cast<int>(expr.kind));
  return ValueId::kNone;
}

// What a test says of it stands in place of the request's, and is read as that would be.
ValueId BodyWriter::WriteMeta(const Expr& expr, const std::vector<ValueId>& args) {
  const auto stub = c_.metadata.find(expr.args[0]->text);
  if (stub == c_.metadata.end()) return b_.Emit(OpKind::kMeta, b_.TypeOf(args[1]), args);
  if (expr.type->kind == TypeKind::kString) return b_.Text(stub->second);
  if (const auto bits = ir::ParseScalar(expr.type->dtype, stub->second)) return b_.Scalar(expr.type->dtype, *bits);
  const ir::BlockId message = b_.Open({});
  b_.Close(b_.Text("metadata `" + stub->first + "` is not a value of type " + std::string(ir::NameOf(expr.type->dtype))));
  b_.FailIf(b_.Bool(true), code::kInputParams, message);
  return b_.Zero(TypeOf(expr.type));
}

// The kinds that are one operation of their arguments.
ValueId BodyWriter::WriteOfArgs(const Expr& expr) {
  auto written = WriteAsTheyStand(expr.args);
  if (!written) return b_.Zero(TypeOf(expr.type));
  std::vector<ValueId> args = *std::move(written);
  switch (expr.kind) {
    case ExprKind::kSome:
      return b_.Emit(OpKind::kSome, b_.types().Optional(b_.TypeOf(args[0])), args);
    case ExprKind::kField:
      return b_.Field(args[0], expr.index);
    case ExprKind::kRecord: {
      const ir::TypeId type = TypeOf(expr.type);
      for (size_t i = 0; i < args.size(); ++i) args[i] = Held(args[i], b_.types()[type].fields[i].type);
      return b_.Record(type, args);
    }
    case ExprKind::kList: {
      const ir::TypeId type = TypeOf(expr.type);
      for (ValueId& arg : args) arg = Held(arg, b_.types()[type].element);
      return b_.Emit(OpKind::kListMake, type, args);
    }
    case ExprKind::kUnary:
      return WriteUnary(expr, args[0]);
    case ExprKind::kConvert:
      return Map(args, TypesOf(expr.args), [&](const std::vector<ValueId>& x) { return b_.Convert(x[0], expr.type->dtype); });
    case ExprKind::kHas:
      return b_.Emit(OpKind::kHas, b_.ScalarType(DType::kBool), args);
    case ExprKind::kUnwrap:
      return b_.Emit(OpKind::kUnwrap, b_.Known(args[0]).element, args);
    case ExprKind::kMapIndex:
      return b_.Emit(OpKind::kMapGet, b_.types().Optional(b_.types()[b_.TypeOf(args[0])].element), args);
    case ExprKind::kMeta:
      return WriteMeta(expr, args);
    default:
      break;  // WriteKind says which come here
  }
  WF_CHECK(false, static_cast<int>(expr.kind));
  return ValueId::kNone;
}

ValueId BodyWriter::ReadLocal(LocalId local) {
  const auto found = frame_->locals.find(local);
  if (found != frame_->locals.end()) return found->second;
  WF_CHECK(frame_ == &root_ && outer_ != nullptr, local);
  return ReadOuter(local);
}

ValueId BodyWriter::ReadOuter(LocalId local) {
  const auto known = root_.locals.find(local);
  if (known != root_.locals.end()) return known->second;
  const ValueId value = AtRoot([&] { return outer_->Read(*this, local); });
  root_.locals[local] = value;
  return value;
}

namespace {

// No: there is a character between its holes, or what fills one has some.
bool MayBeEmpty(const Expr& message) {
  if (message.kind != ExprKind::kText) return true;
  if (message.text.size() > 2 * message.args.size()) return false;
  return std::all_of(message.args.begin(), message.args.end(), [](const ExprPtr& arg) { return arg->type->kind == TypeKind::kString; });
}

std::string_view DeclaredMessage(const Program& program, int32_t code) {
  for (const ErrorCode& error : program.errors) {
    if (error.code == code) return error.message;
  }
  for (const BuiltInError& error : kBuiltInErrors) {
    if (error.code == code) return error.message;
  }
  return "";
}

}  // namespace

// What is declared stands for a text that turns out empty.
ValueId BodyWriter::WriteMessage(int32_t code, const Expr* message) {
  const auto declared = [&] { return b_.Text(std::string(DeclaredMessage(c_.program, code))); };
  if (message == nullptr || (message->kind == ExprKind::kText && message->text.empty())) return declared();
  const ValueId text = Write(*message);
  if (text == ValueId::kNone || !MayBeEmpty(*message)) return text;
  const ValueId length = b_.Emit(OpKind::kStringLen, b_.ScalarType(DType::kI64), {text});
  return WriteEither(b_.Binary(OpKind::kEq, length, b_.I64(0)), declared, [&] { return text; });
}

void BodyWriter::WriteFailure(int32_t code, const Expr* message, ValueId condition, const Span& span) {
  if (b_.IsConstant(condition, 0)) return;
  const ir::Place outer_place = Enter(span);
  const ir::BlockId block = b_.Open({});
  b_.Close(WriteMessage(code, message));
  b_.FailIf(condition, code, block);
  b_.set_place(outer_place);
}

// Writes what ends in a failure whichever way it goes; nothing after it is reached.
void BodyWriter::WriteNever(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kFail:
      WriteFailure(expr.code, expr.args.empty() ? nullptr : expr.args[0].get(), b_.Bool(true), expr.span);
      return;
    case ExprKind::kIf:
      WriteIf(expr, 0);
      return;
    case ExprKind::kBlock:
      WriteBlock(expr);
      return;
    case ExprKind::kCallFn:
      if (const auto args = WriteArgs(expr)) WriteCall(expr, *args);
      return;
    default:
      for (const ExprPtr& arg : expr.args) {
        if (Write(*arg) == ValueId::kNone) return;
      }
  }
}

}  // namespace wf::sema
