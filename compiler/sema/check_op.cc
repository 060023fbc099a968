// Operators. Chains of binary operators are walked, not recursed into: they may hold thousands.

#include <algorithm>

#include "compiler/sema/check_call.h"
#include "compiler/sema/dim_bounds.h"
#include "compiler/sema/help.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

// An operand: checked, or a literal whose type the other side decides.
struct Operand {
  ExprPtr value;  // null while `literal` stands
  const ast::Expr* literal = nullptr;
  Span span;
};

bool IsComparison(ast::BinaryOp op) { return op >= ast::BinaryOp::kEq && op <= ast::BinaryOp::kGe; }
bool IsEquality(ast::BinaryOp op) { return op == ast::BinaryOp::kEq || op == ast::BinaryOp::kNe; }
bool IsLazy(ast::BinaryOp op) { return op == ast::BinaryOp::kAnd || op == ast::BinaryOp::kOr || op == ast::BinaryOp::kCoalesce; }

BinaryOp Typed(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kAdd:
      return BinaryOp::kAdd;
    case ast::BinaryOp::kSub:
      return BinaryOp::kSub;
    case ast::BinaryOp::kMul:
      return BinaryOp::kMul;
    case ast::BinaryOp::kDiv:
      return BinaryOp::kDiv;
    case ast::BinaryOp::kRem:
      return BinaryOp::kRem;
    case ast::BinaryOp::kEq:
      return BinaryOp::kEq;
    case ast::BinaryOp::kNe:
      return BinaryOp::kNe;
    case ast::BinaryOp::kLt:
      return BinaryOp::kLt;
    case ast::BinaryOp::kLe:
      return BinaryOp::kLe;
    case ast::BinaryOp::kGt:
      return BinaryOp::kGt;
    case ast::BinaryOp::kGe:
    case ast::BinaryOp::kAnd:
    case ast::BinaryOp::kOr:
    case ast::BinaryOp::kCoalesce:
    case ast::BinaryOp::kPipe:
      break;
  }
  return BinaryOp::kGe;
}

bool HoldsNumbers(TypeRef type) { return type->kind == TypeKind::kScalar || type->kind == TypeKind::kTensor; }
bool MayHoldNumbers(TypeRef type) { return HoldsNumbers(type->kind == TypeKind::kOptional ? type->element : type); }

TypeRef ScalarHint(Types& types, TypeRef wanted) {
  if (wanted == nullptr) return nullptr;
  if (wanted->kind == TypeKind::kOptional) wanted = wanted->element;
  if (wanted->kind == TypeKind::kTensor && wanted->dtype != DType::kNone) return types.Scalar(wanted->dtype);
  return wanted;
}

// `[0.0] * n`: so many of one value. Empty: it is something else.
std::string HelpToRepeat(const Body& body, const ast::BinaryExpr& step, TypeRef other) {
  const auto* list = ast::DynAs<ast::ListExpr>(*step.left);
  const ast::Expr& count = list != nullptr ? *step.right : *step.left;
  if (list == nullptr) list = ast::DynAs<ast::ListExpr>(*step.right);
  const bool is_count = other->kind == TypeKind::kScalar && IsInteger(other->dtype);
  if (step.op != ast::BinaryOp::kMul || list == nullptr || list->elements.size() != 1 || !is_count) return "";
  const std::string value = CodeAt(body, list->elements[0]->span, "e"), number = CodeAt(body, count.span, "n");
  return "so many of one value are a tensor, `[i < " + number + "] => " + value + "`, or a list of them, `list([i < " + number + "] => " +
         value + ")`";
}

// A list beside a number or a tensor: what is meant is a tensor, or something of each element.
std::string HelpWithList(Body& body, const Expr& list, const Expr& other) {
  if (other.type->kind == TypeKind::kScalar) return "`[e for x in xs]` makes something of each element of a list";
  const bool is_written = list.kind == ExprKind::kList && list.type->element->kind == TypeKind::kScalar;
  if (!is_written) return "`tensor.stack(..)` of std.tensor makes a tensor of a list";
  const std::string type = std::string(ir::NameOf(other.type->dtype)) + "[" + std::to_string(list.args.size()) + "]";
  return "where its type is written, this makes a tensor: `let c: " + type + " = " + CodeAt(body, list.span, "[..]") + ";`";
}

