#include "compiler/sema/build_ir.h"

#include <gmock/gmock.h>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BuildIr, BuildsTheExamples) {
  for (const char* name : {"hello/hello.wf", "fallback/fallback.wf", "digits/digits.wf"}) {
    Built built = BuildFile(SourcePath("examples/") + name);
    ASSERT_TRUE(built.program.has_value()) << name << "\n" << built.diagnostics;
    passes::Run(*built.program);
    if (std::getenv("WF_PRINT")) fprintf(stderr, "%s\n", ir::Print(*built.program).c_str());
  }
}

TEST(BuildIr, AnExternNodeBlocksAndARemoteHasATaskOfItsOwn) {
  const std::string source = testing::TempDir() + "/built_externs.cc";
  std::ofstream(source) << "// The interpreter does not compile it.";
  const Built built = BuildText(R"(
    extern fn twice(x: f32) -> f32 = cpp("built_externs.cc");
    extern node store(x: f32) -> i64 = cpp("built_externs.cc");
    remote Rec(x: f32) -> string = oip("rec:8001");
    workflow W(x: f32) -> (stored: i64, text: string) {
      node stored = store(twice(x)) { retry 2; }
      node text = Rec(x);
      return (stored: stored, text: text);
    }
    service S { workflow W; })");
  std::filesystem::remove(source);
  ASSERT_TRUE(built.program.has_value()) << built.diagnostics;
  std::vector<std::string> outside;
  for (const ir::Task& task : built.program->tasks) {
    if (task.blocking) outside.push_back(built.program->slots[static_cast<size_t>(task.out)].name + " blocks");
    if (task.kind == ir::TaskKind::kRemote) outside.push_back(built.program->remotes[task.remote] + " is remote");
  }
  EXPECT_THAT(outside, testing::UnorderedElementsAre("store blocks", "Rec is remote"));
  EXPECT_THAT(built.program->natives, testing::ElementsAre("wf_x_twice", "wf_x_store"));
  const auto reply = ir::Interpreter(*built.program).RunWorkflow(0, {Float(1)});
  ASSERT_TRUE(reply.failure.has_value());
  EXPECT_EQ(reply.failure->message, "wf_x_twice needs a server");
}

TEST(BuildIr, TwoEqualCallsAreTwoAndALetIsComputedOnce) {
  const Answers answers(R"(
    model Rec(x: f32[batch, n]) -> f32[batch, n] = onnx("models/rec");
    fn costly(n: i64) -> i64 = sum[i < n](i * 31 % 1000003);
    workflow W(x: f32[n], k: i64) -> (y: f32, z: i64) {
      let shared = costly(k);
      node a = Rec(x);
      node b = Rec(x);
      node first = shared + 1;
      node second = shared * 2;
      return (y: a[0] + b[0], z: first * second);
    }
    service S { workflow W; })");
  for (const ir::Program* program : {&answers.before(), &answers.after()}) {
    int calls = 0, sums = 0;
    for (const ir::Task& task : program->tasks) {
      calls += task.kind == ir::TaskKind::kModel;
      for (const ir::Op& op : task.body.ops) sums += op.kind == ir::OpKind::kReduce;
    }
    EXPECT_EQ(calls, 2) << ir::Print(*program);
    EXPECT_EQ(sums, 1) << ir::Print(*program);
  }
}

TEST(BuildIr, ArithmeticOfEveryKind) {
  const Answers answers(R"(
    workflow W(a: i32, b: i32, x: f32) -> (sum: i32, quotient: i32, rest: i32, less: bool, wide: i64, text: string, y: f32) {
      return (sum: a + b, quotient: a / b, rest: a % b, less: a < b && x >= 0.0, wide: i64(a) * 4000000000, text: "{a}/{b}", y: -x * 2.0);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Int(0xfffffff9), Int(2), Float(1.5)}),
            "sum=-5; quotient=-3; rest=-1; less=true; wide=-28000000000; text=\"-7/2\"; y=-3");
  EXPECT_EQ(answers("W", {Int(1), Int(0), Float(1)}), "!7002 division by zero @W");
}

