#include <algorithm>

#include "compiler/sema/build_body.h"
#include "compiler/sema/build_table.h"
#include "compiler/sema/walk.h"
#include "runtime/base/check.h"

// `if` and `match`, which is written as one: short chains nest, those of many arms do not nest deeper for it.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

constexpr size_t kLinks = 16;  // of a chain that stand inside one another; more keys than that are looked up in a table

// The conditions from all[0] on that one table answers; none when they have too few keys.
std::vector<KeyTest> ReadTable(std::span<const Expr* const> all) {
  std::vector<KeyTest> tests;
  size_t keys = 0;
  for (const Expr* condition : all) {
    std::optional<KeyTest> test = ReadKeyTest(*condition);
    if (!test.has_value() || (!tests.empty() && !AskSame(tests[0], *test))) break;
    keys += test->keys.size();
    tests.push_back(std::move(*test));
  }
  if (keys <= kLinks) tests.clear();
  return tests;
}

// Whether what the expression computes gives dimensions their values, which the arms may ask for.
bool BindsSymbols(const Expr& expr) {
  bool found = false;
  ForEachInside(expr, [&](const Expr& inside) { found = found || !inside.fresh.empty(); });
  return found;
}

}  // namespace

// An arm or side that is never taken. What it names counts as for all others, unless literals and constants alone rule it out: which values
// else are known when a program is compiled is nothing that its text says.
void BodyWriter::Name(const Expr& expr) {
  if (outer_ == nullptr || frame_ != &root_) return;
  const auto name_symbols = [&](const Dim& dim) {
    for (const std::string& symbol : dim.Symbols()) SymbolValue(symbol, frame_);
  };
  const auto value = [&](const Expr& condition) -> std::optional<bool> {
    const ValueId known = Write(condition);
    return b_.IsConstant(known) ? std::optional(b_.IsConstant(known, 1)) : std::nullopt;
  };
  ForEachCounted(expr, value, [&](const Expr& inside) {
    if (inside.kind == ExprKind::kLocal && outer_->Has(inside.local)) ReadOuter(inside.local);
    if (inside.kind == ExprKind::kDimValue) name_symbols(inside.dim);
    for (const DimCheck& check : inside.checks) {
      name_symbols(check.left);
      name_symbols(check.right);
    }
  });
}

ValueId BodyWriter::WriteLinks(std::span<const Expr* const> conditions, size_t first, ValueId none) {
  std::vector<ValueId> holds;
  std::vector<ir::BlockId> then, otherwise;
  for (const Expr* condition : conditions) {
    const ValueId value = Write(*condition);
    holds.push_back(value == ValueId::kNone ? b_.Bool(false) : value);  // it fails
    then.push_back(b_.Open({}));
    b_.Close(b_.I64(static_cast<int64_t>(first + then.size() - 1)));
    otherwise.push_back(b_.Open({}));
  }
  ValueId arm = none;
  for (size_t i = conditions.size(); i-- > 0;) {
    b_.Close(arm);
    arm = b_.If(holds[i], b_.ScalarType(DType::kI64), then[i], otherwise[i]);
  }
  return arm;
}

// Lazily: if c0 {0} else {if c1 {1} else {2}}, in groups that stand one after the other.
ValueId BodyWriter::WriteChoice(const std::vector<const Expr*>& conditions) {
  const std::span<const Expr* const> all = conditions;
  const ValueId none = b_.I64(static_cast<int64_t>(all.size()));
  ValueId arm = none;
  for (size_t first = 0, next = 0; first < all.size(); first = next) {
    const std::vector<KeyTest> table = ReadTable(all.subspan(first));
    next = first + table.size();
    if (table.empty()) {
      do ++next;
      while (next < all.size() && next - first < kLinks && ReadTable(all.subspan(next)).empty());
    }
    const auto find = [&] { return FindKey(b_, table, first, Write(*table[0].subject), none); };
    const auto write = [&] {
      if (table.empty()) return WriteLinks(all.subspan(first, next - first), first, none);
      return table[0].has == nullptr ? find() : WriteEither(Write(*table[0].has), find, [&] { return none; });
    };
    arm = first == 0 ? write() : WriteEither(b_.Binary(OpKind::kEq, arm, none), write, [&] { return arm; });
  }
  return arm;
}

