// Folds, records, lists, text, failures and limits: the machine code of each CPU version against the interpreter.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

TEST_F(BodyTest, FoldsCarryAnything) {
  const TypeId vector = Tensor(DType::kF32, {-1});
  const TypeId pair = types().Record("", {{"a", I64()}, {"t", types().String()}});
  cases_.Add("scalar", {I64()}, I64(), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.Add(b.Mul(b.Param(1), b.I64(31)), b.Param(0)));
    return b.Emit(OpKind::kFold, I64(), {b.Binary(OpKind::kRem, in[0], b.I64(20)), b.I64(7)}, 0, {block});
  });
  cases_.Add("tensor", {vector}, vector, [this, vector](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), vector});
    const ValueId old = b.Param(1);
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Add(b.Load(old, {b.Param(0)}), b.F32(1)));
    b.Close(b.Build(DType::kF32, {b.Dim(old, 0)}, each));
    return b.Emit(OpKind::kFold, vector, {b.I64(5), in[0]}, 0, {block});
  });
  const TypeId four = Tensor(DType::kF32, {4});
  cases_.Add("a small tensor, turns and extents known", {four}, four, [this, four](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), four});
    const ValueId old = b.Param(1);
    const ir::BlockId each = b.Open({I64()});
    const ValueId mirrored = b.Binary(OpKind::kSub, b.I64(3), b.Param(0));
    b.Close(b.Add(b.Mul(b.Load(old, {b.Param(0)}), b.F32(2)), b.Load(old, {mirrored})));
    b.Close(b.Build(DType::kF32, {b.I64(4)}, each));
    return b.Emit(OpKind::kFold, four, {b.I64(7), in[0]}, 0, {block});
  });
  cases_.Add("a tensor that grows, within a fold that adds up", {vector}, Scalar(DType::kF32), [this, vector](Builder& b, const In& in) {
    const ir::BlockId outer = b.Open({I64(), Scalar(DType::kF32)});
    const ValueId sum = b.Param(1), turn = b.Param(0);
    const ir::BlockId begin = b.Open({I64()});
    b.Close(b.F32(0.5));
    const ValueId first = b.Build(DType::kF32, {b.Add(b.Dim(in[0], 0), b.I64(1))}, begin);
    const ir::BlockId block = b.Open({I64(), vector});
    const ValueId old = b.Param(1), extent = b.Dim(old, 0);
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Add(b.F32(1), b.Load(old, {b.Binary(OpKind::kRem, b.Param(0), extent)})));
    b.Close(b.Build(DType::kF32, {b.Add(extent, b.I64(3))}, each));
    const ValueId grown = b.Emit(OpKind::kFold, vector, {b.Add(turn, b.I64(1)), first}, 0, {block});
    b.Close(b.Add(sum, b.Load(grown, {b.Add(turn, b.I64(1))})));
    return b.Emit(OpKind::kFold, Scalar(DType::kF32), {b.I64(6), b.F32(0)}, 0, {outer});
  });
  cases_.Add("record", {types().String()}, pair, [this, pair](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), pair});
    const ValueId count = b.Add(b.Field(b.Param(1), 0), b.Param(0));
    const size_t format = ir::AddText(b.program(), "{}{}");
    const ValueId text = b.Emit(OpKind::kText, types().String(), {b.Field(b.Param(1), 1), b.Param(0)}, format);
    b.Close(b.Record(pair, {count, text}));
    return b.Emit(OpKind::kFold, pair, {b.I64(3), b.Record(pair, {b.I64(1), in[0]})}, 0, {block});
  });
  Check(kSizes);
}

