#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/base/memory_limit.h"
#include "runtime/net/connection.h"
#include "runtime/protocol/http/reply.h"
#include "runtime/protocol/http2/session.h"
#include "runtime/server/exchange.h"

namespace wf::server {

class Http1Session;
class Http2Session;
class Sessions;

// What sites and the drain see of a connection, whatever version of HTTP it speaks.
// Thread: loop-confined.   Borrows: owner; connection, until OnClosed.
// Bounds: of what waits to be sent, of open streams, and of requests that are coming (heads, bodies that are too small to be claimed one by
// one, and what we keep of each), all but kMaxUnclaimed bytes are claimed of the site by the end of each read. Where there is no room,
// requests and the site's own answers are refused, and a connection that holds more than refusals may take is closed.
class Session : public net::Handler {
 public:
  static constexpr size_t kMaxUnclaimed = 4 * 1024;

  // `request_bytes`: of what each request that is coming takes, whatever it brings.
  explicit Session(Sessions& owner, size_t request_bytes) : owner_(owner), request_bytes_(request_bytes) {}

  // The answer of an exchange of this session. `body` is taken; `head` is read. Without room it becomes a refusal.
  void Reply(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept;
  // One more message of a call that streams, whose answer ends with Reply.
  virtual void Send(Exchange&, wf_sink&) noexcept {}
  // Room for an answer of so many bytes until it has left. False: there is none but for a short one. `claim`: for a part of it, which goes
  // over to the session if there is room.
  bool ClaimUnsent(size_t bytes, base::MemoryClaim* claim = nullptr) noexcept;
  // What a request that is coming takes with its head and a small body, as of now; refuses it where there is no room. Drop: they are whole,
  // or gone.
  void Keep(Exchange& exchange) noexcept;
  void Drop(Exchange& exchange) noexcept;
  virtual void OnLate(Exchange& exchange) noexcept = 0;  // which is still coming: its deadline has passed
  virtual void OnMemoryShort() noexcept = 0;             // heads and bodies that are still coming are refused
  virtual void OnReturned() noexcept {}                  // an exchange that returns to this session is no longer used
  virtual void OnDrainTick() noexcept = 0;  // every so often while the server drains: closes a connection that nothing is under way on
  virtual void Abort() noexcept = 0;        // the drain's limit: what is under way is answered Unavailable, and the connection closes
  // So many parts of what the peer sends were read. What came in one part took no time.
  uint64_t reads() const { return reads_; }

 protected:
  friend class Sessions;
  virtual void Resume() noexcept = 0;                                                             // the turn after GoOnNextTurn
  virtual void Put(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept = 0;  // Reply, with room
  virtual size_t unsent() const noexcept = 0;  // bytes of memory that keep what waits to be sent, or what is read of a head
  void GoOnNextTurn() noexcept;
  void Leave() noexcept;  // nothing resumes it any more
  // What has left is unclaimed, what has come beside it claimed. False: there is no room, and the connection has to go.
  [[nodiscard]] bool Settle() noexcept;

  Sessions& owner_;
  net::Connection* connection_ = nullptr;
  uint64_t reads_ = 0;

 private:
  size_t held() const noexcept { return connection_ == nullptr ? 0 : unsent() + kept_; }
  bool Claim(size_t bytes) noexcept;

  const size_t request_bytes_;
  size_t claimed_ = 0;
  size_t kept_ = 0;      // of requests that are coming
  bool listed_ = false;  // goes on in the next turn
};

struct SessionLimits {
  int64_t header_ms = 10'000;
  int64_t idle_ms = 75'000;
  int64_t body_rate = 1024;  // bytes a second, looked at every 5 s
  size_t discarded_bytes = kMaxDiscarded;
  uint32_t stream_messages = 16;  // of a stream of gRPC, under way at once
  net::ConnectionLimits of_connection = {};
  http::Limits head = {};
  http2::Limits of_http2 = {};
  size_t waiting_bytes = 32 << 20;  // of heads that are not whole and of requests behind others, of all connections of the loop
};

// The sessions of one loop, and those that go on in its next turn: their answer has come, or they have had their share of this turn.
// Thread: loop-confined.   Owns: sessions.   Bounds: keeps 1,024 idle sessions of each version.
class Sessions {
 public:
  Sessions(Site& site, const SessionLimits& limits) : site_(site), limits_(limits) {}
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  Session* Open(net::Connection& connection) noexcept;
  Session* OpenHttp2(net::Connection& connection) noexcept;           // null: no memory
  void ResumeWaiting() noexcept;                                      // once a turn
  bool has_waiting() const { return !waiting_.empty(); }              // the loop must not sleep
  void set_limits(const SessionLimits& limits) { limits_ = limits; }  // heads and times of all, the rest of connections that begin later
  void DropIdle() noexcept;                                           // frees what is kept for sessions to come
  ExchangePool& exchanges() { return exchanges_; }

 private:
  friend class Session;
  friend class Http1Session;
  friend class Http2Session;
  static constexpr size_t kMaxIdle = 1024;
  void GiveBack(Http1Session& session) noexcept;
  void GiveBack(Http2Session& session) noexcept;

  Site& site_;
  SessionLimits limits_;
  ExchangePool exchanges_;
  http2::Pool http2_;
  std::vector<Http1Session*> idle_http1_;
  std::vector<Http2Session*> idle_http2_;
  std::vector<Session*> waiting_, resuming_;
  size_t waiting_bytes_ = 0;
};

}  // namespace wf::server
