#include "compiler/lower/work.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/lower/harness.h"

// In place of the library's.
extern "C" wf_code wf_n_decode(wf_ctx*, const wf_bytes*, const void*, const void*, wf_tensor*) noexcept { return WF_FAILED; }
extern "C" uint64_t wf_pixels(wf_bytes file) noexcept { return 1000 * file.len; }
extern "C" wf_code wf_n_last_at(wf_ctx*, const wf_tensor*, const int64_t*, wf_tensor*) noexcept { return WF_FAILED; }
extern "C" wf_code wf_n_replace(wf_ctx*, const wf_bytes*, const wf_bytes*, const wf_bytes*, wf_bytes*) noexcept { return WF_FAILED; }

namespace wf::lower::testing {
namespace {

using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::TypeId;
using ir::Value;
using ir::ValueId;

constexpr int64_t kMost = INT64_MAX;
constexpr uint64_t kNotForALoop = 2'000'000;  // units of a nanosecond each

Value Number(int64_t value) { return Value::Scalar(static_cast<uint64_t>(value)); }
Value Tensor(std::vector<int64_t> dims, const std::vector<int64_t>& elements) {
  return Value::Tensor(std::move(dims), std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(int64_t)));
}

class Work : public ::testing::Test {
 protected:
  TypeId I64() { return cases_.types().Scalar(DType::kI64); }
  TypeId Open(size_t rank) {
    return cases_.types().Intern({.kind = ir::TypeKind::kTensor, .dtype = DType::kI64, .dims = std::vector<int64_t>(rank, -1)});
  }
  TypeId Pair() { return cases_.types().Intern({.kind = ir::TypeKind::kRecord, .fields = {{"a", I64()}, {"b", I64()}}}); }

  // sum[i < extent](inside(i))
  template <typename Inside>
  static ValueId Sum(Builder& b, ValueId extent, Inside&& inside) {
    const ir::BlockId block = b.Open({b.ScalarType(DType::kI64)});
    const ValueId index = b.Param(0);
    b.Close(inside(index));
    return b.Reduce(ir::ReduceKind::kSum, DType::kI64, extent, block);
  }

  // What the work function says of one call of the body.
  uint64_t Of(const std::vector<TypeId>& in, const std::vector<Value>& given, const Cases::Make& make) {
    cases_.Add("case", in, I64(), make);
    cases_.program.tasks.back().cost_ns_per_unit = 1;
    const Loaded loaded(cases_.program, "x86-64-v3");
    std::vector<Value> inputs(cases_.program.slots.size());
    const Cases::Case& added = cases_.cases.back();
    for (size_t i = 0; i < given.size(); ++i) inputs[static_cast<size_t>(added.in[i])] = given[i];
    return loaded.Work(added.task, inputs);
  }

  Cases cases_;
};

TEST_F(Work, LoopsInLoopsMultiply) {
  const auto nest = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, in[0], [&](ValueId i) { return Sum(b, in[1], [&](ValueId j) { return b.Mul(i, j); }); });
  };
  EXPECT_EQ(Of({I64(), I64()}, {Number(300), Number(7)}, nest), 2100U);
  EXPECT_EQ(Of({I64(), I64()}, {Number(300), Number(-7)}, nest), 300U);
  EXPECT_GT(Of({I64(), I64()}, {Number(kMost), Number(kMost)}, nest), uint64_t{1} << 63);
}

TEST_F(Work, TheIndexOfALoopCountsAsTheLoopDoes) {
  const auto triangle = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, in[0], [&](ValueId i) { return Sum(b, b.Add(i, b.I64(1)), [&](ValueId j) { return j; }); });
  };
  EXPECT_EQ(Of({I64()}, {Number(100)}, triangle), 10100U);
}

TEST_F(Work, WhatIsLessByAnIndexIsAsMuchAsWithoutIt) {
  const auto rest = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, in[0], [&](ValueId i) { return Sum(b, b.Sub(in[0], i), [](ValueId j) { return j; }); });
  };
  EXPECT_EQ(Of({I64()}, {Number(100)}, rest), 10000U);
}

