#include "compiler/format/format.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/format/formatted.h"

namespace wf::format {
namespace {

std::string Of(const std::string& text) {
  const auto formatted = FormatText(text);
  return formatted ? formatted->text : "has mistakes";
}

TEST(Format, SpacesTokensOneWay) {
  EXPECT_EQ(Of("const  a:i64=1+2 *-3;"), "const a: i64 = 1 + 2 * -3;\n");
  EXPECT_EQ(Of("fn f<T>(x:T [ 2 * h,w-1,( h+1 ) / 2, * s ],y:list< i32 > ?=none)->i64=x [1 : ,:,i]. size;"),
            "fn f<T>(x: T[2*h, w - 1, (h + 1)/2, *s], y: list<i32>? = none) -> i64 = x[1:, :, i].size;\n");
  EXPECT_EQ(Of("const a = - - ! - b;"), "const a = - -!-b;\n");
  EXPECT_EQ(Of("import a . b as c;"), "import a.b as c;\n");
}

TEST(Format, KeepsOneEmptyLineAtMostAndNoneAtTheEdges) {
  EXPECT_EQ(Of("\n\nconst a = 1;\n\n\n\nconst b = 2;\nconst c = 3;\n\n"), "const a = 1;\n\nconst b = 2;\nconst c = 3;\n");
  EXPECT_EQ(Of("workflow W() -> (x: i64) {\n\n  let a = 1;\n\n\n  return (x: a);\n\n}"),
            "workflow W() -> (x: i64) {\n  let a = 1;\n\n  return (x: a);\n}\n");
}

TEST(Format, SetsDeclarationsWithBodiesApart) {
  EXPECT_EQ(Of("package p; import std.nn; const a = 1; service S { workflow W; } const b = 2;"),
            "package p;\n\nimport std.nn;\n\nconst a = 1;\n\nservice S {\n  workflow W;\n}\n\nconst b = 2;\n");
}

TEST(Format, BreaksABracketThatIsTooLongOrThatTheAuthorBroke) {
  EXPECT_EQ(Of("const a = [\n1, 2];"), "const a = [\n  1, 2,\n];\n");
  EXPECT_EQ(Of("const a = [1,\n2,];"), "const a = [1, 2];\n");
  const std::string name(60, 'x');
  EXPECT_EQ(Of("const a = f(" + name + ", " + name + ");"), "const a = f(\n  " + name + ",\n  " + name + ",\n);\n");
}

TEST(Format, BreaksBeforeOperators) {
  const std::string name(60, 'x');
  EXPECT_EQ(Of("const a = " + name + " * 2 + " + name + ";"), "const a =\n  " + name + " * 2\n    + " + name + ";\n");
  EXPECT_EQ(Of("const a = f(" + name + ") |> g(" + name + ");"), "const a = f(" + name + ")\n  |> g(" + name + ");\n");
}

TEST(Format, KeepsBlocksOnOneLineThatTheAuthorWroteSo) {
  EXPECT_EQ(Of("fn f(x: i64) -> i64 = if x > 0 { x } else { 0 };"), "fn f(x: i64) -> i64 = if x > 0 { x } else { 0 };\n");
  EXPECT_EQ(Of("fn f(x: i64) -> i64 = if x > 0 {\nx } else { 0 };"), "fn f(x: i64) -> i64 = if x > 0 {\n  x\n} else {\n  0\n};\n");
  EXPECT_EQ(Of("workflow W() -> (x: i64) { node a = M() { timeout 2ms; } if c { return (x: 1); } }"),
            "workflow W() -> (x: i64) {\n  node a = M() { timeout 2ms; }\n  if c { return (x: 1); }\n}\n");
}

TEST(Format, KeepsCommentsWhereTheyStand) {
  EXPECT_EQ(Of("// head\n\n/// doc\nconst a = 1;// one\nconst bcd = 2; // two\n// end"),
            "// head\n\n/// doc\nconst a = 1;   // one\nconst bcd = 2; // two\n// end\n");
  EXPECT_EQ(Of("const a = [1, // one\n 2 // two\n];"), "const a = [\n  1, // one\n  2, // two\n];\n");
  EXPECT_EQ(Of("type T { // why\n // a\n a: i64; // b\n // c\n}"), "type T { // why\n  // a\n  a: i64; // b\n  // c\n}\n");
  EXPECT_EQ(Of("const a = 1 // one\n;"), "const a = 1; // one\n");
}

// What stands behind code documents nothing below it, which needs no empty line above.
TEST(Format, TakesADocCommentBehindCodeForThatOfTheCode) {
  EXPECT_EQ(Of("fn a() -> i64 = 1; /// of b\nfn b() -> i64 = 2;"), "fn a() -> i64 = 1; /// of b\nfn b() -> i64 = 2;\n");
}

TEST(Format, KeepsACommentOnTheLineThatItStandsOn) {
  EXPECT_EQ(Of("const a = b // one\n + c;"), "const a =\n  b // one\n    + c;\n");
  EXPECT_EQ(Of("const a = b + // one\n c;"), "const a =\n  b\n    + // one\n    c;\n");
  EXPECT_EQ(Of("const a = b + \n// own\n c;"), "const a =\n  b\n    +\n    // own\n    c;\n");
  EXPECT_EQ(Of("const a = [x // one\n for x in y // two\n if z];"), "const a = [\n  x          // one\n  for x in y // two\n  if z\n];\n");
  EXPECT_EQ(Of("const a = x[ // one\n i, j];"), "const a = x[ // one\n  i,\n  j\n];\n");
}

TEST(Format, IndentsWhatFollowsACommentInsideOfBrackets) {
  EXPECT_EQ(Of("fn f<A, // one\nB>(x: f32[n, // two\nm]) -> list< // three\ni64> = x;"),
            "fn f<A, // one\n  B>(\n  x: f32[n, // two\n    m],\n) -> list< // three\n  i64> = x;\n");
}

std::string Repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t at = 0; at < count; ++at) all += text;
  return all;
}

