// Folds of every kind of accumulator, whose memory the tests' runtime gives back after each turn, overwritten: machine code against the
// interpreter.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

class FoldTest : public BodyTest {
 protected:
  TypeId Text() { return types().String(); }
  TypeId Vector() { return Tensor(DType::kF32, {-1}); }
  // [k < more + extent of x] => by + element k of x, from the start again behind its end; x is not empty
  ValueId Moved(Builder& b, ValueId x, ValueId by, int64_t more = 0) {
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Add(b.Load(x, {b.Binary(OpKind::kRem, b.Param(0), b.Dim(x, 0))}), b.Convert(by, DType::kF32)));
    return b.Build(DType::kF32, {b.Add(b.Dim(x, 0), b.I64(more))}, each);
  }
  ValueId Format(Builder& b, const std::string& format, const std::vector<ValueId>& args) {
    return b.Emit(OpKind::kText, Text(), args, ir::AddText(b.program(), format));
  }
  using Step = std::function<ValueId(ValueId index, ValueId accumulator)>;
  ValueId Fold(Builder& b, int64_t turns, ValueId initial, const Step& step) {
    const TypeId type = b.TypeOf(initial);
    const ir::BlockId block = b.Open({I64(), type});
    const ValueId index = b.Param(0), accumulator = b.Param(1);
    b.Close(step(index, accumulator));
    return b.Emit(OpKind::kFold, type, {b.I64(turns), initial}, 0, {block});
  }
  ValueId Either(Builder& b, ValueId condition, TypeId type, const std::function<ValueId()>& yes, const std::function<ValueId()>& no) {
    const ir::BlockId then = b.Open({});
    b.Close(yes());
    const ir::BlockId otherwise = b.Open({});
    b.Close(no());
    return b.If(condition, type, then, otherwise);
  }
  ValueId IsOdd(Builder& b, ValueId index) { return b.Binary(OpKind::kEq, b.Binary(OpKind::kRem, index, b.I64(2)), b.I64(1)); }
};

TEST_F(FoldTest, TensorsInRecordsListsAndChoices) {
  const TypeId pair = types().Record("", {{"x", Vector()}, {"same", Vector()}, {"turns", I64()}}), list = types().List(Vector());
  cases_.Add("record", {Vector()}, pair, [=, this](Builder& b, const In& in) {
    return Fold(b, 9, b.Record(pair, {Moved(b, in[0], b.I64(1), 1), in[0], b.I64(0)}), [&](ValueId i, ValueId a) {
      return b.Record(pair, {Moved(b, b.Field(a, 0), i, 1), b.Field(a, 1), b.Add(b.Field(a, 2), i)});
    });
  });
  cases_.Add("choice", {Vector()}, Vector(), [=, this](Builder& b, const In& in) {
    return Fold(b, 9, Moved(b, in[0], b.I64(1), 1), [&](ValueId i, ValueId a) {
      return Either(b, IsOdd(b, i), Vector(), [&] { return Moved(b, a, i, 2); }, [&] { return a; });
    });
  });
  cases_.Add("through another tensor", {Vector()}, Vector(), [=, this](Builder& b, const In& in) {
    return Fold(b, 9, Moved(b, in[0], b.I64(1), 1), [&](ValueId i, ValueId a) {
      const ValueId between = Moved(b, a, i, 1);
      return Either(b, IsOdd(b, i), Vector(), [&] { return Moved(b, between, i); }, [&] { return between; });
    });
  });
  cases_.Add("two that take turns", {Vector()}, list, [=, this](Builder& b, const In& in) {
    const ValueId first = Moved(b, in[0], b.I64(1), 1);
    return Fold(b, 9, b.Emit(OpKind::kListMake, list, {first, in[0]}), [&](ValueId i, ValueId a) {
      const ValueId old = b.Emit(OpKind::kListGet, Vector(), {a, b.I64(0)}), other = b.Emit(OpKind::kListGet, Vector(), {a, b.I64(1)});
      return b.Emit(OpKind::kListMake, list,
                    {Either(b, IsOdd(b, i), Vector(), [&] { return other; }, [&] { return old; }), Moved(b, old, i, 1)});
    });
  });
  Check({1, 8, 17, 100});  // not of nothing: elements are read from the start again
}

TEST_F(FoldTest, TextsListsAndOptionals) {
  const TypeId texts = types().List(Text()), numbers = types().List(I64()), maybe = types().Optional(Text());
  cases_.Add("front", {Text()}, Text(), [=, this](Builder& b, const In& in) {
    return Fold(b, 30, in[0], [&](ValueId i, ValueId a) { return Format(b, "{} {}", {i, a}); });
  });
  cases_.Add("back", {Text()}, Text(), [=, this](Builder& b, const In& in) {
    return Fold(b, 30, in[0], [&](ValueId i, ValueId a) { return Format(b, "{} {}", {a, i}); });
  });
  cases_.Add("texts", {texts}, texts, [=, this](Builder& b, const In& in) {
    return Fold(b, 9, in[0], [&](ValueId i, ValueId a) {
      const ir::BlockId each = b.Open({I64()});
      const ValueId item = b.Emit(OpKind::kListGet, Text(), {a, b.Param(0)});
      b.Close(Either(b, IsOdd(b, b.Add(b.Param(0), i)), Text(), [&] { return Format(b, "{}{}", {item, i}); }, [&] { return item; }));
      return b.Emit(OpKind::kListBuild, texts, {b.Emit(OpKind::kListLen, I64(), {a})}, 0, {each});
    });
  });
  cases_.Add("numbers", {numbers}, numbers, [=, this](Builder& b, const In& in) {
    return Fold(b, 9, in[0], [&](ValueId i, ValueId a) {
      const ir::BlockId holds = b.Open({I64()});
      b.Close(b.Binary(OpKind::kNe, b.Param(0), i));
      const ir::BlockId each = b.Open({I64()});
      b.Close(b.Add(b.Emit(OpKind::kListGet, I64(), {a, b.Param(0)}), i));
      return b.Emit(OpKind::kListFilter, numbers, {b.Emit(OpKind::kListLen, I64(), {a})}, 0, {holds, each});
    });
  });
  cases_.Add("maybe", {maybe}, maybe, [=, this](Builder& b, const In& in) {
    return Fold(b, 9, in[0], [&](ValueId i, ValueId) {
      return Either(
          b, IsOdd(b, i), maybe, [&] { return b.Emit(OpKind::kNone, maybe); },
          [&] { return b.Emit(OpKind::kSome, maybe, {Format(b, "turn {}", {i})}); });
    });
  });
  Check({1, 8, 17, 100});  // not of nothing: elements are read from the start again
}

