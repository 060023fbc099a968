#include "runtime/protocol/http1/chunks.h"

#include <algorithm>

#include "runtime/base/ascii.h"
#include "runtime/protocol/http/reply.h"

namespace wf::http1 {
namespace {

constexpr int kTooLarge = 413, kManyFields = 431;  // of trailers, which are fields

bool IsText(uint8_t byte) { return byte == '\t' || (byte >= 0x20 && byte != 0x7f); }

}  // namespace

bool Chunks::Fail(std::string_view reason, int status) {
  reason_ = reason;
  status_ = status;
  return false;
}

bool Chunks::TakeSize(uint8_t byte) {
  const int digit = base::HexValue(static_cast<char>(byte));
  if (digit >= 0) {
    constexpr uint32_t kMaxDigits = 15;  // leading zeros included: nobody needs more, and 2^60 cannot overflow
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    return ++digits_ <= kMaxDigits || Fail("the size of a chunk has more than 15 hexadecimal digits");
  }
  if (digits_ == 0) return Fail("a chunk begins without a size in hexadecimal digits");
  if (byte == '\r') {
    state_ = State::kSizeLf;
    return true;
  }
  state_ = State::kExtension;
  if (byte == '\n') return Fail("the size of a chunk ends in LF without CR");
  return byte == ';' || Fail("the size of a chunk holds what is no hexadecimal digit");
}

bool Chunks::TakeExtension(uint8_t byte) {
  if (byte == '\r')
    state_ = State::kSizeLf;
  else if (byte == '\n')
    return Fail("the size of a chunk ends in LF without CR");
  else if (!IsText(byte))
    return Fail("a control character in the extension of a chunk");
  return true;
}

// Trailer lines up to the empty one; each is a name, a colon behind it, and text.
bool Chunks::TakeTrailer(uint8_t byte) {
  if (byte == '\r') {
    state_ = State::kTrailerLf;
    return trailer_line_ == 0 || named_ || Fail("a trailer without a colon");
  }
  const bool first = trailer_line_++ == 0;
  if (first && (byte == ' ' || byte == '\t')) return Fail("a folded trailer line");
  if (first && byte == ':') return Fail("a trailer without a name");
  if (byte == '\n') return Fail("a trailer line ends in LF without CR");
  if (!IsText(byte)) return Fail("a control character in a trailer");
  named_ = (named_ && !first) || byte == ':';
  const char c = static_cast<char>(byte);
  return named_ || http::IsToken({&c, 1}) || Fail("a trailer's name is not a token");
}

bool Chunks::TakeFraming(uint8_t byte) {
  switch (state_) {
    case State::kSize:
    case State::kExtension:
      if (++line_bytes_ > kMaxLineBytes) return Fail("the extensions of a chunk are too long", kTooLarge);
      return state_ == State::kSize ? TakeSize(byte) : TakeExtension(byte);
    case State::kSizeLf:
      if (byte != '\n') return Fail("a CR without LF behind the size of a chunk");
      if (++chunks_ > kMaxChunks) return Fail("the body has more than 65536 chunks", kTooLarge);
      state_ = left_ == 0 ? State::kTrailer : State::kData;
      line_bytes_ = digits_ = trailer_line_ = 0;
      return true;
    case State::kDataCr:
      state_ = State::kDataLf;
      return byte == '\r' || Fail("the data of a chunk does not end where its size says: CR LF is missing");
    case State::kDataLf:
      state_ = State::kSize;
      return byte == '\n' || Fail("a CR without LF behind the data of a chunk");
    case State::kTrailer:
      return ++line_bytes_ <= kMaxTrailerBytes ? TakeTrailer(byte) : Fail("the trailers are too long", kManyFields);
    case State::kTrailerLf:
      state_ = trailer_line_ == 0 ? State::kEnd : State::kTrailer;
      trailer_line_ = 0;
      return byte == '\n' || Fail("a CR without LF in the trailers");
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
