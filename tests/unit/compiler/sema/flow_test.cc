// Control flow of workflows as the interpreter of the intermediate program runs it, before and after the passes.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

ir::Value List(std::vector<ir::Value> items) { return ir::Value::Items(std::move(items)); }

// Every model adds 1; `calls` counts them, and a negative input fails the call.
ir::Hooks PlusOne(int& calls) {
  ir::Hooks hooks;
  hooks.model = [&calls](ir::ModelId, std::span<const ir::Value> args, ir::TypeId) -> ir::Outcome {
    ++calls;
    std::vector<float> elements(args[0].text->size() / sizeof(float));
    if (!elements.empty()) std::memcpy(elements.data(), args[0].text->data(), args[0].text->size());
    if (!elements.empty() && elements[0] < 0) return {.value = {}, .failure = ir::Failure{.code = 9000, .message = "negative"}};
    for (float& element : elements) element += 1;
    return {.value = Tensor<float>(args[0].dims, elements), .failure = {}};
  };
  return hooks;
}

constexpr const char* kEarly = R"(
    error Small = 200 "small";
    error Odd = 201 "odd";
    model M(x: f32[1]) -> f32[1] = onnx("m");
    workflow W(n: i64, x: f32[1]) -> (y: f32[1], how: string) {
      node first = M(x);
      if n < 0 {
        fail Small("n is {n}");
      } else if n == 0 {
        annotate("path", "zero");
        return (y: x, how: "as it came");
      } else if n < 10 {
        node second = M(first);
        if n % 2 == 1 {
          require n != 7 else fail Odd;
          return (y: second, how: "odd");
        }
        annotate("path", "even");
      }
      node third = M(M(first));
      return (y: third, how: "to the end");
    }
    service S { workflow W; })";

TEST(Flow, StatementIfReturnsEarlyFailsOrLetsControlPass) {
  const Answers answers(kEarly);
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  EXPECT_EQ(answers("W", {Int(0), Floats({5})}, hooks), "y=[1]{5}; how=\"as it came\"; @path=zero");
  EXPECT_EQ(answers("W", {Int(3), Floats({5})}, hooks), "y=[1]{7}; how=\"odd\"");
  EXPECT_EQ(answers("W", {Int(4), Floats({5})}, hooks), "y=[1]{8}; how=\"to the end\"; @path=even");
  EXPECT_EQ(answers("W", {Int(40), Floats({5})}, hooks), "y=[1]{8}; how=\"to the end\"");
  EXPECT_EQ(answers("W", {Int(7), Floats({5})}, hooks), "!201 odd @W");
  EXPECT_EQ(answers("W", {Int(-1), Floats({5})}, hooks), "!200 n is -1 @W");
}

TEST(Flow, AFailureCountsOnlyWhereControlGoes) {
  const Answers answers(kEarly);
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  EXPECT_EQ(answers("W", {Int(0), Floats({-5})}, hooks), "y=[1]{-5}; how=\"as it came\"; @path=zero");
  EXPECT_EQ(answers("W", {Int(3), Floats({-5})}, hooks), "!9000 negative @W/first");
}

TEST(Flow, NoModelRunsPastAnUndecidedControlPoint) {
  const Answers answers(kEarly);
  const ir::Program& program = answers.before();
  const auto is_select = [](const ir::Task& task) { return task.kind == ir::TaskKind::kSelect && task.region == ir::RegionId{0}; };
  const auto select = std::find_if(program.tasks.begin(), program.tasks.end(), is_select);
  ASSERT_NE(select, program.tasks.end());
  // The choice waits for n alone; the calls in its arms and below it wait for the choice, the one above does not.
  EXPECT_EQ(select->in, std::vector<ir::SlotId>{program.workflows[0].in[0].slot});
  EXPECT_TRUE(select->control);
  const ir::TaskId id{static_cast<uint16_t>(select - program.tasks.begin())};
  for (const ir::Task& task : program.tasks) {
    if (task.kind != ir::TaskKind::kModel) continue;
    const std::string& path = program[task.node].path;
    const bool is_below = std::find(task.after.begin(), task.after.end(), id) != task.after.end();
    EXPECT_EQ(is_below, path == "W/third") << path;
    EXPECT_EQ(task.region == ir::RegionId{0}, path != "W/second") << path;
  }
}

