#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/sink.h"
#include "runtime/protocol/http/head.h"

namespace wf::http2 {

class Pool;

// One request and its answer.
// Thread: loop-confined.   Owns: what of the answer is not sent.   Borrows: head, until OnHead.   Pooled.
class Stream {
 public:
  void* user = nullptr;                  // the user's own
  bool ended() const { return ended_; }  // the whole request is here
  size_t unsent() const { return body_.size(); }

 private:
  friend class Session;
  friend class Pool;
  friend struct Callbacks;
  int32_t id_ = 0;
  http::Head* head_ = nullptr;    // being read; null: whole, or nobody wants it
  std::string_view head_passes_;  // which limit, so that the rest of it is dropped; empty: none
  bool refused_ = false, ended_ = false, answer_ended_ = false, lingers_ = false;  // answered, and its request is still coming
  int lingered_ = 0;                                                               // calls of ResetLingering since
  wf_sink body_;                                                                   // of the answer
  http::Head trailers_;                                                            // of the answer
  size_t untaken_ = 0;                            // of the request's body, of which the window is not open again
  uint64_t sent_ = 0, sent_before_ = UINT64_MAX;  // at the last look; UINT64_MAX: nothing waited then, or for a moment since
  uint64_t due_sent_ = 0, due_at_ms_ = 0;         // what `sent_` is to be by when; 0: nothing waited at the last look
  Stream *previous_ = nullptr, *next_ = nullptr;  // of all open ones, or of the pool
};

}  // namespace wf::http2
