#include "runtime/protocol/http1/chunks.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::http1 {
namespace {

// The data of a chunked body, or why it is none; what is behind it stands after a `|`.
std::string Read(std::string_view text, size_t portion) {
  Chunks chunks;
  std::string data;
  for (size_t at = 0; at < text.size(); at += portion) {
    std::span<const uint8_t> input(reinterpret_cast<const uint8_t*>(text.data()) + at, std::min(portion, text.size() - at));
    for (bool more = true; more;) {
      std::span<const uint8_t> part;
      switch (chunks.Next(&input, &part)) {
        case Chunks::Step::kNeedMore:
          more = false;
          break;
        case Chunks::Step::kChunk:
          break;
        case Chunks::Step::kData:
          data.append(reinterpret_cast<const char*>(part.data()), part.size());
          break;
        case Chunks::Step::kEnd:
          return data + "|" + std::string(text.substr(at + std::min(portion, text.size() - at) - input.size()));
        case Chunks::Step::kError:
          return std::string(chunks.reason());
      }
    }
  }
  return data + "...";
}

TEST(Chunks, AreTheSameHoweverTheyArrive) {
  constexpr std::string_view kBody = "4\r\nWiki\r\n00A;name=\"v\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET";
  for (size_t portion = 1; portion <= kBody.size(); ++portion) EXPECT_EQ(Read(kBody, portion), "Wiki0123456789|GET") << portion;
  EXPECT_EQ(Read("0\r\n\r\n", 1), "|");
  EXPECT_EQ(Read("4\r\nWi", 1), "Wi...");
}

TEST(Chunks, ASizeIsHexadecimalAndBounded) {
  for (const std::string_view text : {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "ffffffffffffffffff\r\n"}) {
    const std::string answer = Read(text, 1);
    EXPECT_EQ(answer.find("..."), std::string::npos) << text << ": " << answer;
    EXPECT_EQ(answer.find('|'), std::string::npos) << text << ": " << answer;
  }
}

TEST(Chunks, TrailersAreFields) {
  for (const std::string_view text : {"X: a\r\n", "X:\r\n", "X: a\r\nY:b:c\r\n", "!#$%&'*+-.^_`|~09azAZ: a\r\n"})
    EXPECT_EQ(Read("0\r\n" + std::string(text) + "\r\n", 1), "|") << text;
  for (const std::string_view text :
       {"X\r\n", "X : a\r\n", "X Y: a\r\n", "X(: a\r\n", ": a\r\n", " X: a\r\n", "X\xe9: a\r\n", "X: a\r\nGET / HTTP/1.1\r\n"})
    EXPECT_NE(Read("0\r\n" + std::string(text) + "\r\n", 1).find("trailer"), std::string::npos) << text;
}

TEST(Chunks, FramingThatIsEndlessIsRefused) {
  EXPECT_EQ(Read("1;" + std::string(Chunks::kMaxLineBytes, 'x'), 7).find("..."), std::string::npos);
  EXPECT_EQ(Read("0\r\n" + std::string(Chunks::kMaxTrailerBytes + 2, 'x'), 7).find("..."), std::string::npos);
  std::string many;
  for (uint32_t i = 0; i <= Chunks::kMaxChunks; ++i) many += "1\r\nx\r\n";
  EXPECT_EQ(Read(many, many.size()).find("..."), std::string::npos);
}

}  // namespace
}  // namespace wf::http1
