#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "compiler/passes/passes.h"
#include "tests/unit/compiler/passes/fixture.h"

namespace wf::passes {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ValueId;
using testing::HasSubstr;
using testing::Not;

TEST(ProveRanges, RemovesWhatTheLoopProves) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const BlockId block = b.Open(Integers(b, 1));
  const ValueId i = b.Param(0);
  const ValueId last = b.Sub(b.Sub(n, b.I64(1)), i);  // backwards
  b.Close(b.Add(b.Load(x, {b.CheckIndex(i, n)}), b.Load(x, {b.CheckIndex(last, n)})));
  b.Close(b.Build(DType::kF32, {n}, block));
  ProveRanges(f.program);
  EXPECT_THAT(f.Text(), Not(HasSubstr("check_index")));
}

TEST(ProveRanges, ProvesLinearFormsClampsAndRemainders) {
  Fixture f({30});
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1});
  const BlockId block = b.Open(Integers(b, 1));
  const ValueId i = b.Param(0);
  const ValueId linear = b.Add(b.Mul(i, b.I64(3)), b.I64(2));  // 2 .. 29
  const ValueId clamped = b.Binary(OpKind::kMax, b.Binary(OpKind::kMin, s, b.I64(29)), b.I64(0));
  const ValueId rest = b.Binary(OpKind::kRem, b.Mul(i, b.I64(7)), b.I64(30));
  ValueId sum = b.Load(x, {b.CheckIndex(linear, b.I64(30))});
  sum = b.Add(sum, b.Load(x, {b.CheckIndex(clamped, b.I64(30))}));
  b.Close(b.Add(sum, b.Load(x, {b.CheckIndex(rest, b.I64(30))})));
  b.Close(b.Build(DType::kF32, {b.I64(10)}, block));
  ProveRanges(f.program);
  EXPECT_THAT(f.Text(), Not(HasSubstr("check_index")));
}

// Of n elements each of `rows` parts has n / rows, whatever remains.
TEST(ProveRanges, RemovesWhatPartsOfAnAxisProve) {
  enum class Form { kPart, kMoreRows, kOtherAxis, kFurther };
  for (const Form form : {Form::kPart, Form::kMoreRows, Form::kOtherAxis, Form::kFurther}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0), rows = b.I64(10);
    const ValueId of = form == Form::kOtherAxis ? b.Add(n, b.I64(20)) : n;
    const ValueId width = b.Binary(OpKind::kDiv, of, rows);
    const BlockId block = b.Open(Integers(b, 2));
    const ValueId start = b.Mul(b.Param(0), width);
    ValueId index = b.Add(start, b.Param(1));
    if (form == Form::kFurther) index = b.Add(index, b.I64(1));
    b.Close(b.Load(x, {b.CheckIndex(index, n)}));
    b.Close(b.Build(DType::kF32, {form == Form::kMoreRows ? b.I64(11) : rows, width}, block));
    ProveRanges(f.program);
    if (form == Form::kPart) {
      EXPECT_THAT(f.Text(), Not(HasSubstr("check_index")));
    } else {
      EXPECT_THAT(f.Text(), HasSubstr("check_index")) << static_cast<int>(form);
    }
  }
}

// What a view leaves of an axis may be none: the loop over it counts to max(n - 1, 0).
TEST(ProveRanges, TakesALoopOverAClampedExtentForOneOverTheExtent) {
  for (const bool is_inside : {true, false}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0), rest = b.Sub(n, b.I64(1));
    const ValueId extent = b.Binary(OpKind::kMax, rest, b.I64(0));
    const BlockId block = b.Open(Integers(b, 1));
    const ValueId i = b.Param(0), next = b.Add(i, b.I64(1));
    const ValueId sum = b.Add(b.Load(x, {b.CheckIndex(i, extent)}), b.Load(x, {b.CheckIndex(i, rest)}));
    b.Close(b.Add(sum, b.Load(x, {b.CheckIndex(next, is_inside ? n : rest)})));
    b.Close(b.Build(DType::kF32, {extent}, block));
    ProveRanges(f.program);
    EXPECT_EQ(f.Text().find("check_index") == std::string::npos, is_inside) << f.Text();
  }
}

