#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/protocol/http/head.h"

namespace wf::http {

// The place of a request in the trace of its client: `traceparent` of W3C Trace Context, read and answered with an id of the request's own.
// Thread: loop-confined.   Owns: its text.
class Trace {
 public:
  // What is broken, comes twice, or is not there, is no trace. `span`: the id of the request, not 0.
  void Take(const Head& head, uint64_t span) noexcept;
  // The trace that begins here, whose spans are to be kept.
  void Begin(uint64_t trace_high, uint64_t trace_low, uint64_t span) noexcept;
  void SetSpan(uint64_t span) noexcept;  // of another part of the request
  void Clear() { known_ = false; }
  bool known() const { return known_; }
  // Empty where there is none; they view this.
  std::string_view parent() const { return known_ ? std::string_view(text_.data(), text_.size()) : std::string_view(); }  // as a header
  std::string_view trace_id() const { return known_ ? parent().substr(3, 32) : std::string_view(); }
  bool sampled() const;  // the spans of the trace are kept by whoever has a part in it
  struct Ids {
    uint64_t trace_high = 0, trace_low = 0, span = 0, parent = 0;  // parent: 0 where the trace begins
  };
  Ids ids() const;  // REQUIRES: known
  std::string_view span_id() const { return known_ ? parent().substr(36, 16) : std::string_view(); }

 private:
  std::array<char, 55> text_{};
  uint64_t parent_ = 0;
  bool known_ = false;
};

// `tracestate` of W3C Trace Context (3.3), of all its fields, as it stands beside a `traceparent` that is known. Empty: there is none, or a
// part of it is broken, which makes it none.
// Bounds: kMostStateBytes, for which whole members go, long ones first, then the last.
inline constexpr size_t kMostStateBytes = 512;
std::string StateOf(const Head& head);

}  // namespace wf::http
