#include "runtime/base/ascii.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wf::base {
namespace {

TEST(Ascii, BlanksAtTheEndsGo) {
  EXPECT_EQ(Trim(" \ta b\t "), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim(" \t"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("a\r"), "a\r");
  EXPECT_EQ(Trim("a\r", " \r"), "a");
}

TEST(Ascii, AListIsTakenPartByPart) {
  std::string_view text = "a, b ,,c;d";
  std::vector<std::string> parts;
  while (!text.empty()) parts.emplace_back(TakeUpTo(',', &text));
  EXPECT_EQ(parts, (std::vector<std::string>{"a", "b", "", "c;d"}));
  EXPECT_EQ(TakeUpTo(',', &text), "");
}

}  // namespace
}  // namespace wf::base