TEST(BuildIr, ElementwiseBroadcasts) {
  const Answers answers(R"(
    fn scale(x: f32[h, w], row: f32[w], column: f32[h, 1]) -> f32[h, w] = x * row + column;
    workflow W(x: f32[h, w], row: f32[w], column: f32[h, 1]) -> (y: f32[h, w], big: bool[h, w]) {
      node y = scale(x, row, column);
      return (y: y, big: y > 10.0);
    }
    service S { workflow W; })");
  const std::vector<ir::Value> inputs{Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Floats({1, 10, 100}), Tensor<float>({2, 1}, {0.5, 0.25})};
  EXPECT_EQ(answers("W", inputs), "y=[2x3]{1.5, 20.5, 300.5, 4.25, 50.25, 600.25}; big=[2x3]{false, true, true, false, true, true}");
  EXPECT_THAT(answers("W", {inputs[0], Floats({1, 2}), inputs[2]}), HasSubstr("!5000"));
}

TEST(BuildIr, SlicesAndIndices) {
  const Answers answers(R"(
    workflow W(x: f32[n], i: i64) -> (tail: f32[m], one: f32, pairs: f32[k]) {
      node tail = x[i:];
      return (tail: tail, one: x[i], pairs: x[0:2]);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2, 3, 4}), Int(1)}), "tail=[3]{2, 3, 4}; one=2; pairs=[2]{1, 2}");
  EXPECT_THAT(answers("W", {Floats({1, 2, 3, 4}), Int(4)}), HasSubstr("!7001"));
  EXPECT_THAT(answers("W", {Floats({1, 2, 3, 4}), Int(9)}), HasSubstr("!7001"));
  EXPECT_THAT(answers("W", {Floats({}), Int(0)}), HasSubstr("!7001"));
}

size_t CountOps(const ir::Program& program, ir::OpKind kind) {
  size_t count = 0;
  for (const ir::Task& task : program.tasks) {
    for (const ir::Op& op : task.body.ops) count += op.kind == kind;
  }
  return count;
}

TEST(BuildIr, AnIndexThatFitsByTheTypesHasNoCheck) {
  const Answers answers(R"(
    import std.image;
    fn reversed(x: f32[n]) -> f32[n] = [k] => x[n - 1 - k];
    fn mirrored(x: f32[n]) -> f32[n] = [k] => x[len(x) - 1 - k];
    workflow Chain(x: f32[n], y: f32[n]) -> (y: f32[n]) {
      node a = [k < n] => x[n - 1 - k] + y[k];
      node b = reversed(a);
      node c: f32[n] = [k] => mirrored(b)[k] + b[n - 1 - k];
      return (y: c);
    }
    workflow Turned(px: u8[h, w, c], y: f32[n, 2]) -> (px: u8[h, w, c], y: f32[n]) {
      node once = image.rotate90(px);
      node twice = image.rotate90(once);
      node pair = (y: y, n: 1);
      node last: f32[n] = [k] => pair.y[n - 1 - k, 1];
      return (px: twice, y: last);
    }
    service S { workflow Chain; workflow Turned; })");
  EXPECT_EQ(answers("Chain", {Floats({1, 2, 3}), Floats({10, 20, 30})}), "y=[3]{26, 44, 62}");
  EXPECT_EQ(answers("Turned", {Tensor<uint8_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Tensor<float>({2, 2}, {1, 2, 3, 4})}),
            "px=[2x2x2]{7, 8, 5, 6, 3, 4, 1, 2}; y=[2]{4, 2}");
  EXPECT_EQ(CountOps(answers.after(), ir::OpKind::kCheckIndex), 0u) << ir::Print(answers.after());
}

TEST(BuildIr, AnIndexThatMayMissKeepsItsCheck) {
  const Answers answers(R"(
    workflow W(x: f32[n], m: i64) -> (y: f32[n], z: f32[_]) {
      node a: f32[n] = [k] => x[k];
      node one_more: f32[n] = [k] => a[n - k];
      node others: f32[_] = [k < m] => a[m - 1 - k];
      return (y: one_more, z: others);
    }
    service S { workflow W; })");
  EXPECT_EQ(CountOps(answers.after(), ir::OpKind::kCheckIndex), 2u) << ir::Print(answers.after());
  EXPECT_EQ(answers("W", {Floats({1, 2}), Int(1)}), "!7001 index out of range @W/one_more");
}