TEST(Flow, ArmsThatDoMoreThanFailWaitForTheControlPointsAbove) {
  const Answers answers(R"(
    workflow W(n: i64) -> (y: i64) {
      require n > 0;
      if n == 1 { fail InputParams; }
      if n == 2 { return (y: 2); }
      return (y: n);
    }
    service S { workflow W; })");
  std::vector<size_t> after;
  for (const ir::Task& task : answers.before().tasks)
    if (task.kind == ir::TaskKind::kSelect) after.push_back(task.after.size());
  EXPECT_EQ(after, (std::vector<size_t>{0, 2}));
}

TEST(Flow, AConditionThatMayTakeLongIsATaskOfItsOwn) {
  const Answers answers(R"(
    model M(x: f32[1]) -> f32[1] = onnx("m");
    fn slow(n: i64) -> i64 = sum[k < n](k % 7);
    workflow W(n: i64, word: string, x: f32[1]) -> (y: f32[1]) {
      require n >= 0;
      if n == 1 || word == "one" { return (y: x); }
      if slow(n) == 3 { return (y: x); }
      node z = if slow(n) == 6 { M(x) } else { x };
      return (y: z);
    }
    service S { workflow W; })");
  const ir::Program& program = answers.before();
  std::vector<std::string> reads;
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const ir::Task& task = program.tasks[i];
    if (task.kind != ir::TaskKind::kSelect) continue;
    reads.push_back(program[task.in[0]].name);
    for (const ir::Op& op : task.body.ops) EXPECT_NE(op.kind, ir::OpKind::kReduce);
    const auto is_writer = [&](const ir::Task& other) { return other.out == task.in[0]; };
    const auto writer = std::find_if(program.tasks.begin(), program.tasks.end(), is_writer);
    if (writer == program.tasks.end()) continue;
    EXPECT_EQ(writer->node, task.node);
    EXPECT_FALSE(writer->after.empty());  // it is not computed where control does not come
  }
  EXPECT_EQ(reads, (std::vector<std::string>{"n", "condition", "condition"}));
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  EXPECT_EQ(answers("W", {Int(3), ir::Value::Text(""), Floats({5})}, hooks), "y=[1]{5}");
  EXPECT_EQ(answers("W", {Int(4), ir::Value::Text(""), Floats({5})}, hooks), "y=[1]{6}");
  EXPECT_EQ(answers("W", {Int(1), ir::Value::Text(""), Floats({5})}, hooks), "y=[1]{5}");
}

// `late` has waited for the requirement, but `bad` may fail before that is decided.
TEST(Flow, AReturnWaitsForTheControlPointsAboveAlthoughWhatItReadsHas) {
  const Answers answers(R"(
    workflow V(n: i64) -> (y: i64, z: i64) {
      node bad: i64 = if n < 9 { fail InputParams("bad") } else { n };
      require n > 5 else fail InputParams("small");
      node late: i64 = n + 1;
      return (y: bad, z: late);
    }
    workflow W(n: i64) -> (y: i64, z: i64) {
      node both = V(n);
      return (y: both.y, z: both.z);
    }
    service S { workflow V; workflow W; })");
  size_t returns = 0;
  for (const ir::Task& task : answers.before().tasks) {
    if (task.kind != ir::TaskKind::kReturn || answers.before()[task.node].path == "W") continue;
    ++returns;
    ASSERT_EQ(task.after.size(), 1U);
    EXPECT_TRUE(answers.before()[task.after[0]].control);
  }
  EXPECT_EQ(returns, 2U);
  EXPECT_EQ(answers("W", {Int(3)}), "!5000 small @W/both/V");
  EXPECT_EQ(answers("W", {Int(7)}), "!5000 bad @W/both/V/bad");
}