// `a + b` of lists: two that there are are joined; one that grows from step to step is made at once.
std::string HelpWithLists(Body& body, const Expr& left, const Expr& right) {
  const auto grows = [&](const Expr& side) {
    return side.kind == ExprKind::kLocal && body.infos[side.local].kind == LocalKind::kAccumulator;
  };
  if (grows(left) || grows(right) || Join(body.env.types, left.type, right.type) == nullptr)
    return "a list is made at once: `[e for x in xs if c]`";
  return "lists are joined by std.lists: `lists.concat(" + CodeAt(body, left.span, "a") + ", " + CodeAt(body, right.span, "b") + ")`";
}

bool HoldsTensor(TypeRef type) {
  if (type->kind == TypeKind::kList) return HoldsTensor(type->element);
  const auto holds = [](const Field& field) { return HoldsTensor(field.type); };
  return type->kind == TypeKind::kTensor ||
         (type->kind == TypeKind::kRecord && std::any_of(type->fields.begin(), type->fields.end(), holds));
}

// `operand`: what the operator does not take, beside `other`.
ExprPtr ReportNoOperator(Body& body, const ast::BinaryExpr& step, const Expr& operand, const Expr& other) {
  const TypeRef type = operand.type;
  auto builder = body.env.Report(step.op_span, kNoOperator, {ast::Spelling(step.op), ToString(type)});
  if (const std::string repeated = HelpToRepeat(body, step, other.type); !repeated.empty()) {
    builder.Help(repeated);
  } else if (type->kind == TypeKind::kList && HoldsNumbers(other.type)) {
    builder.Help(HelpWithList(body, operand, other));
  } else if (type->kind == TypeKind::kList && step.op == ast::BinaryOp::kAdd) {
    builder.Help(HelpWithLists(body, operand, other));
  }
  if (IsEquality(step.op) && HoldsTensor(type))
    builder.Help("a tensor is compared element by element, `all[i](a[i] == b[i])`, or by `close(a, b)`");
  if (type->kind == TypeKind::kString && step.op == ast::BinaryOp::kRem) builder.Help("a text has holes for values: `\"x is {x}\"`");
  if (type->kind == TypeKind::kString && IsComparison(step.op)) builder.Help("texts have no order; they are compared by `==` and `!=`");
  if (type->kind == TypeKind::kRecord && type->name.empty() && !type->fields.empty())
    builder.Help("its parts are read by name, as in " + ReadOfMember(body, operand, type->fields[0].name));
  return Poison(body, step.span);
}

// A value that stands for `none` in an example.
std::string ExampleOf(TypeRef type) {
  if (type->kind == TypeKind::kString) return "\"\"";
  if (type->kind != TypeKind::kScalar) return "..";
  return type->dtype == DType::kBool ? "false" : ir::IsFloat(type->dtype) ? "0.0" : "0";
}

// `1 + x ?? 0` adds before `??` is asked. `operand`: what may be none, at the end of `operation`.
std::optional<std::string> HelpWithPrecedence(Body& body, const ast::Expr& operation, std::string_view op, const Span& operand,
                                              const Where& where) {
  if (where.left_of == nullptr || where.left_of->left.get() != &operation) return std::nullopt;
  const Span& all = where.left_of->span;
  const std::string before = CodeAt(body, {all.file, operation.span.begin, operand.begin}, "x " + std::string(op) + " ");
  const std::string value = CodeAt(body, {all.file, operand.begin, all.end}, "y ?? z");
  return "`" + std::string(op) + "` binds tighter than `??`: `" + before + "(" + value + ")`";
}

// An `i64`, a `u8`.
std::string WithArticle(const std::string& type) {
  const bool is_signed = type.size() > 1 && type[0] == 'i' && type[1] >= '0' && type[1] <= '9';
  return (is_signed ? "an `" : "a `") + type + "`";
}

// `none` beside what never is.
ExprPtr ReportNone(Body& body, const ast::BinaryExpr& step, const Expr& left, const Expr& right) {
  const Expr& none = left.type->kind == TypeKind::kNone ? left : right;
  const TypeRef value = (&none == &left ? right : left).type;
  const std::string_view op = ast::Spelling(step.op);
  if (!IsEquality(step.op)) {
    auto builder = body.env.Report(none.span, kNoOperator, {op, ToString(none.type)});
    if (value->kind == TypeKind::kScalar || value->kind == TypeKind::kString)
      builder.Help("what may be none is given a value first, as `x` by `(x ?? " + ExampleOf(value) + ")`");
    return Poison(body, step.span);
  }
  auto builder = body.env.Report(step.op_span, kNoOperator, {op, ToString(left.type)});
  if (value->kind != TypeKind::kNone) builder.Help(WithArticle(ToString(value)) + " is never `none`; `" + ToString(value) + "?` may be");
  return Poison(body, step.span);
}