// Where a dimension came from may be slow, or fail, when the value itself is there.
TEST(BuildIr, AnIndexWaitsForNothingButItsTensor) {
  const Answers answers(R"(
    workflow W(x: f32[n], from: i64) -> (y: f32) {
      node tail = x[from:];
      node moved = tail + 1.0;
      node first = moved[0];
      return (y: first);
    }
    service S { workflow W; })");
  for (const ir::Task& task : answers.after().tasks) {
    if (task.out == ir::SlotId::kNone || answers.after()[task.out].name != "first") continue;
    for (const ir::SlotId slot : task.in) EXPECT_NE(answers.after()[slot].name, "tail");  // parameters are there
  }
  EXPECT_EQ(answers("W", {Floats({1, 2}), Int(1)}), "y=3");
}

// What a check refuses is not read, whatever it says of shapes that were proved equal.
TEST(BuildIr, RefusesSlicesBeforeTheyAreRead) {
  const Answers answers(R"(
    fn added(x: f32[n], i: i64, j: i64, by: f32[m]) -> f32[_] {
      let same: f32[j - i] = by;
      same + x[i:j]
    }
    fn each(x: f32[n], i: i64, j: i64, by: f32[2]) -> f32[2] = [k] => sum[q < 2]((by + x[i:j][0:2])[q]);
    fn made(k: i64) -> f32[k] = [i] => 1.0;
    workflow W(x: f32[n], i: i64, j: i64, by: f32[m]) -> (y: f32[_]) {
      return (y: added(x, i, j, by));
    }
    workflow Each(x: f32[n], i: i64, j: i64) -> (y: f32[2]) {
      return (y: each(x, i, j, [1.0, 2.0]));
    }
    workflow Made(k: i64) -> (y: f32[_]) {
      return (y: made(k));
    }
    service S { workflow W; workflow Each; workflow Made; })");
  EXPECT_EQ(answers("W", {Floats({1, 2, 3}), Int(1), Int(3), Floats({10, 20})}), "y=[2]{12, 23}");
  for (const auto& [i, j] : {std::pair(-1, 1), std::pair(2, 4), std::pair(1000, 1002)}) {
    EXPECT_THAT(answers("W", {Floats({1, 2, 3}), Int(i), Int(j), Floats({10, 20})}), HasSubstr("!7001")) << i;
    EXPECT_THAT(answers("Each", {Floats({1, 2, 3}), Int(i), Int(j)}), HasSubstr("!7001")) << i;
  }
  EXPECT_EQ(answers("Each", {Floats({1, 2, 3}), Int(1), Int(3)}), "y=[2]{8, 8}");
  EXPECT_THAT(answers("Made", {Int(-3)}), HasSubstr("!7004 an axis of -3 elements"));
}

// A check in a loop over elements does not stop it: what is read past the shorter operand is never memory of others.
TEST(BuildIr, RefusesShapesWhoseProductWraps) {
  const Answers answers(R"(
    import std.tensor;
    workflow Peek(x: f32[n], a: i64, b: i64, i: i64, j: i64) -> (y: f32) {
      let r: f32[a, b] = tensor.reshape(x, a, b);
      return (y: r[i, j]);
    }
    service S { workflow Peek; })");
  constexpr int64_t kQuarter = int64_t{1} << 62;  // four of it are 0 elements
  EXPECT_EQ(answers("Peek", {Floats({1, 2, 3, 4, 5, 6}), Int(2), Int(3), Int(1), Int(2)}), "y=6");
  EXPECT_THAT(answers("Peek", {Floats({}), Int(kQuarter), Int(4), Int(0), Int(1)}), HasSubstr("!7004 0 elements cannot take the shape"));
  EXPECT_THAT(answers("Peek", {Floats({1, 2, 3, 4}), Int(kQuarter + 1), Int(4), Int(1), Int(2)}), HasSubstr("!7004 4 elements"));
  EXPECT_THAT(answers("Peek", {Floats({}), Int(0), Int(4), Int(0), Int(0)}), HasSubstr("!7001"));
}

