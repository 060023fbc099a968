#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/body.h"
#include "compiler/sema/dims.h"
#include "compiler/sema/resolve_type.h"

// Expressions: one function per form, each in the file of its topic. All take what is wanted (a hint, null when nothing is known) and where
// the expression stands, report what is wrong, and return a typed expression; of type Error after a report, which silences its readers. A
// type that is not known whole is no hint.
namespace wf::sema {

ExprPtr CheckExpr(Body& body, const ast::Expr& expr, TypeRef wanted, Where where);
// The same, made to fit `target`.
ExprPtr CheckAs(Body& body, const ast::Expr& expr, TypeRef target, const Where& where, const std::optional<Origin>& origin = std::nullopt);
// For a part of a tuple, a list or an arm. What has no type of its own, as `none`, and what is found where an extent that is wanted is `_`
// stay as they are until the whole is made to fit; where.soft leaves all that a sibling may share to whoever joins them.
ExprPtr CheckPart(Body& body, const ast::Expr& expr, TypeRef target, const Where& where);
ExprPtr FitPart(Body& body, ExprPtr value, TypeRef target, const Where& where);  // of what is checked
// `none`, `[]` and what holds them becomes of the type that it fits.
void GiveType(Expr& expr, TypeRef target);
// Says that the type of such a value is not known.
void ReportOpen(Body& body, const Expr& value);
// Makes `expr` fit `target`: T where T? is wanted, a run-time check where a dimension is not provable; reports what does not fit.
ExprPtr Coerce(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin = std::nullopt);
// How `value` becomes a value of type `wanted`, where a word does it.
std::optional<std::string> HelpToFit(const Body& body, TypeRef wanted, const Expr& value);
// How the member of a record of results is read where `record` stands: "`w(x).out`".
std::string ReadOfMember(const Body& body, const Expr& record, const std::string& member);

// join.cc
// The type that values of both types have: dimensions that differ become `_`, none makes it optional, members stand as in `a`. Null when
// there is none.
TypeRef Join(Types& types, TypeRef a, TypeRef b);
// What a value becomes where `wanted` is: members of tuples in its order and optionals where it has them, in lists too. What differs
// otherwise stays as it is.
TypeRef InFormOf(Types& types, TypeRef wanted, TypeRef found);
ExprPtr InForm(Body& body, ExprPtr expr, TypeRef wanted);
// The type with `_` for the extents in lists, maps and optionals that nobody can tell outside of where symbols were born since `mark`.
TypeRef WithoutBorn(const Body& body, TypeRef type, uint32_t mark);

// check_expr.cc: makers
ExprPtr Make(ExprKind kind, TypeRef type, const Span& span);
ExprPtr Poison(Body& body, const Span& span, TypeRef meant = nullptr);
ExprPtr MakeInt(Body& body, int64_t value, DType dtype, const Span& span);
ExprPtr MakeText(Body& body, std::string text, const Span& span);
ExprPtr ReadLocal(Body& body, LocalId local, const Span& span);
inline bool IsPoison(const Expr& expr) { return expr.type->kind == TypeKind::kError; }
bool IsNumeric(DType dtype);  // not bool
bool IsInteger(DType dtype);
bool IsWireName(const std::string& name);  // may stand in a path, and name a header
inline bool IsScalarBool(TypeRef type) { return type->kind == TypeKind::kScalar && type->dtype == DType::kBool; }
// Marks every name in `expr` as used and the body as not wholly looked at: after a construct that is reported as not built.
ExprPtr SkipUnchecked(Body& body, const ast::Expr& expr);

// literal.cc: an expression without the parentheses around it; numbers, and arithmetic over nothing but them, take the type that is
// wanted
const ast::Expr& Bare(const ast::Expr& expr);
bool IsLiteral(const ast::Expr& expr);
ExprPtr CheckLiteral(Body& body, const ast::Expr& expr, TypeRef wanted);

// certainty.cc
// How much an expression says of its type by itself. What says less takes the type of what says more, and so is checked after it.
enum class Certainty : uint8_t { kWhole, kNumber, kOpen };  // kNumber: of literals; kOpen: of `[]`, `none`, `fail`
inline constexpr Certainty kCertainties[] = {Certainty::kWhole, Certainty::kNumber, Certainty::kOpen};
Certainty CertaintyOf(const Body& body, const ast::Expr& expr);

// fold_known.cc: `expr`, or the number that it is where it is arithmetic over integers that are known; Error where that overflows.
ExprPtr FoldKnown(Body& body, ExprPtr expr);

// check_text.cc
ExprPtr CheckString(Body& body, const ast::StringExpr& expr, const Where& where);
// The text of a string without holes; null when it is another expression.
const std::string* PlainText(const ast::Expr& expr, std::string& buffer);
ExprPtr ToText(Body& body, ExprPtr value);  // reports what has no text

// check_name.cc
ExprPtr CheckName(Body& body, const ast::NameExpr& expr, const Where& where);
// The written type that names the members of a value, which comes from a call, or from a name of its result; null: it is not known.
const ast::Type* WrittenTypeOf(const Body& body, const Expr& value);
ExprPtr CheckMember(Body& body, const ast::MemberExpr& expr, const Where& where);
// The entity that a callee or an error means: `f`, `module.f`; null when `expr` is neither, or it was reported (`reported` tells).
Entity* ResolveEntity(Body& body, const ast::Expr& expr, NameUse use, bool& reported);

// check_op.cc
ExprPtr CheckUnary(Body& body, const ast::UnaryExpr& expr, TypeRef wanted, const Where& where);
ExprPtr CheckBinary(Body& body, const ast::BinaryExpr& expr, TypeRef wanted, const Where& where);
// The shape of the elementwise operation `what` over two operands; nothing after a report.
std::optional<std::vector<Dim>> Broadcast(Body& body, std::string_view what, const Expr& left, const Expr& right, const Span& span);
bool CheckArithmetic(Body& body, std::string_view what, TypeRef type, const Span& span);  // reports storage types, bool, strings

// check_call.cc, check_builtin.cc
struct Call {
  const ast::CallExpr& expr;
  const ast::Expr* piped = nullptr;  // the left side of `|>`