// The arms from number `first` on, of which `chosen` is one: a tree of comparisons.
ValueId BodyWriter::WriteArms(std::span<const Expr* const> arms, size_t first, ValueId chosen) {
  if (arms.size() == 1) return Write(*arms[0]);
  const size_t half = arms.size() / 2;
  return WriteEither(
      b_.Binary(OpKind::kLt, chosen, b_.I64(static_cast<int64_t>(first + half))),
      [&] { return WriteArms(arms.first(half), first, chosen); }, [&] { return WriteArms(arms.subspan(half), first + half, chosen); });
}

ValueId BodyWriter::WriteEither(ValueId condition, const std::function<ValueId()>& write_then,
                                const std::function<ValueId()>& write_otherwise) {
  const ir::BlockId then_block = b_.Open({});
  const ValueId then = write_then();
  b_.Close(then);
  const ir::BlockId else_block = b_.Open({});
  const ValueId otherwise = write_otherwise();
  b_.Close(otherwise);
  if (then == ValueId::kNone && otherwise == ValueId::kNone) {
    b_.If(condition, ir::TypeId::kNone, then_block, else_block);
    return ValueId::kNone;
  }
  // An arm that always fails yields something of the other's type, which nobody sees.
  const auto fill = [&](ir::BlockId block, ValueId other) {
    b_.Reopen(block);
    b_.Close(b_.Zero(b_.TypeOf(other)));
  };
  if (then == ValueId::kNone) fill(then_block, otherwise);
  if (otherwise == ValueId::kNone) fill(else_block, then);
  const ir::TypeId a = b_.TypeOf(then == ValueId::kNone ? otherwise : then), b = b_.TypeOf(otherwise == ValueId::kNone ? then : otherwise);
  const ir::TypeId joined = ir::Join(b_.types(), a, b);
  WF_CHECK(joined != ir::TypeId::kNone, b_.types().ToString(a), b_.types().ToString(b));
  return b_.If(condition, joined, then_block, else_block);
}

ValueId BodyWriter::WriteIf(const Expr& expr, size_t first) {
  std::vector<const Expr*> conditions, arms;
  for (size_t i = first; i + 1 < expr.args.size(); i += 2) {
    conditions.push_back(expr.args[i].get());
    arms.push_back(expr.args[i + 1].get());
  }
  arms.push_back(expr.args.back().get());
  const auto binds = [](const Expr* condition) { return BindsSymbols(*condition); };
  const bool is_short = conditions.size() <= kLinks && ReadTable(conditions).empty();
  if (is_short || std::any_of(conditions.begin(), conditions.end(), binds)) return WriteIfFrom(expr, first);
  const ValueId chosen = WriteChoice(conditions);
  return IsTableOfArms(arms) ? WriteArmTable(b_, arms, chosen) : WriteArms(arms, 0, chosen);
}

ValueId BodyWriter::WriteIfFrom(const Expr& expr, size_t first) {
  if (first + 1 == expr.args.size()) return Write(*expr.args[first]);
  if (b_.depth() > kMaxNesting) StopBeyond(kNestingLimit);  // conditions that bind dimensions nest, however many
  if (IsTooLarge(expr)) return expr.type->kind == TypeKind::kNever ? ValueId::kNone : b_.Zero(TypeOf(expr.type));
  const Expr &condition_expr = *expr.args[first], &then_expr = *expr.args[first + 1];
  const ValueId condition = Write(condition_expr);
  if (condition == ValueId::kNone) return ValueId::kNone;
  if (b_.IsConstant(condition)) {
    const bool holds = b_.IsConstant(condition, 1), counts = !IsOfConstants(condition_expr);
    if (counts && !holds) Name(then_expr);
    for (size_t i = first + 2; counts && holds && i < expr.args.size(); ++i) Name(*expr.args[i]);
    return holds ? Write(then_expr) : WriteIfFrom(expr, first + 2);
  }
  const bool is_last = first + 3 == expr.args.size();
  if (then_expr.kind == ExprKind::kFail) {
    WriteFailure(then_expr.code, then_expr.args.empty() ? nullptr : then_expr.args[0].get(), condition, then_expr.span);
    return WriteIfFrom(expr, first + 2);
  }
  if (is_last && expr.args[first + 2]->kind == ExprKind::kFail) {
    const Expr& fail = *expr.args[first + 2];
    WriteFailure(fail.code, fail.args.empty() ? nullptr : fail.args[0].get(), b_.Not(condition), fail.span);
    return Write(then_expr);
  }
  return WriteEither(condition, [&] { return Write(then_expr); }, [&] { return WriteIfFrom(expr, first + 2); });
}

}  // namespace wf::sema