TEST(BuildIr, ReshapesInALoopWhatCannotBeProved) {
  const Answers answers(R"(
    import std.tensor;
    fn spread(x: f32[n], k: i64) -> f32[_, _] = tensor.reshape(x, k, 1);
    fn flat(x: i64[n]) -> i64[n] = tensor.reshape(([i < n, j < 1] => x[i]), n);
    workflow W(x: f32[n], k: i64, of: i64[m]) -> (y: f32[2], z: i64[3]) {
      return (y: ([a] => sum[i < n, j < 1](spread(x, k)[i, j])), z: ([a] => sum[i < m](flat(of)[i])));
    }
    workflow Len(x: f32[n], k: i64) -> (y: i64[2]) {
      return (y: ([a] => len(spread(x, k))));
    }
    service S { workflow W; workflow Len; })");
  const ir::Value of = Tensor<int64_t>({2}, {4, 5});
  EXPECT_EQ(answers("W", {Floats({1, 2, 3}), Int(3), of}), "y=[2]{6, 6}; z=[3]{9, 9, 9}");
  EXPECT_EQ(answers("Len", {Floats({1, 2, 3}), Int(3)}), "y=[2]{3, 3}");
  for (const int64_t k : {int64_t{-3}, int64_t{2}, int64_t{1} << 62}) {
    EXPECT_THAT(answers("W", {Floats({1, 2, 3}), Int(k), of}), HasSubstr("!7001")) << k;  // the lowest code
    EXPECT_THAT(answers("Len", {Floats({1, 2, 3}), Int(k)}), HasSubstr("!7004")) << k;
  }
}

// The condition is known, so nothing but the failure is left where a value is read.
TEST(BuildIr, ReadsWhatAlwaysFailsLikeAnyOther) {
  const Answers answers(R"(
    error Odd = 200 "odd";
    workflow V(n: i64) -> (y: i64) {
      require n != 0;
      return (y: n);
    }
    workflow Fold(n: i64) -> (y: bool) {
      let v: list<f32?> = if false { [none] } else { fail Odd };
      node y: bool = fold acc = true for x in v { acc };
      return (y: y);
    }
    workflow Each(x: list<i64>) -> (y: list<i64>) {
      node y: list<i64> = for i in x { require (if false { true } else { fail Odd }); V(i).y };
      return (y: y);
    }
    workflow Never(n: i64) -> (y: i64) {
      node y: i64 = if n > 1 { require fail Odd; V(n).y } else { n };
      return (y: y);
    }
    workflow Index(x: f32[n], i: i64) -> (y: f32, z: f32[_]) {
      let at: i64 = if false { i } else { fail Odd };
      return (y: x[at], z: x[at:]);
    }
    workflow Extent(x: f32[n]) -> (y: f32[n]) {
      let rest: f32[_] = if false { x[1:] } else { fail Odd };
      let twice: f32[_] = rest + rest;
      return (y: ([i] => twice[i]));
    }
    service S { workflow Fold; workflow Each; workflow Never; workflow Index; workflow Extent; })");
  EXPECT_EQ(answers("Fold", {Int(1)}), "!200 odd @Fold/y");
  EXPECT_EQ(answers("Each", {ir::Value::Items({Int(1)})}), "!200 odd @Each/y");
  EXPECT_EQ(answers("Never", {Int(1)}), "y=1");
  EXPECT_EQ(answers("Never", {Int(2)}), "!200 odd @Never/y");
  EXPECT_EQ(answers("Index", {Floats({1, 2}), Int(0)}), "!200 odd @Index");
  EXPECT_EQ(answers("Extent", {Floats({1, 2})}), "!200 odd @Extent");
}

TEST(BuildIr, GoesOnInALoopWhereDimensionsDiffer) {
  const Answers answers(R"(
    fn total(a: f32[n], b: f32[n]) -> f32 = sum[i < n]((a + b)[i]);
    workflow W(a: f32[n], b: f32[m]) -> (y: f32[2]) {
      node y: f32[2] = [k] => total(a, b);
      return (y: y);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2}), Floats({3, 4})}), "y=[2]{10, 10}");
  EXPECT_THAT(answers("W", {Floats({1, 2}), Floats({})}), HasSubstr("!7004"));
  EXPECT_THAT(answers("W", {Floats({}), Floats({1})}), HasSubstr("!7004"));
}

TEST(BuildIr, BuildsAndReductions) {
  const Answers answers(R"(
    fn product(a: f32[m, k], b: f32[k, n]) -> f32[m, n] = [i, j] => sum[l](a[i, l] * b[l, j]);
    fn top(x: f32[n]) -> f32 = max[i](x[i]);
    workflow W(a: f32[2, 3], b: f32[3, 2], x: f32[n]) -> (c: f32[2, 2], top: f32, any: bool, odd: i64[4]) {
      node c = product(a, b);
      node t = top(x);
      return (c: c, top: t, any: any[i](x[i] > 2.0), odd: [i < 4] => 2 * i + 1);
    }
    service S { workflow W; })");
  const ir::Value a = Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = Tensor<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(answers("W", {a, b, Floats({1, 3, 2})}), "c=[2x2]{4, 5, 10, 11}; top=3; any=true; odd=[4]{1, 3, 5, 7}");
  EXPECT_THAT(answers("W", {a, b, Floats({})}), HasSubstr("!7005"));
}