TEST_F(FoldTest, FoldsWithinFoldsAndWhatTheyUseOnTheWay) {
  const TypeId pair = types().Record("", {{"text", Text()}, {"x", Vector()}});
  cases_.Add("within", {Text(), Vector()}, pair, [=, this](Builder& b, const In& in) {
    const ValueId first = b.Record(pair, {in[0], Moved(b, in[1], b.I64(1), 1)});
    return Fold(b, 6, first, [&](ValueId i, ValueId a) {
      const ValueId x = b.Field(a, 1);
      const ValueId text = Fold(b, 4, b.Field(a, 0), [&](ValueId k, ValueId t) { return Format(b, "{}{}{}", {k, t, i}); });
      const ValueId inner = Fold(b, 4, x, [&](ValueId k, ValueId y) {
        return Either(b, IsOdd(b, k), Vector(), [&] { return y; }, [&] { return Moved(b, y, b.Add(k, i)); });
      });
      const ValueId built = Fold(b, 3, inner, [&](ValueId k, ValueId y) { return Moved(b, y, k, 1); });
      return b.Record(pair, {text, Either(b, IsOdd(b, i), Vector(), [&] { return built; }, [&] { return x; })});
    });
  });
  cases_.Add("scratch memory", {Vector()}, Vector(), [=, this](Builder& b, const In& in) {
    return Fold(b, 6, Moved(b, in[0], b.I64(1), 1), [&](ValueId i, ValueId a) {
      const ValueId reversed = Moved(b, a, i, 3), label = Format(b, "{}", {i});
      const ir::BlockId each = b.Open({I64()});
      const ValueId first = b.Load(reversed, {b.Param(0)});
      const ir::BlockId term = b.Open({I64()});
      b.Close(b.Load(reversed, {b.Param(0)}));
      const ValueId sum = b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(reversed, 0), term);
      b.Close(b.Add(b.Add(first, sum), b.Convert(b.Emit(OpKind::kStringLen, I64(), {label}), DType::kF32)));
      return b.Build(DType::kF32, {b.Dim(a, 0)}, each);
    });
  });
  cases_.Add("for each element", {Vector()}, Tensor(DType::kI64, {-1}), [=, this](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64()});
    const ValueId at = b.Param(0);
    const ValueId text = Fold(b, 5, Format(b, "{}", {at}), [&](ValueId i, ValueId t) { return Format(b, "{}{}", {i, t}); });
    b.Close(b.Emit(OpKind::kStringLen, I64(), {text}));
    return b.Build(DType::kI64, {b.Dim(in[0], 0)}, each);
  });
  Check({1, 8, 17, 100});  // not of nothing: elements are read from the start again
}

TEST_F(FoldTest, ManyTurnsTakeNoMoreThanTwo) {
  const TypeId pair = types().Record("", {{"x", Vector()}, {"text", Text()}});
  const auto turns = [=, this](int64_t count) {
    return [=, this](Builder& b, const In& in) {
      return Fold(b, count, b.Record(pair, {in[0], Format(b, "{}", {b.I64(1)})}), [&](ValueId i, ValueId a) {
        return b.Record(pair,
                        {Moved(b, b.Field(a, 0), i), Format(b, "{} and {}", {b.Emit(OpKind::kStringLen, I64(), {b.Field(a, 1)}), i})});
      });
    };
  };
  cases_.Add("few", {Vector()}, pair, turns(2));
  cases_.Add("many", {Vector()}, pair, turns(1002));
  const Loaded code(cases_.program, "x86-64-v3");
  uint64_t bytes[2];
  for (size_t i = 0; i < 2; ++i) {
    const Cases::Case& one = cases_.cases[i];
    std::vector<ir::Value> inputs(cases_.program.slots.size());
    uint64_t seed = 1;
    inputs[static_cast<size_t>(one.in[0])] = RandomValue(types(), Vector(), {4096}, &seed);
    Job job;
    ASSERT_TRUE(code.Run(one.task, inputs, &job).value);
    EXPECT_GE(job.turns, i == 0 ? 2U : 1002U);
    bytes[i] = job.most_bytes;
  }
  EXPECT_GT(bytes[0], uint64_t{2} * 4096 * 4);
  EXPECT_LT(bytes[1], bytes[0] + 200);
}

}  // namespace
}  // namespace wf::lower::testing