TEST(Flow, MatchTakesTheFirstArmThatFits) {
  const Answers answers(R"(
    fn size(n: i64) -> string = match n { 0 => "none", 1 | 2 => "few", -1 => "less", many => "{many} of them" };
    fn known(word: string?) -> string = match word { none => "nothing", "a" | "b" => "a letter", other => other };
    fn both(a: bool, b: bool?) -> i64 = match a { true => match b { true => 1, false => 2, none => 3 }, false => 4 };
    workflow W(n: i64, word: string?, a: bool, b: bool?) -> (size: string, known: string, both: i64) {
      return (size: size(n), known: known(word), both: both(a, b));
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Int(0), None(), Int(1), None()}), "size=\"none\"; known=\"nothing\"; both=3");
  EXPECT_EQ(answers("W", {Int(2), Some(Text("b")), Int(1), Some(Int(0))}), "size=\"few\"; known=\"a letter\"; both=2");
  EXPECT_EQ(answers("W", {Int(-1), Some(Text("word")), Int(1), Some(Int(1))}), "size=\"less\"; known=\"word\"; both=1");
  EXPECT_EQ(answers("W", {Int(12), None(), Int(0), None()}), "size=\"12 of them\"; known=\"nothing\"; both=4");
}

TEST(Flow, OnlyTheArmOfAMatchThatIsTakenCallsItsModel) {
  const Answers answers(R"(
    model M(x: f32[1]) -> f32[1] = onnx("m");
    model N(x: f32[1]) -> f32[1] = onnx("n");
    workflow W(which: string, x: f32[1]) -> (y: f32[1]) {
      node y = match which { "m" => M(x), "both" => N(M(x)), _ => x };
      return (y: y);
    }
    service S { workflow W; })");
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  EXPECT_EQ(answers("W", {Text("m"), Floats({1})}, hooks), "y=[1]{2}");
  EXPECT_EQ(calls, 2);  // once before the passes, once after
  EXPECT_EQ(answers("W", {Text("both"), Floats({1})}, hooks), "y=[1]{3}");
  EXPECT_EQ(answers("W", {Text("neither"), Floats({1})}, hooks), "y=[1]{1}");
  EXPECT_EQ(calls, 6);
}

TEST(Flow, AWorkflowInANodeReturnsFromItselfAndItsFailuresAreTheNodes) {
  const Answers answers(R"(
    error Empty = 300 "empty";
    model M(x: f32[n, 1]) -> f32[n, 1] = onnx("m");
    workflow Twice(x: f32[n, 1], times: i64 = 2) -> (y: f32[n, 1], n: i64) {
      if times == 0 { return (y: x, n: 0); }
      require len(x) > 0 else fail Empty;
      node once = M(x);
      if times == 1 { return (y: once, n: 1); }
      node twice = M(once);
      return (y: twice, n: 2);
    }
    workflow W(x: f32[m, 1], times: i64) -> (y: f32[m, 1], n: i64, why: string) {
      node first = Twice(x);
      node inner = Twice(first.y, times: times) else (y: first.y, n: -1);
      node why = "{first.n}" else "{err.code} at {err.node}";
      return (y: inner.y, n: inner.n, why: why);
    }
    workflow Bare(x: f32[m, 1]) -> (n: i64) {
      node r = Twice(x, 1);
      return (n: r.n);
    }
    workflow Why(x: f32[m, 1]) -> (why: string) {
      node r = Twice(x);
      node why = "{r.n}" else "{err.code} at {err.node}";
      return (why: why);
    }
    service S { workflow W; workflow Bare; workflow Why; })");
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  const ir::Value two = Tensor<float>({2, 1}, {1, 5}), empty = Tensor<float>({0, 1}, {});
  EXPECT_EQ(answers("W", {two, Int(2)}, hooks), "y=[2x1]{5, 9}; n=2; why=\"2\"");
  EXPECT_EQ(answers("W", {two, Int(0)}, hooks), "y=[2x1]{3, 7}; n=0; why=\"2\"");
  EXPECT_EQ(answers("Bare", {two}, hooks), "n=1");
  EXPECT_EQ(answers("Bare", {empty}, hooks), "!300 empty @Bare/r/Twice");
  EXPECT_EQ(answers("Why", {empty}, hooks), "why=\"300 at Why/r/Twice\"");
}

