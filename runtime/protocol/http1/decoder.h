#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/protocol/http/head.h"
#include "runtime/protocol/http1/chunks.h"
#include "runtime/protocol/http1/repeats.h"

namespace wf::http1 {

inline constexpr std::string_view kHttp2Begin = "PRI * HTTP/2.0\r\n\r\n";  // the first half of the preface: a head like any other

enum class Event : uint8_t {
  kNeedMore,  // the input is used up
  kHead,      // the Head is complete
  kChunk,     // chunk_bytes() more of a chunked body are announced; none of them need be there
  kBody,      // body() is a part of the body, in the input
  kEnd,       // the message is complete; what is left of the input belongs to the next one
  kHttp2,     // the preface of HTTP/2 was there instead of a request (RFC 9113 3.4); what is left of the input is its second half
  kError,     // the connection cannot be understood any further: answer status() with reason(), then close
};

// Turns the bytes of one connection into messages.
// Thread: loop-confined.   Borrows: the Head given to Next, until kEnd.
// Bounds: http::Limits; it stores nothing but the head, and one that came before.   Cost: one copy of the head, no allocation once the Head
// has its capacity.
class Decoder {
 public:
  explicit Decoder(const http::Limits& limits = {}) : limits_(limits) {}
  void set_limits(const http::Limits& limits);  // of what comes next. REQUIRES: between_messages()

  // The next event of `input`, from which it drops what it has used.
  Event Next(std::span<const uint8_t>* input, http::Head* head);

  std::span<const uint8_t> body() const { return body_; }
  uint64_t chunk_bytes() const { return chunks_.left(); }
  bool between_messages() const { return state_ == State::kHead && !started_; }
  bool is_http2() const { return state_ == State::kHttp2; }
  bool in_head() const { return state_ == State::kHead; }
  int status() const { return status_; }
  std::string_view reason() const { return reason_; }

 private:
  enum class State : uint8_t { kHead, kLength, kChunks, kEnd, kError, kHttp2 };
  Event NextOfHead(std::span<const uint8_t>* input, http::Head* head);
  Event TakeLine(http::Head* head, bool* done);
  Event Parse(http::Head* head);
  Event SplitTarget(http::Head* head);
  Event Check(http::Head* head, uint64_t length, bool chunked, bool has_length);
  Event BeginBody(uint64_t length, bool chunked);
  Event Fail(int status, std::string_view reason);

  http::Limits limits_;
  Repeats repeats_;
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
