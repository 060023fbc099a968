// Rows in which each element stands several times: the same elements, and failures, as one by one.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

class RepeatsTest : public BodyTest {};

TEST_F(RepeatsTest, AKnownNumberOfTimes) {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kF32}) {
    const TypeId vector = Tensor(dtype, {-1}), matrix = Tensor(dtype, {-1, -1});
    for (const int64_t times : {2, 3, 8, 9}) {
      const auto quotient = [times](Builder& b, ValueId index) { return b.Binary(OpKind::kDiv, index, b.I64(times)); };
      cases_.Add("of a vector", {vector}, vector, [this, dtype, times, quotient](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {quotient(b, b.Param(0))}));
        return b.Build(dtype, {b.Mul(b.Dim(in[0], 0), b.I64(times))}, block);
      });
      cases_.Add("the last not as often", {vector}, vector, [this, dtype, times, quotient](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {quotient(b, b.Param(0))}));
        const ValueId all = b.Mul(b.Dim(in[0], 0), b.I64(times));
        return b.Build(dtype, {b.Binary(OpKind::kMax, b.Sub(all, b.I64(1)), b.I64(0))}, block);
      });
      cases_.Add("of rows that are, too", {matrix}, matrix, [this, dtype, times, quotient](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64()});
        b.Close(b.Load(in[0], {quotient(b, b.Param(0)), quotient(b, b.Param(1))}));
        return b.Build(dtype, {b.Mul(b.Dim(in[0], 0), b.I64(times)), b.Mul(b.Dim(in[0], 1), b.I64(times))}, block);
      });
      if (times == 3) cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
      cases_.Add("where it may be outside", {matrix}, matrix, [this, dtype, times, quotient](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
        const ir::BlockId block = b.Open({I64(), I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(b.Param(0), height), quotient(b, b.Param(1))}));
        return b.Build(dtype, {b.Add(height, b.I64(1)), b.Mul(width, b.I64(times))}, block);
      });
    }
  }
  Check({0, 1, 5, 16, 35, 70}, 1);
}

// Inputs have the extents {size, size / 2 + 1}: the second of a matrix is how often.
ValueId Quotient(Builder& b, ValueId index, ValueId times) {
  return b.Binary(OpKind::kDiv, index, b.Emit(OpKind::kCheckDivisor, b.TypeOf(times), {times}));
}

TEST_F(RepeatsTest, ANumberThatIsData) {
  for (const DType dtype : {DType::kU8, DType::kF32, DType::kF64}) {
    const TypeId vector = Tensor(dtype, {-1}), matrix = Tensor(dtype, {-1, -1});
    for (const int64_t more : {0, -1, 1}) {  // beyond the last: a failure
      cases_.Add("of a vector", {vector, matrix}, vector, [this, dtype, more](Builder& b, const In& in) {
        const ValueId n = b.Dim(in[0], 0), times = b.Dim(in[1], 1), all = b.Add(b.Mul(n, times), b.I64(more));
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(Quotient(b, b.Param(0), times), n)}));
        return b.Build(dtype, {b.Binary(OpKind::kMax, all, b.I64(0))}, block);
      });
    }
    for (const int64_t factor : {0, -3}) {  // no number of times
      cases_.Add("not at all", {vector, matrix}, vector, [this, dtype, factor](Builder& b, const In& in) {
        const ValueId n = b.Dim(in[0], 0), times = b.Mul(b.Dim(in[1], 1), b.I64(factor));
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(Quotient(b, b.Param(0), times), n)}));
        return b.Build(dtype, {b.Dim(in[1], 1)}, block);
      });
    }
    cases_.Add("of rows that are, too", {matrix}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), times = width;
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId y = b.CheckIndex(Quotient(b, b.Param(0), times), height);
      b.Close(b.Load(in[0], {y, b.CheckIndex(Quotient(b, b.Param(1), times), width)}));
      return b.Build(dtype, {b.Mul(height, times), b.Mul(width, times)}, block);
    });
    cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
    cases_.Add("of rows that may not be there", {matrix}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), times = b.Add(height, b.I64(1));
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId y = b.CheckIndex(b.Sub(b.Param(0), b.I64(1)), height);
      b.Close(b.Load(in[0], {y, b.CheckIndex(Quotient(b, b.Param(1), times), width)}));
      return b.Build(dtype, {b.Binary(OpKind::kMin, height, b.I64(2)), b.Mul(width, times)}, block);
    });
    cases_.Add("more often than shuffles are for", {vector}, vector, [this, dtype](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      b.Close(b.Load(in[0], {b.Binary(OpKind::kDiv, b.Param(0), b.I64(13))}));
      return b.Build(dtype, {b.Mul(b.Dim(in[0], 0), b.I64(13))}, block);
    });
  }
  Check({0, 1, 2, 5, 6, 7, 16, 35, 70}, 1);
}

ValueId Rest(Builder& b, ValueId index, ValueId of) {
  return b.Binary(OpKind::kRem, index, b.Emit(OpKind::kCheckDivisor, b.TypeOf(of), {of}));
}