  const Span& span() const { return expr.span; }
};
ExprPtr CheckCall(Body& body, const Call& call, TypeRef wanted, const Where& where);
bool IsBuiltinName(std::string_view name);
void AddBuiltinNames(std::vector<std::string>& names);
bool IsBuiltInError(std::string_view name);
ExprPtr CheckBuiltin(Body& body, std::string_view name, const Call& call, TypeRef wanted, const Where& where);
ExprPtr CheckConversion(Body& body, DType dtype, const Call& call, const Where& where);

// check_tensor.cc, check_index.cc
ExprPtr CheckLambda(Body& body, const ast::LambdaExpr& expr, TypeRef wanted, const Where& where);
bool IsReducer(const ast::CallExpr& call);
bool IsReducer(std::string_view name);
ExprPtr CheckReducer(Body& body, const ast::CallExpr& call, TypeRef wanted, const Where& where);
ExprPtr CheckIndex(Body& body, const ast::IndexExpr& expr, const Where& where);

// index_reach.cc: reports each index in `=>` and in reducers that leaves its axis whenever `expr`, the whole of a function, or a run of
// `workflow` is evaluated. True: there is one.
bool ReportReach(Body& body, const Expr& expr);
bool ReportReach(Body& body, const Workflow& workflow);

// check_loop.cc
ExprPtr CheckComprehension(Body& body, const ast::ComprehensionExpr& expr, TypeRef wanted, const Where& where);
ExprPtr CheckFold(Body& body, const ast::FoldExpr& expr, TypeRef wanted, const Where& where);

ExprPtr CheckFor(Body& body, const ast::ForExpr& expr, TypeRef wanted, const Where& where);

// check_match.cc
ExprPtr CheckMatch(Body& body, const ast::MatchExpr& expr, TypeRef wanted, const Where& where);

// check_block.cc
// False, with a report, where nothing may fail; `what`: "`require` may fail".
bool MayFail(Body& body, const Span& span, const std::string& what, const Where& where);
// The same of a call that a `const` may hold, too: wfc computes it there, and tells a failure.
bool CallMayFail(Body& body, const Span& span, const std::string& what, const Where& where);
ExprPtr CheckBlock(Body& body, const ast::Block& block, TypeRef wanted, Where where);
// One arm of a choice: checked with what is wanted of it.
struct ArmCheck {
  Certainty certainty;
  std::function<ExprPtr(TypeRef)> check;
};
// All arms, joined into one type; Error after a report. `where`: that of the arms.
TypeRef CheckArms(Body& body, const std::vector<ArmCheck>& arms, TypeRef wanted, const Where& where, std::vector<ExprPtr>& values);
// if conditions[0] {values[0]} .. else {the last of values}. `branch`: the kIf, of the type that all values have, to be filled.
ExprPtr FillIf(Body& body, ExprPtr branch, std::vector<ExprPtr> conditions, std::vector<ExprPtr> values, uint32_t mark);
// `else E` of a node, or of an element of a `for`: sees `err`, and yields what `value` would have.
struct Fallback {
  ExprPtr value;  // null after a report
  LocalId err = 0;
};
struct Otherwise {
  const ast::Expr& expr;
  Span declared;            // what has it
  TypeRef written;          // what both have to fit; null: nothing is written
  const Origin* wanted_by;  // as of Where
};
Fallback CheckFallback(Body& body, const Otherwise& otherwise, ExprPtr& value, uint32_t mark);
ExprPtr CheckIf(Body& body, const ast::IfExpr& expr, TypeRef wanted, const Where& where);
ExprPtr CheckFail(Body& body, const ast::FailExpr& expr, const Where& where);
// The steps of `let` and `require` inside functions and blocks.
// A value is wanted, and `value` only fails.
void ReportNever(Body& body, const Expr& value);
// What a name is given has a type of its own: `fail E`, `none` and `[]` have none. Poison after a report.
ExprPtr HasType(Body& body, const ast::Name& name, ExprPtr value);
std::optional<BlockStep> CheckLet(Body& body, const ast::LetStmt& stmt, const Where& where);
std::optional<BlockStep> CheckRequire(Body& body, const ast::RequireStmt& stmt, const Where& where);
// What `fail E(..)` and `require .. else E(..)` raise: code and message; nothing after a report.
struct Raised {
  int32_t code = 0;
  ExprPtr message;
};
std::optional<Raised> CheckRaised(Body& body, const ast::Expr& error, const Where& where);
// Gives an integer local the dimension that its value is.
void BindIntegerLocal(Body& body, LocalId local, Expr& value);

// check_fn.cc: makes a value fit the result of a signature; a symbol that only the result names is whatever the value has, but the same in
// all places.
ExprPtr FitResult(Body& body, ExprPtr value, const Signature& signature, const Span& declared);

// check_list.cc
// Of tensors listed where they are stacked, those of provably different shapes are reported.
bool HasTooManyAxes(Body& body, size_t axes, const Span& span);  // reports it
bool HaveOneShape(Body& body, const std::vector<ExprPtr>& parts);
ExprPtr CheckList(Body& body, const ast::ListExpr& expr, TypeRef wanted, const Where& where);
ExprPtr CheckTuple(Body& body, const ast::TupleExpr& expr, TypeRef wanted, const Where& where);

}  // namespace wf::sema