TEST(BuildIr, ListsLoopsAndFolds) {
  const Answers answers(R"(
    type Box { name: string; area: f32; }
    fn total(xs: list<f32>) -> f32 = fold acc = 0.0 for x in xs { acc + x };
    workflow W(xs: list<f32>, names: list<string>) -> (big: list<f32>, boxes: list<Box>, total: f32, at: list<string>, same: bool) {
      let boxes = [Box(name: n, area: x * x) for x, n in zip(xs, names)];
      return (big: [x for x in xs if x > 1.0], boxes: boxes, total: total(xs), at: ["{i}:{n}" for i, n in enumerate(names)], same: names == ["a", "b"]);
    }
    service S { workflow W; })");
  const auto list = [](std::vector<ir::Value> items) { return ir::Value::Items(std::move(items)); };
  EXPECT_EQ(answers("W", {list({Float(1), Float(3)}), list({Text("a"), Text("b")})}),
            "big=[3]; boxes=[Box(name: \"a\", area: 1), Box(name: \"b\", area: 9)]; total=4; at=[\"0:a\", \"1:b\"]; same=true");
  EXPECT_THAT(answers("W", {list({Float(1)}), list({})}), HasSubstr("!7003"));
}

TEST(BuildIr, ChoiceIsLazyAndMayFail) {
  const Answers answers(R"(
    error Odd = 200 "odd: {n}";
    fn half(n: i64) -> i64 = if n % 2 == 0 { n / 2 } else { fail Odd("odd: {n}") };
    fn size(n: i64) -> string = if n < 10 { "small" } else if n < 100 { "medium" } else { "large" };
    workflow W(n: i64, m: i64?) -> (half: i64, size: string, m: i64, safe: bool) {
      return (half: half(n), size: size(n), m: m ?? 7, safe: n != 0 && 100 / n > 3);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Int(8), None()}), "half=4; size=\"small\"; m=7; safe=true");
  EXPECT_EQ(answers("W", {Int(0), Some(Int(2))}), "half=0; size=\"small\"; m=2; safe=false");
  EXPECT_EQ(answers("W", {Int(250), None()}), "half=125; size=\"large\"; m=7; safe=false");
  EXPECT_EQ(answers("W", {Int(9), None()}), "!200 odd: 9 @W");
}

TEST(BuildIr, ConstantsAreFoldedThroughTheInterpreter) {
  const Answers answers(R"(
    const N = 4;
    const SQUARES: i64[4] = [i] => i * i;
    const NAMES = ["zero", "one"];
    workflow W(i: i64) -> (square: i64, name: string, all: i64[4]) {
      return (square: SQUARES[i], name: NAMES[i], all: SQUARES);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Int(1)}), "square=1; name=\"one\"; all=[4]{0, 1, 4, 9}");
  EXPECT_THAT(answers("W", {Int(3)}), HasSubstr("!7001"));
}

TEST(BuildIr, AFallbackCatchesWhatItsNodeInherits) {
  const Answers answers(R"(
    error Bad = 300 "bad";
    fn check(n: i64) -> i64 { require n > 0 else fail Bad; n }
    workflow W(n: i64) -> (value: i64, why: string) {
      node first = check(n);
      node second = first + 1;
      node value = second else -1;
      node why = "fine {second}" else "{err.code} {err.message} at {err.node}";
      return (value: value, why: why);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Int(2)}), "value=3; why=\"fine 3\"");
  EXPECT_EQ(answers("W", {Int(0)}), "value=-1; why=\"300 bad at W/first\"");
}