TEST_F(RepeatsTest, AllOfThemAgainAndAgain) {
  for (const DType dtype : {DType::kU8, DType::kF32, DType::kF64}) {
    const TypeId vector = Tensor(dtype, {-1}), matrix = Tensor(dtype, {-1, -1});
    for (const int64_t more : {-1, 0, 3}) {
      cases_.Add("of a vector", {vector, matrix}, vector, [this, dtype, more](Builder& b, const In& in) {
        const ValueId n = b.Dim(in[0], 0), all = b.Add(b.Mul(n, b.Dim(in[1], 1)), b.I64(more));
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(Rest(b, b.Param(0), n), n)}));
        return b.Build(dtype, {b.Binary(OpKind::kMax, all, b.I64(0))}, block);
      });
    }
    for (const int64_t factor : {0, -1, 2}) {  // no period; one that is negative; one of which a part is outside
      cases_.Add("with another period", {vector}, vector, [this, dtype, factor](Builder& b, const In& in) {
        const ValueId n = b.Dim(in[0], 0);
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(Rest(b, b.Param(0), b.Mul(n, b.I64(factor))), n)}));
        return b.Build(dtype, {b.Add(n, b.I64(2))}, block);
      });
    }
    cases_.Add("of rows that are, too", {matrix}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
      const ir::BlockId block = b.Open({I64(), I64()});
      b.Close(b.Load(in[0], {b.CheckIndex(Rest(b, b.Param(0), height), height), b.CheckIndex(Rest(b, b.Param(1), width), width)}));
      return b.Build(dtype, {b.Add(height, b.I64(1)), b.Mul(width, b.I64(3))}, block);
    });
    cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
    cases_.Add("of rows that may not be there", {matrix}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
      const ir::BlockId block = b.Open({I64(), I64()});
      b.Close(b.Load(in[0], {b.CheckIndex(b.Sub(b.Param(0), b.I64(1)), height), b.CheckIndex(Rest(b, b.Param(1), width), width)}));
      return b.Build(dtype, {b.Binary(OpKind::kMin, height, b.I64(2)), b.Mul(width, b.I64(2))}, block);
    });
    for (const int64_t period : {1, 3, 7}) {
      cases_.Add("a stated period", {Tensor(dtype, {period}), vector}, vector, [this, dtype, period](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.Binary(OpKind::kRem, b.Param(0), b.I64(period))}));
        return b.Build(dtype, {b.Dim(in[1], 0)}, block);
      });
    }
  }
  Check({0, 1, 2, 5, 6, 7, 16, 35, 70}, 1);
}

// Longer than the runs that are copied at a time, and than what is copied between two looks at whether to stop.
TEST_F(RepeatsTest, LongRuns) {
  for (const DType dtype : {DType::kU8, DType::kF64}) {
    for (const int64_t period : {100, 5000, 17'000}) {
      for (const int64_t count : {period + 1, int64_t{40'001}}) {
        const TypeId in = Tensor(dtype, {period}), out = Tensor(dtype, {count});
        cases_.Add(std::to_string(period), {in}, out, [this, dtype, period, count](Builder& b, const In& values) {
          const ir::BlockId block = b.Open({I64()});
          b.Close(b.Load(values[0], {b.Binary(OpKind::kRem, b.Param(0), b.I64(period))}));
          return b.Build(dtype, {b.I64(count)}, block);
        });
      }
    }
  }
  Check({1}, 1);
}

// Vectors that hold one element are stored where a row is one of repetitions, and nowhere else.
TEST_F(RepeatsTest, WhatIsOne) {
  const auto add = [&](const std::function<ValueId(Builder&, ValueId x, ValueId index, ValueId times)>& element) {
    cases_ = Cases();
    const TypeId vector = Tensor(DType::kF32, {-1});
    cases_.Add("a row", {vector, I64()}, vector, [&](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      b.Close(element(b, in[0], b.Param(0), in[1]));
      return b.Build(DType::kF32, {b.Mul(b.Dim(in[0], 0), in[1])}, block);
    });
  };
  const auto is_one = [&] { return Printed().find("store <4 x float>") != std::string::npos; };
  const auto at = [](Builder& b, ValueId x, ValueId place) { return b.Load(x, {b.CheckIndex(place, b.Dim(x, 0))}); };
  add([&](Builder& b, ValueId x, ValueId index, ValueId times) { return at(b, x, Quotient(b, index, times)); });
  EXPECT_TRUE(is_one());
  add([&](Builder& b, ValueId x, ValueId index, ValueId times) { return at(b, x, Quotient(b, b.Add(index, b.I64(1)), times)); });
  EXPECT_FALSE(is_one());
  add([&](Builder& b, ValueId x, ValueId index, ValueId times) { return at(b, x, Quotient(b, times, b.Add(index, b.I64(1)))); });
  EXPECT_FALSE(is_one());
  add([&](Builder& b, ValueId x, ValueId index, ValueId times) { return b.Add(at(b, x, Quotient(b, index, times)), b.F32(1)); });
  EXPECT_FALSE(is_one());
  // And runs are copied.
  const auto are_copied = [&] { return Printed().find("call void @llvm.memcpy") != std::string::npos; };
  add([&](Builder& b, ValueId x, ValueId index, ValueId) { return at(b, x, Rest(b, index, b.Dim(x, 0))); });
  EXPECT_TRUE(are_copied() && Printed().find("run:") != std::string::npos);
  add([&](Builder& b, ValueId x, ValueId index, ValueId) { return b.Add(at(b, x, Rest(b, index, b.Dim(x, 0))), b.F32(1)); });
  EXPECT_FALSE(are_copied() || Printed().find("run:") != std::string::npos);
  add([&](Builder& b, ValueId x, ValueId index, ValueId) { return at(b, x, Rest(b, b.Sub(index, b.I64(1)), b.Dim(x, 0))); });
  EXPECT_FALSE(Printed().find("run:") != std::string::npos);
}

}  // namespace
}  // namespace wf::lower::testing