TEST(Flow, ForKeepsOrderFallsBackPerElementAndFailsByTheLowest) {
  const Answers answers(R"(
    error Big = 400 "big: {n}";
    model M(x: f32[1]) -> f32[1] = onnx("m");
    fn single(x: f32) -> f32[1] { require x < 100.0 else fail Big("big: {x}"); [i] => x }
    workflow W(xs: list<f32>) -> (ys: list<f32[1]>) {
      node ys = for x in xs { M(single(x)) };
      return (ys: ys);
    }
    workflow Safe(xs: list<f32>) -> (ys: list<f32[1]>, codes: list<string>) {
      node ys = for i, x in enumerate(xs) {
        let one = single(x);
        require i != 2;
        M(one) else [k < 1] => f32(i)
      };
      node codes = for x in xs { let y = M(single(x)); "{y[0]}" else "{err.code} {err.node}" };
      return (ys: ys, codes: codes);
    }
    workflow Whole(xs: list<f32>) -> (n: i64) {
      node ys = for x in xs { M(single(x)) } else [];
      return (n: len(ys));
    }
    service S { workflow W; workflow Safe; workflow Whole; })");
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  const auto floats = [](const std::vector<float>& values) {
    std::vector<ir::Value> items;
    for (const float value : values) items.push_back(Float(value));
    return List(std::move(items));
  };
  EXPECT_EQ(answers("W", {floats({3, 1, 2})}, hooks), "ys=[[1]{4}, [1]{2}, [1]{3}]");
  EXPECT_EQ(answers("W", {floats({})}, hooks), "ys=[]");
  EXPECT_EQ(answers("W", {floats({3, 100, -2})}, hooks), "!400 big: 100 @W/ys");
  EXPECT_EQ(answers("Safe", {floats({3, -1, 5, 200})}, hooks),
            "ys=[[1]{4}, [1]{1}, [1]{2}, [1]{3}]; codes=[\"4\", \"9000 Safe/codes[1]\", \"6\", \"400 Safe/codes[3]\"]");
  EXPECT_EQ(answers("Whole", {floats({3, -1})}, hooks), "n=0");
}

TEST(Flow, LoopsNestAndTheirElementsAreCountedTogether) {
  const Answers answers(R"(
    model M(x: f32[k]) -> f32[k] = onnx("m");
    workflow Row(x: f32[k], shift: f32) -> (y: f32[k]) {
      node y = M(x + shift);
      return (y: y);
    }
    workflow W(rows: f32[n, k], shifts: f32[s]) -> (all: list<list<f32[_]>>, picked: list<f32>) {
      node every = for row in rows { for i, shift in enumerate(shifts) { if i == 0 { row } else { M(row + shift) } } } { limit 6; }
      node picked = for row, j in zip(rows, [1, 0]) { let r = Row(row, 10.0); r.y[j] };
      return (all: every, picked: picked);
    }
    service S { workflow W; })");
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  const ir::Value rows = Tensor<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(answers("W", {rows, Floats({0, 1})}, hooks), "all=[[[2]{1, 2}, [2]{3, 4}], [[2]{3, 4}, [2]{5, 6}]]; picked=[13, 14]");
  EXPECT_EQ(answers("W", {rows, Floats({0, 1, 2, 3})}, hooks), "!5000 8 elements, and `limit` is 6 @W/every");
  EXPECT_EQ(answers("W", {Tensor<float>({3, 1}, {1, 2, 3}), Floats({0})}, hooks), "!7003 `zip` of 3 and 2 elements @W/picked");
}

