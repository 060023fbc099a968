#include "compiler/base/percent.h"

#include <gtest/gtest.h>

namespace wf::source {
namespace {

TEST(Percent, EncodesAllBytesButThoseOfPlainNames) {
  EXPECT_EQ(PercentEncoded("/a-b_c.d~e/Z9"), "/a-b_c.d~e/Z9");
  EXPECT_EQ(PercentEncoded("a b:c%#?\xC3\xA9+\n"), "a%20b%3Ac%25%23%3F%C3%A9%2B%0A");
}

TEST(Percent, DecodesWhatWasEncoded) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecoded(PercentEncoded(all)), all);
  EXPECT_EQ(PercentDecoded("%c3%A9"), "\xC3\xA9");
}

TEST(Percent, LeavesEscapesThatAreNone) {
  for (const char* text : {"%", "%2", "%zz", "%2z", "a%"}) EXPECT_EQ(PercentDecoded(text), text);
}

}  // namespace
}  // namespace wf::source
