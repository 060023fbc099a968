#include "compiler/sema/build_table.h"

#include <bit>
#include <map>

#include "compiler/ir/scalar.h"
#include "compiler/sema/check_expr.h"

// Choices between many literals: the literals and what they lead to are constants, which a search looks up.
namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

bool IsKeyOf(const Expr& expr) {
  if (expr.kind == ExprKind::kText) return expr.args.empty();
  return expr.kind == ExprKind::kScalar && IsInteger(expr.type->dtype);
}

bool IsPlainLocal(const Expr& expr) { return expr.kind == ExprKind::kLocal && expr.checks.empty() && expr.fresh.empty(); }

// `local == literal`, or of an optional local `has and unwrapped == literal`.
bool AddKey(const Expr& condition, KeyTest& test) {
  const bool is_guarded = condition.kind == ExprKind::kAnd && condition.args[0]->kind == ExprKind::kHas;
  const Expr& equal = is_guarded ? *condition.args[1] : condition;
  if (equal.kind != ExprKind::kBinary || equal.binary != BinaryOp::kEq || !IsKeyOf(*equal.args[1])) return false;
  const Expr& side = *equal.args[0];
  const bool is_unwrapped = side.kind == ExprKind::kUnwrap;
  if (is_unwrapped != is_guarded || !side.fresh.empty() || !side.checks.empty()) return false;
  const Expr& subject = is_unwrapped ? *side.args[0] : side;
  if (!IsPlainLocal(subject)) return false;
  if (is_guarded && (!IsPlainLocal(*condition.args[0]->args[0]) || condition.args[0]->args[0]->local != subject.local)) return false;
  if (test.subject != nullptr && (test.subject->kind != side.kind || test.local != subject.local)) return false;
  test.subject = &side;
  test.has = is_guarded ? condition.args[0].get() : nullptr;
  test.local = subject.local;
  test.keys.push_back(equal.args[1].get());
  return true;
}

std::string Elements(ir::DType dtype, const std::vector<uint64_t>& values) {
  std::string bytes;
  for (const uint64_t value : values) {
    for (size_t i = 0; i < ir::SizeOf(dtype); ++i) bytes += static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

ValueId ConstantTensor(ir::Builder& b, ir::DType dtype, const std::vector<uint64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return b.Constant(ir::AddConstant(b.program(), b.types().Tensor(dtype, {count}), ir::Value::Tensor({count}, Elements(dtype, values))));
}

ValueId FindText(ir::Builder& b, std::span<const KeyTest> tests, size_t first, ValueId subject, ValueId none) {
  std::map<std::string, size_t> arms;  // the first arm of a key counts
  for (size_t i = 0; i < tests.size(); ++i) {
    for (const Expr* key : tests[i].keys) arms.emplace(key->text, first + i);
  }
  std::vector<std::string> keys;
  std::vector<ir::Value> values;
  for (const auto& [key, arm] : arms) {
    keys.push_back(key);
    values.push_back(ir::Value::Scalar(arm));
  }
  ir::Value table = ir::Value::Items(std::move(values));
  table.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
  const ir::TypeId i64 = b.ScalarType(DType::kI64);
  const ValueId map = b.Constant(ir::AddConstant(b.program(), b.types().Map(i64), table));
  const ValueId found = b.Emit(OpKind::kMapGet, b.types().Optional(i64), {map, subject});
  const ir::BlockId then = b.Open({});
  b.Close(b.Emit(OpKind::kUnwrap, i64, {found}));
  const ir::BlockId otherwise = b.Open({});
  b.Close(none);
  return b.If(b.Emit(OpKind::kHas, b.ScalarType(DType::kBool), {found}), i64, then, otherwise);
}

// A binary search without branches: the keys are sorted, and the last one fills them up to a power of two.
ValueId FindInteger(ir::Builder& b, std::span<const KeyTest> tests, size_t first, ValueId subject, ValueId none) {
  const DType dtype = b.DTypeOf(subject) == DType::kU64 ? DType::kU64 : DType::kI64;
  std::map<uint64_t, size_t> arms;
  const uint64_t flip = dtype == DType::kU64 ? 0 : uint64_t{1} << 63;  // so that the map's order is that of the type
  for (size_t i = 0; i < tests.size(); ++i) {
    for (const Expr* key : tests[i].keys) arms.emplace(ir::ConvertScalar(key->type->dtype, dtype, key->bits) ^ flip, first + i);
  }
  std::vector<uint64_t> keys, targets;
  for (const auto& [key, arm] : arms) {
    keys.push_back(key ^ flip);
    targets.push_back(arm);
  }
  keys.resize(std::bit_ceil(keys.size()), keys.back());
  targets.resize(keys.size(), targets.back());
  const ValueId sought = b.Convert(subject, dtype), table = ConstantTensor(b, dtype, keys);
  ValueId at = b.I64(0);
  for (size_t step = keys.size() / 2; step > 0; step /= 2) {
    const ValueId probe = b.Add(at, b.I64(static_cast<int64_t>(step)));
    at = b.Select(b.Binary(OpKind::kLe, b.Load(table, {probe}), sought), probe, at);
  }
  const ValueId is_there = b.Binary(OpKind::kEq, b.Load(table, {at}), sought);
  return b.Select(is_there, b.Load(ConstantTensor(b, DType::kI64, targets), {at}), none);
}

}  // namespace

std::optional<KeyTest> ReadKeyTest(const Expr& condition) {
  KeyTest test;
  const Expr* rest = &condition;
  for (; rest->kind == ExprKind::kOr; rest = rest->args[0].get()) {
    if (!AddKey(*rest->args[1], test)) return std::nullopt;
  }
  if (!AddKey(*rest, test)) return std::nullopt;
  return test;
}

bool AskSame(const KeyTest& a, const KeyTest& b) { return a.local == b.local && a.subject->kind == b.subject->kind; }

ValueId FindKey(ir::Builder& b, std::span<const KeyTest> tests, size_t first, ValueId subject, ValueId none) {
  const bool is_text = tests[0].keys[0]->kind == ExprKind::kText;
  return is_text ? FindText(b, tests, first, subject, none) : FindInteger(b, tests, first, subject, none);
}

bool IsTableOfArms(std::span<const Expr* const> arms) {
  const ExprKind kind = arms[0]->kind;
  for (const Expr* arm : arms) {
    const bool is_literal = arm->kind == ExprKind::kScalar || (arm->kind == ExprKind::kText && arm->args.empty());
    if (!is_literal || arm->kind != kind || arm->type != arms[0]->type) return false;
  }
  return true;
}

ValueId WriteArmTable(ir::Builder& b, std::span<const Expr* const> arms, ValueId chosen) {
  if (arms[0]->kind == ExprKind::kScalar) {
    std::vector<uint64_t> values;
    for (const Expr* arm : arms) values.push_back(arm->bits);
    return b.Load(ConstantTensor(b, arms[0]->type->dtype, values), {chosen});
  }
  std::vector<ir::Value> texts;
  for (const Expr* arm : arms) texts.push_back(ir::Value::Text(arm->text));
  const ir::TypeId type = b.types().List(b.types().String());
  const ValueId list = b.Constant(ir::AddConstant(b.program(), type, ir::Value::Items(std::move(texts))));
  return b.Emit(OpKind::kListGet, b.types().String(), {list, chosen});
}

}  // namespace wf::sema
