#include "compiler/diag/shorten.h"

#include <gtest/gtest.h>

namespace wf::diag {
namespace {

TEST(FirstLine, EndsWhereTheLineOrItsCodeEnds) {
  EXPECT_EQ(FirstLine("a + b"), "a + b");
  EXPECT_EQ(FirstLine("a  // of two\n  + b"), "a ..");
  EXPECT_EQ(FirstLine("a\n"), "a");
  EXPECT_EQ(FirstLine("a  // alone"), "a ..");
  EXPECT_EQ(FirstLine(""), "");
}

TEST(FirstLine, TakesNoSlashesOfATextForAComment) {
  EXPECT_EQ(FirstLine(R"(f("http://a"))"), R"(f("http://a"))");
  EXPECT_EQ(FirstLine(R"(f("\"//"))"), R"(f("\"//"))");
}

TEST(FirstLine, CutsBetweenCharacters) {
  EXPECT_EQ(FirstLine(std::string(59, 'a') + "éé"), std::string(59, 'a') + " ..");
  EXPECT_EQ(FirstLine(std::string(58, 'a') + "éé"), std::string(58, 'a') + "é ..");
}

TEST(Shorten, CutsBetweenCharactersAndClosesQuotes) {
  EXPECT_EQ(Shorten("short"), "short");
  EXPECT_EQ(Shorten(std::string(399, 'a') + "éé"), std::string(399, 'a') + "…");
  EXPECT_EQ(Shorten("`" + std::string(500, 'a')), "`" + std::string(399, 'a') + "…`");
}

}  // namespace
}  // namespace wf::diag
