// What an arm, an element or a fallback is wanted to be as its siblings are: of one kind, and of any extents.

#include <gmock/gmock.h>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

using testing::HasSubstr;

ir::Value Ints(const std::vector<int64_t>& values) { return Tensor<int64_t>({static_cast<int64_t>(values.size())}, values); }
ir::Value Lists(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<ir::Value> items;
  for (const std::vector<int64_t>& list : lists) items.push_back(Ints(list));
  return ir::Value::Items(std::move(items));
}

TEST(Siblings, DifferInExtents) {
  const Answers answers(R"(
    fn total(l: list<i64[_]>) -> i64 = fold a = 0 for v in l { a + len(v) };
    workflow If(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y = if c { [x] } else { [v for v in l] };
      return (r: total(y));
    }
    workflow Match(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y = match c { true => [[x]], false => [[v] for v in l] };
      return (r: fold a = 0 for v in y { a + total(v) });
    }
    workflow List(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y = [[x], [v for v in l], if c { [x] } else { [v for v in l] }];
      return (r: fold a = 0 for v in y { a + total(v) });
    }
    workflow Missing(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let some = [x];
      let here: list<i64[n]>? = if c { some } else { none };
      let made = here ?? [v for v in l];
      return (r: total(here ?? [l[0]]) + total(made));
    }
    workflow Optional(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let some: i64[n]? = if c { x } else { none };
      let y = if c { [(p: some)] } else { [(p: v) for v in l] };
      return (r: fold a = 0 for v in y { a + len(v.p ?? [7, 7, 7]) });
    }
    workflow Order(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let turned = [(n: 5, v: l[0])];
      let y = if c { [(v: x, n: 1)] } else { [t for t in turned] };
      return (r: fold a = 0 for v in y { a + v.n + len(v.v) });
    }
    workflow Fallback(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      node y = if c { [x] } else { fail InputParams("") } else [v for v in l];
      return (r: total(y));
    }
    service S {
      workflow If; workflow Match; workflow List; workflow Missing; workflow Optional; workflow Order; workflow Fallback;
    })");
  const auto ask = [&](const char* workflow, bool c) { return answers(workflow, {Ints({1, 2}), Lists({{3}}), Int(c)}); };
  for (const char* workflow : {"If", "Match", "Optional", "Fallback"}) {
    EXPECT_EQ(ask(workflow, true), "r=2") << workflow;
    EXPECT_EQ(ask(workflow, false), "r=1") << workflow;
  }
  EXPECT_EQ(ask("List", true), "r=5");
  EXPECT_EQ(ask("List", false), "r=4");
  EXPECT_EQ(ask("Missing", true), "r=4");
  EXPECT_EQ(ask("Missing", false), "r=2");
  EXPECT_EQ(ask("Order", true), "r=3");
  EXPECT_EQ(ask("Order", false), "r=6");
}

// What is written of the whole, or of a parameter that an arm gives a value to, holds for each of its parts.
TEST(Siblings, FitWhatIsWritten) {
  const Answers answers(R"(
    type Box { l: list<i64[2]>; }
    fn two(l: list<i64[2]>) -> i64 = len(l);
    fn whole(x: i64[n], l: list<i64[_]>, c: bool) -> list<i64[n]> = if c { [x] } else { [l[0]] };
    workflow Same(x: i64[n]) -> (r: i64[n]) { return (r: x); }
    workflow If(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y: list<i64[2]> = if c { [x] } else { [l[0]] };
      return (r: len(y) + len(whole(x, l, c)));
    }
    workflow Argument(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y = if c { 2 } else { two([x, l[0]]) };
      return (r: y);
    }
    workflow Record(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      let y = if c { Box(l: [x, x]) } else { Box(l: [x, l[0]]) };
      return (r: len(y.l));
    }
    workflow Fallback(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      node y: i64[2] = if c { Same(x).r } else { fail InputParams("") } else l[0];
      return (r: y[1]);
    }
    workflow Loop(x: i64[n], l: list<i64[_]>, c: bool) -> (r: i64) {
      node y: list<i64[2]> = for v in l { if c { x } else { Same(v).r } } else [l[0], l[0]];
      return (r: y[0][1]);
    }
    service S { workflow If; workflow Argument; workflow Record; workflow Fallback; workflow Loop; })");
  const auto ask = [&](const char* workflow, bool c, const std::vector<int64_t>& item) {
    return answers(workflow, {Ints({1, 2}), Lists({item}), Int(c)});
  };
  for (const char* workflow : {"If", "Argument", "Record", "Fallback", "Loop"}) {
    EXPECT_EQ(ask(workflow, true, {3}), "r=2") << workflow;
    EXPECT_EQ(ask(workflow, false, {3, 2}), "r=2") << workflow;
    EXPECT_THAT(ask(workflow, false, {3}), HasSubstr("!7004 ")) << workflow;
  }
}

// A parameter's symbol takes its value from what is written in place, however deep.
TEST(Siblings, PartsOfAnArgumentGiveItsSymbolsTheirValues) {
  const Answers answers(R"(
    fn nested(a: list<list<i64[k]>>) -> i64 { let _n = len(a); k }
    fn field(a: (b: list<i64[k]>)) -> i64 { let _n = len(a.b); k }
    workflow W(x: i64[n], c: bool) -> (r: i64) {
      let top = nested([[x]]) + field((b: [x, x]));
      let inside = if c { nested([[x], [x, x]]) } else { field((b: [x])) };
      return (r: top * 10 + inside);
    }
    service S { workflow W; })");
  EXPECT_EQ(answers("W", {Ints({1, 2, 3}), Int(true)}), "r=63");
  EXPECT_EQ(answers("W", {Ints({1, 2, 3}), Int(false)}), "r=63");
}

}  // namespace
}  // namespace wf::sema
