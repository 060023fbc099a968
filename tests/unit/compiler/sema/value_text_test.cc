#include "compiler/sema/value_text.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/sema/checked.h"

namespace wf::sema {
namespace {

// Of the last constant of a text, in about 80 bytes.
std::string ValueIn(const std::string& text) {
  const test::Checked checked(text);
  if (!checked.program) return checked.Text();
  const Const& last = checked.program->consts.back();
  return ValueText(last.type, last.value, 80);
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

TEST(ValueText, HasTheEscapesOfTheLanguage) { EXPECT_EQ(ValueIn("const a = \"\\u{1}\\t\";"), "\"\\u{1}\\t\""); }

}  // namespace
}  // namespace wf::sema