TEST_F(BodyTest, AFoldHoldsTwoAccumulatorsHoweverOftenItTurns) {
  const TypeId vector = Tensor(DType::kF32, {-1});
  cases_.Add("many turns", {vector}, vector, [this, vector](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), vector});
    const ValueId old = b.Param(1);
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Add(b.Load(old, {b.Param(0)}), b.F32(1)));
    b.Close(b.Build(DType::kF32, {b.Dim(old, 0)}, each));
    return b.Emit(OpKind::kFold, vector, {b.I64(1000), in[0]}, 0, {block});
  });
  const Loaded code(cases_.program, "x86-64-v3");
  const Cases::Case& one = cases_.cases[0];
  std::vector<ir::Value> inputs(cases_.program.slots.size());
  uint64_t seed = 1;
  inputs[static_cast<size_t>(one.in[0])] = RandomValue(types(), vector, {4096, 2049}, &seed);
  Job job;
  ASSERT_TRUE(code.Run(one.task, inputs, &job).value);
  EXPECT_GE(job.bytes, uint64_t{2} * 4096);
  EXPECT_LT(job.bytes, uint64_t{8} * 4096 * 4);  // the input, the result and two accumulators, however rounded; not a thousand
}

TEST_F(BodyTest, RecordsOptionalsAndChoices) {
  const TypeId boolean = Scalar(DType::kBool), u8 = Scalar(DType::kU8), text = types().String(), vector = Tensor(DType::kI32, {-1});
  const TypeId inner = types().Record("Inner", {{"flag", boolean}, {"wide", Scalar(DType::kF64)}, {"small", u8}});
  const TypeId outer = types().Record("Outer", {{"small", u8},
                                                {"inner", inner},
                                                {"text", text},
                                                {"list", types().List(inner)},
                                                {"maybe", types().Optional(I64())},
                                                {"rows", vector}});
  cases_.Add("passes through", {outer}, outer, [](Builder&, const In& in) { return in[0]; });
  cases_.Add("takes apart", {outer}, types().Record("", {{"x", Scalar(DType::kF64)}, {"y", vector}}),
             [this, vector](Builder& b, const In& in) {
               const TypeId result = types().Record("", {{"x", Scalar(DType::kF64)}, {"y", vector}});
               return b.Record(result, {b.Field(b.Field(in[0], 1), 1), b.Field(in[0], 5)});
             });
  cases_.Add("or else", {types().Optional(I64())}, I64(), [this, boolean](Builder& b, const In& in) {
    const ValueId has = b.Emit(OpKind::kHas, boolean, {in[0]});
    const ir::BlockId then = b.Open({});
    b.Close(b.Emit(OpKind::kUnwrap, I64(), {in[0]}));
    const ir::BlockId otherwise = b.Open({});
    b.Close(b.I64(-5));
    return b.If(has, I64(), then, otherwise);
  });
  cases_.Add("some", {text}, types().Optional(text),
             [this, text](Builder& b, const In& in) { return b.Emit(OpKind::kSome, types().Optional(text), {in[0]}); });
  cases_.Add("none", {}, types().Optional(outer),
             [this, outer](Builder& b, const In&) { return b.Emit(OpKind::kNone, types().Optional(outer)); });
  cases_.Add("one of two tensors", {boolean, vector}, vector, [this, vector](Builder& b, const In& in) {
    const ir::BlockId then = b.Open({});
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Add(b.Load(in[1], {b.Param(0)}), b.Emit(OpKind::kScalar, Scalar(DType::kI32), {}, 3)));
    b.Close(b.Build(DType::kI32, {b.Dim(in[1], 0)}, each));
    const ir::BlockId otherwise = b.Open({});
    b.Close(in[1]);
    return b.If(in[0], vector, then, otherwise);
  });
  Check(kSizes, 3);
}

