#include "compiler/lsp/outline.h"

#include <gtest/gtest.h>

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

std::string OutlineAt(std::string_view place) {
  const std::string text(kProgram);
  return OutlineAround(*AnalysisOfText(text), static_cast<uint32_t>(text.find(place)));
}

TEST(Outline, LeavesOtherBodiesOutAndEverythingWhereItStood) {
  const std::string outline = OutlineAt("node k");
  ASSERT_EQ(outline.size(), kProgram.size());
  for (const std::string_view left_out : {"m = n * 3", "n * 4", "expect w.m"})
    EXPECT_EQ(outline.find(left_out), std::string::npos) << left_out;
  for (const std::string_view kept :
       {"node k = third(n)", "fn third(n: i64) -> i64", "fn fourth(n: i64) -> i64", "let m = ;", "test \"t\""}) {
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
  const auto analysis = AnalysisOfText(OutlineAround(*AnalysisOfText(text), 0));
  EXPECT_TRUE(IsWhole(analysis->tree()));
  EXPECT_EQ(analysis->tree()->decls.size(), 9u);
}

TEST(Outline, OfATextWithoutATreeIsTheText) { EXPECT_EQ(OutlineAround(*AnalysisOfText(""), 0), ""); }

}  // namespace
}  // namespace wf::lsp