TEST_F(Work, ACountThatWrapsIsTheLargest) {
  const auto less = [](Builder& b, const std::vector<ValueId>& in) { return Sum(b, b.Sub(in[0], b.I64(1)), [](ValueId i) { return i; }); };
  EXPECT_EQ(Of({I64()}, {Number(INT64_MIN)}, less), uint64_t{1} << 63);
  const auto narrow = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, b.Convert(b.Convert(in[0], DType::kU32), DType::kI64), [](ValueId i) { return i; });
  };
  EXPECT_EQ(Of({I64()}, {Number(-1)}, narrow), uint64_t{1} << 32);
}

TEST_F(Work, PartsOfWhatIsReadCount) {
  const auto field = [](Builder& b, const std::vector<ValueId>& in) { return Sum(b, b.Field(in[0], 1), [](ValueId i) { return i; }); };
  EXPECT_EQ(Of({Pair()}, {Value::Items({Number(5), Number(12345)})}, field), 12345U);
}

TEST_F(Work, ALoopThatSomethingComputedCountsIsNotForALoopOfTheServer) {
  const auto by_element = [](Builder& b, const std::vector<ValueId>& in) {
    const ValueId element = b.Load(in[0], {b.CheckIndex(b.I64(0), b.Dim(in[0], 0))});
    return Sum(b, b.Convert(element, DType::kI64), [](ValueId i) { return i; });
  };
  const TypeId floats = cases_.types().Tensor(DType::kF64, {-1});
  EXPECT_EQ(Of({floats}, {Value::Tensor({2}, std::string(16, '\0'))}, by_element), kNotForALoop);
}

TEST_F(Work, ElementsThatAreFewAreLookedAt) {
  const auto ragged = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, b.Dim(in[0], 0), [&](ValueId i) { return Sum(b, b.Load(in[0], {i}), [](ValueId k) { return k; }); });
  };
  EXPECT_EQ(Of({Open(1)}, {Tensor({3}, {3, 70, -5})}, ragged), 210U);
  EXPECT_EQ(Of({Open(1)}, {Tensor({2}, {-3, -4})}, ragged), 2U);
  EXPECT_EQ(Of({Open(1)}, {Tensor({0}, {})}, ragged), 1U);
  EXPECT_GT(Of({Open(1)}, {Tensor({2}, {3, kMost})}, ragged), kNotForALoop);
  EXPECT_EQ(Of({Open(1)}, {Tensor({1024}, std::vector<int64_t>(1024, 1))}, ragged), 1024U);
  EXPECT_GT(Of({Open(1)}, {Tensor({1025}, std::vector<int64_t>(1025, 1))}, ragged), kNotForALoop);
}

TEST_F(Work, OfTwoChoicesTheLargerCounts) {
  const auto either = [](Builder& b, const std::vector<ValueId>& in) {
    const ir::BlockId then = b.Open({});
    b.Close(b.Binary(OpKind::kMin, in[0], b.I64(50)));
    const ir::BlockId otherwise = b.Open({});
    b.Close(b.I64(20));
    return Sum(b, b.If(b.Binary(OpKind::kLt, in[0], b.I64(3)), b.ScalarType(DType::kI64), then, otherwise), [](ValueId i) { return i; });
  };
  EXPECT_EQ(Of({I64()}, {Number(30)}, either), 30U);
  EXPECT_EQ(Of({I64()}, {Number(kMost)}, either), 50U);
}

// [i, j] => sum[k](x[i, k]), which lanes of a row share
TEST_F(Work, WhatAllElementsOfARowNeedIsDoneOnceForManyOfThem) {
  const auto rows = [](Builder& b, const std::vector<ValueId>& in, DType dtype) {
    const ir::BlockId each = b.Open({b.ScalarType(DType::kI64), b.ScalarType(DType::kI64)});
    const ValueId i = b.Param(0);
    b.Close(b.Convert(Sum(b, b.Dim(in[0], 1), [&](ValueId k) { return b.Load(in[0], {i, k}); }), dtype));
    const ValueId made = b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1)}, each);
    return b.Convert(b.Load(made, {b.I64(0), b.I64(0)}), DType::kI64);
  };
  const Value wide = Tensor({2, 64}, std::vector<int64_t>(128));
  EXPECT_EQ(Of({Open(2)}, {wide}, [&](Builder& b, const auto& in) { return rows(b, in, DType::kF32); }), 2U * 4 * 64);
  EXPECT_EQ(Of({Open(2)}, {wide}, [&](Builder& b, const auto& in) { return rows(b, in, DType::kI64); }), 2U * 64 * 64);
}