// What checks a slice `x[n - n % 3 : n]`, `x[0 : n / 2]` and the like: that an end is not before the beginning, nor behind the axis.
TEST(ProveRanges, DecidesComparisonsOfExtents) {
  const auto is_decided = [](bool is_extent, const std::function<ValueId(Builder&, ValueId)>& compare) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = is_extent ? b.Dim(x, 0) : b.Slot(ir::SlotId{1});
    b.StickyIf(compare(b, n), 7001);
    b.Close(b.Dim(x, 0));
    ProveRanges(f.program);
    return f.Text().find("lt") == std::string::npos;
  };
  const auto less = [](Builder& b, ValueId a, ValueId c) { return b.Binary(OpKind::kLt, a, c); };
  const auto part = [](Builder& b, ValueId n, int64_t by) { return b.Binary(OpKind::kDiv, n, b.I64(by)); };
  const std::vector<std::function<ValueId(Builder&, ValueId)>> never = {
      [&](Builder& b, ValueId n) { return less(b, b.Add(n, b.I64(1)), n); },
      [&](Builder& b, ValueId n) { return less(b, n, part(b, n, 2)); },
      [&](Builder& b, ValueId n) { return less(b, n, b.Mul(part(b, n, 3), b.I64(3))); },
      [&](Builder& b, ValueId n) { return less(b, b.Sub(n, part(b, n, 2)), b.I64(0)); },
  };
  for (size_t i = 0; i < never.size(); ++i) {
    EXPECT_TRUE(is_decided(true, never[i])) << i;
    EXPECT_FALSE(is_decided(false, never[i])) << i << ": n + 1 wraps, and n / 2 is above n, where n may be any number";
  }
  EXPECT_FALSE(is_decided(true, [&](Builder& b, ValueId n) { return less(b, n, b.Add(part(b, n, 2), b.I64(1))); })) << "0 < 1";
  EXPECT_FALSE(is_decided(true, [&](Builder& b, ValueId n) { return less(b, n, b.Mul(part(b, b.Add(n, b.I64(1)), 2), b.I64(2))); }))
      << "1 < 2 * 1";
  EXPECT_FALSE(is_decided(true, [&](Builder& b, ValueId n) { return less(b, b.Sub(n, b.I64(1)), part(b, n, 2)); })) << "0 - 1 < 0";
}

// What an index of a list is compared with: `count <= i` in a loop that counts to less.
TEST(ProveRanges, DecidesComparisonsWithWhatALoopCounts) {
  for (const int64_t more : {-1, 0, 1}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
    const BlockId block = b.Open(Integers(b, 1));
    const ValueId i = b.Param(0);
    b.StickyIf(b.Binary(OpKind::kLe, n, b.Add(i, b.I64(more))), 7001);
    b.Close(b.Load(x, {i}));
    b.Close(b.Build(DType::kF32, {n}, block));
    ProveRanges(f.program);
    EXPECT_EQ(f.Text().find("sticky_if") == std::string::npos, more <= 0) << more;
  }
}

// Behind a check that two extents are equal one stands for the other, but for what stands before it or beside its arm.
TEST(ProveRanges, ProvesIndicesByEqualitiesThatWereChecked) {
  enum class Check { kBefore, kBehind, kInArm };
  const auto is_proved = [](Check where, int64_t more,
                            int64_t offset) {  // s + more is the extent of x, and s elements are read from offset on
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1}), n = b.Dim(x, 0);
    const ValueId differ = b.Binary(OpKind::kNe, b.Add(s, b.I64(more)), n);
    const auto check = [&] {
      const BlockId message = b.Open({});
      b.Close(b.Text("they differ"));
      b.FailIf(differ, 7004, message);
    };
    const auto read = [&] {
      const BlockId block = b.Open(Integers(b, 1));
      b.Close(b.Load(x, {b.CheckIndex(b.Add(b.Param(0), b.I64(offset)), n)}));
      return b.Build(DType::kF32, {b.Binary(OpKind::kMax, s, b.I64(0))}, block);
    };
    if (where == Check::kBefore) check();
    if (where == Check::kInArm) {
      const BlockId then = b.Open({});
      check();
      b.Close(s);
      const BlockId otherwise = b.Open({});
      b.Close(n);
      b.If(differ, b.TypeOf(n), then, otherwise);
    }
    const ValueId result = read();
    if (where == Check::kBehind) check();
    b.Close(result);
    ProveRanges(f.program);
    return f.Text().find("check_index") == std::string::npos;
  };
  EXPECT_TRUE(is_proved(Check::kBefore, 0, 0));
  EXPECT_TRUE(is_proved(Check::kBefore, 1, 0));
  EXPECT_TRUE(is_proved(Check::kBefore, 1, 1));
  EXPECT_FALSE(is_proved(Check::kBefore, 0, 1));
  EXPECT_FALSE(is_proved(Check::kBefore, -1, 0));
  EXPECT_FALSE(is_proved(Check::kBehind, 0, 0));
  EXPECT_FALSE(is_proved(Check::kInArm, 0, 0));
}

