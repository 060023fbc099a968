#include "runtime/base/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace wf::base {
namespace {

std::string Encoded(std::string_view bytes) {
  std::string text(Base64Bytes(bytes.size()), '-');
  const auto* out = reinterpret_cast<uint8_t*>(text.data());
  EXPECT_EQ(EncodeBase64(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), reinterpret_cast<uint8_t*>(text.data())),
            out + text.size());
  return text;
}

TEST(Base64, IsThatOfRfc4648) {
  const std::pair<std::string_view, std::string_view> rows[] = {{"", ""},
                                                                {"f", "Zg=="},
                                                                {"fo", "Zm8="},
                                                                {"foo", "Zm9v"},
                                                                {"foob", "Zm9vYg=="},
                                                                {"fooba", "Zm9vYmE="},
                                                                {"foobar", "Zm9vYmFy"},
                                                                {"\xfb\xff\xfe", "+//+"}};
  for (const auto& [bytes, text] : rows) EXPECT_EQ(Encoded(bytes), text);
}

}  // namespace
}  // namespace wf::base
