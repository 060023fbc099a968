#include "compiler/lsp/index.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/lsp/open_text.h"

namespace wf::lsp {
namespace {

// Each use as "name@line->line of its declaration", in order.
std::vector<std::string> UsesIn(const std::string& text) {
  const auto analysis = AnalysisOfText(text);
  const auto line = [&](Place place) { return std::to_string(analysis->sources().PositionOf(place.file, place.begin).line); };
  std::vector<std::string> uses;
  for (const Occurrence& one : analysis->index().occurrences()) {
    if (PlaceOf(one.span) != one.thing)
      uses.push_back(std::string(analysis->sources().Text(one.span)) + "@" + line(PlaceOf(one.span)) + "->" + line(one.thing));
  }
  return uses;
}
using Uses = std::vector<std::string>;

TEST(Index, ResolvesLocalsDimensionsAndFields) {
  EXPECT_EQ(
      UsesIn("type Box {\n  left: f32;\n}\nfn f(\n  x: f32[n],\n  box: Box,\n  y: f32[n]\n) -> f32 {\n  let a = box.left;\n  a + f32(n) + "
             "sum[i](x[i] + y[i])\n}\n"),
      (Uses{"Box@6->1", "n@7->5", "box@9->6", "left@9->2", "a@10->9", "n@10->5", "x@10->5", "i@10->10", "y@10->7", "i@10->10"}));
}

TEST(Index, ResolvesArgumentsByName) {
  EXPECT_EQ(UsesIn("fn f(a: i64,\n  b: i64) -> i64 = a + b;\nfn g() -> i64 = f(b: 1, a: 2);\n"),
            (Uses{"a@2->1", "b@2->2", "f@3->1", "b@3->2", "a@3->1"}));
}

TEST(Index, KeepsWhatIsSoundBesideWhatIsNot) {
  EXPECT_EQ(UsesIn("const one = 1;\nfn broken(x: i64 -> = ;\nfn g() -> i64 = one;\nfn h() -> i64 = unknown + one;\n"),
            (Uses{"one@3->1", "one@4->1"}));
}

TEST(Index, TheFailureInAFallbackIsNotTheNode) {
  const auto uses = UsesIn("workflow W(a: i64) -> (x: i64) {\n  node b = a / a else err.code;\n  return (x: b);\n}\n");
  EXPECT_EQ(std::count(uses.begin(), uses.end(), "err@2->2"), 0);
}

// Two files of one last name.
TEST(Index, TheFieldsOfATypeAreThoseOfItsFile) {
  const auto analysis = AnalysisOfModules({{"", "import a.x as ax;\nimport b.x as bx;\nfn f(p: ax.P, q: bx.P) -> i64 = p.v + q.v;\n"},
                                           {"a.x", "type P { v: i64; }\n"},
                                           {"b.x", "type P { v: i64; }\n"}});
  std::vector<std::string> files;
  for (const Occurrence& one : analysis->index().occurrences()) {
    if (analysis->sources().Text(one.span) == "v" && PlaceOf(one.span) != one.thing)
      files.emplace_back(analysis->sources().name(one.thing.file));
  }
  EXPECT_EQ(files, (std::vector<std::string>{"/a.x.wf", "/b.x.wf"}));
}

TEST(Index, TypesAreCalledAsTheirFileCallsThem) {
  const auto analysis = AnalysisOfModules(
      {{"", "import lib as l2;\nworkflow W(p: l2.P) -> (y: l2.P) {\n  node q = l2.many(p);\n  node one = q[0];\n  return (y: one);\n}\n"},
       {"lib", "type P { v: i64; }\nfn many(p: P) -> list<P> {\n  let all = [p];\n  all\n}\n"}});
  std::map<std::string, std::string> types;
  for (const auto& [place, thing] : analysis->index().things()) types.emplace(thing.name, thing.type);
  EXPECT_EQ(types.at("q"), "list<l2.P>");
  EXPECT_EQ(types.at("one"), "l2.P");
  EXPECT_EQ(types.at("all"), "list<P>");
}

// What hover shows of the last constant of a text.
std::string ValueIn(const std::string& text) {
  const auto analysis = AnalysisOfText(text);
  std::string value;
  for (const auto& [place, thing] : analysis->index().things()) {
    if (thing.kind == ThingKind::kConst) value = thing.value;
  }
  return value;
}

TEST(Index, HasTheValuesOfConstantsThatHaveOne) {
  EXPECT_EQ(ValueIn("const a = 2 * 3;"), "6");
  EXPECT_EQ(ValueIn("const a = 1 / 0;"), "");
  EXPECT_EQ(ValueIn("const a: i64 = \"x\";"), "");
}

}  // namespace
}  // namespace wf::lsp