// One of the operands may be none.
ExprPtr ReportOptional(Body& body, const ast::BinaryExpr& step, const Expr& left, const Expr& right, const Where& where) {
  const bool is_right = right.type->kind == TypeKind::kOptional;
  const Expr &optional = is_right ? right : left, &other = is_right ? left : right;
  auto builder = body.env.Report(step.op_span, kNoOperator, {ast::Spelling(step.op), ToString(optional.type)});
  const auto tighter = is_right ? HelpWithPrecedence(body, step, ast::Spelling(step.op), step.right->span, where) : std::nullopt;
  const std::string text = CodeAt(body, optional.span, "x");
  if (tighter) {
    builder.Help(*tighter);
  } else if (IsEquality(step.op) && other.type->kind == TypeKind::kNone) {
    const std::string arms = step.op == ast::BinaryOp::kEq ? " { none => true, _ => false }" : " { none => false, _ => true }";
    builder.Help("`match " + text + arms + "` asks whether it is `none`");
  } else {
    builder.Help("it may be none; `(" + text + " ?? " + ExampleOf(optional.type->element) + ")` gives it a value");
  }
  return Poison(body, step.span);
}

// The member of a record that has the type, as a result of a workflow has.
const Field* MemberOf(TypeRef record, TypeRef type) {
  if (record->kind != TypeKind::kRecord) return nullptr;
  const auto at = std::find_if(record->fields.begin(), record->fields.end(), [&](const Field& field) { return field.type == type; });
  return at == record->fields.end() ? nullptr : &*at;
}

// Whether `==` compares two values of the type as one: nothing that holds a map or a tensor.
bool IsComparable(TypeRef type) {
  switch (type->kind) {
    case TypeKind::kScalar:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kError:
    case TypeKind::kNever:
      return true;
    case TypeKind::kList:
    case TypeKind::kOptional:
      return IsComparable(type->element);
    case TypeKind::kRecord:
      return std::all_of(type->fields.begin(), type->fields.end(), [](const Field& field) { return IsComparable(field.type); });
    case TypeKind::kNone:
    case TypeKind::kTensor:
    case TypeKind::kMap:
    case TypeKind::kVariable:
      return false;
  }
  return false;
}

ExprPtr CompareValues(Body& body, const ast::BinaryExpr& step, ExprPtr left, ExprPtr right) {
  if (!IsEquality(step.op) || (!left->type->is_open && !IsComparable(left->type))) return ReportNoOperator(body, step, *left, *right);
  const TypeRef joined = Join(body.env.types, left->type, right->type);
  if (joined == nullptr || !IsComparable(joined)) {
    auto builder = body.env.Report(step.op_span, kOperandsDiffer, {ast::Spelling(step.op), ToString(left->type), ToString(right->type)});
    if (const Field* member = MemberOf(left->type, right->type))
      builder.Help("the left has a member of the right's type: `." + member->name + "`");
    return Poison(body, step.span);
  }
  left = Coerce(body, std::move(left), joined);
  right = Coerce(body, std::move(right), joined);
  ExprPtr equal = Make(ExprKind::kBinary, body.env.types.Scalar(DType::kBool), step.span);
  equal->binary = Typed(step.op);
  equal->args.push_back(std::move(left));
  equal->args.push_back(std::move(right));
  return equal;
}

// "a" + "b": one text with two holes, flattened so that chains stay flat.
ExprPtr Concatenate(Body& body, const ast::BinaryExpr& step, ExprPtr left, ExprPtr right) {
  const bool extend = left->kind == ExprKind::kText && !left->args.empty();
  ExprPtr text = extend ? std::move(left) : MakeText(body, "{}", step.span);
  if (!extend) text->args.push_back(std::move(left));
  text->span = step.span;
  text->text += "{}";
  text->args.push_back(std::move(right));
  return text;
}

