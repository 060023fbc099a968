#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/net/connection.h"
#include "runtime/protocol/http1/decoder.h"
#include "runtime/protocol/http1/encoder.h"
#include "runtime/server/exchange.h"

namespace wf::server {

class HttpSession;

struct SessionLimits {
  int64_t header_ms = 10'000;
  int64_t idle_ms = 75'000;
  http1::Limits head = {};
  size_t waiting_bytes = 32 << 20;  // of heads that are not whole and of requests behind others, of all connections of the loop
};

// The sessions of one loop, and those that go on in its next turn: their answer has come, or they have had their share of this turn.
// Thread: loop-confined.   Owns: sessions.   Bounds: keeps 1,024 idle sessions.
class HttpSessions {
 public:
  HttpSessions(Site& site, const SessionLimits& limits) : site_(site), limits_(limits) {}
  ~HttpSessions();
  HttpSessions(const HttpSessions&) = delete;
  HttpSessions& operator=(const HttpSessions&) = delete;

  HttpSession* Open(net::Connection& connection) noexcept;
  void ResumeWaiting() noexcept;                                      // once a turn
  bool has_waiting() const { return !waiting_.empty(); }              // the loop must not sleep
  void set_limits(const SessionLimits& limits) { limits_ = limits; }  // of connections that begin later, times of all
  ExchangePool& exchanges() { return exchanges_; }

 private:
  friend class HttpSession;
  static constexpr size_t kMaxIdle = 1024;
  Site& site_;
  SessionLimits limits_;
  ExchangePool exchanges_;
  std::vector<HttpSession*> idle_, waiting_, resuming_;
  size_t waiting_bytes_ = 0;
};

// HTTP/1.1 on one connection: one request at a time, later ones wait as bytes.
// Thread: loop-confined.   Owns: bytes of requests that wait.   Borrows: connection, until OnClosed.
// Bounds: kMaxPending bytes of later requests and one read, then reading stops; they share SessionLimits::waiting_bytes, beyond which they
// are refused; kTurnRequests are answered in one turn of the loop, and
// none while a lot waits to be sent; of that, all but kMaxUnclaimed bytes are claimed of the site; a refused body is read up to
// kMaxDiscarded, then the connection closes.
class HttpSession final : public net::Handler {
 public:
  static constexpr size_t kMaxPending = 64 * 1024, kMaxDiscarded = 64 * 1024, kMaxUnclaimed = 16 * 1024;
  static constexpr int kTurnRequests = 64;

  explicit HttpSession(HttpSessions& owner) : owner_(owner) {}

  // The answer of the exchange that this session waits for. `body` is taken; `head` and `headers` are read.
  void Reply(Exchange& exchange, int status, std::string_view content_type, std::span<const http1::Header> headers, wf_sink& body) noexcept;
  // Room for an answer of so many bytes until it has left. False: there is none but for a short one.
  bool ClaimUnsent(size_t bytes) noexcept;
  // The drain's limit: what is under way is answered Unavailable, and the connection closes.
  void Abort() noexcept;
  bool between_requests() const { return exchange_ == nullptr && pending_bytes() == 0; }
  size_t pending_bytes() const { return pending_.size() - pending_at_; }
  net::Connection& connection() { return *connection_; }

  void OnBytes(std::span<const uint8_t> bytes) noexcept override;
  void OnFlushed() noexcept override;
  void OnTimeout() noexcept override;
  void OnClosed(net::Closed how) noexcept override;

 private:
  friend class HttpSessions;
  void Start(net::Connection& connection) noexcept;
  std::span<const uint8_t> Process(std::span<const uint8_t> bytes) noexcept;  // what is left waits
  bool Begin() noexcept;
  bool CountWaiting(size_t head_bytes) noexcept;
  void OnPartOfHead() noexcept;
  void Hold(std::span<const uint8_t> bytes) noexcept;
  void DropPending() noexcept;
  void RefusePending() noexcept;
  void GoOnNextTurn() noexcept;
  void OnHead() noexcept;
  void OnChunk() noexcept;
  void OnBody() noexcept;
  void OnEnd() noexcept;
  uint64_t received() const { return exchange_->body.size() + discarded_; }
  void RefuseSize() noexcept;
  void ArmBody() noexcept;
  bool RefuseLate() noexcept;
  void AnswerRefusal(bool close) noexcept;
  void AnswerBroken(int status, std::string_view reason) noexcept;
  void UnclaimUnsent() noexcept;
  void FinishExchange() noexcept;
  void Resume() noexcept;
  void ArmIdle() noexcept;

  HttpSessions& owner_;
  net::Connection* connection_ = nullptr;
  http1::Decoder decoder_;
  Exchange* exchange_ = nullptr;
  std::vector<uint8_t> pending_;
  size_t pending_at_ = 0;  // before it, pending_ has been read
  size_t head_bytes_ = 0;  // of a head that is not whole
  size_t counted_ = 0;     // by the owner, as waiting
  uint64_t discarded_ = 0, body_mark_ = 0;
  size_t claimed_ = 0;           // of what waits to be sent
  bool waiting_ = false;         // the request is complete, its answer is not there
  bool processing_ = false;      // inside Process: an answer needs no resumption
  bool closing_ = false;         // nothing more is read
  bool held_ = false;            // reading has stopped
  bool overfull_ = false;        // there was no room for pending_: what follows is a refusal
  bool until_deadline_ = false;  // what the time limit of a body is for
  bool listed_ = false;          // goes on in the next turn
};

}  // namespace wf::server
