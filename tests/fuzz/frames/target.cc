// Frames of HTTP/2 and HPACK at a whole server. The first byte says where the input, which follows the preface, is cut in two; the second
// how many seconds pass in between, and whether what stands there are frames whose lengths are put right.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/check.h"
#include "tests/fuzz/served.h"

namespace {

using namespace wf::test::http2;

// Each frame as a length of one byte, type, flags, stream of one byte, payload: changes of the input seldom break what follows.
std::string FramesOf(std::string_view text) {
  std::string frames;
  while (text.size() >= 4) {
    const auto byte = [text](size_t at) { return static_cast<uint8_t>(text[at]); };
    const std::string_view payload = text.substr(4, byte(0));
    frames += Frame(byte(1) % 12, byte(2), byte(3), payload);
    text.remove_prefix(4 + payload.size());
  }
  return frames;
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  static auto& served = *new wf::test::Served;  // kept: what one connection leaves behind must not hurt the next
  if (size < 2) return 0;
  std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  if ((data[1] & 0x80U) != 0) text = FramesOf(text);
  const size_t cut = text.empty() ? 0 : data[0] * text.size() / 255;
  served.Connect();
  served.Say(Start());
  served.Say(std::string_view(text).substr(0, cut));
  served.PassSeconds(data[1] % 16);
  served.Say(std::string_view(text).substr(cut));
  served.PassSeconds(1);
  for (const auto& [type, count] : served.reader().frames)
    WF_CHECK(type <= kContinuation && type != kPush && type != kPriority, type, count);
  for (auto& [stream, answer] : served.reader().answers) {
    if (answer.head.empty()) continue;
    WF_CHECK(stream % 2 == 1, stream);
    WF_CHECK(answer.head[":status"].size() == 3, stream);
  }
  served.Leave();
  return 0;
}
