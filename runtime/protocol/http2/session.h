#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/base/budget.h"
#include "runtime/protocol/http/breach.h"
#include "runtime/protocol/http/reply.h"
#include "runtime/protocol/http2/blocks.h"
#include "runtime/protocol/http2/frames.h"
#include "runtime/protocol/http2/heads.h"
#include "runtime/protocol/http2/limits.h"
#include "runtime/protocol/http2/repeats.h"
#include "runtime/protocol/http2/stream.h"

struct nghttp2_session;

namespace wf::http2 {

// What a session tells. Calls come from inside Receive, Send and Close; they may call Answer and its like.
class User {
 public:
  virtual http::Head* OnBegin(Stream& stream) noexcept = 0;  // where its head goes; null: there is no room, the client may try again
  virtual void OnHead(Stream& stream) noexcept = 0;
  // In place of OnHead: it is too large (431), no request (400), or there is no memory for it (http::kNoMemory). Nothing else comes but
  // OnClosed.
  virtual void OnBadHead(Stream& stream, int status, std::string_view reason) noexcept = 0;
  // The view ends with the call. How much of it is taken: the window opens again by so much, by the rest with Consume.
  virtual size_t OnBody(Stream& stream, std::span<const uint8_t> part) noexcept = 0;
  virtual void OnEnd(Stream& stream) noexcept = 0;
  virtual void OnClosed(Stream& stream) noexcept = 0;  // answered, or reset by either side; the last call
  // The connection ends for it; once. `why` ends with the call, and is what the peer is told with GOAWAY.
  virtual void OnBreach(http::Breach breach, std::string_view why) noexcept = 0;

