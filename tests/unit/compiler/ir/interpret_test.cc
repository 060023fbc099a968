#include "compiler/ir/interpret.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/builder.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/verify.h"

namespace wf::ir {
namespace {

Value Floats(const std::vector<float>& values) {
  return Value::Tensor({static_cast<int64_t>(values.size())},
                       std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

struct Fixture {
  Program program;
  Body body;
  SlotId AddSlot(const char* name, TypeId type) {
    program.slots.push_back({.name = name, .type = type});
    return SlotId{static_cast<uint16_t>(program.slots.size() - 1)};
  }
  Outcome Run(std::vector<Value> slots, Hooks hooks = {}, Limits limits = {}) {
    EXPECT_EQ(VerifyBody(program, body), std::nullopt);
    return Interpreter(program, std::move(hooks), limits).RunBody(body, slots);
  }
};

TEST(Interpret, SumsFloatsInSixteenLanesAndOneTree) {
  Fixture f;
  const SlotId slot = f.AddSlot("x", f.program.types.Tensor(DType::kF32, {-1}));
  Builder b(f.program, f.body);
  const ValueId x = b.Slot(slot), n = b.Dim(x, 0);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Load(x, {b.Param(0)}));
  b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, n, block));
  std::vector<float> values;
  for (int i = 0; i < 37; ++i) values.push_back(1.0f / static_cast<float>(i + 1) * (i % 3 ? 1.0f : 1e7f));
  float lanes[16] = {};
  for (size_t i = 0; i < values.size(); ++i) lanes[i % 16] += values[i];
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  EXPECT_EQ(f.Run({Floats(values)}).value->bits, F32Bits(lanes[0]));
  EXPECT_EQ(f.Run({Floats({})}).value->bits, F32Bits(0));
}

TEST(Interpret, ReportsTheLowestStickyCodeAtTheEnd) {
  Fixture f;
  const SlotId slot = f.AddSlot("x", f.program.types.Tensor(DType::kF32, {-1}));
  Builder b(f.program, f.body);
  const ValueId x = b.Slot(slot);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  const ValueId divisor = b.Emit(OpKind::kCheckDivisor, b.ScalarType(DType::kI64), {b.Param(0)});
  const ValueId index = b.CheckIndex(b.Add(b.Param(0), b.Binary(OpKind::kDiv, b.I64(3), divisor)), b.Dim(x, 0));
  b.Close(b.Load(x, {index}));
  b.Close(b.Build(DType::kF32, {b.I64(2)}, block));
  const Outcome outcome = f.Run({Floats({1, 2})});
  ASSERT_TRUE(outcome.failure.has_value());
  EXPECT_EQ(outcome.failure->code, 7001);
  EXPECT_EQ(f.Run({Floats({1, 2, 3, 4, 5, 6, 7})}).failure->code, 7002);
}

TEST(Interpret, FailsWhereACheckedIndexHasNoElementBehindIt) {
  Fixture f;
  Builder b(f.program, f.body);
  const TypeId i64 = b.ScalarType(DType::kI64);
  const TypeId list = f.program.types.List(i64);
  const SlotId slot = f.AddSlot("xs", list), at = f.AddSlot("at", i64);
  const ValueId xs = b.Slot(slot);
  const ValueId index = b.CheckIndex(b.Slot(at), b.Emit(OpKind::kListLen, i64, {xs}));
  b.Close(b.Emit(OpKind::kListGet, i64, {xs, index}));
  EXPECT_EQ(f.Run({Value::Items({}), Value::Scalar(0)}).failure->code, 7001);
  EXPECT_EQ(f.Run({Value{}, Value::Scalar(3)}).failure->code, 7001);
  EXPECT_EQ(f.Run({Value::Items({Value::Scalar(7)}), Value::Scalar(3)}).failure->code, 7001);
  EXPECT_EQ(f.Run({Value::Items({Value::Scalar(7)}), Value::Scalar(0)}).value->bits, 7u);
}

// By how long a loop over it runs: the body itself fails.
TEST(Interpret, AnIndexOutsideOfItsExtentIs0) {
  Fixture f;
  Builder b(f.program, f.body);
  const TypeId i64 = b.ScalarType(DType::kI64);
  const SlotId at = f.AddSlot("at", i64);
  const ValueId turns = b.CheckIndex(b.Slot(at), b.I64(100'000));
  const BlockId block = b.Open({i64, i64});
  b.Close(b.Add(b.Param(1), b.Param(0)));
  b.Close(b.Emit(OpKind::kFold, i64, {turns, b.I64(0)}, 0, {block}));
  const auto code = [&](int64_t index) {
    const Outcome outcome = f.Run({Value::Scalar(static_cast<uint64_t>(index))}, {}, {.max_steps = 100});
    return outcome.failure ? outcome.failure->code : 0;
  };
  EXPECT_EQ(code(5), 0);
  EXPECT_EQ(code(99'999), kOutOfSteps);
  EXPECT_EQ(code(100'000), 7001);
  EXPECT_EQ(code(-1), 7001);
}

TEST(Interpret, FoldCarriesItsAccumulator) {
  Fixture f;
  Builder b(f.program, f.body);
  const TypeId i64 = b.ScalarType(DType::kI64);
  const BlockId block = b.Open({i64, i64});
  b.Close(b.Add(b.Mul(b.Param(1), b.I64(3)), b.Param(0)));
  b.Close(b.Emit(OpKind::kFold, i64, {b.I64(4), b.I64(1)}, 0, {block}));
  EXPECT_EQ(f.Run({}).value->bits, 99u);  // ((((1*3+0)*3+1)*3+2)*3+3)
}

TEST(Interpret, FailIfStopsWithItsMessageUnlessAStickyFailureCameFirst) {
  Fixture f;
  const SlotId slot = f.AddSlot("top", f.program.types.Scalar(DType::kI32));
  Builder b(f.program, f.body);
  const ValueId top = b.Slot(slot);
  b.StickyIf(b.Binary(OpKind::kEq, top, b.Scalar(DType::kI32, 99)), 7004);
  const BlockId block = b.Open({});
  b.Close(b.Emit(OpKind::kText, b.types().String(), {top}, AddText(f.program, "top is {}, wanted less")));
  b.FailIf(b.Binary(OpKind::kLt, b.Scalar(DType::kI32, 9), top), 5000, block);
  b.Close(top);
  EXPECT_EQ(f.Run({Value::Scalar(3)}).value->bits, 3u);
  EXPECT_EQ(f.Run({Value::Scalar(12)}).failure->message, "top is 12, wanted less");
  EXPECT_EQ(f.Run({Value::Scalar(99)}).failure->code, 7004);
}

TEST(Interpret, StopsAtTheBudgets) {
  Fixture f;
  Builder b(f.program, f.body);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Convert(b.Param(0), DType::kF64));
  b.Close(b.Build(DType::kF64, {b.I64(int64_t{1} << 40)}, block));
  EXPECT_EQ(f.Run({}).failure->code, code::kMemoryCap);
  EXPECT_EQ(f.Run({}, {}, {.max_steps = 1}).failure->code, kOutOfSteps);
}

TEST(Interpret, LongOperationsCountForSeveralSteps) {
  Fixture math;
  Builder m(math.program, math.body);
  m.Close(m.Unary(OpKind::kExp, m.F32(1.5f)));
  EXPECT_EQ(math.Run({}, {}, {.max_steps = 20}).failure, std::nullopt);
  Fixture many;
  Builder b(many.program, many.body);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Unary(OpKind::kExp, b.F32(1.5f)));
  b.Close(b.Build(DType::kF32, {b.I64(100)}, block));
  EXPECT_EQ(many.Run({}, {}, {.max_steps = 500}).failure->code, kOutOfSteps);  // 3 of its own each
  Fixture texts;
  Builder t(texts.program, texts.body);
  const ValueId left = t.Text(std::string(100'000, 'x')), right = t.Text(std::string(100'000, 'x'));
  t.Close(t.Emit(OpKind::kStringEqual, t.ScalarType(DType::kBool), {left, right}));
  EXPECT_EQ(texts.Run({}, {}, {.max_steps = 500}).failure->code, kOutOfSteps);
  EXPECT_EQ(texts.Run({}, {}, {.max_steps = 1000}).failure, std::nullopt);
  Fixture made;
  Builder d(made.program, made.body);
  const TypeId i64 = d.ScalarType(DType::kI64), item = d.types().Optional(i64);
  const BlockId turn = d.Open({i64});
  d.Emit(OpKind::kText, d.types().String(), {d.Param(0)}, AddText(made.program, "a{}"));
  d.Close(d.Emit(OpKind::kSome, item, {d.Param(0)}));
  d.Close(d.Emit(OpKind::kListBuild, d.types().List(item), {d.I64(100)}, 0, {turn}));
  EXPECT_EQ(made.Run({}, {}, {.max_steps = 2'000}).failure->code, kOutOfSteps);
  EXPECT_EQ(made.Run({}, {}, {.max_steps = 2'500}).failure, std::nullopt);
}

TEST(Interpret, NativesCountForWhatTheyAreGivenAndGiveBack) {
  const auto fails_within = [](const Value& given, const Value& result, uint64_t max_steps) {
    Fixture f;
    const TypeId tensor = f.program.types.Tensor(DType::kF32, {-1});
    const SlotId slot = f.AddSlot("x", tensor);
    Builder b(f.program, f.body);
    b.Close(b.Emit(OpKind::kNative, tensor, {b.Slot(slot)}, AddNative(f.program, "wf_n_some")));
    Hooks hooks;
    hooks.native = [&](const std::string&, std::span<const Value>, TypeId) { return Outcome{.value = result, .failure = {}}; };
    return f.Run({given}, hooks, {.max_steps = max_steps}).failure.has_value();
  };
  const Value few = Floats({1}), many = Floats(std::vector<float>(500));
  EXPECT_TRUE(fails_within(few, few, 50));
  EXPECT_FALSE(fails_within(few, few, 200));
  EXPECT_TRUE(fails_within(many, few, 1000));
  EXPECT_TRUE(fails_within(few, many, 1000));
  EXPECT_FALSE(fails_within(many, many, 5000));
}

TEST(Interpret, ARemainderOfFloatsCountsForWhatItMayTake) {
  const auto fails = [](double divided, double by) {
    Fixture f;
    Builder b(f.program, f.body);
    const TypeId f64 = b.ScalarType(DType::kF64);
    const ValueId x = b.F64(divided), y = b.F64(by);
    const BlockId block = b.Open({b.ScalarType(DType::kI64)});
    b.Close(b.Emit(OpKind::kRem, f64, {x, y}));
    b.Close(b.Build(DType::kF64, {b.I64(100)}, block));
    return f.Run({}, {}, {.max_steps = 2000}).failure.has_value();
  };
  EXPECT_FALSE(fails(7, 2));
  EXPECT_FALSE(fails(5e-324, 1.7e308));
  EXPECT_TRUE(fails(1.7e308, 1));
  EXPECT_TRUE(fails(1, 5e-324));
  EXPECT_FALSE(fails(1.7e308, 0));
}

TEST(Interpret, WhatAMapGivesIsCountedAsTheMemoryThatItTakes) {
  Value map = Value::Items(std::vector<Value>(100, Value::Scalar(1)));
  std::vector<std::string> keys;
  for (int i = 100; i < 200; ++i) keys.push_back(std::to_string(i) + std::string(100, 'x'));
  map.keys = std::make_shared<const std::vector<std::string>>(keys);
  const auto fails = [&](OpKind kind, uint64_t max_bytes) {
    Fixture f;
    Builder b(f.program, f.body);
    const TypeId i64 = b.ScalarType(DType::kI64), text = f.program.types.String();
    const SlotId slot = f.AddSlot("m", f.program.types.Map(i64));
    b.Close(b.Emit(kind, f.program.types.List(kind == OpKind::kMapKeys ? text : i64), {b.Slot(slot)}));
    return f.Run({map}, {}, {.max_bytes = max_bytes}).failure.has_value();
  };
  EXPECT_TRUE(fails(OpKind::kMapKeys, 100 * (sizeof(Value) + 100)));
  EXPECT_FALSE(fails(OpKind::kMapKeys, 100 * (sizeof(Value) + 103)));
  EXPECT_TRUE(fails(OpKind::kMapValues, 99 * sizeof(Value)));
  EXPECT_FALSE(fails(OpKind::kMapValues, 100 * sizeof(Value)));
}

TEST(Interpret, MetaReadsTheTypeOfItsDefault) {
  Fixture f;
  Builder b(f.program, f.body);
  b.Close(b.Emit(OpKind::kMeta, b.ScalarType(DType::kF32), {b.Text("threshold"), b.F32(0.5f)}));
  Hooks hooks;
  EXPECT_EQ(f.Run({}).value->bits, F32Bits(0.5f));
  hooks.meta = [](const std::string&) { return std::optional<std::string>("0.75"); };
  EXPECT_EQ(f.Run({}, hooks).value->bits, F32Bits(0.75f));
  hooks.meta = [](const std::string&) { return std::optional<std::string>("x"); };
  EXPECT_EQ(f.Run({}, hooks).failure->code, 5000);
  EXPECT_EQ(f.Run({}, hooks).failure->message, "metadata `threshold` is not a value of type f32");
}

TEST(Interpret, FiltersLists) {
  Fixture f;
  Builder b(f.program, f.body);
  const TypeId i64 = b.ScalarType(DType::kI64);
  const BlockId keep = b.Open({i64});
  b.Close(b.Binary(OpKind::kEq, b.Binary(OpKind::kRem, b.Param(0), b.I64(2)), b.I64(1)));
  const BlockId item = b.Open({i64});
  b.Close(b.Mul(b.Param(0), b.Param(0)));
  const TypeId list = b.types().List(i64);
  b.Close(b.Emit(OpKind::kListFilter, list, {b.I64(6)}, 0, {keep, item}));
  EXPECT_EQ(ToString(f.program.types, list, *f.Run({}).value), "[1, 9, 25]");
}

}  // namespace
}  // namespace wf::ir