TEST(BuildIr, ControlPointsComeBeforeWhatStandsBelow) {
  const Answers answers(R"(
    error Bad = 300 "bad";
    model M(x: f32[2]) -> f32[2] = onnx("m");
    workflow W(n: i64) -> (y: f32[2]) {
      require n > 0 else fail Bad;
      node x: f32[2] = [i] => f32(n + i);
      node y = M(x);
      return (y: y);
    }
    service S { workflow W; })");
  const std::string text = ir::Print(answers.before());
  EXPECT_THAT(text, HasSubstr("task t1 run `W/x` in [@0] after [t0]"));
  EXPECT_THAT(text, HasSubstr("task t2 model `W/y` model M in [@1] -> @2"));
  int calls = 0;
  ir::Hooks hooks;
  hooks.model = [&](ir::ModelId, std::span<const ir::Value> args, ir::TypeId) {
    ++calls;
    return ir::Outcome{.value = args[0], .failure = {}};
  };
  EXPECT_EQ(answers("W", {Int(0)}, hooks), "!300 bad @W");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(answers("W", {Int(5)}, hooks), "y=[2]{5, 6}");
}

const char kModels[] = R"(
    model Two(a: f32[n], b: f32) -> (sum: f32[n], best: f32) = onnx("two");
    model One(x: f32[n]) -> f32[n] = onnx("one");
)";

ir::Hooks FakeModels() {
  ir::Hooks hooks;
  hooks.model = [](ir::ModelId model, std::span<const ir::Value> args, ir::TypeId) {
    if (static_cast<int>(model) == 0) return ir::Outcome{.value = ir::Value::Items({args[0], args[1]}), .failure = {}};
    if (args[0].dims[0] == 3) return ir::Outcome{.value = {}, .failure = ir::Failure{.code = 9000, .message = "three"}};
    return ir::Outcome{.value = args[0], .failure = {}};
  };
  return hooks;
}

TEST(BuildIr, CutsNodesWhereTheyWait) {
  const Answers answers(std::string(kModels) + R"(
    workflow W(x: f32[n], b: f32) -> (y: f32[n], best: f32) {
      node two = Two(One(x) + 1.0, b * 2.0);
      return (y: two.sum, best: two.best);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2}), Float(4)}, FakeModels()), "y=[2]{2, 3}; best=8");
  EXPECT_EQ(answers("W", {Floats({1, 2, 3}), Float(4)}, FakeModels()), "!9000 three @W/two");
  EXPECT_THAT(ir::Print(answers.before()), HasSubstr("argument: f32[_] staged"));
}

TEST(BuildIr, OnlyTheTakenArmCallsItsModel) {
  const Answers answers(std::string(kModels) + R"(
    workflow W(x: f32[n], twice: bool) -> (y: f32[n]) {
      node y = if twice { One(x + x) } else if len(x) > 5 { One(x) } else { x };
      return (y: y);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2}), Int(1)}, FakeModels()), "y=[2]{2, 4}");
  EXPECT_EQ(answers("W", {Floats({1, 2}), Int(0)}), "y=[2]{1, 2}");
  EXPECT_THAT(ir::Print(answers.before()), HasSubstr(" select `W/y`"));
}

TEST(BuildIr, AModelMayFailIntoItsFallback) {
  const Answers answers(std::string(kModels) + R"(
    workflow W(x: f32[n]) -> (y: f32[n]) {
      node y = One(x) { timeout 10ms; } else x + 1.0;
      return (y: y);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2, 3})}, FakeModels()), "y=[3]{2, 3, 4}");
  EXPECT_EQ(answers("W", {Floats({1})}, FakeModels()), "y=[1]{1}");
}

TEST(BuildIr, ExtentsAreReadOfTheNodesThatBringThem) {
  const Answers answers(std::string(kModels) + R"(
    model Cut(x: f32[n]) -> f32[k] = onnx("cut");
    workflow W(x: f32[n]) -> (y: f32[_], z: f32[_]) {
      node m = Cut(x) { timeout 10ms; }
      let rows = len(m) + 1;
      node y: f32[rows] = [i] => f32(i);
      node l = Cut(x);
      let more = len(l) * 2;
      node z: f32[more] = [i] => 1.0;
      return (y: y, z: z);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1})}, FakeModels()), "y=[2]{0, 1}; z=[2]{1, 1}");
}

