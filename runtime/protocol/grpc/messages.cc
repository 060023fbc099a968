#include "runtime/protocol/grpc/messages.h"

#include <algorithm>

namespace wf::grpc {

Prefix::Prefix(uint32_t bytes, bool compressed)
    : text{static_cast<uint8_t>(compressed ? 1 : 0), static_cast<uint8_t>(bytes >> 24), static_cast<uint8_t>(bytes >> 16),
           static_cast<uint8_t>(bytes >> 8), static_cast<uint8_t>(bytes)} {}

void Messages::TakePrefix(uint8_t byte) {
  if (prefix_bytes_++ == 0) {
    compressed_ = byte == 1;
    if (byte > 1) state_ = State::kBadFlag;
    return;
  }
  left_ = left_ << 8 | byte;
  if (prefix_bytes_ < kPrefixBytes) return;
  prefix_bytes_ = 0;
  state_ = left_ <= max_bytes_ ? State::kData : State::kTooLong;
}

Messages::Step Messages::Next(std::span<const uint8_t>* input, std::span<const uint8_t>* data) {
  if (state_ == State::kData) {
    if (left_ == 0) {
      state_ = State::kPrefix;
      return Step::kEnd;
    }
    if (input->empty()) return Step::kNeedMore;
    const auto count = static_cast<size_t>(std::min<uint64_t>(left_, input->size()));
    *data = input->first(count);
    *input = input->subspan(count);
    left_ -= count;
    return Step::kData;
  }
  while (state_ == State::kPrefix) {
    if (input->empty()) return Step::kNeedMore;
    TakePrefix(input->front());
    *input = input->subspan(1);
  }
  return state_ == State::kData ? Step::kMessage : Step::kError;
}

}  // namespace wf::grpc
