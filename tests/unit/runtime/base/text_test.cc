#include "runtime/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wf::base {
namespace {

TEST(Utf8, TakesWhatRfc3629DoesAndFindsTheFirstByteThatIsNot) {
  for (const std::string_view good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(IsUtf8(good)) << good;
  // Overlong forms, surrogates, beyond U+10FFFF, followers alone, sequences that end too early.
  for (const std::string_view bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                                     "\xf5\x80\x80\x80", "\xff", "\xc2", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x28\xa1"})
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    text[at] = '\xff';
    const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
    EXPECT_EQ(FindBadUtf8(begin, begin + text.size()) - begin, static_cast<ptrdiff_t>(at));
  }
}

TEST(Counted, OneIsNotSeveral) {
  EXPECT_EQ(Counted(0, "node"), "0 nodes");
  EXPECT_EQ(Counted(1, "node"), "1 node");
  EXPECT_EQ(Counted(2, "node"), "2 nodes");
}

TEST(Nearest, LooksOverCaseWhereNothingElseIsNear) {
  const std::vector<std::string_view> paths = {"/Hello/Greet", "/Hello/Spread"};
  EXPECT_EQ(Nearest("/Hello/Gret", paths), "/Hello/Greet");
  EXPECT_EQ(Nearest("/hello/greet", paths), "/Hello/Greet");
  EXPECT_EQ(Nearest("/HELLO/SPREAD", paths), "/Hello/Spread");
  EXPECT_EQ(Nearest("/HELLO/SPRAED", paths), "/Hello/Spread");
  EXPECT_EQ(Nearest("/GOODBYE/ALL", paths), "");
  const std::vector<std::string_view> names = {"WIDTH", "widht"};
  EXPECT_EQ(Nearest("width", names), "widht") << "as it is written comes first";
  EXPECT_EQ(Nearest("", names), "");
}

TEST(TextBuilder, CutsWhatDoesNotFit) {
  TextBuilder text;
  for (int i = 0; i < 100; ++i) text << "0123456789";
  EXPECT_EQ(text.view().size(), 480U);
  text << 7;
  EXPECT_EQ(text.view().size(), 480U);
  TextBuilder wide;
  for (int i = 0; i < 200; ++i) wide << (i == 0 ? "a" : "€");
  EXPECT_TRUE(IsUtf8(wide.view())) << "never in the middle of a code point";
}

TEST(TextBuilder, QuotesWhatComesFromOutside) {
  const auto quoted = [](std::string_view outside) { return (TextBuilder() << "`").Quote(outside).str(); };
  EXPECT_EQ(quoted("naïve"), "`naïve");
  EXPECT_EQ(quoted("a\nb\x7f\xff"), "`a?b??");
  EXPECT_EQ(quoted(std::string(64, 'a')), "`" + std::string(64, 'a'));
  EXPECT_EQ(quoted(std::string(65, 'a')), "`" + std::string(64, 'a') + "...");
  EXPECT_EQ(quoted(std::string(63, 'a') + "€€"), "`" + std::string(63, 'a') + "€...") << "never in the middle of a code point";
  EXPECT_EQ((TextBuilder() << INT64_MIN << " " << UINT64_MAX).view(), "-9223372036854775808 18446744073709551615");
}

}  // namespace
}  // namespace wf::base
