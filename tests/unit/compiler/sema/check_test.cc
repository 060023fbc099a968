#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/compiler/sema/checked.h"

namespace wf::sema {
namespace {

using test::Checked;

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Check, YieldsNothingAfterAMistakeAndAProgramWithoutOne) {
  EXPECT_TRUE(Checked("fn f(x: f32) -> f32 = x;").program.has_value());
  EXPECT_FALSE(Checked("fn f(x: f32) -> f32 = y;").program.has_value());
}

TEST(Check, ReportsEachOfSeveralMistakesOnce) {
  const Checked checked(
      "fn f(x: f32) -> f32 = unknown(x) + unknown_too;\n"
      "fn g(x: f32) -> i64 = f(x);\n"
      "fn h(x: f32) -> f32 = f(x, x) + f(x);\n");
  EXPECT_EQ(checked.Codes(), "3001 3001 3002 3014") << checked.Text();
}

TEST(Check, APoisonedValueSilencesItsReaders) {
  const Checked checked(
      "workflow W(x: f32) -> (y: string) {\n"
      "  node a = nothing(x);\n"
      "  node b = a.field[3] + \"text\" * a;\n"
      "  return (y: b);\n"
      "}\n");
  EXPECT_EQ(checked.Codes(), "3001") << checked.Text();
}

TEST(Check, ChainsOfThousandsOfOperatorsAreWalked) {
  for (const char* chain : {" + x", " * x", " - 1.0", " / x"}) {
    const Checked checked("fn f(x: f32) -> f32 = x" + Repeat(chain, 4000) + ";");
    ASSERT_TRUE(checked.program.has_value()) << checked.Text();
    EXPECT_GT(Print(*checked.program).size(), 4000u);
  }
  EXPECT_TRUE(Checked("fn f(x: bool) -> bool = x" + Repeat(" && x", 4000) + ";").program.has_value());
  EXPECT_TRUE(Checked("fn f(x: string) -> string = x" + Repeat(" + x", 4000) + ";").program.has_value());
  EXPECT_TRUE(Checked("const X = 1" + Repeat(" + 1", 4000) + ";").program.has_value());
}

TEST(Check, DeepNestingIsReportedNotFollowed) {
  EXPECT_EQ(Checked("fn g(x: f32) -> f32 = x;\nfn f(x: f32) -> f32 = x" + Repeat(" |> g()", 2000) + ";").Codes(), "3036");
  EXPECT_EQ(Checked("fn f(x: f32) -> f32 = x" + Repeat(".a", 3000) + ";").Codes(), "3036");
  EXPECT_EQ(Checked("fn f(x: f32) -> f32 = x" + Repeat("[0]", 3000) + ";").Codes(), "3036");
  EXPECT_TRUE(Checked("fn f(x: f32) -> f32 = " + Repeat("(", 190) + "x" + Repeat(")", 190) + ";").program.has_value());
}

TEST(Check, ConstantsAreFolded) {
  const Checked checked(
      "const A: f32[3] = [1, 2, 3];\n"
      "const B = A * 2.0 + 1.0;\n"
      "const C = sum[i](B[i]);\n"
      "fn twice(x: i64) -> i64 = x * 2;\n"
      "const D = twice(21);\n"
      "const E = [\"{x}\" for x in [D, 7]];\n");
  ASSERT_TRUE(checked.program.has_value()) << checked.Text();
  const auto& consts = checked.program->consts;
  ASSERT_EQ(consts.size(), 5u);
  EXPECT_EQ(ToString(consts[1].type), "f32[3]");
  EXPECT_EQ(consts[2].value.bits, 0x41700000u);  // 15.0
  EXPECT_EQ(consts[3].value.bits, 42u);
  EXPECT_EQ(*(*consts[4].value.items)[0].text, "42");
}

TEST(Check, LiteralsTakeTheTypeThatIsWanted) {
  const Checked checked(
      "fn f(x: f64, n: u8) -> f64 = 2 * x + 1 / 2;\n"
      "fn g() -> bf16 = 1.5;\n"
      "fn h(x: u64) -> bool = 18446744073709551615 == x;\n"
      "fn k(c: bool, x: i32) -> i32 = if c { 0 } else { x };\n");
  ASSERT_TRUE(checked.program.has_value()) << checked.Text();
  const std::string text = Print(*checked.program);
  EXPECT_NE(text.find("((2:f64 * x%0) + 0.5:f64)"), std::string::npos) << text;
  EXPECT_NE(text.find("1.5:bf16"), std::string::npos) << text;
  EXPECT_NE(text.find("{ 0:i32 }"), std::string::npos) << text;
}

TEST(Check, StagesAreLevelsAndNodesThatNothingReadsAreRemoved) {
  const Checked checked(
      "fn f(x: f32) -> f32 = x;\n"
      "workflow W(x: f32) -> (y: f32) {\n"
      "  node a = f(x);\n"
      "  stage side { node b = f(x); node c = f(a); } \n"
      "  node _d = f(b);\n"
      "  node e = f(b) else c;\n"
      "  return (y: e);\n"
      "}\n");
  ASSERT_TRUE(checked.program.has_value()) << checked.Text();
  const Workflow& workflow = checked.program->workflows[0];
  std::vector<std::string> stages;
  for (const Workflow::Stage& stage : workflow.stages) stages.push_back(stage.name);
  EXPECT_EQ(stages, (std::vector<std::string>{"s1", "side", "s2"}));
  EXPECT_EQ(workflow.body.size(), 5u);  // without _d
}

TEST(Check, ARequestBindsTheSymbolsOfAWorkflowAndComparesTheRest) {
  const Checked checked(
      "workflow W(a: f32[n, k], b: f32[2*n], c: f32[k + 1], m: i64) -> (y: f32[m]) { return (y: [i] => a[0, 0] + b[0] + c[0]); }");
  ASSERT_TRUE(checked.program.has_value()) << checked.Text();
  const Workflow& workflow = checked.program->workflows[0];
  EXPECT_EQ(workflow.param_symbols.size(), 5u);  // n, k, the extents of b and c, m
  ASSERT_EQ(workflow.param_checks.size(), 2u);
  EXPECT_EQ(workflow.param_checks[0].left.ToString(), "2*n");
  EXPECT_EQ(workflow.param_checks[1].left.ToString(), "k + 1");
}

TEST(Check, TypeVariablesAndAnyRankAreInstancesOfTheStandardLibrary) {
  source::SourceMap sources;
  diag::Emitter diag;
  auto library = parse::Parse(sources.Add("lib.wf",
                                          "fn twice<T>(x: T) -> T = x + x;\n"
                                          "fn scale(x: f32[*s, n]) -> f32[*s, n] = x * 2;\n"
                                          "fn turned(x: f32[m, n, *s]) -> f32[n, m, *s] = [i, j] => x[j, i];\n"),
                              sources, diag);
  auto root = parse::Parse(sources.Add("test.wf",
                                       "import std.lib;\n"
                                       "fn f(x: f32, y: i64) -> f32 = lib.twice(x) + f32(lib.twice(y)) + lib.twice(x);\n"
                                       "fn g(x: f32[a, b, 3]) -> f32[a, b, 3] = lib.scale(x);\n"
                                       "fn h(x: f32[3]) -> f32[4] = lib.scale(x);\n"
                                       "fn t(x: f32[2, 3], y: f32[2, 3, 4, 5]) -> f32[3, 2, 4, 5] = lib.turned(y) + lib.turned(x)[2, 1];\n"
                                       "fn u() -> f32[2, 2, 1] = lib.turned([[[1], [2]], [[3], [4]]]);\n"),
                           sources, diag);
  ASSERT_TRUE(library && root);
  CheckInput input{{{"", &*root}, {"std.lib", &*library}}, sources, {}};
  EXPECT_FALSE(Check(input, diag).has_value());
  ASSERT_EQ(diag.Sorted().size(), 1u);
  EXPECT_EQ(diag.Sorted()[0].message, "expected `f32[4]`, found `f32[3]`: axis 0 is 3 here and 4 there");
}

TEST(Check, SeveralDimensionsAreNoNumberToComputeWith) {
  const test::Checked checked("fn f(x: f32[2 + *s]) -> f32 = 1;\nfn g(x: f32[*s]) -> f32[2 * *s] = x;\n", {}, "std.lib");
  EXPECT_EQ(checked.Codes(), "4012 4012");
}

// What grew with the square of the mistakes, or of the names, took minutes here.
TEST(Check, ManyMistakesAndNamesCostNoMoreThanTheirNumber) {
  constexpr int kMistakes = 100'000, kNames = 20'000, kParameters = 4'000;
  std::string text = "fn f(";
  for (int i = 0; i < kParameters; ++i) text += (i == 0 ? "p" : ", p") + std::to_string(i) + ": i64";
  text += ") -> i64 = p0;\nconst LIST: list<i64> = [";
  for (int i = 0; i < kMistakes; ++i) text += "x" + std::to_string(i) + ", ";
  text += "0];\n";
  for (int i = 0; i < kNames; ++i) text += "const A" + std::to_string(i) + ": i64 = y" + std::to_string(i) + ";\n";
  const auto start = std::chrono::steady_clock::now();
  const Checked checked(text);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(checked.diag.error_count(), size_t{kMistakes + kNames});
  EXPECT_EQ(checked.diag.Sorted().size(), 400u) << "200 errors, 200 warnings about parameters";
  EXPECT_LT(taken.count(), 100);
}

TEST(Check, AProgramThatServesNeedsAService) {
  const std::string text = "workflow W(x: f32) -> (y: f32) { return (y: x); }";
  EXPECT_EQ(Checked(text, {.require_service = true}).Codes(), "7007");
  EXPECT_EQ(Checked(text + " service S { workflow W; }", {.require_service = true}).Codes(), "");
}

TEST(Check, AProgramWithoutAServiceIsDrawnWithAllOfItsWorkflows) {
  const std::string text = "workflow W(x: f32) -> (y: f32) { return (y: x); } workflow V(x: f32) -> (y: f32) { return (y: x); }";
  const Checked both(text, {.without_service = true, .require_service = true});
  EXPECT_EQ(both.Codes(), "");
  ASSERT_EQ(both.program->services.size(), 1u);
  EXPECT_EQ(both.program->services[0].members.size(), 2u);
  const Checked one(text + " service S { workflow W; }", {.without_service = true, .require_service = true});
  EXPECT_EQ(one.program->services[0].members.size(), 1u);
  EXPECT_EQ(Checked("fn f(x: f32) -> f32 = x;", {.without_service = true, .require_service = true}).Codes(), "7007");
}

TEST(Check, WhatDidNotParseIsNotReportedAgain) {
  const Checked checked(
      "const LIMIT = ;\n"
      "fn f(x: f32 -> f32 = x;\n"
      "fn g(x: i64) -> i64 = x + LIMIT;\n"
      "workflow W(x: f32) -> (y: f32) { return (y: f(x)); }\n");
  for (const diag::Diagnostic& d : checked.diag.Sorted()) EXPECT_LT(static_cast<int>(d.code), 3000) << checked.Text();
  EXPECT_FALSE(checked.program.has_value());
}

TEST(Check, TheSourceHashFollowsTheText) {
  const Checked a("const A = 1;"), b("const A = 1;"), c("const A = 2;");
  ASSERT_TRUE(a.program && b.program && c.program);
  EXPECT_EQ(a.program->source_hash, b.program->source_hash);
  EXPECT_NE(a.program->source_hash, c.program->source_hash);
}

}  // namespace
}  // namespace wf::sema
