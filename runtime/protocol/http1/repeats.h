#pragma once

#include <cstdint>
#include <span>

#include "runtime/protocol/http/head.h"

namespace wf::http1 {

// A head that a peer sends again byte for byte, as clients do whose requests differ in their bodies alone: the same bytes are the same
// head, which was read, and held to be one, before.
// Thread: loop-confined.   Owns: one head, which came twice in a row.
// Bounds: kMostBytes of its text.   Cost: a comparison and a copy; no allocation in steady state.
class Repeats {
 public:
  static constexpr size_t kMostBytes = 512;

  Repeats() = default;
  Repeats(Repeats&&) = default;  // the views of the head stay what they are; in a copy they would not
  Repeats& operator=(Repeats&&) = default;

  // `input` begins with the known head, and there is memory for it: true, and it moves from there to `head`.
  bool Take(std::span<const uint8_t>* input, http::Head* head) const;
  // The text of a whole head that is about to be read. True: the one before was the same, so that this one is worth knowing.
  bool Note(std::span<const uint8_t> text);
  void Learn(const http::Head& head);  // what that text came to

 private:
  bool known_ = false;
  size_t size_ = 0;  // of the text
  uint8_t text_[kMostBytes] = {};
  http::Head head_;
};

}  // namespace wf::http1