TEST(BuildIr, ALetThatSeveralNodesReadIsATaskOfItsOwn) {
  const Answers answers(R"(
    fn heavy(x: f32[n]) -> f32[n] = [i] => exp(x[i]);
    workflow W(x: f32[n]) -> (a: f32, b: f32) {
      let shared = heavy(x);
      let single = heavy(x);
      let unused_ = heavy(x);
      node a = sum[i](shared[i]);
      node b = sum[i](shared[i] * single[i]);
      return (a: a, b: b);
    }
    service S { workflow W; })");
  const std::string text = ir::Print(answers.before());
  EXPECT_THAT(text, HasSubstr("slot @1 shared: f32[_]"));
  EXPECT_THAT(text, Not(HasSubstr(" single: ")));
  EXPECT_THAT(text, HasSubstr("run `W` in [@0] -> @1"));  // no node's own
  EXPECT_EQ(answers("W", {Floats({0, 0})}), "a=2; b=2");
}

TEST(BuildIr, PublishesAModelWithoutAWorkflow) {
  const Answers answers(std::string(kModels) + "service S { model Two as \"two\"; model One; }");
  EXPECT_EQ(answers("two", {Floats({1, 2}), Float(4)}, FakeModels()), "sum=[2]{1, 2}; best=4");
  EXPECT_THAT(answers("One", {Floats({1, 2})}, FakeModels()), HasSubstr("=[2]{1, 2}"));
  EXPECT_TRUE(answers.before().workflows[0].is_default);
}

TEST(BuildIr, MetadataInAndOut) {
  const Answers answers(R"(
    workflow W(x: f32) -> (y: f32) {
      node y = x * meta("gain", 2.0);
      annotate("y", "{y}");
      return (y: y);
    }
    service S { workflow W; })");
  ir::Hooks hooks;
  EXPECT_EQ(answers("W", {Float(3)}), "y=6; @y=6");
  hooks.meta = [](const std::string&) { return std::optional<std::string>("10"); };
  EXPECT_EQ(answers("W", {Float(3)}, hooks), "y=30; @y=30");
}

TEST(BuildIr, DimensionsAreArithmetic) {
  const Answers answers(R"(
    fn halves(x: f32[2 * n]) -> f32[n] = [i] => x[i] + x[i + n];
    fn both(x: f32[n], y: f32[n]) -> f32[n + n] = [i < n + n] => if i < n { x[i] } else { y[i - n] };
    workflow W(x: f32[n], y: f32[m]) -> (h: f32[k]) {
      node b = both(x, y);
      node h = halves(b);
      return (h: h);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Floats({1, 2}), Floats({10, 20})}), "h=[2]{11, 22}");
  EXPECT_THAT(answers("W", {Floats({1, 2}), Floats({10})}), HasSubstr("!7004"));
}

TEST(BuildIr, TakesTheLongestExpression) {
  std::string sum = "x";
  for (int i = 0; i < 4000; ++i) sum += " + x";
  const Answers answers("workflow W(x: i64) -> (y: i64) { return (y: " + sum + "); } service S { workflow W; }");
  EXPECT_EQ(answers("W", {Int(2)}), "y=8002");
  const Answers tensors("workflow W(x: f32[n]) -> (y: f32[n]) { return (y: " + sum + "); } service S { workflow W; }");
  EXPECT_EQ(tensors("W", {Floats({2})}), "y=[1]{8002}");
}

TEST(BuildIr, WritesChoicesOfThousandsOfArms) {
  constexpr int kArms = 4096;
  std::string links = "if x == 0 { fail InputParams }", returns = "if x == 0 { fail InputParams; }", labels, codes;
  for (int i = 0; i < kArms; ++i) {
    const std::string n = std::to_string(i);
    labels += n + " => \"class " + n + "\", ";
    if (i % 4 == 0) codes += "\"class " + n + "\" => " + n + ", ";
    if (i == 0) continue;
    links += " else if x == " + n + " { " + n + " / (x - 7) }";
    returns += " else if x == " + n + " { return (y: " + n + "); }";
  }
  const Answers answers("fn link(x: i64) -> i64 = " + links + R"( else { -1 };
    fn label(x: i64) -> string = match x { )" +
                        labels + R"( _ => "none" };
    fn code(text: string) -> i64 = match text { )" +
                        codes + R"( "class 5" | "none" => -5, _ => -1 };
    workflow W(x: i64) -> (link: i64, label: string, code: i64) {
      return (link: link(x), label: label(x), code: code(label(x)));
    }
    workflow Early(x: i64) -> (y: i64) { )" +
                        returns + R"( return (y: -1); }
    service S { workflow W; workflow Early; })");
  EXPECT_EQ(answers("W", {Int(1)}), "link=0; label=\"class 1\"; code=-1");
  EXPECT_EQ(answers("W", {Int(15)}), "link=1; label=\"class 15\"; code=-1");
  EXPECT_EQ(answers("W", {Int(16)}), "link=1; label=\"class 16\"; code=16");
  EXPECT_EQ(answers("W", {Int(kArms - 1)}), "link=1; label=\"class 4095\"; code=-1");
  EXPECT_EQ(answers("W", {Int(kArms)}), "link=-1; label=\"none\"; code=-5");
  EXPECT_EQ(answers("W", {Int(5)}), "link=-2; label=\"class 5\"; code=-5");
  EXPECT_THAT(answers("W", {Int(0)}), HasSubstr("!5000"));
  EXPECT_THAT(answers("W", {Int(7)}), HasSubstr("!7002"));
  EXPECT_EQ(answers("Early", {Int(3000)}), "y=3000");
  EXPECT_EQ(answers("Early", {Int(17)}), "y=17");
  EXPECT_EQ(answers("Early", {Int(-3)}), "y=-1");
  EXPECT_THAT(answers("Early", {Int(0)}), HasSubstr("!5000"));
}

