// Extents that are computed.

#include <gmock/gmock.h>

#include <limits>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

using testing::HasSubstr;

TEST(BuildDims, TellsNoExtentThatHasWrapped) {
  const Answers answers(R"(
    fn added(w: i64, s: i64) -> f32[w + s] = [i] => 1.0;
    fn divided(w: i64, s: i64) -> f32[w / s] = [i] => 1.0;
    fn strided(n: i64, w: i64, s: i64) -> f32[(n - w) / s + 1] = [i] => 1.0;
    workflow Added(w: i64, s: i64) -> (y: f32[_]) {
      return (y: added(w, s));
    }
    workflow Divided(w: i64, s: i64) -> (y: f32[_]) {
      return (y: divided(w, s));
    }
    workflow Strided(n: i64, w: i64, s: i64) -> (y: f32[_]) {
      return (y: strided(n, w, s));
    }
    workflow Summed(w: i64, s: i64) -> (y: i64) {
      return (y: sum[i < w * s](i));
    }
    service S { workflow Added; workflow Divided; workflow Strided; workflow Summed; })");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kQuarter = int64_t{1} << 62;
  EXPECT_EQ(answers("Added", {Int(kQuarter / 4), Int(2 - kQuarter / 4)}), "y=[2]{1, 1}");
  EXPECT_THAT(answers("Added", {Int(kQuarter + 1), Int(4 - kQuarter)}),
              HasSubstr("!7004 numbers that come to 2^62 or more in the shape [s + w], where s is -4611686018427387900 and w is "));
  EXPECT_THAT(answers("Divided", {Int(kLeast), Int(-1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape [w/s], where "));
  EXPECT_THAT(answers("Divided", {Int(-6), Int(2)}), HasSubstr("!7004 an axis of -3 elements"));
  EXPECT_THAT(answers("Strided", {Int(3), Int(kLeast + 1), Int(1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape ["));
  EXPECT_THAT(answers("Summed", {Int(kLeast), Int(-1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape [s*w], where "));
}

std::string Numbers(const std::vector<int64_t>& values) {
  std::string text = "[" + std::to_string(values.size()) + "]{";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "}";
}

// An extent that an argument brings is that of the result, too: what reads the node knows it from there. It is compared before the call.
TEST(BuildDims, ComparesWhatArgumentsBringBeforeTheCall) {
  const Answers answers(R"(
    type Wide { w: i64[_]; }
    fn added(a: i64[k], b: i64[k]) -> i64[k] = b + a;
    fn second(_a: i64[k], b: i64[k]) -> i64[k] = b;
    fn joined(a: i64[k], b: i64[m]) -> i64[k + m] = [i] => if i < k { a[clamp(i, 0, k - 1)] } else { b[clamp(i - k, 0, m - 1)] };
    fn one() -> i64[_] = [i < 1] => 5;
    workflow Second(_a: i64[k], b: i64[k]) -> (r: i64[k]) { return (r: b); }
    workflow Node(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) { node r = added(l[0], x); return (r: r); }
    workflow Let(x: i64[n], l: list<i64[_]>) -> (r: i64[_], n: i64) { let r = second(l[0], x); return (r: r, n: len(r)); }
    workflow Field(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) {
      let wide = Wide(w: l[0]);
      node r = x |> added(wide.w);
      return (r: r);
    }
    workflow Choice(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) {
      node r = added(if n > 9 { x } else { l[0] }, b: x) else [i < 2] => 7;
      return (r: r);
    }
    workflow Broadcast(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) { node r = added(one(), x); return (r: added(r, l[0])); }
    workflow Called(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) { node r = Second(l[0], x).r; return (r: r); }
    workflow Joined(x: i64[n], l: list<i64[_]>) -> (r: i64[_]) { node r = Second(joined(l[0], l[1]), x).r; return (r: r); }
    service S { workflow Node; workflow Let; workflow Field; workflow Choice; workflow Broadcast; workflow Called; workflow Joined; })");
  const auto numbers = [](const std::vector<int64_t>& values) { return Tensor<int64_t>({static_cast<int64_t>(values.size())}, values); };
  const auto ask = [&](const std::string& workflow, const std::vector<int64_t>& x, const std::vector<int64_t>& a,
                       const std::vector<int64_t>& b) {
    return answers(workflow, {numbers(x), ir::Value::Items({numbers(a), numbers(b)})});
  };
  for (const char* workflow : {"Node", "Field", "Let", "Called"}) {
    const bool adds = workflow == std::string("Node") || workflow == std::string("Field");
    EXPECT_THAT(ask(workflow, {1, 2}, {3, 4}, {}),
                HasSubstr("r=" + Numbers(adds ? std::vector<int64_t>{4, 6} : std::vector<int64_t>{1, 2})));
    EXPECT_THAT(ask(workflow, {1, 2}, {3}, {}), HasSubstr("!7004 `k` of `")) << workflow;
    EXPECT_THAT(ask(workflow, {1, 2}, {3, 4, 5}, {}), HasSubstr("!7004 `k` of `")) << workflow;
  }
  EXPECT_EQ(ask("Choice", {1, 2}, {3, 4}, {}), "r=" + Numbers({4, 6}));
  EXPECT_EQ(ask("Choice", {1, 2, 3}, {3, 4}, {}), "r=" + Numbers({7, 7}));
  EXPECT_EQ(ask("Broadcast", {1}, {2}, {}), "r=" + Numbers({8}));
  EXPECT_THAT(ask("Broadcast", {1, 2}, {2, 3}, {}), HasSubstr("!7004 `k` of `added` is "));
  EXPECT_EQ(ask("Joined", {1, 2, 3}, {3}, {4, 5}), "r=" + Numbers({1, 2, 3}));
  EXPECT_THAT(ask("Joined", {1, 2}, {3}, {4, 5}), HasSubstr("!7004 `k` of `Second` is "));
}

// What is 1 by its type alone, compared when it runs, broadcasts as what is known to be 1.
TEST(BuildDims, BroadcastsWhatIsOneByItsType) {
  const Answers answers(R"(
    fn scaled(a: i64[h], v: i64[1]) -> i64[h] = a * v;
    fn most(a: i64[h, w], v: i64[h, 1]) -> i64[h, w] = max(a, v);
    workflow Call(x: i64[n], y: i64[m]) -> (r: i64[_]) { node r = scaled(x, y); return (r: r); }
    workflow Let(x: i64[n], y: i64[m]) -> (r: i64[_]) { let q: i64[1] = y; return (r: q + x); }
    workflow Loop(x: i64[n], y: i64[m]) -> (r: i64[_]) { return (r: [i < n] => sum[j](scaled(x, y)[j])); }
    workflow Column(x: i64[n], y: i64[m]) -> (r: i64[_, _]) { return (r: most([i < n, j < 2] => x[i], [i < n, j < m] => y[j])); }
    service S { workflow Call; workflow Let; workflow Loop; workflow Column; })");
  const auto numbers = [](const std::vector<int64_t>& values) { return Tensor<int64_t>({static_cast<int64_t>(values.size())}, values); };
  const auto ask = [&](const char* workflow, const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
    return answers(workflow, {numbers(x), numbers(y)});
  };
  EXPECT_EQ(ask("Call", {1, 2, 3}, {5}), "r=" + Numbers({5, 10, 15}));
  EXPECT_EQ(ask("Let", {1, 2, 3}, {5}), "r=" + Numbers({6, 7, 8}));
  EXPECT_EQ(ask("Loop", {1, 2}, {5}), "r=" + Numbers({15, 15}));
  EXPECT_EQ(ask("Column", {1, 9}, {5}), "r=[2x2]{5, 5, 9, 9}");
  for (const char* workflow : {"Call", "Let", "Loop", "Column"}) {
    EXPECT_THAT(ask(workflow, {1, 2}, {}), HasSubstr("!7004 ")) << workflow;
    EXPECT_THAT(ask(workflow, {1, 2}, {5, 6}), HasSubstr("!7004 ")) << workflow;
  }
}

// An extent that is read again in an arm, or waits for a call, has the value that it had.
TEST(BuildDims, KnowsExtentsThatArmsReadAgain) {
  const Answers answers(R"(
    fn second(_a: i64[k], b: i64[k]) -> i64[k] = b;
    fn joined(a: i64[k], b: i64[m]) -> i64[k + m] = [i] => if i < k { a[clamp(i, 0, k - 1)] } else { b[clamp(i - k, 0, m - 1)] };
    workflow Same(a: i64[k]) -> (r: i64[k]) { return (r: a); }
    workflow Joined(a: i64[k], b: i64[m]) -> (r: i64[k + m]) { return (r: joined(a, b)); }
    workflow Arm(x: i64[n], l: list<i64[_]>, p: i64) -> (r: list<i64[_]>) {
      let r = [second(v, if p > 0 { v } else { x }) for v in l];
      return (r: r);
    }
    workflow Fold(x: i64[n], l: list<i64[_]>, p: i64) -> (r: list<i64[_]>) {
      let r = [fold a = v for w in l { if p > n { w } else { l[0] } } for v in l];
      return (r: r);
    }
    workflow Waits(x: i64[n], l: list<i64[_]>, p: i64) -> (r: i64[_]) {
      node r = second(x, if p > 0 { Same(x).r } else { l[0] });
      return (r: r);
    }
    workflow Written(x: i64[n], l: list<i64[_]>, p: i64) -> (r: i64[_]) {
      node r: i64[n] = Same(if p > 0 { l[0] } else { Same(x).r }).r;
      return (r: r);
    }
    workflow Sum(x: i64[n], l: list<i64[_]>, p: i64) -> (r: i64[_]) {
      node r: i64[n] = Joined(if p > 0 { l[0] } else { Same(x).r }, x).r;
      return (r: r);
    }
    service S { workflow Arm; workflow Fold; workflow Waits; workflow Written; workflow Sum; })");
  const auto numbers = [](const std::vector<int64_t>& values) { return Tensor<int64_t>({static_cast<int64_t>(values.size())}, values); };
  const auto ask = [&](const char* workflow, const std::vector<int64_t>& x, const std::vector<int64_t>& item, int64_t p) {
    return answers(workflow, {numbers(x), ir::Value::Items({numbers(item)}), Int(p)});
  };
  EXPECT_EQ(ask("Arm", {1, 2}, {3, 4}, 0), "r=[" + Numbers({1, 2}) + "]");
  EXPECT_THAT(ask("Arm", {1, 2}, {3}, 0), HasSubstr("!7004 `k` of `second` is "));
  EXPECT_EQ(ask("Arm", {1, 2}, {3}, 1), "r=[" + Numbers({3}) + "]");
  EXPECT_EQ(ask("Fold", {1, 2}, {3}, 1), "r=[" + Numbers({3}) + "]");
  EXPECT_EQ(ask("Waits", {1, 2}, {3}, 1), "r=" + Numbers({1, 2}));
  EXPECT_THAT(ask("Waits", {1, 2}, {3}, 0), HasSubstr("!7004 `k` of `second` is "));
  EXPECT_EQ(ask("Written", {1, 2}, {3}, 0), "r=" + Numbers({1, 2}));
  EXPECT_THAT(ask("Written", {1, 2}, {3}, 1), HasSubstr("!7004 axis 0 is 1, wanted 2"));
  EXPECT_EQ(ask("Sum", {1, 2}, {}, 1), "r=" + Numbers({1, 2}));
  EXPECT_THAT(ask("Sum", {1, 2}, {3}, 1), HasSubstr("!7004 axis 0 is 3, wanted 2"));
}

// What stands before the value of a block is a part of it, also where the block has tasks of its own.
TEST(BuildDims, ABlockThatWaitsFailsWithWhatItDoesNotRead) {
  const Answers answers(R"(
    workflow In(x: i64) -> (y: i64) { node y = x * 10; return (y: y); }
    workflow Let(x: i64) -> (r: list<i64>) {
      node r = for y in [x] { let v = In(y); let _unread = 1 / y; v.y else -1 };
      return (r: r);
    }
    workflow Arm(x: i64) -> (r: i64) {
      node r = if x < 9 { let v = In(x); let w = 1 / x; if v.y > 10 { w } else { v.y } } else { 5 } else -1;
      return (r: r);
    }
    workflow Match(x: i64) -> (r: i64) { node r = match 1 / x { _ => In(x).y } else -1; return (r: r); }
    workflow Subject(x: i64) -> (r: i64) { node r = match In(7).y / x { _ => 3 } else -1; return (r: r); }
    service S { workflow Let; workflow Arm; workflow Match; workflow Subject; })");
  EXPECT_EQ(answers("Let", {Int(0)}), "r=[-1]");
  EXPECT_EQ(answers("Let", {Int(1)}), "r=[10]");
  EXPECT_EQ(answers("Arm", {Int(0)}), "r=-1");
  EXPECT_EQ(answers("Arm", {Int(1)}), "r=10");
  EXPECT_EQ(answers("Match", {Int(0)}), "r=-1");
  EXPECT_EQ(answers("Match", {Int(2)}), "r=20");
  EXPECT_EQ(answers("Subject", {Int(0)}), "r=-1");
  EXPECT_EQ(answers("Subject", {Int(5)}), "r=3");
}

// An index that leaves its axis since a divisor of 1 stood in for the 0 is not what went wrong.
TEST(BuildDims, ADivisorOf0IsToldBeforeTheIndicesThatFollowFromIt) {
  const Answers answers(R"(
    workflow Extent(x: i64[n], k: i64) -> (r: i64[n]) { return (r: [_j] => sum[i < 6 / k](x[i])); }
    workflow Index(x: i64[n], k: i64) -> (r: list<i64>) { return (r: [x[6 / k] + v for v in [1, 2]]); }
    workflow Choice(x: i64[n], k: i64) -> (r: i64) { return (r: sum[i < n](if 6 / k == 6 { x[x[i]] } else { 0 })); }
    workflow Alone(x: i64[n], k: i64) -> (r: i64) { return (r: sum[i < n](x[i + k + 1])); }
    workflow Divisor(x: i64[n], k: i64) -> (r: i64) { return (r: sum[i < n](6 / x[i + k + 1])); }
    service S { workflow Extent; workflow Index; workflow Choice; workflow Alone; workflow Divisor; })");
  const auto ask = [&](const char* workflow, int64_t first) { return answers(workflow, {Tensor<int64_t>({2}, {first, first}), Int(0)}); };
  for (const char* workflow : {"Extent", "Index", "Choice"}) EXPECT_THAT(ask(workflow, 9), HasSubstr("!7002 ")) << workflow;
  EXPECT_THAT(ask("Alone", 9), HasSubstr("!7001 "));
  EXPECT_THAT(ask("Divisor", 0), HasSubstr("!7001 "));
  EXPECT_THAT(answers("Index", {Tensor<int64_t>({2}, {9, 9}), Int(1)}), HasSubstr("!7001 "));
}

// The first of the statements of a block that fails is told, whether there are calls that wait in it or not.
TEST(BuildDims, ABlockThatWaitsTellsTheFirstFailureOfItsText) {
  std::string text = R"(
    error A = 100001 "a";
    error B = 100002 "b";
    error C = 100003 "c";
    fn a(x: i64) -> i64 { require x > 0 else fail A; x }
    fn b(x: i64) -> i64 { require x > 0 else fail B; x }
    fn c(x: i64) -> i64 { require x > 0 else fail C; x }
    workflow Waits(x: i64) -> (y: i64) { node y = c(x); return (y: y); })";
  const std::vector<std::pair<std::string, int>> blocks = {
      {"let u = CALL(x); let v = a(x); let w = b(x); v + u + w", 3},
      {"let u = CALL(x); let v = a(x); let w = b(x); w + v + u", 3},
      {"let v = a(x); let w = b(x); let u = CALL(x); w + v + u", 1},
      {"let u = CALL(x + 1); let w = b(x); require u > 9 else fail A; let v = a(x); v + w", 2},
      {"let v = a(x); let u = if v < 1 { CALL(x) } else { 1 }; let w = b(x); w + u", 1},
      {"let _w = b(x); let u = CALL(x + 1); let v = a(x); v + u", 2},
      {"let u = CALL(x + 1); let _w = b(u - 1); let v = a(x); v + u", 2},
      {"let v = a(x); let w = b(x); if x < 1 { CALL(w) + v } else { 2 }", 1},
      {"let v = a(x); require x > 0 else fail B; CALL(v)", 1},
      {"let v = a(x); let _w = b(x); let _u = CALL(v); 4", 1},
      {"let v = a(x); require x > 0 else fail B; let l = for e in [v, 2] { CALL(e) }; l[0]", 1},
  };
  std::string service = "service S {";
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const auto& [name, call] : {std::pair("Pure", "c"), std::pair("Cut", "Waits")}) {
      std::string block = blocks[i].first;
      const size_t end = block.find(')', block.find("CALL")) + 1;
      if (call[0] == 'W') block.insert(end, ".y");
      block.replace(block.find("CALL"), 4, call);
      const std::string workflow = name + std::to_string(i);
      text += "workflow " + workflow + "(x: i64) -> (r: i64) { node r = if x < 9 { " + block + " } else { 0 }; return (r: r); }\n";
      service += " workflow " + workflow + ";";
    }
  }
  const Answers answers(text + service + " }");
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string told = "!10000" + std::to_string(blocks[i].second) + " ";
    for (const char* name : {"Pure", "Cut"})
      EXPECT_THAT(answers(name + std::to_string(i), {Int(0)}), testing::StartsWith(told)) << blocks[i].first;
  }
}

// Of no items the type says how long they would be.
TEST(BuildDims, AStackOfNothingHasTheExtentsOfItsType) {
  const Answers answers(R"(
    import std.tensor;
    fn stacked(x: i64[h], m: list<i64>) -> i64[_, h] = tensor.stack([x for y in m if y > 0]);
    workflow Rows(x: i64[n], m: list<i64>) -> (r: i64[_, n]) { return (r: tensor.stack([x for y in m if y > 0])); }
    workflow Turned(x: i64[n], m: list<i64>) -> (r: i64[n, _]) { return (r: tensor.transpose(stacked(x, m))); }
    service S { workflow Rows; workflow Turned; })");
  const ir::Value x = Tensor<int64_t>({2}, {4, 5}), none = ir::Value::Items({Int(0)}), one = ir::Value::Items({Int(0), Int(1)});
  EXPECT_EQ(answers("Rows", {x, none}), "r=[0x2]{}");
  EXPECT_EQ(answers("Rows", {x, one}), "r=[1x2]{4, 5}");
  EXPECT_EQ(answers("Turned", {x, none}), "r=[2x0]{}");
  EXPECT_EQ(answers("Turned", {x, one}), "r=[2x1]{4, 5}");
}

}  // namespace
}  // namespace wf::sema