TEST_F(BodyTest, ListsAndMaps) {
  const TypeId boolean = Scalar(DType::kBool), text = types().String(), vector = Tensor(DType::kF32, {-1}),
               matrix = Tensor(DType::kF32, {-1, -1});
  const TypeId numbers = types().List(I64()), map = types().Map(vector);
  const TypeId pair = types().Record("", {{"i", I64()}, {"s", text}});
  cases_.Add("made", {I64()}, numbers,
             [numbers](Builder& b, const In& in) { return b.Emit(OpKind::kListMake, numbers, {in[0], b.I64(4), in[0]}); });
  cases_.Add("empty", {}, numbers, [numbers](Builder& b, const In&) { return b.Emit(OpKind::kListMake, numbers); });
  cases_.Add("length", {types().List(text)}, I64(), [this](Builder& b, const In& in) { return b.Emit(OpKind::kListLen, I64(), {in[0]}); });
  cases_.Add("comprehension", {numbers}, types().List(pair), [this, pair, text](Builder& b, const In& in) {
    const ValueId n = b.Emit(OpKind::kListLen, I64(), {in[0]});
    const ir::BlockId block = b.Open({I64()});
    const ValueId item = b.Emit(OpKind::kListGet, I64(), {in[0], b.Param(0)});
    const ValueId label = b.Emit(OpKind::kText, text, {item}, ir::AddText(b.program(), "item {}"));
    b.Close(b.Record(pair, {item, label}));
    return b.Emit(OpKind::kListBuild, types().List(pair), {n}, 0, {block});
  });
  cases_.Add("filter", {numbers}, numbers, [this, numbers, boolean](Builder& b, const In& in) {
    const ValueId n = b.Emit(OpKind::kListLen, I64(), {in[0]});
    const ir::BlockId keep = b.Open({I64()});
    b.Close(b.Emit(OpKind::kLt, boolean, {b.I64(0), b.Emit(OpKind::kListGet, I64(), {in[0], b.Param(0)})}));
    const ir::BlockId item = b.Open({I64()});
    b.Close(b.Mul(b.Emit(OpKind::kListGet, I64(), {in[0], b.Param(0)}), b.I64(2)));
    return b.Emit(OpKind::kListFilter, numbers, {n}, 0, {keep, item});
  });
  cases_.Add("rows", {matrix}, types().List(vector),
             [this, vector](Builder& b, const In& in) { return b.Emit(OpKind::kListOfTensor, types().List(vector), {in[0]}); });
  cases_.Add("planes", {Tensor(DType::kU8, {-1, -1, 3})}, types().List(Tensor(DType::kU8, {-1, 3})), [this](Builder& b, const In& in) {
    return b.Emit(OpKind::kListOfTensor, types().List(Tensor(DType::kU8, {-1, 3})), {in[0]});
  });
  cases_.Add("elements", {vector}, types().List(Scalar(DType::kF32)),
             [this](Builder& b, const In& in) { return b.Emit(OpKind::kListOfTensor, types().List(Scalar(DType::kF32)), {in[0]}); });
  cases_.Add("stack", {types().List(vector)}, matrix,
             [matrix](Builder& b, const In& in) { return b.Emit(OpKind::kTensorOfList, matrix, {in[0]}); });
  cases_.Add("stack of unequal", {vector}, matrix, [this, vector, matrix](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64()});
    b.Close(b.Load(in[0], {b.Param(0)}));
    const ValueId first = b.Build(DType::kF32, {b.Dim(in[0], 0)}, each);
    const ir::BlockId more = b.Open({I64()});
    b.Close(b.F32(1));
    const ValueId second = b.Build(DType::kF32, {b.I64(16)}, more);
    return b.Emit(OpKind::kTensorOfList, matrix, {b.Emit(OpKind::kListMake, types().List(vector), {first, second})});
  });
  cases_.Add("tensor of numbers", {types().List(Scalar(DType::kF32))}, vector,
             [vector](Builder& b, const In& in) { return b.Emit(OpKind::kTensorOfList, vector, {in[0]}); });
  cases_.Add("lookup", {map}, types().Optional(vector), [this, vector](Builder& b, const In& in) {
    return b.Emit(OpKind::kMapGet, types().Optional(vector), {in[0], b.Text("k1007")});
  });
  cases_.Add("keys", {map}, types().List(text),
             [this, text](Builder& b, const In& in) { return b.Emit(OpKind::kMapKeys, types().List(text), {in[0]}); });
  cases_.Add("values", {map}, types().List(vector),
             [this, vector](Builder& b, const In& in) { return b.Emit(OpKind::kMapValues, types().List(vector), {in[0]}); });
  Check(kSizes, 2);
}