// REQUIRES: the elements of both are scalars of different types.
std::string HelpToConvert(const Body& body, const Expr& left, const Expr& right) {
  const bool is_left = left.type->dtype == DType::kBool;
  if (is_left || right.type->dtype == DType::kBool) {  // a number from a truth value, never the other way round
    const Expr &truth = is_left ? left : right, &number = is_left ? right : left;
    return "convert the `bool`: `" + std::string(ir::NameOf(number.type->dtype)) + "(" + CodeAt(body, truth.span, "..") + ")`";
  }
  const bool is_right = ir::IsFloat(right.type->dtype);  // the type of it is the wider
  const Expr& other = is_right ? left : right;
  return "convert one of them, as in `" + std::string(ir::NameOf((is_right ? right : left).type->dtype)) + "(" +
         CodeAt(body, other.span, "..") + ")`";
}

ExprPtr Elementwise(Body& body, const ast::BinaryExpr& step, ExprPtr left, ExprPtr right) {
  Types& types = body.env.types;
  const std::string_view op = ast::Spelling(step.op);
  if (left->type->dtype != right->type->dtype) {
    const std::string repeated = HelpToRepeat(body, step, left->type->kind == TypeKind::kScalar ? left->type : right->type);
    body.env.Report(step.op_span, kOperandsDiffer, {op, ToString(left->type), ToString(right->type)})
        .Help(repeated.empty() ? HelpToConvert(body, *left, *right) : repeated);
    return Poison(body, step.span);
  }
  if (!IsEquality(step.op) && !CheckArithmetic(body, op, left->type, step.op_span)) return Poison(body, step.span);
  const DType dtype = IsComparison(step.op) ? DType::kBool : left->type->dtype;
  ExprPtr result = Make(ExprKind::kBinary, types.Scalar(dtype), step.span);
  if (left->type->kind == TypeKind::kTensor || right->type->kind == TypeKind::kTensor) {
    auto dims = Broadcast(body, op, *left, *right, step.op_span);
    if (!dims) return Poison(body, step.span);
    result->type = types.Tensor(dtype, std::move(*dims));
  }
  if ((step.op == ast::BinaryOp::kDiv || step.op == ast::BinaryOp::kRem) && right->kind == ExprKind::kScalar && IsInteger(dtype) &&
      right->bits == 0) {
    body.env.Report(right->span, kConstantDivisor);
    return Poison(body, step.span);
  }
  result->binary = Typed(step.op);
  result->args.push_back(std::move(left));
  result->args.push_back(std::move(right));
  if (const auto quotient = QuotientOf(body, *result)) result->dim = *quotient;
  return FoldKnown(body, std::move(result));
}

// `"n = " + n`
ExprPtr ReportAddedToText(Body& body, const ast::BinaryExpr& step, const Expr& left, const Expr& right) {
  const Expr& other = left.type->kind == TypeKind::kString ? right : left;
  auto builder = body.env.Report(step.op_span, kOperandsDiffer, {"+", ToString(left.type), ToString(right.type)});
  if (other.type->kind == TypeKind::kScalar)
    builder.Help("`+` joins texts: `str(" + CodeAt(body, other.span, "x") + ")` is one of a number; a text also has holes, `\"x is {x}\"`");
  return Poison(body, step.span);
}

ExprPtr Combine(Body& body, const ast::BinaryExpr& step, ExprPtr left, ExprPtr right, const Where& where) {
  if (IsPoison(*left) || IsPoison(*right)) return Poison(body, step.span);
  const auto one_is = [&](TypeKind kind) { return left->type->kind == kind || right->type->kind == kind; };
  if (one_is(TypeKind::kOptional)) {
    const TypeRef optional = left->type->kind == TypeKind::kOptional ? left->type : right->type;
    const bool is_compared =
        IsEquality(step.op) && IsComparable(optional) && (where.left_of == nullptr || where.left_of->left.get() != &step);
    if (is_compared) return CompareValues(body, step, std::move(left), std::move(right));
    return ReportOptional(body, step, *left, *right, where);
  }
  if (one_is(TypeKind::kNone)) return ReportNone(body, step, *left, *right);
  const bool strings = left->type->kind == TypeKind::kString && right->type->kind == TypeKind::kString;
  if (strings && step.op == ast::BinaryOp::kAdd) return Concatenate(body, step, std::move(left), std::move(right));
  if (HoldsNumbers(left->type) && HoldsNumbers(right->type)) return Elementwise(body, step, std::move(left), std::move(right));
  if (IsComparison(step.op)) return CompareValues(body, step, std::move(left), std::move(right));
  if (step.op == ast::BinaryOp::kAdd && one_is(TypeKind::kString)) return ReportAddedToText(body, step, *left, *right);
  return HoldsNumbers(left->type) ? ReportNoOperator(body, step, *right, *left) : ReportNoOperator(body, step, *left, *right);
}

