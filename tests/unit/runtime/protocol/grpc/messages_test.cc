#include "runtime/protocol/grpc/messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wf::grpc {
namespace {

std::string Framed(const std::string& message, bool compressed = false) {
  const Prefix prefix(static_cast<uint32_t>(message.size()), compressed);
  return std::string(prefix.text, prefix.text + kPrefixBytes) + message;
}

// What comes out, when at most `portion` bytes come at a time.
struct Taken {
  std::vector<std::string> messages;
  std::vector<bool> compressed;
  bool error = false, at_end = false, too_long = false;
};
Taken Take(const std::string& stream, size_t portion, uint64_t max_bytes = 1000) {
  Taken taken;
  Messages messages(max_bytes);
  for (size_t at = 0; at < stream.size() && !taken.error; at += portion) {
    std::span<const uint8_t> data, input(reinterpret_cast<const uint8_t*>(stream.data()) + at, std::min(portion, stream.size() - at));
    std::string* open = taken.messages.empty() ? nullptr : &taken.messages.back();
    for (Messages::Step step; (step = messages.Next(&input, &data)) != Messages::Step::kNeedMore;) {
      if (step == Messages::Step::kMessage) {
        open = &taken.messages.emplace_back();
        taken.compressed.push_back(messages.compressed());
      } else if (step == Messages::Step::kData) {
        open->append(data.begin(), data.end());
      } else if (step == Messages::Step::kError) {
        taken.error = true;
        break;
      }
    }
  }
  taken.at_end = messages.at_end();
  taken.too_long = messages.too_long();
  return taken;
}

TEST(GrpcMessages, ComeOutWholeHoweverTheirBytesCome) {
  const std::string stream = Framed("first") + Framed("") + Framed(std::string(300, 'x'), true);
  for (size_t portion = 1; portion <= stream.size(); ++portion) {
    const Taken taken = Take(stream, portion);
    EXPECT_EQ(taken.messages, (std::vector<std::string>{"first", "", std::string(300, 'x')})) << portion;
    EXPECT_EQ(taken.compressed, (std::vector<bool>{false, false, true})) << portion;
    EXPECT_TRUE(taken.at_end && !taken.error) << portion;
  }
}

TEST(GrpcMessages, AStreamCutAnywhereIsNotAtItsEnd) {
  const std::string stream = Framed("first");
  for (size_t bytes = 1; bytes < stream.size(); ++bytes) EXPECT_FALSE(Take(stream.substr(0, bytes), bytes).at_end) << bytes;
}

TEST(GrpcMessages, AMessageThatIsTooLongIsRefusedByItsPrefix) {
  const Taken taken = Take(Framed(std::string(1001, 'x')).substr(0, kPrefixBytes), 2);
  EXPECT_TRUE(taken.error && taken.too_long);
  EXPECT_FALSE(Take(Framed(std::string(1000, 'x')), 7).error);
}

TEST(GrpcMessages, AFlagThatIsNeitherIsRefused) {
  const Taken taken = Take(std::string("\x02\0\0\0\0", 5), 5);
  EXPECT_TRUE(taken.error && !taken.too_long);
}

TEST(GrpcMessages, TheLongestLengthDoesNotOverflow) {
  EXPECT_TRUE(Take("\x01\xff\xff\xff\xff", 5).too_long);
  EXPECT_EQ(Take("\x01\xff\xff\xff\xff", 5, UINT64_MAX).messages.size(), 1U);
}

}  // namespace
}  // namespace wf::grpc
