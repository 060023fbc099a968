#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace wf::http2 {

inline constexpr size_t kFrameHeadBytes = 9;
inline constexpr size_t kTypeAt = 3, kFlagsAt = 4;  // in it (RFC 9113, 4.1)

struct FrameHead {
  uint32_t length = 0;
  uint8_t type = 0, flags = 0;
  uint32_t stream = 0;
  size_t payload_at = 0;  // in the bytes that it ended in
};

// The heads of all frames that a peer sends, also of those that nobody takes.
// Thread: loop-confined.
class FrameHeads {
 public:
  // Of a head that is not whole yet.
  struct Part {
    std::array<uint8_t, kFrameHeadBytes> bytes{};
    size_t size = 0;
  };
  Part part() const { return {head_, have_}; }
  uint32_t to_come() const { return skips_; }  // of the payload behind the last head that is whole

  // Calls `take` for each head that is whole by the end of `bytes`.
  template <typename Take>
  void Feed(std::span<const uint8_t> bytes, Take&& take) {
    const uint8_t* const begin = bytes.data();
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
      const uint32_t stream = uint32_t{head_[5]} << 24 | uint32_t{head_[6]} << 16 | uint32_t{head_[7]} << 8 | head_[8];
      take(FrameHead{skips_, head_[3], head_[4], stream & 0x7fff'ffff, static_cast<size_t>(bytes.data() - begin)});
    }
  }

 private:
  static constexpr uint32_t kPrefaceBytes = 24;
  std::array<uint8_t, kFrameHeadBytes> head_{};
  size_t have_ = 0;                 // of the head
  uint32_t skips_ = kPrefaceBytes;  // what comes before the next head
};

// Which of the last streams a peer has begun and ended, by the heads of its own frames. nghttp2 forgets a stream that is closed, and passes
// over what still comes for it; to remember each would cost more than the connection.
// Thread: loop-confined.   Bounds: the last kKept streams; of older ones nothing is told.
class StreamEnds {
 public:
  static constexpr int64_t kKept = 64;

  enum class Kind : uint8_t { kHeaders, kData, kReset };
  enum class Told : uint8_t { kNothing, kEnded, kPassedOver };  // the peer has ended the stream; it has begun later ones, but never this

  bool IsIdle(uint32_t stream) const { return stream % 2 == 1 && stream > last_; }
  Told Take(Kind kind, uint32_t stream, bool ends) {
    if (stream % 2 == 0) return Told::kNothing;
    if (kind == Kind::kHeaders && stream > last_) Begin(stream);
    const int64_t age = (last_ - stream) / 2;
    if (stream > last_ || age >= kKept) return Told::kNothing;
    const uint64_t bit = uint64_t{1} << age;
    if ((begun_ & bit) == 0) return kind == Kind::kHeaders ? Told::kPassedOver : Told::kNothing;
    if (kind != Kind::kReset && (ended_ & bit) != 0) return Told::kEnded;
    if (kind == Kind::kReset || ends) ended_ |= bit;
    return Told::kNothing;
  }

 private:
  void Begin(uint32_t stream) {
    const int64_t later = (stream - last_) / 2;
    begun_ = (later < kKept ? begun_ << later : 0) | 1;
    ended_ = later < kKept ? ended_ << later : 0;
    last_ = stream;
  }

  int64_t last_ = -1;
  uint64_t begun_ = 0, ended_ = 0;  // bit 0: the last one
};

// Resets of streams that are idle. RFC 9113 (6.4) has them end the connection, which costs a client of gRPC all its other calls: C-core, on
// which most of them stand, resets a call that is cancelled before its head is written. Until the first request tells who speaks, they are
// passed over.
// Thread: loop-confined.
class IdleResets {
 public:
  bool Take() {  // false: it ends the connection
    taken_ = true;
    return speaks_ != Speaks::kOther;
  }
  bool OnRequest(bool is_grpc) {  // false: one before it should have ended the connection
    if (speaks_ != Speaks::kGrpc) speaks_ = is_grpc ? Speaks::kGrpc : Speaks::kOther;
    return speaks_ == Speaks::kGrpc || !taken_;
  }
  bool speaks_grpc() const { return speaks_ == Speaks::kGrpc; }

 private:
  enum class Speaks : uint8_t { kUnknown, kGrpc, kOther };
  Speaks speaks_ = Speaks::kUnknown;
  bool taken_ = false;
};

}  // namespace wf::http2