ExprPtr Resolve(Body& body, Operand operand, TypeRef hint) {
  return operand.literal != nullptr ? CheckLiteral(body, *operand.literal, hint) : std::move(operand.value);
}

bool IsTensorOfBool(TypeRef type) { return type->kind == TypeKind::kTensor && type->dtype == DType::kBool; }

// `a && b` of tensors.
void ReportByElement(Body& body, const ast::BinaryExpr& step, const Expr& left, const Expr& right) {
  const std::string op(ast::Spelling(step.op));
  auto builder = body.env.Report(step.op_span, kNoOperator, {op, ToString(left.type)});
  const bool is_scalar = IsScalarBool(right.type);
  if (!is_scalar && (!IsTensorOfBool(right.type) || right.type->dims.size() != left.type->dims.size())) return;
  const Indices indices = IndicesOf(body, left);
  const std::string other = is_scalar ? CodeAt(body, right.span, "b") : Indexable(body, right) + "[" + indices.names + "]";
  const std::string both = Indexable(body, left) + "[" + indices.names + "] " + op + " " + other;
  builder.Help("it takes one `bool` on each side; element by element it is `[" + indices.bound + "] => " + both +
               "`, and of all elements `all[" + indices.names + "](" + both + ")`");
}

ExprPtr CheckLogical(Body& body, const ast::BinaryExpr& step, ExprPtr left, const Where& where) {
  const TypeRef bool_type = body.env.types.Scalar(DType::kBool);
  if (step.op == ast::BinaryOp::kOr && left->type->kind == TypeKind::kOptional && !IsScalarBool(left->type->element)) {  // `x || 0`
    const std::string value = CodeAt(body, left->span, "x"), other = CodeAt(body, step.right->span, "y");
    body.env.Report(left->span, kTypeMismatch, {"bool", ToString(left->type)})
        .Help("`" + value + " ?? " + other + "` is " + other + " where there is no `" + value + "`");
    SkipUnchecked(body, *step.right);
    return Poison(body, step.span);
  }
  if (IsTensorOfBool(left->type)) {
    const ExprPtr right = CheckExpr(body, *step.right, nullptr, where);
    if (!IsPoison(*right)) ReportByElement(body, step, *left, *right);
    return Poison(body, step.span);
  }
  left = Coerce(body, std::move(left), bool_type);
  ExprPtr right = CheckAs(body, *step.right, bool_type, where);
  if (IsPoison(*left) || IsPoison(*right)) return Poison(body, step.span);
  ExprPtr both = Make(step.op == ast::BinaryOp::kAnd ? ExprKind::kAnd : ExprKind::kOr, bool_type, step.span);
  both->args.push_back(std::move(left));
  both->args.push_back(std::move(right));
  return both;
}

// `m["k"] ?? 7 == 7` compares 7 with 7. False: that is not what went wrong.
bool ReportTighter(Body& body, const ast::BinaryExpr& step, const Expr& left, const Expr& right) {
  const auto* other = ast::DynAs<ast::BinaryExpr>(*step.right);
  const ast::BinaryExpr* tightest = other;
  while (tightest != nullptr && tightest->left->kind == ast::ExprKind::kBinaryExpr) tightest = ast::DynAs<ast::BinaryExpr>(*tightest->left);
  if (tightest == nullptr || !IsScalarBool(right.type)) return false;
  const Span& value = tightest->left->span;
  const std::string first = CodeAt(body, {value.file, step.left->span.begin, value.end}, "x ?? y");
  const std::string rest =
      CodeAt(body, {value.file, value.end, step.right->span.end}, " " + std::string(ast::Spelling(tightest->op)) + " z");
  body.env.Report(right.span, kTypeMismatch, {ToString(left.type->element), ToString(right.type)})
      .Label(left.span, "the value on the left")
      .Help("`" + std::string(ast::Spelling(tightest->op)) + "` binds tighter than `??`: `(" + first + ")" + rest + "`");
  return true;
}

