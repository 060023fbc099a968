#include "runtime/protocol/http/reply.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace wf::http {
namespace {

TEST(DateText, IsNowAsHeadersHaveIt) {
  const std::time_t before = std::time(nullptr);
  tm parts{};
  const std::string text(DateText());
  const char* const end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  ASSERT_NE(end, nullptr) << text;
  EXPECT_EQ(*end, '\0') << text;
  EXPECT_EQ(text.size(), 29U);
  EXPECT_NEAR(static_cast<double>(timegm(&parts)), static_cast<double>(before), 2) << text;
}

TEST(IsHeaderText, HasNoByteThatEndsAHeader) {
  EXPECT_TRUE(IsHeaderText(""));
  EXPECT_TRUE(IsHeaderText("two words\tand a tab, 50% \xc3\xa9"));
  for (const char c : {'\0', '\r', '\n', '\x1f', '\x7f'}) EXPECT_FALSE(IsHeaderText(std::string("a") + c)) << static_cast<int>(c);
}

TEST(IsToken, IsWhatMayNameAHeader) {
  for (const std::string_view token : {"x-request-id", "ETag", "a.b_c~d|e`f^g+h*i&j%k$l#m!n'o", "7"}) EXPECT_TRUE(IsToken(token)) << token;
  for (const std::string_view other : {"", "a b", "a:b", "a(b)", "a\"", "\xc3\xa9", "a/b", "a,b", "a\x7f"})
    EXPECT_FALSE(IsToken(other)) << other;
}

}  // namespace
}  // namespace wf::http
