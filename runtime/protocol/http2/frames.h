#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace wf::http2 {

struct FrameHead {
  uint32_t length = 0;
  uint8_t type = 0, flags = 0;
};

// The heads of all frames that a peer sends, also of those that nobody takes.
// Thread: loop-confined.
class FrameHeads {
 public:
  // Calls `take` for each head that is whole by the end of `bytes`.
  template <typename Take>
  void Feed(std::span<const uint8_t> bytes, Take&& take) {
    while (!bytes.empty()) {
      const size_t passed = std::min<size_t>(skips_, bytes.size());
      skips_ -= static_cast<uint32_t>(passed);
      bytes = bytes.subspan(passed);
      const size_t more = std::min(head_.size() - have_, bytes.size());
      std::copy_n(bytes.begin(), more, head_.begin() + static_cast<ptrdiff_t>(have_));
      bytes = bytes.subspan(more);
      if ((have_ += more) < head_.size()) return;
      have_ = 0;
      skips_ = uint32_t{head_[0]} << 16 | uint32_t{head_[1]} << 8 | head_[2];
      take(FrameHead{skips_, head_[3], head_[4]});
    }
  }

 private:
  static constexpr uint32_t kPrefaceBytes = 24;
  std::array<uint8_t, 9> head_{};
  size_t have_ = 0;                 // of the head
  uint32_t skips_ = kPrefaceBytes;  // what comes before the next head
};

}  // namespace wf::http2