ExprPtr CheckCoalesce(Body& body, const ast::BinaryExpr& step, TypeRef wanted, const Where& where) {
  const uint32_t mark = body.NextSymbol();
  Where left_where = where;
  left_where.left_of = &step;
  ExprPtr left = CheckExpr(body, *step.left, nullptr, left_where);
  const bool none = left->type->kind == TypeKind::kNone;
  if (!IsPoison(*left) && left->type->kind != TypeKind::kOptional && !none) {
    const bool fails = left->type->kind == TypeKind::kNever;
    if (fails)
      body.env.Report(step.op_span, kNoOperator, {"??", ToString(left->type)})
          .Label(left->span, "always fails")
          .Help("`??` stands in for `none`; what stands in for a failure is the `else` of a node: `node x = .. else 0;`");
    if (!fails) body.env.Report(step.op_span, kNeverNone, {ToString(left->type)}).Label(left->span, "always has a value");
    SkipUnchecked(body, *step.right);
    return Poison(body, step.span);
  }
  const TypeRef element = IsPoison(*left) || none ? wanted : left->type->element;
  const bool is_wanted = wanted != nullptr && (wanted == element || wanted->element == element);
  const bool is_demanded = wanted != nullptr && wanted->kind == TypeKind::kOptional && !where.soft && !IsPoison(*left) &&
                           Join(body.env.types, wanted, left->type) != nullptr;
  ExprPtr right = CheckExpr(body, *step.right, is_demanded ? wanted : element, is_wanted || is_demanded ? where : where.Soft());
  const bool may_be_none = right->type->kind == TypeKind::kOptional || right->type->kind == TypeKind::kNone;
  if (is_demanded && may_be_none) right = FitPart(body, std::move(right), wanted, where);
  if (IsPoison(*left) || IsPoison(*right) || none) return none ? std::move(right) : Poison(body, step.span);
  const bool chained = right->type->kind == TypeKind::kOptional;
  TypeRef joined = Join(body.env.types, chained ? left->type : left->type->element, right->type);
  if (joined == nullptr) {
    if (!ReportTighter(body, step, *left, *right))
      Coerce(body, std::move(right), left->type->element, Origin{left->span, "the value on the left"});
    return Poison(body, step.span);
  }
  joined = WithoutBorn(body, joined, mark);
  right = Coerce(body, std::move(right), joined);
  left = Coerce(body, std::move(left), joined->kind == TypeKind::kOptional ? joined : body.env.types.Optional(joined));
  if (IsPoison(*left) || IsPoison(*right)) return Poison(body, step.span);
  ExprPtr value = Make(ExprKind::kCoalesce, joined, step.span);
  value->args.push_back(std::move(left));
  value->args.push_back(std::move(right));
  Settle(body, *value, mark);
  return value;
}

// A list that is written out, or made by a comprehension.
bool IsWrittenList(const ast::Expr& expr) {
  return expr.kind == ast::ExprKind::kListExpr || expr.kind == ast::ExprKind::kComprehensionExpr;
}

// What a list or a tuple written on the right of a comparison is to be: the fields of a tuple have no order, the numbers of a list the type
// of the others.
TypeRef ComparedWith(const Body& body, const Operand& left, const ast::Expr& right) {
  if (!left.value) return nullptr;
  const TypeKind kind = left.value->type->kind;
  const bool is_list =
      (kind == TypeKind::kList && IsWrittenList(right)) || (kind == TypeKind::kTensor && right.kind == ast::ExprKind::kListExpr);
  const bool is_tuple = left.value->type->kind == TypeKind::kRecord && right.kind == ast::ExprKind::kTupleExpr;
  return is_list || is_tuple || TakesTypeOfPlace(body, right) ? left.value->type : nullptr;
}

// `[k] == xs`: what is written on the left is of the type of the right side, which is checked first.
Operand CheckWrittenFirst(Body& body, const ast::BinaryExpr& step, const Where& where) {
  ExprPtr right = CheckExpr(body, *step.right, nullptr, where.Soft());
  const TypeRef wanted = right->type->kind == TypeKind::kList ? right->type : nullptr;
  ExprPtr left = CheckExpr(body, *step.left, wanted, where.Soft());
  return {Combine(body, step, std::move(left), std::move(right), where), nullptr, step.span};
}

