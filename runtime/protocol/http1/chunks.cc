#include "runtime/protocol/http1/chunks.h"

#include <algorithm>

namespace wf::http1 {
namespace {

int HexValue(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  const auto lower = static_cast<uint8_t>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool Chunks::TakeSize(uint8_t byte) {
  const int digit = HexValue(byte);
  if (digit >= 0) {
    constexpr uint32_t kMaxDigits = 15;  // leading zeros included: nobody needs more, and 2^60 cannot overflow
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    return ++digits_ <= kMaxDigits;
  }
  if (digits_ == 0) return false;
  if (byte == '\r') {
    state_ = State::kSizeLf;
    return true;
  }
  state_ = State::kExtension;
  return byte == ';';
}

// Trailer lines up to the empty one; a line may not begin with white space and holds no control characters.
bool Chunks::TakeTrailer(uint8_t byte) {
  if (byte == '\r') {
    state_ = State::kTrailerLf;
    return true;
  }
  const bool first = trailer_line_++ == 0;
  if (first && (byte == ' ' || byte == '\t' || byte == ':')) return false;
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool Chunks::TakeFraming(uint8_t byte) {
  switch (state_) {
    case State::kSize:
      return ++line_bytes_ <= kMaxLineBytes && TakeSize(byte);
    case State::kExtension:
      if (byte == '\r') state_ = State::kSizeLf;
      return ++line_bytes_ <= kMaxLineBytes && (byte == '\r' || byte == '\t' || (byte >= 0x20 && byte != 0x7f));
    case State::kSizeLf:
      state_ = left_ == 0 ? State::kTrailer : State::kData;
      line_bytes_ = digits_ = trailer_line_ = 0;
      return byte == '\n' && ++chunks_ <= kMaxChunks;
    case State::kDataCr:
      state_ = State::kDataLf;
      return byte == '\r';
    case State::kDataLf:
      state_ = State::kSize;
      return byte == '\n';
    case State::kTrailer:
      return ++line_bytes_ <= kMaxTrailerBytes && TakeTrailer(byte);
    case State::kTrailerLf:
      state_ = trailer_line_ == 0 ? State::kEnd : State::kTrailer;
      trailer_line_ = 0;
      return byte == '\n';
    case State::kData:
    case State::kEnd:
      break;
  }
  return false;
}

Chunks::Step Chunks::Next(std::span<const uint8_t>* input, std::span<const uint8_t>* data) {
  while (!input->empty()) {
    if (state_ == State::kData) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(left_, input->size()));
      *data = input->first(count);
      *input = input->subspan(count);
      left_ -= count;
      if (left_ == 0) state_ = State::kDataCr;
      return Step::kData;
    }
    if (!TakeFraming(input->front())) return Step::kError;
    *input = input->subspan(1);
    if (state_ == State::kEnd) return Step::kEnd;
    if (state_ == State::kData) return Step::kChunk;
  }
  return Step::kNeedMore;
}

}  // namespace wf::http1
