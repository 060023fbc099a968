#include "compiler/lsp/outline.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compiler/parse/parse.h"
#include "tests/unit/compiler/lsp/open_text.h"

namespace wf::lsp {
namespace {

constexpr std::string_view kProgram = R"(const A: i64 = first(3);
fn first(n: i64) -> i64 { second(n) * 2 }
fn second(n: i64) -> i64 = n + 1;
fn third(n: i64) -> i64 { let m = n * 3; m }
fn fourth(n: i64) -> i64 = n * 4;
fn broken(n: i64) -> i64 { let m = ; n }
workflow W(n: i64 = fifth(1)) -> (m: i64) { node k = third(n); return (m: k); }
fn fifth(n: i64) -> i64 = n * 5;
test "t" { let w = W(1); expect w.m == 3; }
)";

std::string OutlineOf(std::string_view text, size_t byte) {
  const auto lexed = parse::Lex(text);
  return lexed ? OutlineAround({text, lexed->tokens, lexed->comments}, static_cast<uint32_t>(byte)) : "";
}

std::string OutlineAt(std::string_view place) { return OutlineOf(kProgram, kProgram.find(place)); }

TEST(Outline, LeavesOtherBodiesOutAndEverythingWhereItStood) {
  const std::string outline = OutlineAt("node k");
  ASSERT_EQ(outline.size(), kProgram.size());
  for (const std::string_view left_out : {"m = n * 3", "n * 4", "let m = ;", "expect w.m"})
    EXPECT_EQ(outline.find(left_out), std::string::npos) << left_out;
  for (const std::string_view kept :
       {"node k = third(n)", "fn third(n: i64) -> i64", "fn fourth(n: i64) -> i64", "fn broken(n: i64) -> i64", "test \"t\""}) {
    EXPECT_EQ(outline.find(kept), kProgram.find(kept)) << kept;
  }
}

TEST(Outline, KeepsWhatConstantsAndDefaultsCall) {
  const std::string outline = OutlineAt("m = n * 3");
  for (const std::string_view kept : {"second(n) * 2", "= n + 1", "n * 5", "m = n * 3"})
    EXPECT_EQ(outline.find(kept), kProgram.find(kept)) << kept;
  EXPECT_EQ(outline.find("node k"), std::string::npos);
}

TEST(Outline, ParsesWhereTheTextDoes) {
  std::string text(kProgram);
  text.erase(text.find("let m = ; "), 10);
  const auto analysis = AnalysisOfText(OutlineOf(text, 0));
  EXPECT_TRUE(IsWhole(analysis->tree()));
  EXPECT_EQ(analysis->tree()->decls.size(), 9u);
}

// What is not closed ends where the next declaration begins a line, and stays.
TEST(Outline, KeepsWhatIsNotClosed) {
  constexpr std::string_view kOpen =
      "fn f(n: i64) -> i64 {\n  let m = (n;\n  m\n\n"
      "fn g(n: i64) -> i64 { n + 1 }\n\n"
      "fn h(n: i64) -> i64 =\n\n"
      "workflow W(n: i64) -> (m: i64) {\n  return (m: k(n)\n\n"
      "test \"t\" { expect W(1).m == 2; } }\n"
      "fn i(n: i64) -> i64 = if n > 0 { n } else { n + 2 };\n"
      "workflow";
  const std::string outline = OutlineOf(kOpen, kOpen.size());
  for (const std::string_view left_out : {"n + 1", "expect W(1)", "n + 2"})
    EXPECT_EQ(outline.find(left_out), std::string::npos) << left_out;
  for (const std::string_view kept : {"let m = (n", "fn g(n: i64) -> i64", "return (m: k(n)", "fn i(n: i64) -> i64", "workflow W", "test"})
    EXPECT_EQ(outline.find(kept), kOpen.find(kept)) << kept;
}

// A `}` of an expression ends no declaration, and neither does a word for one that is a name.
TEST(Outline, FindsTheEndsOfBodies) {
  constexpr std::string_view kBodies =
      "fn f(n: i64 = 1, p: (fn: i64)) -> (fn: i64) = match n {\n1 => (\nfn: 2), _ => (fn: 3) };\n"
      "const C: i64 = if true { 4 } else { 5 };\n"
      "fn g(n: i64) -> i64 { if n == 6 { 7 } else { 8 } }\n"
      "service S {\nworkflow W;\n}\n"
      "workflow W(n: i64) -> (m: i64) { node a = g(9) { timeout 10ms; } return (m: a); }\n";
  const std::string outline = OutlineOf(kBodies, kBodies.size());
  for (const std::string_view left_out : {"n == 6", "7", "8", "g(9)"}) EXPECT_EQ(outline.find(left_out), std::string::npos) << left_out;
  for (const std::string_view kept :
       {"n: i64 = 1, p: (fn: i64)) -> (fn: i64)", "4 } else { 5 };", "fn g(n: i64) -> i64", "workflow W;", "(m: i64)"})
    EXPECT_EQ(outline.find(kept), kBodies.find(kept)) << kept;
}

TEST(Outline, OfATextThatEndsAtOnce) {
  EXPECT_EQ(OutlineOf("", 0), "");
  for (const std::string_view text : {"}", ") ;", "fn", "fn {", "fn f", "fn {}", "test {}", "fn f = ;", "= ; {"})
    EXPECT_EQ(OutlineOf(text, text.size()).size(), text.size());
}

}  // namespace
}  // namespace wf::lsp