TEST_F(Work, WhatIsReadIsTheLeastWhereLoopsDoNotSayIt) {
  const Value six = Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto first_of_each = [](Builder& b, const std::vector<ValueId>& in) {
    return Sum(b, b.Dim(in[0], 0), [&](ValueId i) { return b.Load(in[0], {i, b.CheckIndex(b.I64(0), b.Dim(in[0], 1))}); });
  };
  EXPECT_EQ(Of({Open(2)}, {six}, first_of_each), 2U);
  const auto over_items = [&](Builder& b, const std::vector<ValueId>& in) {
    const ValueId items = b.Emit(OpKind::kListOfTensor, cases_.types().List(Open(1)), {in[0]});
    return Sum(b, b.Emit(OpKind::kListLen, I64(), {items}), [](ValueId i) { return i; });
  };
  EXPECT_EQ(Of({Open(2)}, {six}, over_items), 6U);
}

TEST_F(Work, ANativeThatKnowsItsUnitsIsAskedOfWhatTheTaskReads) {
  const size_t decode = ir::AddNative(cases_.program, "wf_n_decode");
  const TypeId pixels = cases_.types().Tensor(DType::kU8, {-1, -1, 3}), text = cases_.types().String();
  const auto decoded = [&](Builder& b, const std::vector<ValueId>& in) {
    return b.Dim(b.Emit(OpKind::kNative, pixels, {in[0]}, decode), 0);
  };
  EXPECT_EQ(Of({text}, {Value::Text("a picture")}, decoded), 9000U);
  EXPECT_EQ(Of({text}, {Value::Text("")}, decoded), 0U);
  const auto made_before = [&](Builder& b, const std::vector<ValueId>&) {
    return b.Dim(b.Emit(OpKind::kNative, pixels, {b.Text("a picture")}, decode), 0);
  };
  EXPECT_EQ(Of({text}, {Value::Text("")}, made_before), kNotForALoop);
}

TEST_F(Work, ANativeCountsWhatItDoesOverAndOver) {
  const size_t last_at = ir::AddNative(cases_.program, "wf_n_last_at"), replace = ir::AddNative(cases_.program, "wf_n_replace");
  const TypeId text = cases_.types().String();
  const Value few = Tensor({3}, {2, 0, 1});
  const auto spread = [&](Builder& b, ValueId at, ValueId extent) {
    return b.Dim(b.Emit(OpKind::kNative, Open(1), {at, extent}, last_at), 0);
  };
  const auto by_a_number = [&](Builder& b, const std::vector<ValueId>& in) { return spread(b, in[0], in[1]); };
  EXPECT_EQ(Of({Open(1), I64()}, {few, Number(1'000'000)}, by_a_number), 300'000U);  // 0.3 ns each
  EXPECT_EQ(Of({Open(1), I64()}, {few, Number(5)}, by_a_number), 3U);
  const auto computed = [&](Builder& b, const std::vector<ValueId>& in) {
    return spread(b, in[0], Sum(b, b.I64(3), [&](ValueId i) { return b.Mul(i, in[1]); }));
  };
  EXPECT_EQ(Of({Open(1), I64()}, {few, Number(5)}, computed), kNotForALoop);
  const auto replaced = [&](Builder& b, const std::vector<ValueId>& in) {
    return b.Emit(OpKind::kStringLen, I64(), {b.Emit(OpKind::kNative, text, in, replace)});
  };
  const auto repeated = [](size_t count) { return Value::Text(std::string(count, 'a')); };
  EXPECT_EQ(Of({text, text, text}, {repeated(3000), repeated(3), repeated(600)}, replaced), 300'000U);  // 0.5 ns each
}

TEST_F(Work, ATextIsAsLongAsTheStringsInIt) {
  const TypeId text = cases_.types().String();
  const auto joined = [&](Builder& b, const std::vector<ValueId>& in) {
    const ValueId whole = b.Emit(OpKind::kText, text, {in[0], in[1], in[0]}, ir::AddText(b.program(), "{} {} {}"));
    return b.Emit(OpKind::kStringLen, I64(), {whole});
  };
  EXPECT_EQ(Of({text, I64()}, {Value::Text(std::string(10'000, 'a')), Number(7)}, joined), 1000U);  // 0.05 ns a byte
}

}  // namespace
}  // namespace wf::lower::testing