TEST_F(BodyTest, ManyTextsOfAConstantAreWhatTheyAreOneByOne) {
  const TypeId text = types().String(), texts = types().List(text);
  const TypeId pair = types().Record("", {{"word", text}, {"maybe", types().Optional(text)}}), map = types().Map(pair);
  const auto map_of = [](const std::vector<std::string>& keys, std::vector<ir::Value> values) {
    ir::Value value = ir::Value::Items(std::move(values));
    value.keys = std::make_shared<const std::vector<std::string>>(keys);
    return value;
  };
  const auto some = [](ir::Value held) {
    ir::Value value = ir::Value::Items({std::move(held)});
    value.bits = 1;
    return value;
  };
  std::vector<ir::Value> words, pairs;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) {
    const std::string word = i % 7 == 0 ? "" : std::to_string(i % 50) + '\0' + std::string(static_cast<size_t>(i % 13), 'x');
    words.push_back(ir::Value::Text(word));
    keys.push_back(std::to_string(1000 + i));
    pairs.push_back(ir::Value::Items({ir::Value::Text(word), i % 3 == 0 ? ir::Value::Scalar(0) : some(ir::Value::Text(keys.back()))}));
  }
  cases_.Add("list", {}, texts,
             [&](Builder& b, const In&) { return b.Constant(ir::AddConstant(b.program(), texts, ir::Value::Items(words))); });
  cases_.Add("map", {}, map, [&](Builder& b, const In&) { return b.Constant(ir::AddConstant(b.program(), map, map_of(keys, pairs))); });
  Check({1});
}

TEST_F(BodyTest, LongTextsAndTensorsThatAConstantHoldsSeveralTimes) {
  const TypeId text = types().String(), texts = types().List(text);
  const TypeId tensor = Tensor(DType::kU8, {-1}), tensors = types().List(tensor);
  const std::string bytes(3 * ir::kLongText, 'b');  // of a text and of a tensor, which lie apart
  const ir::Value shared = ir::Value::Text(bytes), same = ir::Value::Text(bytes);
  ir::Value elements = shared;
  elements.dims = {static_cast<int64_t>(bytes.size())};
  const auto list_of = [](TypeId type, std::vector<ir::Value> items) {
    return [type, items](Builder& b, const In&) { return b.Constant(ir::AddConstant(b.program(), type, ir::Value::Items(items))); };
  };
  cases_.Add("texts", {}, texts, list_of(texts, {shared, same, ir::Value::Text("b"), shared}));
  cases_.Add("tensors", {}, tensors, list_of(tensors, {elements, elements}));
  Check({1});
}

TEST_F(BodyTest, ItemsOfLists) {
  const TypeId text = types().String();
  const TypeId pair = types().Record("", {{"i", I64()}, {"s", text}});
  cases_.Add("last item", {types().List(pair)}, pair, [this, pair](Builder& b, const In& in) {
    const ValueId n = b.Emit(OpKind::kListLen, I64(), {in[0]});
    return b.Emit(OpKind::kListGet, pair, {in[0], b.CheckIndex(b.Sub(n, b.I64(1)), n)});
  });
  cases_.Add("item of fixed shape", {types().List(Tensor(DType::kF32, {4})), I64()}, Scalar(DType::kF32), [this](Builder& b, const In& in) {
    const ValueId n = b.Emit(OpKind::kListLen, I64(), {in[0]});
    const ValueId item = b.Emit(OpKind::kListGet, Tensor(DType::kF32, {4}), {in[0], b.CheckIndex(in[1], n)});
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(item, {b.Param(0)}));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.I64(4), block);
  });
  Check({1, 7, 8, 33}, 5);
}

TEST_F(BodyTest, AnItemOfAnEmptyListFailsAndReadsNothing) {
  const TypeId fixed = Tensor(DType::kF32, {4});
  cases_.Add("item", {types().List(fixed), I64()}, Scalar(DType::kF32), [this, fixed](Builder& b, const In& in) {
    const ValueId n = b.Emit(OpKind::kListLen, I64(), {in[0]});
    const ValueId item = b.Emit(OpKind::kListGet, fixed, {in[0], b.CheckIndex(in[1], n)});
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(item, {b.Param(0)}));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.I64(4), block);
  });
  const Loaded loaded(cases_.program, "generic");
  std::vector<ir::Value> inputs(cases_.program.slots.size());
  inputs[0] = ir::Value::Items({});
  inputs[1] = ir::Value::Scalar(3);
  EXPECT_EQ(Describe(cases_.program, Scalar(DType::kF32), loaded.Run(0, inputs)), "failure 7001: index out of range");
}