// `if i < n { x[i - 1] }` and the like, in a loop over any number.
TEST(ProveRanges, ProvesIndicesByWhatArmsAskFor) {
  using Condition = std::function<ValueId(Builder&, ValueId i, ValueId n)>;
  const auto is_proved = [](const Condition& condition, bool holds, int64_t offset) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1}), n = b.Dim(x, 0);
    const BlockId block = b.Open(Integers(b, 1));
    const ValueId i = b.Param(0), asked = condition(b, i, n);
    const auto arm = [&](bool reads) {
      b.Open({});
      return b.Close(reads ? b.Load(x, {b.CheckIndex(b.Add(i, b.I64(offset)), b.Dim(x, 0))}) : b.F32(0));
    };
    const BlockId then = arm(holds), otherwise = arm(!holds);
    b.Close(b.If(asked, b.ScalarType(DType::kF32), then, otherwise));
    b.Close(b.Build(DType::kF32, {b.Binary(OpKind::kMax, s, b.I64(0))}, block));
    ProveRanges(f.program);
    return f.Text().find("check_index") == std::string::npos;
  };
  const Condition below = [](Builder& b, ValueId i, ValueId n) { return b.Binary(OpKind::kLt, i, n); };
  const Condition beyond = [](Builder& b, ValueId i, ValueId n) { return b.Binary(OpKind::kLe, n, i); };
  const Condition at_most = [](Builder& b, ValueId i, ValueId n) { return b.Binary(OpKind::kLe, i, n); };
  EXPECT_TRUE(is_proved(below, true, 0));
  EXPECT_FALSE(is_proved(below, false, 0));
  EXPECT_FALSE(is_proved(below, true, 1));
  EXPECT_FALSE(is_proved(below, true, -1)) << "i may be 0";
  EXPECT_TRUE(is_proved(beyond, false, 0));
  EXPECT_FALSE(is_proved(beyond, true, 0));
  EXPECT_FALSE(is_proved(at_most, true, 0));
  const auto inside = [&](bool excludes_0) -> Condition {  // i <= n && i > 0, or && i != 0
    return [&, excludes_0](Builder& b, ValueId i, ValueId n) {
      const ValueId zero = b.I64(0), is_more = excludes_0 ? b.Binary(OpKind::kNe, i, zero) : b.Binary(OpKind::kLt, zero, i);
      const ValueId is_natural = b.Binary(OpKind::kLe, zero, i);
      return b.Binary(OpKind::kAnd, b.Binary(OpKind::kAnd, b.Binary(OpKind::kLe, i, n), is_natural), is_more);
    };
  };
  EXPECT_TRUE(is_proved(inside(false), true, -1));
  EXPECT_TRUE(is_proved(inside(true), true, -1));
  EXPECT_FALSE(is_proved(inside(false), true, 0));
  EXPECT_FALSE(is_proved(inside(false), false, -1));
  const Condition same = [](Builder& b, ValueId i, ValueId n) { return b.Binary(OpKind::kEq, b.Add(i, b.I64(1)), n); };
  EXPECT_TRUE(is_proved(same, true, 0));
  EXPECT_FALSE(is_proved(same, false, 0));
  const Condition wraps = [](Builder& b, ValueId i, ValueId n) { return b.Binary(OpKind::kLt, b.Mul(i, b.I64(4)), n); };
  EXPECT_FALSE(is_proved(wraps, true, 0)) << "4 * i is 0 where i is 2^62";
}