 protected:
  ~User() = default;
};

// HTTP/2 of a server on one connection: bytes in, bytes out, no I/O.
// Thread: loop-confined.   Owns: open streams.   Borrows: pool; user.
// Errors: Receive says that nothing more can be read; what tells the peer why leaves with Send, after which the session is over. From then
// on, or from when the mistake is seen here, it has ended: calls under way are the user's to give up.
// Bounds: Limits; a head that passes them is read to its end and dropped, one of eight times the bytes ends the connection, as does a field
// of more than 64 KiB, which nghttp2 does not unpack. What a peer may send for nothing (resets, pings, settings, empty frames, those of no
// known type, mistakes) has a budget, beyond which the connection ends with ENHANCE_YOUR_CALM. Of a request that is answered before it is
// whole, what its window lets come is dropped, for a while.
// Cost: bodies leave by reference in frames of whole blocks; no allocation.
class Session {
 public:
  Session(Pool& pool, User& user);
  ~Session() { Close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool Open(const Limits& limits) noexcept;                   // false: no memory
  void Close() noexcept;                                      // every open stream is told
  void set_head_limits(const http::Limits& limits) noexcept;  // of heads that begin later; what SETTINGS have told stays
  bool Receive(std::span<const uint8_t> bytes, int64_t now_ms) noexcept;
  // Moves what may be sent to `out`, until that holds `high_mark` bytes. False: no memory, the connection cannot go on.
  bool Send(wf_sink* out, size_t high_mark) noexcept;
  bool has_output() const noexcept;
  bool over() const noexcept;  // nothing more is to be read, nor will there be anything to send
  bool has_ended() const noexcept {
    return ended_ || (!broken_ && over());
  }  // for a mistake of the peer, or in peace: no answer reaches it any more

  // ---- the answer: whole, or its head, its parts, its end ----
  // `body` is taken; `without_body`: of a HEAD, which tells its length only. False: no memory.
  bool Answer(Stream& stream, const http::ReplyHead& head, wf_sink& body, bool without_body = false) noexcept;
  bool Begin(Stream& stream, const http::ReplyHead& head) noexcept;
  bool Add(Stream& stream, wf_sink& part) noexcept;
  bool End(Stream& stream, std::span<const http::Header> trailers) noexcept;
  void Continue(Stream& stream) noexcept;  // 100
  void Consume(Stream& stream, size_t bytes) noexcept;
  void Reset(Stream& stream) noexcept;  // with CANCEL

  void Warn() noexcept;    // asks the peer to begin no more requests here; those on their way are served
  void GoAway() noexcept;  // tells it which were served; later ones are not read
  void Fail() noexcept;    // ends the connection: the peer takes too long
  // Answers that have waited ever since the last call, and of which nothing has left, or of all of them less than `least` bytes.
  void ResetStalled(uint64_t least) noexcept;
  void ResetOverdue(int64_t now_ms, int64_t most_ms) noexcept;  // answers of which something has waited for so long
  // What has come of a head that is not whole, as the rest of it will be: it is refused for memory then. HPACK's state asks for its end.
  void DropHead() noexcept;
  void ResetLingering() noexcept;               // requests that still come two calls after their answer has left
  bool is_greeted() const { return greeted_; }  // the peer has begun to send frames
  size_t held_bytes() const noexcept;           // by unsent bodies, a head being read, and open streams
  size_t open_streams() const { return open_; }
  template <typename Function>
  void ForEach(Function&& function) {
    for (Stream *at = first_, *next = nullptr; at != nullptr; at = next) {
      next = at->next_;
      function(*at);
    }
  }

 private:
  friend struct Callbacks;
  struct Mistake {
    uint32_t error = 0;  // NO_ERROR: it is none
    std::string_view why;
  };
  bool Submit(Stream& stream, const http::ReplyHead& head, int64_t length, bool ends) noexcept;
  bool Queue(Stream& stream, wf_sink& part) noexcept;
  bool PutTrailers(Stream& stream) noexcept;
  Stream* Find(int32_t id) noexcept;  // null: it is closed, or was refused
  void CloseStream(Stream& stream) noexcept;
  void Drop(size_t bytes) noexcept;
  void Spend() noexcept;
  // A function of nghttp2. What it calls fatal leaves its session fit for its end alone: nothing is asked of it after that.
  template <typename Function>
  void Ask(Function function) noexcept {
    if (!broken_) Note(function());
  }
  void Note(int result) noexcept;
  void Terminate(uint32_t error, http::Breach breach, std::string_view why) noexcept;  // `why` lives for ever
  void EndWith(uint32_t error) noexcept;
  void TellBreach(http::Breach breach, std::string_view why) noexcept;
  void OnFrameHead(const FrameHead& head) noexcept;
  void CountField(size_t bytes) noexcept;
  void OnSettings() noexcept;
  void OnTableBytes(uint32_t bytes) noexcept;
  void OnAcknowledged() noexcept;
  bool MoveHeads() noexcept;
  bool MoveBefore(const uint8_t* frame) noexcept;
  Mistake MistakeOf(const FrameHead& head) noexcept;
  bool PutFrame(const uint8_t* frame, size_t bytes) noexcept;
  bool PutGoAway(const uint8_t* frame, size_t bytes) noexcept;
  void OnDataFrame(size_t length, size_t padding, bool ends) noexcept;
  int64_t ReadAll(const FrameHeads::Part& before, std::span<const uint8_t> bytes) noexcept;
  int64_t Read(std::span<const uint8_t> bytes) noexcept;
  bool IsPassedOver(const FrameHead& head) noexcept;
  bool IsRepeated(const FrameHead& head, std::span<const uint8_t> bytes) noexcept;
  int64_t ReadStandIn(const FrameHead& head) noexcept;
  void FinishRepeated(Stream& stream) noexcept;
  void FinishHead(Stream& stream) noexcept;
  void RefuseHead(Stream& stream, int status, std::string_view reason) noexcept;

  Pool& pool_;
  User& user_;
  Held held_;  // all that session_ is
  nghttp2_session* session_ = nullptr;
  Limits limits_;
  base::Budget budget_;
  int64_t now_ms_ = 0;
  wf_sink* out_ = nullptr;  // during Send
  size_t high_mark_ = 0, body_blocks_ = 0, open_ = 0;
  Stream *first_ = nullptr, *latest_ = nullptr;  // of all open ones; that was looked for
  Stream* reading_ = nullptr;                    // whose head is being read; null: none, or nobody wants it
  size_t block_bytes_ = 0;                       // of the fields being read
  size_t field_bytes_ = 0;                       // that have come since the last of them was whole, or a read more: nghttp2 has them
  FrameHeads frames_;
  Repeats repeats_;
  HeadWriter writer_;
  wf_sink before_ack_;                 // heads that were packed before the peer's last SETTINGS, which are not acknowledged yet
  size_t unacknowledged_ = 0;          // SETTINGS of the peer
  uint32_t table_bytes_ = UINT32_MAX;  // what they let HPACK's table have, once all are acknowledged
  uint32_t list_bytes_ = UINT32_MAX;   // and fields of an answer, at once
  StreamEnds stream_ends_;
  IdleResets idle_resets_;
  size_t passes_ = 0;  // bytes to come of a frame that is passed over
  int ends_ = 0;       // of bodies, without data, that no stream has taken yet
  bool greeted_ = false, sent_since_ping_ = false, breached_ = false, warned_ = false;
  std::string_view why_;      // it has ended for a mistake that nghttp2 knows nothing of; empty: none
  bool ended_ = false;        // it is about to be told why, at the latest
  bool broken_ = false;       // there was no memory for what nghttp2 had to do
  bool in_block_ = false;     // between HEADERS and the last CONTINUATION
  bool of_fields_ = false;    // the last frame that has begun is one of them
  bool repeats_one_ = false;  // nghttp2 reads a stand-in
};

// What the sessions of one loop share: how they call nghttp2, and memory.
// Thread: loop-confined.   Owns: idle streams, blocks.   Outlives its sessions.   Bounds: keeps kMaxIdle streams.
class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void DropIdle() noexcept;

 private:
  friend class Session;
  friend struct Callbacks;
  static constexpr size_t kMaxIdle = 1024;
  Stream* Take() noexcept;
  void Give(Stream& stream) noexcept;

  struct Parts;
  const std::unique_ptr<Parts> parts_;
  Stream* idle_ = nullptr;
  size_t idle_count_ = 0;
};

}  // namespace wf::http2
