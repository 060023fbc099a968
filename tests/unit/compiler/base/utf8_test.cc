#include "compiler/base/utf8.h"

#include <gtest/gtest.h>

namespace wf::source {
namespace {

TEST(Utf8, TakesWellFormedTextOfAnyLength) {
  for (const std::string text : {"", "plain", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(FirstBadByte(text), std::nullopt) << text;
  }
}

TEST(Utf8, FindsTheFirstByteThatIsNoPartOfACharacter) {
  struct Case {
    std::string text, what;
  };
  for (const auto& [text, what] : std::vector<Case>{{"ab\x80", "a continuation alone"},
                                                    {"ab\xC3", "cut short"},
                                                    {"ab\xC0\xAF", "overlong, two bytes"},
                                                    {"ab\xE0\x80\xAF", "overlong, three bytes"},
                                                    {"ab\xF0\x80\x80\xAF", "overlong, four bytes"},
                                                    {"ab\xED\xA0\x80", "a surrogate"},
                                                    {"ab\xF4\x90\x80\x80", "above U+10FFFF"},
                                                    {"ab\xFF", "never a byte of UTF-8"},
                                                    {"ab\xE6\x97x", "cut short before a letter"}}) {
    EXPECT_EQ(FirstBadByte(text), 2u) << what;
  }
}

TEST(Utf8, EncodesWhatItDecodes) {
  for (const char32_t c : {U'a', U'\u00E9', U'\u65E5', U'\U0001F600', U'\U0010FFFF'}) {
    std::string text;
    AppendUtf8(c, text);
    EXPECT_EQ(DecodeUtf8(text).value, c);
    EXPECT_EQ(DecodeUtf8(text).length, text.size());
  }
}

TEST(Utf8, DecodesABrokenByteAsTheReplacementCharacter) {
  EXPECT_EQ(DecodeUtf8("\xFFx").value, U'\uFFFD');
  EXPECT_EQ(DecodeUtf8("\xFFx").length, 1u);
}

TEST(Utf8, KnowsTheByteOrderMark) {
  EXPECT_EQ(ByteOrderMarkLength("\xEF\xBB\xBFx"), 3u);
  EXPECT_EQ(ByteOrderMarkLength("x"), 0u);
}

}  // namespace
}  // namespace wf::source