TEST_F(BodyTest, TextAndFailures) {
  const TypeId text = types().String(), boolean = Scalar(DType::kBool), i32 = Scalar(DType::kI32);
  cases_.Add("equal", {text, text}, boolean,
             [boolean](Builder& b, const In& in) { return b.Emit(OpKind::kStringEqual, boolean, {in[0], in[1]}); });
  cases_.Add("length", {text}, I64(), [this](Builder& b, const In& in) { return b.Emit(OpKind::kStringLen, I64(), {in[0]}); });
  cases_.Add("interpolated", {text, I64(), Scalar(DType::kF32), boolean}, text, [text](Builder& b, const In& in) {
    return b.Emit(OpKind::kText, text, {in[0], in[1], in[2], in[3]}, ir::AddText(b.program(), "<{}|{}|{}|{}>"));
  });
  cases_.Add("constant", {}, text, [](Builder& b, const In&) { return b.Text("plain {x} text"); });
  cases_.Add("fails when", {i32}, i32, [text, boolean](Builder& b, const In& in) {
    const ValueId bad = b.Emit(OpKind::kLt, boolean, {in[0], b.Emit(OpKind::kScalar, b.ScalarType(DType::kI32), {}, 0)});
    const ir::BlockId message = b.Open({});
    b.Close(b.Emit(OpKind::kText, text, {in[0]}, ir::AddText(b.program(), "{} is negative")));
    b.FailIf(bad, 120, message);
    return in[0];
  });
  cases_.Add("sticky before it fails", {I64()}, I64(), [this](Builder& b, const In& in) {
    const ValueId divisor = b.Emit(OpKind::kCheckDivisor, I64(), {in[0]});
    b.StickyIf(b.Emit(OpKind::kLt, Scalar(DType::kBool), {in[0], b.I64(0)}), 7004);
    const ir::BlockId message = b.Open({});
    b.Close(b.Text("even"));
    const ValueId rest = b.Emit(OpKind::kRem, I64(), {in[0], b.I64(2)});
    b.FailIf(b.Emit(OpKind::kEq, Scalar(DType::kBool), {rest, b.I64(0)}), 130, message);
    return b.Emit(OpKind::kDiv, I64(), {b.I64(1000), divisor});
  });
  cases_.Add("only checks", {I64()}, TypeId::kNone, [this](Builder& b, const In& in) {
    const ir::BlockId message = b.Open({});
    b.Close(b.Text("too small"));
    b.FailIf(b.Emit(OpKind::kLt, Scalar(DType::kBool), {in[0], b.I64(3)}), 140, message);
    return ValueId::kNone;
  });
  Check({1}, 40);
}

TEST_F(BodyTest, Utf8IsCheckedByteByByte) {
  const TypeId bytes = types().Bytes();
  cases_.Add("from bytes", {bytes}, types().String(),
             [this](Builder& b, const In& in) { return b.Emit(OpKind::kStringFromBytes, types().String(), {in[0]}); });
  const Loaded loaded(cases_.program, "generic");
  ir::Interpreter oracle(cases_.program);
  const std::vector<std::string> texts = {"",
                                          "plain",
                                          "\xc3\xa9",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f\x98\x80",
                                          "\xc0\x80",
                                          "\xc3",
                                          "\xe0\x80\x80",
                                          "\xe0\x9f\xbf",
                                          "\xed\xa0\x80",
                                          "\xed\x9f\xbf",
                                          "\xf4\x90\x80\x80",
                                          "\xf4\x8f\xbf\xbf",
                                          "\xf0\x8f\xbf\xbf",
                                          "\xf5\x80\x80\x80",
                                          "a\x80",
                                          "\xff",
                                          "\xe2\x82"};
  for (const std::string& text : texts) {
    const std::vector<ir::Value> inputs(cases_.program.slots.size(), ir::Value::Text(text));
    EXPECT_EQ(Describe(cases_.program, types().String(), loaded.Run(0, inputs)),
              Describe(cases_.program, types().String(), oracle.RunBody(cases_.program.tasks[0].body, inputs)));
  }
}