// A loop over n / 2 reads every second element.
TEST(ProveRanges, ProvesIndicesOfLoopsOverQuotients) {
  struct Case {
    int64_t more, by, times, offset, is_inside;  // a loop over (n + more) / by reads at times * i + offset
  };
  for (const Case& each : std::vector<Case>{{0, 2, 2, 0, true},
                                            {0, 2, 2, 1, true},
                                            {0, 2, 2, 2, false},
                                            {1, 2, 2, 0, true},
                                            {1, 2, 2, 1, false},
                                            {0, 3, 3, 2, true},
                                            {0, 3, 2, 1, true},
                                            {0, 3, 4, 0, false},
                                            {2, 3, 3, 0, true},
                                            {3, 3, 3, 0, false}}) {
    for (const bool is_extent : {true, false}) {
      Fixture f;
      Builder b(f.program, f.body());
      const ValueId x = b.Slot(ir::SlotId{0}), n = is_extent ? b.Dim(x, 0) : b.Slot(ir::SlotId{1});
      const ValueId extent = b.Binary(OpKind::kDiv, b.Add(n, b.I64(each.more)), b.I64(each.by));
      const BlockId block = b.Open(Integers(b, 1));
      b.Close(b.Load(x, {b.CheckIndex(b.Add(b.Mul(b.Param(0), b.I64(each.times)), b.I64(each.offset)), n)}));
      b.Close(b.Build(DType::kF32, {extent}, block));
      ProveRanges(f.program);
      EXPECT_EQ(f.Text().find("check_index") == std::string::npos, is_extent && each.is_inside)
          << "(n + " << each.more << ") / " << each.by << ", " << each.times << " * i + " << each.offset;
    }
  }
}

// 4 * n is 0 where n is 2^62, which no extent is, but a parameter may be.
TEST(ProveRanges, KeepsWhatHoldsOnlyWhereNothingWraps) {
  for (const bool is_extent : {true, false}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = is_extent ? b.Dim(x, 0) : b.Slot(ir::SlotId{1});
    const ValueId extent = b.Mul(n, b.I64(4));
    const BlockId block = b.Open(Integers(b, 1));
    b.Close(b.Load(x, {b.CheckIndex(b.Mul(b.Param(0), b.I64(4)), extent)}));
    b.Close(b.Build(DType::kF32, {n}, block));
    ProveRanges(f.program);
    EXPECT_EQ(f.Text().find("check_index") == std::string::npos, is_extent) << f.Text();
  }
}

TEST(ProveRanges, KeepsWhatMayBeOutside) {
  Fixture f({30});
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0});
  const BlockId block = b.Open(Integers(b, 1));
  const ValueId i = b.Param(0), past = b.Add(b.Mul(i, b.I64(3)), b.I64(3)), before = b.Sub(i, b.I64(1));
  b.Close(b.Add(b.Load(x, {b.CheckIndex(past, b.I64(30))}), b.Load(x, {b.CheckIndex(before, b.I64(30))})));
  b.Close(b.Build(DType::kF32, {b.I64(10)}, block));
  ProveRanges(f.program);
  const std::string text = f.Text();
  EXPECT_NE(text.find("check_index"), text.rfind("check_index"));
}

// Whether x[index(i)] of ten elements keeps its check in a loop over `count`, which makes a tensor or a sum.
using Index = std::function<ValueId(Builder& b, ValueId s, ValueId i)>;
enum class Loop : uint8_t { kBuild, kReduce };
bool KeepsCheck(Loop loop, const std::function<ValueId(Builder& b, ValueId s)>& count, const Index& index) {
  Fixture f({10});
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1}), extent = count(b, s);
  const BlockId block = b.Open(Integers(b, 1));
  b.Close(b.Load(x, {b.CheckIndex(index(b, s, b.Param(0)), b.I64(10))}));
  b.Close(loop == Loop::kBuild ? b.Build(DType::kF32, {extent}, block) : b.Reduce(ir::ReduceKind::kSum, DType::kF32, extent, block));
  ProveRanges(f.program);
  return f.Text().find("check_index") != std::string::npos;
}
ValueId Natural(Builder& b, ValueId s) { return b.Binary(OpKind::kMax, s, b.I64(0)); }
ValueId AtMostNine(Builder& b, ValueId index) { return b.Binary(OpKind::kMin, index, b.I64(9)); }

