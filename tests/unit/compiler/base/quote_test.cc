#include "compiler/base/quote.h"

#include <gtest/gtest.h>

namespace wf::source {
namespace {

TEST(Quote, WritesWhatTheLanguageReads) {
  EXPECT_EQ(Quote("a \"b\" \\ \n\t\r"), R"("a \"b\" \\ \n\t\r")");
  EXPECT_EQ(Quote("\x01\x1b\x7f"), R"("\u{1}\u{1B}\u{7F}")");
  EXPECT_EQ(Quote("\xC3\xA9"), "\"\xC3\xA9\"");
  EXPECT_EQ(Quote("a\u202E\u2069b"), R"("a\u{202E}\u{2069}b")");
  EXPECT_EQ(Quote("\xFF"), "\"\xFF\"");
}

TEST(Quote, DoublesBracesWhereTheyWouldBeginHoles) {
  EXPECT_EQ(Quote("{x}"), "\"{x}\"");
  EXPECT_EQ(Quote("{x}", Braces::kDoubled), "\"{{x}}\"");
}

}  // namespace
}  // namespace wf::source