#ifdef WF_ADDRESS_SANITIZER
TEST_F(BodyTest, AWatchedCopyFindsReadsPastTheData) {
  const TypeId vector = Tensor(DType::kF32, {-1});
  cases_.Add("sum", {vector}, Scalar(DType::kF32), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(in[0], {b.Param(0)}));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), block);
  });
  const Loaded loaded(cases_.program, "x86-64-v3", 2, /*watch=*/true);
  std::vector<ir::Value> inputs(cases_.program.slots.size());
  inputs[0] = ir::Value::Tensor({40}, std::string(16, '\0'));  // 4 elements where 40 are promised
  EXPECT_DEATH(loaded.Run(0, inputs), "heap-buffer-overflow");
}
#endif

TEST_F(BodyTest, StopsWhenTold) {
  const TypeId vector = Tensor(DType::kF32, {-1});
  cases_.Add("long", {vector, I64()}, vector, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(in[0], {b.Binary(OpKind::kRem, b.Param(0), b.I64(3))}));
    return b.Build(DType::kF32, {in[1]}, block);
  });
  const Loaded loaded(cases_.program, "generic");
  std::vector<ir::Value> inputs(cases_.program.slots.size());
  inputs[0] = ir::Value::Tensor({3}, std::string(12, '\0'));
  inputs[1] = ir::Value::Scalar(1'000'000);
  Job job;
  job.stop = 1;
  EXPECT_EQ(Describe(cases_.program, vector, loaded.Run(0, inputs, &job)), "failure 0: ");
  Job runs;
  EXPECT_TRUE(loaded.Run(0, inputs, &runs).value.has_value());
}

TEST_F(BodyTest, SizesThatOverflowFailInsteadOfAllocatingLess) {
  const TypeId cube = Tensor(DType::kF32, {-1, -1});
  const auto make = [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.F32(1));
    return b.Build(DType::kF32, {in[0], in[0]}, block);
  };
  cases_.Add("out", {I64()}, cube, make);
  cases_.Add("inner", {I64()}, types().List(cube),
             [this, make, cube](Builder& b, const In& in) { return b.Emit(OpKind::kListMake, types().List(cube), {make(b, in)}); });
  const Loaded loaded(cases_.program, "generic");
  for (const int64_t extent : {int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 40, INT64_MAX}) {
    const std::vector<ir::Value> inputs(cases_.program.slots.size(), ir::Value::Scalar(static_cast<uint64_t>(extent)));
    for (const size_t task : {size_t{0}, size_t{1}}) EXPECT_TRUE(loaded.Run(task, inputs).failure.has_value()) << extent;
  }
}

TEST_F(BodyTest, MetadataTakesTheTypeOfItsDefault) {
  const TypeId text = types().String();
  cases_.Add("text", {}, text, [text](Builder& b, const In&) { return b.Emit(OpKind::kMeta, text, {b.Text("who"), b.Text("nobody")}); });
  cases_.Add("note", {text}, TypeId::kNone, [](Builder& b, const In& in) {
    b.Emit(OpKind::kAnnotate, TypeId::kNone, {b.Text("key"), in[0]});
    return ValueId::kNone;
  });
  const Loaded loaded(cases_.program, "generic");
  std::vector<ir::Value> inputs(cases_.program.slots.size(), ir::Value::Text("said"));
  Job absent, present;
  present.meta["who"] = "me";
  EXPECT_EQ(Describe(cases_.program, text, loaded.Run(0, inputs, &absent)), "value \"nobody\"");
  EXPECT_EQ(Describe(cases_.program, text, loaded.Run(0, inputs, &present)), "value \"me\"");
  EXPECT_EQ(Describe(cases_.program, text, loaded.Run(1, inputs, &present)), "nothing");
  EXPECT_EQ(present.annotations["key"], "said");
  Job broken;
  broken.meta["who"] = "\xe9t\xe9";
  EXPECT_EQ(Describe(cases_.program, text, loaded.Run(0, inputs, &broken)), "failure 5000: metadata `who` is not UTF-8");
}

}  // namespace
}  // namespace wf::lower::testing