// Their arms may ask for what the conditions bind, so these stand inside one another.
TEST(BuildIr, RefusesConditionsThatBindDimensionsWithoutEnd) {
  const auto chain = [](int links) {
    std::string choice = "if x[0] < 0.0 { len(x) }";
    for (int i = 1; i < links; ++i) choice += " else if len(odd(x)) == " + std::to_string(i) + " { len(x) + " + std::to_string(i) + " }";
    return "fn odd(x: f32[n]) -> f32[k] = x[0:n / 2];\nworkflow W(x: f32[n]) -> (y: i64) { return (y: " + choice +
           " else { 1 }); } service S { workflow W; }";
  };
  const Answers answers(chain(100));
  EXPECT_EQ(answers("W", {Floats({1, 2, 3, 4})}), "y=6");
  EXPECT_THAT(BuildText(chain(1000)).diagnostics, HasSubstr("400 levels of expressions"));
}

TEST(BuildIr, RefusesProgramsThatGrowWithoutEnd) {
  std::string text = "fn step0(x: f32) -> f32 = x + 1.0;\n";
  for (int i = 1; i < 40; ++i) {
    const std::string n = std::to_string(i), p = std::to_string(i - 1);
    text += "fn step" + n + "(x: f32) -> f32 = step" + p + "(x) * step" + p + "(x + 1.0);\n";
  }
  const Built built = BuildText(text + "workflow W(x: f32) -> (y: f32) { return (y: step39(x)); } service S { workflow W; }");
  EXPECT_FALSE(built.program.has_value());
  EXPECT_THAT(built.diagnostics, HasSubstr("WF5090 the program becomes more than 250000 operations"));
}

TEST(BuildIr, WritesTextsWithManyHolesInParts) {
  std::string holes, expected;
  for (int i = 0; i < 700; ++i) {
    holes += std::to_string(i) + (i % 2 == 0 ? "{x}" : "{y}") + "}}{{";
    expected += std::to_string(i) + (i % 2 == 0 ? "7" : "8") + "}{";
  }
  const Answers answers("workflow W(x: i64, y: i64) -> (t: string) { return (t: \"" + holes + "\"); } service S { workflow W; }");
  EXPECT_EQ(answers("W", {Int(7), Int(8)}), "t=\"" + expected + "\"");
}

// Calls that become no operation take time all the same.
TEST(BuildIr, RefusesCallsWithoutEndThatBecomeNoOperations) {
  std::string chain = "fn g0(x: i64) -> i64 = x;\n";
  for (int i = 1; i < 60; ++i)
    chain += "fn g" + std::to_string(i) + "(x: i64) -> i64 = g" + std::to_string(i - 1) + "(g" + std::to_string(i - 1) + "(x));\n";
  const Built built = BuildText(chain + "workflow W(x: i64) -> (y: i64) { return (y: g59(x)); } service S { workflow W; }");
  EXPECT_FALSE(built.program.has_value());
  EXPECT_THAT(built.diagnostics, HasSubstr("WF5090 the program becomes more than 2000000 expressions"));
  EXPECT_THAT(BuildText(chain + "const C: i64 = g59(1);").diagnostics, HasSubstr("WF3037 more than 2000000 expressions"));
}

}  // namespace
}  // namespace wf::sema
