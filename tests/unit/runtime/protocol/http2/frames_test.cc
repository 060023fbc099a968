#include "runtime/protocol/http2/frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wf::http2 {
namespace {

std::string Frame(uint8_t type, uint8_t flags, size_t length) {
  std::string frame = {static_cast<char>(length >> 16), static_cast<char>(length >> 8), static_cast<char>(length), static_cast<char>(type),
                       static_cast<char>(flags)};
  return frame + std::string("\x80\0\0\x07", 4) + std::string(length, '\x05');
}

TEST(FrameHeads, FindsEveryFrameInAnyPortions) {
  const std::string bytes =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0) + Frame(0, 1, 300) + Frame(0xbe, 7, 70'000) + Frame(0, 0, 0) + Frame(2, 0, 5);
  for (const size_t portion : {size_t{1}, size_t{2}, size_t{9}, size_t{10}, size_t{33}, size_t{1000}, bytes.size()}) {
    FrameHeads heads;
    std::vector<FrameHead> found;
    for (size_t at = 0; at < bytes.size(); at += portion) {
      const std::string part = bytes.substr(at, portion);
      heads.Feed({reinterpret_cast<const uint8_t*>(part.data()), part.size()}, [&](const FrameHead& head) { found.push_back(head); });
    }
    ASSERT_EQ(found.size(), 5U) << portion;
    const uint32_t lengths[] = {0, 300, 70'000, 0, 5};
    const uint8_t types[] = {4, 0, 0xbe, 0, 2}, flags[] = {0, 1, 7, 0, 0};
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].length, lengths[i]);
      EXPECT_EQ(found[i].type, types[i]);
      EXPECT_EQ(found[i].flags, flags[i]);
      EXPECT_EQ(found[i].stream, 7U) << "without the bit that is reserved";
    }
  }
}

using Kind = StreamEnds::Kind;
using Told = StreamEnds::Told;

TEST(StreamEnds, TellsOfWhatComesBehindTheEnd) {
  StreamEnds ends;
  EXPECT_EQ(ends.Take(Kind::kData, 1, false), Told::kNothing) << "idle: told by others";
  EXPECT_EQ(ends.Take(Kind::kHeaders, 1, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kData, 1, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 1, true), Told::kNothing) << "trailers";
  EXPECT_EQ(ends.Take(Kind::kData, 1, true), Told::kEnded);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 1, true), Told::kEnded);
  EXPECT_EQ(ends.Take(Kind::kReset, 1, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 3, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kReset, 3, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kData, 3, false), Told::kEnded);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 2, false), Told::kNothing) << "not a client's";
}

TEST(StreamEnds, TellsOfStreamsThatWerePassedOver) {
  StreamEnds ends;
  EXPECT_EQ(ends.Take(Kind::kHeaders, 5, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 1, false), Told::kPassedOver);
  EXPECT_EQ(ends.Take(Kind::kData, 3, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 5, true), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 0x7fff'ffff, true), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 0x7fff'ffff, true), Told::kEnded);
  EXPECT_EQ(ends.Take(Kind::kHeaders, 5, true), Told::kNothing) << "too long ago";
}

TEST(StreamEnds, RemembersTheLastOnesAlone) {
  StreamEnds ends;
  for (uint32_t id = 1; id < 401; id += 2) EXPECT_EQ(ends.Take(Kind::kHeaders, id, id % 4 == 1), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kData, 397, false), Told::kEnded);
  EXPECT_EQ(ends.Take(Kind::kData, 399, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kData, 399 - 126 + 2, false), Told::kNothing);
  EXPECT_EQ(ends.Take(Kind::kData, 399 - 126, false), Told::kEnded) << "the oldest that is kept";
  EXPECT_EQ(ends.Take(Kind::kData, 399 - 130, false), Told::kNothing);
}

TEST(StreamEnds, KnowsWhatIsIdle) {
  StreamEnds ends;
  EXPECT_TRUE(ends.IsIdle(1));
  EXPECT_FALSE(ends.IsIdle(0));
  EXPECT_FALSE(ends.IsIdle(2)) << "not a client's";
  ends.Take(Kind::kHeaders, 5, true);
  EXPECT_FALSE(ends.IsIdle(3)) << "passed over";
  EXPECT_FALSE(ends.IsIdle(5));
  EXPECT_TRUE(ends.IsIdle(7));
  ends.Take(Kind::kReset, 9, false);
  EXPECT_TRUE(ends.IsIdle(7)) << "a reset begins nothing";
}

TEST(IdleResets, ArePassedOverUnlessSomethingElseIsSpoken) {
  IdleResets grpc, other, late, none;
  EXPECT_TRUE(grpc.Take());
  EXPECT_TRUE(grpc.OnRequest(true));
  EXPECT_TRUE(grpc.OnRequest(false));
  EXPECT_TRUE(grpc.Take()) << "once gRPC, always";
  EXPECT_TRUE(other.Take());
  EXPECT_FALSE(other.OnRequest(false));
  EXPECT_TRUE(late.OnRequest(false));
  EXPECT_TRUE(late.OnRequest(true));
  EXPECT_TRUE(late.Take());
  EXPECT_TRUE(none.OnRequest(false));
  EXPECT_FALSE(none.Take());
}

}  // namespace
}  // namespace wf::http2
