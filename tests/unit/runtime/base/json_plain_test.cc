#include "runtime/base/json_plain.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

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

// In memory that ends where the text and the room do, so that ASan sees what is written behind them.
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

TEST(CopyEscapedJson, ReadsNothingOfTheNextPage) {
  constexpr size_t kPageBytes = 4096;
  auto* const pages = static_cast<uint8_t*>(mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages + kPageBytes, kPageBytes, PROT_NONE), 0);
  uint8_t* const end = pages + kPageBytes;
  for (size_t length = 1; length <= 50; ++length) {
    std::string text(length, 'x');
    text[length / 2] = '"';
    std::memcpy(end - length, text.data(), length);
    std::vector<uint8_t> room(MostEscapedJson(length));
    const uint8_t* const to = CopyEscapedJson(end - length, end, room.data());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(room.data()), to - room.data()), ByteByByte(text));
  }
  munmap(pages, 2 * kPageBytes);
}

}  // namespace
}  // namespace wf::base