// Shorter than the parser allows where the printer of the tree, which compares, recurses on the stack of a test.
TEST(Format, BearsDeepAndLongPrograms) {
  const std::vector<std::string> deep = {
      "const a = " + Repeated("a ?? ", 250) + "b;",
      "const a = " + Repeated("a + b * ", 500) + "b;",
      "const a = a" + Repeated(".b(c)[d]", 300) + ";",
      "const a = " + Repeated("[i] => ", 60) + "b;",
      "const a = " + Repeated("(", 190) + "b" + Repeated(")", 190) + ";",
      "const a = " + Repeated("f([", 95) + "b" + Repeated("])", 95) + ";",
      "const a = " + Repeated("if x { 1 } else ", 1000) + "{ 2 };",
      "const a = [" + Repeated("1, ", 20000) + "];",
  };
  for (const std::string& text : deep) {
    EXPECT_NE(Of(text), "has mistakes") << text.substr(0, 40);
    EXPECT_EQ(BrokenPromise(text), "") << text.substr(0, 40);
  }
}

TEST(Format, KeepsParenthesesAndSpellings) {
  EXPECT_EQ(Of("const a = ((1)) + 0xFF_ff;\nconst b = \"\\u{41}{{\";"), "const a = ((1)) + 0xFF_ff;\nconst b = \"\\u{41}{{\";\n");
}

TEST(Format, LeavesOutByteOrderMarksTabsAndCarriageReturns) {
  EXPECT_EQ(Of("\xEF\xBB\xBF"
               "const\ta = 1;\r\n\r\n\r\nconst b = 2; // c \r\n"),
            "const a = 1;\n\nconst b = 2; // c\n");
}

}  // namespace
}  // namespace wf::format
