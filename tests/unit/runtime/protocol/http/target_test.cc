#include "runtime/protocol/http/target.h"

#include <gtest/gtest.h>

namespace wf::http {
namespace {

TEST(IsHost, TakesNamesAndAddressesWithAPortOrWithout) {
  for (const std::string_view text : {"a", "a.example", "a:80", "a:", "A_b-c~", "a%41", "a!$&'()*+,;=b", "a.", "127.0.0.1:8080", "[::1]",
                                      "[::1]:80", "[fe80::1]", "[v1.a:b]"})
    EXPECT_TRUE(IsHost(text)) << text;
}

TEST(IsHost, RefusesWhatOthersWouldReadDifferently) {
  for (const std::string_view text : {"",     ":80", "a b", "a/b",  "a?b",  "a#b",    "u@a",      "http://a", "a:b",  "a:80:80", "a: 80",
                                      "a:-1", "[",   "[]",  "[::1", "::1]", "[::1]x", "[a/b]",    "a\\b",     "a\"b", "a<b",     "a{b}",
                                      "a^b",  "a|b", "a%",  "a%4",  "a%zz", "a%00",   "\xc3\xa9", "a\tb",     "a\x7f"})
    EXPECT_FALSE(IsHost(text)) << text;
  EXPECT_FALSE(IsHost(std::string_view("a\0b", 3)));
}

TEST(WhyNoTarget, TakesPathsAndQueries) {
  for (const std::string_view text :
       {"/", "*", "/a/b?c=d?e", "/a%2Fb", "/..a/b..", "/a/../b", "/a/./..", "/...", "/a?%&../..", "/a\"<>\\^`{|}", "/%7e"})
    EXPECT_EQ(WhyNoTarget(text), "") << text;
}

TEST(WhyNoTarget, TellsWhatIsWrong) {
  for (const std::string_view text : {"#", "/a#b", "/a?b#c"}) EXPECT_EQ(WhyNoTarget(text), "a target has no fragment") << text;
  for (const std::string_view text : {"/\xc3\xa9", "/a?\xff"})
    EXPECT_EQ(WhyNoTarget(text), "the target holds a byte beyond ASCII; percent-encode it") << text;
  for (const std::string_view text : {"/a b", "/a\x7f", "/a?b\tc"})
    EXPECT_EQ(WhyNoTarget(text), "the target holds a space or a control character; percent-encode it") << text;
  for (const std::string_view text : {"/%", "/%4", "/%zz", "/%00", "/a%0"})
    EXPECT_EQ(WhyNoTarget(text), "a `%` in the path begins no escape of a byte above 0") << text;
  for (const std::string_view text : {"/..", "/../a", "/a/../..", "/a/../../b", "/%2e%2E/a", "/.%2e", "/./..", "//../.."})
    EXPECT_EQ(WhyNoTarget(text), "the path leaves the root") << text;
}

}  // namespace
}  // namespace wf::http
