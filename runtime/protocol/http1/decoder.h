#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/protocol/http1/chunks.h"
#include "runtime/protocol/http1/head.h"

namespace wf::http1 {

struct Limits {
  size_t head_bytes = 32 * 1024;
  size_t request_line_bytes = 8 * 1024;
  size_t headers = 128;
};

enum class Event : uint8_t {
  kNeedMore,  // the input is used up
  kHead,      // the Head is complete
  kChunk,     // chunk_bytes() more of a chunked body are announced; none of them need be there
  kBody,      // body() is a part of the body, in the input
  kEnd,       // the message is complete; what is left of the input belongs to the next one
  kError,     // the connection cannot be understood any further: answer status() with reason(), then close
};

// Turns the bytes of one connection into messages.
// Thread: loop-confined.   Borrows: the Head given to Next, until kEnd.
// Bounds: Limits; it stores nothing but the head.   Cost: one copy of the head, no allocation once the Head has its capacity.
class Decoder {
 public:
  explicit Decoder(const Limits& limits = {}) : limits_(limits) {}

  // The next event of `input`, from which it drops what it has used.
  Event Next(std::span<const uint8_t>* input, Head* head);

  std::span<const uint8_t> body() const { return body_; }
  uint64_t chunk_bytes() const { return chunks_.left(); }
  bool between_messages() const { return state_ == State::kHead && !started_; }
  bool in_head() const { return state_ == State::kHead; }
  int status() const { return status_; }
  std::string_view reason() const { return reason_; }

 private:
  enum class State : uint8_t { kHead, kLength, kChunks, kEnd, kError };
  Event NextOfHead(std::span<const uint8_t>* input, Head* head);
  Event TakeLine(Head* head, bool* done);
  Event Parse(Head* head);
  Event SplitTarget(Head* head);
  Event Check(Head* head, uint64_t length, bool chunked, bool has_length);
  Event Fail(int status, std::string_view reason);

  Limits limits_;
  State state_ = State::kHead;
  bool started_ = false;     // bytes of a head have come
  uint8_t empty_lines_ = 0;  // before the request line
  size_t line_ = 0;          // where the current line begins in the head's bytes
  uint64_t left_ = 0;        // of a body with a length
  Chunks chunks_;
  std::span<const uint8_t> body_;
  int status_ = 0;
  std::string_view reason_;
};

}  // namespace wf::http1
