#include "runtime/base/json_text.h"

#include <gtest/gtest.h>

namespace wf::base {
namespace {

TEST(QuoteJson, EscapesWhatJsonAsksForAndDel) {
  EXPECT_EQ(QuoteJson(""), R"("")");
  EXPECT_EQ(QuoteJson("a\"b\\/"), R"("a\"b\\/")");
  EXPECT_EQ(QuoteJson("\n\r\t\b\x1f\x7f"), R"("\n\r\t\u0008\u001f\u007f")");
  EXPECT_EQ(QuoteJson(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(QuoteJson, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(QuoteJson("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  EXPECT_EQ(QuoteJson("a\xff\xc3z"), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
}

TEST(EscapeJson, IsWantedOfNoOtherByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool control = byte < 0x20 || byte == 0x7f;
    EXPECT_EQ(NeedsJsonEscape(static_cast<uint8_t>(byte)), control || byte == '"' || byte == '\\') << byte;
    if (control) {
      EXPECT_EQ(EscapeJson(static_cast<uint8_t>(byte)).view()[0], '\\') << byte;
    }
  }
}

}  // namespace
}  // namespace wf::base