TEST(Flow, ElementsOfRaggedListsAreCountedBeforeTheFirstStarts) {
  const Answers answers(R"(
    model M(x: f32[1]) -> f32[1] = onnx("m");
    fn single(x: f32) -> f32[1] = [i] => x;
    workflow W(rows: list<list<f32>>) -> (ys: list<list<f32[1]>>) {
      node ys = for row in rows { for x in row { M(single(x)) } } { limit 4; }
      return (ys: ys);
    }
    workflow Else(rows: list<list<f32>>) -> (ys: list<list<f32[1]>>) {
      node ys = for row in rows { require len(row) > 0; for x in row { M(single(x)) } else [single(-1.0)] } { limit 4; }
      return (ys: ys);
    }
    workflow Chosen(rows: list<list<f32>>) -> (ys: list<list<f32[1]>>) {
      node ys = for row in rows { if len(row) < 3 { for x in row { M(single(x)) } } else { [] } } { limit 4; }
      return (ys: ys);
    }
    service S { workflow W; workflow Else; workflow Chosen; })");
  int calls = 0;
  const ir::Hooks hooks = PlusOne(calls);
  const auto rows = [](const std::vector<std::vector<float>>& lists) {
    std::vector<ir::Value> items;
    for (const std::vector<float>& list : lists) {
      std::vector<ir::Value> row;
      for (const float value : list) row.push_back(Float(value));
      items.push_back(List(std::move(row)));
    }
    return List(std::move(items));
  };
  EXPECT_EQ(answers("W", {rows({{1, 2}, {3, 4, 5}})}, hooks), "!5000 5 elements, and `limit` is 4 @W/ys");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(answers("W", {rows({{1, 2, 3}, {}})}, hooks), "ys=[[[1]{2}, [1]{3}, [1]{4}], []]");
  EXPECT_EQ(answers("W", {rows({{}, {}, {}, {}, {}})}, hooks), "!5000 5 elements, and `limit` is 4 @W/ys");
  calls = 0;
  // What a fallback of an element may spare counts when it starts, as often as there are elements around it.
  EXPECT_EQ(answers("Else", {rows({{1, 2, 3}, {}})}, hooks), "ys=[[[1]{-1}], [[1]{-1}]]");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(answers("Chosen", {rows({{1, 2, 3}, {4, 5}})}, hooks), "ys=[[], [[1]{5}, [1]{6}]]");
  EXPECT_EQ(answers("Chosen", {rows({{1, 2, 3}, {4, 5}, {1}})}, hooks), "!5000 6 elements, and `limit` is 4 @Chosen/ys");
}

// `count` workflows, each of which calls the one before once or twice.
std::string Tower(int count, bool twice) {
  std::string text = "workflow W0(x: i64) -> (y: i64) { return (y: x); }\n";
  for (int i = 1; i < count; ++i) {
    const std::string below = "W" + std::to_string(i - 1);
    text += "workflow W" + std::to_string(i) + "(x: i64) -> (y: i64) { node a = " + below + "(x); ";
    text += twice ? "node b = " + below + "(a.y); return (y: b.y); }\n" : "return (y: a.y); }\n";
  }
  return text + "service S { workflow W" + std::to_string(count - 1) + "; }\n";
}

TEST(Flow, CalledWorkflowsAreWrittenInAsFarAsTheyFit) {
  const Answers answers(Tower(60, false));
  EXPECT_EQ(answers("W59", {Int(7)}), "y=7");
  EXPECT_THAT(BuildText(Tower(70, false)).diagnostics, testing::HasSubstr("WF5090 the program becomes more than 64 levels"));
  EXPECT_THAT(BuildText(Tower(40, true)).diagnostics, testing::HasSubstr("WF5090 the program becomes more than 30000 tasks"));
}

}  // namespace
}  // namespace wf::sema
