#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wf::grpc {

inline constexpr size_t kPrefixBytes = 5;  // of a message: a flag, and its length with the most significant byte first

// What stands before a message of `bytes` bytes.
struct Prefix {
  explicit Prefix(uint32_t bytes, bool compressed = false);
  uint8_t text[kPrefixBytes];
};

// Takes the prefixes off a stream of messages, whose bytes come in any portions.
// Thread: loop-confined.   Errors: kError, for good: a flag that is neither 0 nor 1, or a message longer than max_bytes (kResourceExhausted
// on the wire), which is said before its bytes come.   Bounds: keeps a prefix, never a message.
class Messages {
 public:
  explicit Messages(uint64_t max_bytes = 0) : max_bytes_(max_bytes) {}
  enum class Step : uint8_t { kNeedMore, kMessage, kData, kEnd, kError };

  // Consumes from `input`. kMessage: left() bytes are announced; kData: `data` is a view of what was consumed; kEnd: the message is whole.
  Step Next(std::span<const uint8_t>* input, std::span<const uint8_t>* data);
  uint64_t left() const { return left_; }
  bool compressed() const { return compressed_; }
  bool too_long() const { return state_ == State::kTooLong; }
  bool at_end() const { return state_ == State::kPrefix && prefix_bytes_ == 0; }  // the stream may end here

 private:
  enum class State : uint8_t { kPrefix, kData, kBadFlag, kTooLong };
  void TakePrefix(uint8_t byte);

  uint64_t max_bytes_;
  uint64_t left_ = 0;
  uint32_t prefix_bytes_ = 0;
  bool compressed_ = false;
  State state_ = State::kPrefix;
};

}  // namespace wf::grpc