// max(s, 0) + i is below 0 where s is the largest integer.
TEST(ProveRanges, KeepsTheCheckOfASumWithWhatHasNoBound) {
  const auto four = [](Builder& b, ValueId) { return b.I64(4); };
  EXPECT_FALSE(KeepsCheck(Loop::kBuild, four, [](Builder& b, ValueId s, ValueId) { return AtMostNine(b, Natural(b, s)); }));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, four, [](Builder& b, ValueId s, ValueId i) { return AtMostNine(b, b.Add(Natural(b, s), i)); }));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, four,
                         [](Builder& b, ValueId s, ValueId i) { return b.Binary(OpKind::kRem, b.Add(Natural(b, s), i), b.I64(10)); }));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, four, [](Builder& b, ValueId s, ValueId i) {  // far below 0 wraps, too
    return b.Binary(OpKind::kMax, b.Sub(b.Sub(b.I64(-5), Natural(b, s)), i), b.I64(0));
  }));
}

// However many turns a loop has: a tensor of so many elements may be part of another loop that looks at few of them.
TEST(ProveRanges, KeepsTheCheckWhereALoopOverAnyNumberCountsDown) {
  const auto times = [](Builder&, ValueId s) { return s; };
  const auto back = [](int64_t from) {
    return [from](Builder& b, ValueId s, ValueId i) { return AtMostNine(b, b.Sub(b.Add(s, b.I64(from)), i)); };
  };
  for (const Loop loop : {Loop::kBuild, Loop::kReduce}) {
    EXPECT_FALSE(KeepsCheck(loop, times, back(-1)));
    EXPECT_TRUE(KeepsCheck(loop, times, back(5)));
  }
}

TEST(ProveRanges, KeepsTheCheckWhereALoopOverAnyNumberCountsBeyondIt) {
  const auto times = [](Builder&, ValueId s) { return s; };
  const auto ahead = [](int64_t by) { return [by](Builder& b, ValueId, ValueId i) { return AtMostNine(b, b.Add(i, b.I64(by))); }; };
  EXPECT_FALSE(KeepsCheck(Loop::kBuild, times, ahead(1)));  // of 2^63 - 1 turns the last
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, times, ahead(2)));
}

TEST(ProveRanges, KeepsTheCheckOfWhatComesToMoreThan64Bits) {
  const auto two = [](Builder& b, ValueId) { return b.I64(2); };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, two, [](Builder& b, ValueId, ValueId i) { return b.Mul(i, b.I64(kLeast)); }));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, two, [](Builder& b, ValueId, ValueId i) { return AtMostNine(b, b.Sub(i, b.I64(kLeast))); }));
  for (const size_t count : {7, 8}) {  // of 2^40 elements each
    ValueId sum = ValueId::kNone;
    const auto add = [&](Builder& b, ValueId) {
      sum = b.I64(0);
      const ir::TypeId type = b.types().Tensor(DType::kF32, {-1});
      for (size_t k = 0; k < count; ++k) {
        const ValueId tensor = b.Emit(OpKind::kNative, type, {}, ir::AddNative(b.program(), "wf_n_sort"));
        sum = b.Add(sum, b.Mul(b.Dim(tensor, 0), b.I64(int64_t{1} << 20)));
      }
      return b.I64(2);
    };
    EXPECT_EQ(KeepsCheck(Loop::kBuild, add, [&](Builder& b, ValueId, ValueId) { return AtMostNine(b, sum); }), count == 8);
  }
}

TEST(ProveRanges, KeepsTheCheckOfWhatWrapsInFewerBits) {
  const auto three = [](Builder& b, ValueId) { return b.I64(3); };
  const auto index = [](DType from, DType through, int64_t factor) {
    return [=](Builder& b, ValueId s, ValueId) {
      const ValueId narrow = b.Convert(b.Convert(s, from), through);
      return AtMostNine(b, b.Convert(b.Mul(narrow, b.Convert(b.I64(factor), through)), DType::kI64));
    };
  };
  EXPECT_FALSE(KeepsCheck(Loop::kBuild, three, index(DType::kU16, DType::kI64, 65536)));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, three, index(DType::kU16, DType::kI32, 65536)));
  EXPECT_FALSE(KeepsCheck(Loop::kBuild, three,
                          [](Builder& b, ValueId s, ValueId) { return AtMostNine(b, b.Convert(b.Convert(s, DType::kU32), DType::kI64)); }));
  EXPECT_TRUE(KeepsCheck(Loop::kBuild, three, [](Builder& b, ValueId s, ValueId) {
    return AtMostNine(b, b.Convert(b.Convert(b.Convert(s, DType::kU32), DType::kI32), DType::kI64));
  }));
}

}  // namespace
}  // namespace wf::passes