// One step of a chain. Literals on both sides stay one literal until something decides their type.
Operand CheckStep(Body& body, const ast::BinaryExpr& step, Operand left, TypeRef wanted, const Where& where) {
  const TypeRef hint = IsComparison(step.op) ? ComparedWith(body, left, *step.right) : ScalarHint(body.env.types, wanted);
  if (step.op == ast::BinaryOp::kAnd || step.op == ast::BinaryOp::kOr) {
    return {CheckLogical(body, step, Resolve(body, std::move(left), nullptr), where), nullptr, step.span};
  }
  const bool right_literal = IsLiteral(*step.right);
  if (left.literal != nullptr && right_literal && !IsComparison(step.op)) return {nullptr, &step, step.span};
  ExprPtr right;
  if (!right_literal) right = CheckExpr(body, *step.right, hint, IsComparison(step.op) ? where.Soft() : where);
  if (left.literal != nullptr && right_literal) {  // 1 < 2
    left.value = CheckLiteral(body, *left.literal, nullptr);
    left.literal = nullptr;
  }
  TypeRef left_hint = hint;
  if (right && MayHoldNumbers(right->type)) left_hint = ScalarHint(body.env.types, right->type);
  ExprPtr left_value = Resolve(body, std::move(left), left_hint);
  if (right_literal)
    right = CheckLiteral(body, *step.right, MayHoldNumbers(left_value->type) ? ScalarHint(body.env.types, left_value->type) : hint);
  return {Combine(body, step, std::move(left_value), std::move(right), where), nullptr, step.span};
}

// How a program says that two dimensions are one number.
void HelpWithEquality(const Dim& a, const Dim& b, diag::Builder& builder) {
  if (const auto help = HelpWithDivision(a, b))
    builder.Help(*help);
  else if (a.ToString() == b.ToString())
    builder.Help("each value has a `" + a.ToString() + "` of its own");
  builder.Help("say that they are equal, which is then checked once: `fn add(a: f32[n], b: f32[n]) -> f32[n] = a + b;`");
}

}  // namespace

bool CheckArithmetic(Body& body, std::string_view what, TypeRef type, const Span& span) {
  if (!HoldsNumbers(type) || !IsNumeric(type->dtype)) {
    auto builder = body.env.Report(span, kNoOperator, {what, ToString(type)});
    if (type->kind == TypeKind::kOptional) builder.Help(std::string(kHelpWithNone));
    return false;
  }
  if (!ir::IsStorageOnly(type->dtype)) return true;
  const std::string wider = ir::IsFloat(type->dtype) ? "`f32(..)`" : "`f32(..)` or `i32(..)`";
  body.env.Report(span, kStorageArithmetic, {ir::NameOf(type->dtype), what}).Help("convert it first: " + wider);
  return false;
}

// Axes agree when their dimensions are the same polynomial, or one of them is absent or literally 1 (docs/semantics.md 21): nothing is left
// to be checked when it runs.
std::optional<std::vector<Dim>> Broadcast(Body& body, std::string_view what, const Expr& left, const Expr& right, const Span& span) {
  const std::vector<Dim>&of_left = left.type->dims, &of_right = right.type->dims;
  const size_t rank = std::max(of_left.size(), of_right.size());
  std::vector<Dim> dims(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    const size_t axis = rank - 1 - i;
    const Dim* a = i < of_left.size() ? &of_left[of_left.size() - 1 - i] : nullptr;
    const Dim* b = i < of_right.size() ? &of_right[of_right.size() - 1 - i] : nullptr;
    if (a == nullptr || b == nullptr) {
      dims[axis] = a != nullptr ? *a : *b;
    } else if (*a == *b || b->constant() == 1) {
      dims[axis] = *a;
    } else if (a->constant() == 1) {
      dims[axis] = *b;
    } else {
      auto builder = body.env.Report(span, kBroadcast, {ToString(left.type), ToString(right.type), a->ToString(), b->ToString(), axis});
      LabelOrigins(body, {*a, *b}, builder);
      builder.Label(left.span, "`" + ToString(left.type) + "`").Label(right.span, "`" + ToString(right.type) + "`");
      LabelSourceOf(body, left, *a, builder);
      LabelSourceOf(body, right, *b, builder);
      if (what == "*" && of_left.size() == 2 && of_right.size() == 2) {
        builder.Help("the product of matrices is `[r, c] => sum[i](a[r, i] * b[i, c])`");
      } else if (of_left.size() != of_right.size()) {
        builder.Help("axes go together from the last on; `[i, j] => x[i, j] + y[i]` says it otherwise");
      } else if (IsInTest(body) && what == "==") {
        builder.Help(std::string(kHelpToCompare));
      } else if (!Dim::ProvedDifferent(*a, *b)) {
        HelpWithEquality(*a, *b, builder);
      }
      return std::nullopt;
    }
  }
  return dims;
}

