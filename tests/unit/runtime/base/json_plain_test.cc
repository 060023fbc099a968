#include "runtime/base/json_plain.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace wf::base {
namespace {

std::string ByteByByte(const std::string& text) {
  std::string json;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    json += NeedsJsonEscape(byte) ? std::string(EscapeJson(byte).view()) : std::string(1, c);
  }
  return json;
}

// In memory that ends where the text and the room do, so that ASan sees what is read or written behind them.
std::string Copied(const std::string& text) {
  const std::unique_ptr<uint8_t[]> from(new uint8_t[text.size()]), to(new uint8_t[MostEscapedJson(text.size())]);
  std::memcpy(from.get(), text.data(), text.size());
  const uint8_t* const end = CopyEscapedJson(from.get(), from.get() + text.size(), to.get());
  return {reinterpret_cast<const char*>(to.get()), static_cast<size_t>(end - to.get())};
}

TEST(CopyEscapedJson, EscapesEveryByteAtEveryPlace) {
  for (size_t length = 1; length <= 50; ++length) {
    for (size_t place = 0; place < length; ++place) {
      for (int byte = 0; byte < 256; byte += byte < 0x24 || byte > 0x7a ? 1 : 7) {
        std::string text(length, 'x');
        text[place] = static_cast<char>(byte);
        ASSERT_EQ(Copied(text), ByteByByte(text)) << length << " " << place << " " << byte;
      }
    }
  }
  EXPECT_EQ(Copied(""), "");
}

TEST(CopyEscapedJson, HasRoomForEscapesAlone) {
  std::mt19937 dice(1);
  for (size_t length = 1; length <= 70; ++length) {
    EXPECT_EQ(Copied(std::string(length, '\x01')).size(), 6 * length);
    std::string text(length, ' ');
    for (char& c : text) c = static_cast<char>(dice() % 128);
    EXPECT_EQ(Copied(text), ByteByByte(text));
  }
}

}  // namespace
}  // namespace wf::base
