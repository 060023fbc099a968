// Long programs cost in proportion to their length, or are refused before they cost more.

#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "tests/unit/compiler/sema/built.h"

namespace wf::sema {
namespace {

std::string Each(int count, const std::function<std::string(const std::string&)>& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text(std::to_string(i));
  return all;
}

const std::string kServed = "workflow W() -> (y: i64) { return (y: 1); } service S { workflow W; }";

std::string Statements(const std::string& body) {
  return "workflow W(x: i64) -> (y: i64) { " + body + "return (y: x); } service S { workflow W; }";
}

// w0 called twice by w1, which is called twice by w2, and so on.
std::string CallsTwice(int depth) {
  std::string text = "workflow w0(a: i64) -> (r: i64) { return (r: a); }\n";
  for (int i = 1; i <= depth; ++i) {
    const std::string below = "w" + std::to_string(i - 1);
    text += "workflow w" + std::to_string(i) + "(a: i64) -> (r: i64) { node x = " + below + "(a); node y = " + below +
            "(a + 1); return (r: x.r + y.r); }\n";
  }
  return text + "service S { workflow w" + std::to_string(depth) + "; }";
}

std::string Doubles(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    const std::string below = "{A" + std::to_string(i - 1) + "}";
    text += "const A" + std::to_string(i) + " = \"" + below + below + "\";";
  }
  return text;
}

// As much as Doubles(from) made, but for what `count` halvings leave.
std::string Halves(int from, int count) {
  std::string text;
  for (int i = from; i > from - count; --i) text += "const H" + std::to_string(i) + " = \"{A" + std::to_string(i) + "}\";";
  return text;
}

std::string Results(int count) {
  return "workflow W() -> (" + Each(count, [](auto i) { return "x" + i + ": i64, "; }) + "y: i64) { return (" +
         Each(count, [](auto i) { return "x" + i + ": 1, "; }) + "y: 1); } service S { workflow W; }";
}

struct Case {
  const char* name;
  std::string text;
  const char* said;  // what the only diagnostic begins with; empty: it is a program
};

double HoldAgainst(const Case& one) {
  const std::clock_t start = std::clock();
  const Built built = BuildText(one.text);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(built.program.has_value(), *one.said == '\0') << one.name << "\n" << built.diagnostics.substr(0, 1000);
  EXPECT_THAT(built.diagnostics, testing::StartsWith(one.said)) << one.name;
  EXPECT_LT(seconds, 20) << one.name;  // sanitized; what grows with the square of the length takes minutes
  return seconds;
}

TEST(Growth, LongProgramsCostNoMoreThanTheirLength) {
  const std::vector<Case> cases = {
      {"returns in arms", Statements(Each(2'000, [](auto i) { return "if x == " + i + " { return (y: " + i + "); } "; })), ""},
      {"requirements", Statements(Each(20'000, [](auto i) { return "require x > " + i + "; "; })), ""},
      {"requirements of nodes",
       Statements(Each(8'000, [](auto i) { return "node a" + i + " = x + " + i + "; require a" + i + " != 1; "; })), ""},
      {"nodes below requirements",
       Statements(Each(3'000, [](auto i) { return "require x > " + i + "; "; }) +
                  Each(3'000, [](auto i) { return "node a" + i + " = x; "; }) +
                  Each(3'000, [](auto i) { return "annotate(\"k\", \"{a" + i + "}\"); "; })),
       ""},
      {"arms with nodes",
       Statements(Each(2'000, [](auto i) { return "if x == " + i + " { node a = x + 1; annotate(\"k\", \"{a}\"); } "; })), ""},
      {"workflows that call each other twice", CallsTwice(1'000), "WF5090 the program becomes more than 64 levels"},
      {"fewer of them", CallsTwice(40), "WF5090 the program becomes more than 30000 tasks"},
      {"fields of a tuple", "const A = (" + Each(40'000, [](auto i) { return "a" + i + ": 1, "; }) + "b: 1);" + kServed,
       "WF3047 this tuple has more than 4096 parts"},
      {"fields of a tuple's type",
       "fn f(x: (" + Each(40'000, [](auto i) { return "a" + i + ": i64, "; }) + "b: i64)) -> i64 = 1;" + kServed,
       "WF3047 this tuple has more than 4096 parts"},
      {"fields of a type", "type T {" + Each(40'000, [](auto i) { return "a" + i + ": i64; "; }) + "}" + kServed,
       "WF3047 `T` has more than 4096 parts"},
      {"results", Results(30'000), "WF3047 this tuple has more than 4096 parts"},
      {"parameters",
       "workflow W(" + Each(66'000, [](auto i) { return "_x" + i + ": i64 = 1, "; }) +
           "y: i64) -> (y: i64) { return (y: y); } service S { workflow W; }",
       "WF3047 the parameters of `W` have more than 4096 parts"},
      {"parameters of a function", "fn f(" + Each(20'000, [](auto i) { return "_x" + i + ": i64, "; }) + "y: i64) -> i64 = y;" + kServed,
       "WF3047 the parameters of `f` have more than 4096 parts"},
      {"nodes of a called workflow",
       "workflow H(x: i64) -> (y: i64) { node n0 = x; " +
           Each(66'000, [](auto i) { return "node n" + std::to_string(std::stoi(i) + 1) + " = n" + i + "; "; }) +
           "return (y: n66000); } workflow W(x: i64) -> (y: i64) { node a = H(x); return (y: a.y); } service S { workflow W; }",
       "WF5090 the program becomes more than 60000 nodes"},
      {"calls in a list",
       "workflow H(x: i64) -> (y: i64) { return (y: x); } workflow W(x: i64) -> (y: i64) { node a = [" +
           Each(60'100, [](auto) { return "H(x).y, "; }) + "1]; return (y: a[0]); } service S { workflow W; }",
       "WF5090 the program becomes more than 60000 tasks"},
      {"texts", "const A: list<string> = [" + Each(40'000, [](auto i) { return "\"" + i + "\", "; }) + "\"\"];" + kServed, ""},
      {"constants that double", "const A0 = \"" + std::string(64, 'x') + "\";" + Doubles(24) + kServed,
       "WF3037 more than 256 MiB of values for the constants up to this one"},
      {"a constant that has no room beside others",
       "const A0 = \"" + std::string(64, 'x') + "\";" + Doubles(20) + Halves(20, 12) + "const B = \"" + std::string(32 << 10, 'x') + "\";" +
           kServed,
       "WF5090 the program becomes more than 256 MiB of constants"},
      {"a text that is too long",
       "const A0 = \"" + std::string(64, 'x') + "\";" + Doubles(18) + "const B = \"" + Each(20, [](auto) { return "{A18}"; }) + "\";" +
           kServed,
       "WF3037 more than 256 MiB of values for the constants up to this one"},
      {"a constant that takes the last step",
       "const L: list<i64> = [1, 2, 3]; const A: i64 = (fold s = 0 for _i in [k < 12307690] => k { s + 1 }); const P: i64 = len(L); "
       "const B: i64 = 3; const C: i64 = len(L) + B;" +
           kServed,
       "WF3037 more than 50000000 steps for the constants up to this one"},
      {"numbers", "const A: list<i64> = [" + Each(40'000, [](auto i) { return i + ", "; }) + "0];" + kServed, ""},
  };
  for (const Case& one : cases) HoldAgainst(one);
}

TEST(Growth, LongChainsOfEarlyUsesCostNoMoreThanTheirLength) {
  const auto check = [](const char* name, int count, const std::string& before, const std::string& between, const std::string& after) {
    std::string text;  // the last uses what is nowhere
    for (int i = 0; i < count; ++i) text += before + std::to_string(i) + between + std::to_string(i + 1) + after + "\n";
    HoldAgainst({name, text, "WF3004 `a1` is used before it is declared"});
  };
  check("constants", 20'000, "const a", ": i64 = a", " + 1;");
  check("functions", 20'000, "fn a", "(x: i64) -> i64 = a", "(x) + 1;");
  check("types", 20'000, "type a", " { x: a", "; }");
  check("workflows", 10'000, "workflow a", "(x: i64) -> (y: i64) { node n = a", "(x); return (y: n.y); }");
}

TEST(Growth, EarlyUsesOfAllThatIsBelowCostNoMoreThanTheirNumber) {
  constexpr int kCount = 680, kMostTimes = 3;
  const auto uses = [](const std::string& last, bool early) {
    std::string text;
    for (int i = 0; i < kCount; ++i) {
      std::string one = "const a" + std::to_string(i) + " = ";
      for (int j = i + 1; j < kCount; ++j) one += "a" + std::to_string(j) + " + ";
      one += (i + 1 < kCount ? "1" : last) + ";\n";
      text = early ? text + one : one + text;
    }
    return text;
  };
  const double late = HoldAgainst({"late uses", uses("none_such", false), "WF3001"});
  const double early = HoldAgainst({"early uses", uses("1", true), "WF3004 `a1` is used before it is declared"});
  const double circles = HoldAgainst({"circles", uses("a0", true), "WF3005 `a0` needs itself: `a0` uses `a1`, `a1` uses `a679`"});
  EXPECT_LT(std::max(early, circles), kMostTimes * late);
}

}  // namespace
}  // namespace wf::sema