namespace {

// `!`, like `&&` and `||`, takes one bool (docs/semantics.md 21).
bool CheckNot(Body& body, const Expr& operand, const Span& span) {
  const TypeRef type = operand.type;
  if (type->kind == TypeKind::kScalar && type->dtype == DType::kBool) return true;
  auto builder = body.env.Report(span, kNoOperator, {"!", ToString(type)});
  if (IsTensorOfBool(type)) {
    const Indices indices = IndicesOf(body, operand);
    const std::string element = Indexable(body, operand) + "[" + indices.names + "]";
    builder.Help("it takes one `bool`; element by element it is `[" + indices.bound + "] => !" + element + "`, and of all elements `!all[" +
                 indices.names + "](" + element + ")`");
  } else {
    builder.HelpIf(HelpWithTruth(body, operand, /*negated=*/true));
  }
  return false;
}

}  // namespace

ExprPtr CheckUnary(Body& body, const ast::UnaryExpr& expr, TypeRef wanted, const Where& where) {
  if (IsLiteral(expr)) return CheckLiteral(body, expr, wanted);
  const bool negate = expr.op == ast::UnaryOp::kNegate;
  ExprPtr operand = CheckExpr(body, *expr.operand, negate ? wanted : nullptr, where);
  if (IsPoison(*operand)) return operand;
  if (operand->type->kind == TypeKind::kOptional && where.left_of != nullptr && where.left_of->left.get() == &expr) {
    const std::string_view op = negate ? "-" : "!";
    auto builder = body.env.Report(expr.span, kNoOperator, {op, ToString(operand->type)});
    builder.HelpIf(HelpWithPrecedence(body, expr, op, expr.operand->span, where));
    return Poison(body, expr.span);
  }
  if (negate ? !CheckArithmetic(body, "-", operand->type, expr.span) : !CheckNot(body, *operand, expr.span)) return Poison(body, expr.span);
  ExprPtr result = Make(ExprKind::kUnary, operand->type, expr.span);
  result->unary = negate ? UnaryOp::kNegate : UnaryOp::kNot;
  result->args.push_back(std::move(operand));
  return FoldKnown(body, std::move(result));
}

ExprPtr CheckBinary(Body& body, const ast::BinaryExpr& expr, TypeRef wanted, const Where& where) {
  if (expr.op == ast::BinaryOp::kCoalesce) return CheckCoalesce(body, expr, wanted, where);
  std::vector<const ast::BinaryExpr*> chain;
  const ast::Expr* first = &expr;
  while (const auto* binary = ast::DynAs<ast::BinaryExpr>(*first)) {
    if (binary->op == ast::BinaryOp::kPipe || binary->op == ast::BinaryOp::kCoalesce) break;
    chain.push_back(binary);
    first = binary->left.get();
  }
  std::reverse(chain.begin(), chain.end());
  Operand left{nullptr, nullptr, first->span};
  const ast::Expr& second = *chain.front()->right;
  if (IsEquality(chain.front()->op) && IsWrittenList(*first) && !IsWrittenList(second) && !IsLiteral(second) &&
      !TakesTypeOfPlace(body, second)) {
    left = CheckWrittenFirst(body, *chain.front(), where);
    chain.erase(chain.begin());
  } else if (IsLiteral(*first)) {
    left.literal = first;
  } else {
    const bool numbers = !IsComparison(chain.front()->op) && !IsLazy(chain.front()->op);
    Where operand = where;
    operand.soft = operand.soft || numbers;  // it may broadcast
    left.value = CheckExpr(body, *first, numbers ? wanted : nullptr, operand);
  }
  for (const ast::BinaryExpr* step : chain) left = CheckStep(body, *step, std::move(left), wanted, where);
  return Resolve(body, std::move(left), wanted);
}

}  // namespace wf::sema
