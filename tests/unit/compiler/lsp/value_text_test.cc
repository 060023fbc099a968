#include <gtest/gtest.h>

#include "tests/unit/compiler/lsp/open_text.h"

namespace wf::lsp {
namespace {

// What hover shows of the last constant of a text.
std::string ValueIn(const std::string& text) {
  const auto analysis = AnalysisOfText(text);
  std::string value;
  for (const auto& [place, thing] : analysis->index().things()) {
    if (thing.kind == ThingKind::kConst) value = thing.value;
  }
  return value;
}

TEST(ValueText, IsWrittenAsAProgramWritesIt) {
  EXPECT_EQ(ValueIn("const a = 2 * 3;"), "6");
  EXPECT_EQ(ValueIn("const a: f32 = 0.1;"), "0.1");
  EXPECT_EQ(ValueIn("const a = 1 < 2;"), "true");
  EXPECT_EQ(ValueIn("const a = \"a \\\"b\\\" {{c}}\\n\";"), "\"a \\\"b\\\" {{c}}\\n\"");
  EXPECT_EQ(ValueIn("const a = [\"x\", \"y\"];"), "[\"x\", \"y\"]");
  EXPECT_EQ(ValueIn("type T { a: i64; b: f32?; }\nconst a = T(a: 1, b: none);"), "T(a: 1, b: none)");
  EXPECT_EQ(ValueIn("const a = [[1, 2], [3, 4]];"), "[[1, 2], [3, 4]]");
}

TEST(ValueText, OfTensorsNestsByTheirAxes) {
  EXPECT_EQ(ValueIn("const a: i64[2, 3] = [i < 2, j < 3] => i * 10 + j;"), "[[0, 1, 2], [10, 11, 12]]");
}

TEST(ValueText, IsCutWhereItIsLong) {
  EXPECT_EQ(ValueIn("const a: i64[1000] = [i < 1000] => i + 100000;"),
            "[100000, 100001, 100002, 100003, 100004, 100005, 100006, 100007, 100008, 100009, ..]");
  const std::string e = "\xC3\xA9";
  std::string many, shown;
  for (int i = 0; i < 200; ++i) many += e;
  for (int i = 0; i < 40; ++i) shown += e;
  EXPECT_EQ(ValueIn("const a = \"" + many + "\";"), "\"" + shown + "..\"");
}

TEST(ValueText, IsMissingWhereThereIsNone) {
  EXPECT_EQ(ValueIn("const a = 1 / 0;"), "");
  EXPECT_EQ(ValueIn("const a: i64 = \"x\";"), "");
}

}  // namespace
}  // namespace wf::lsp
