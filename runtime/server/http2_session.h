#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/protocol/http2/session.h"
#include "runtime/server/session.h"

namespace wf::server {

// HTTP/2 on one connection: many requests at a time.
// Thread: loop-confined.   Owns: the state of its streams.   Borrows: connection, until OnClosed.
// Bounds: a request whose stream was reset keeps its place among limits.streams until nothing of it is under way; of bodies nothing is
// moved to the connection beyond its high mark; a refused request is answered at once and its stream ended.
class Http2Session final : public Session, private http2::User {
 public:
  explicit Http2Session(Sessions& owner);

  void Send(Exchange& call, wf_sink& message) noexcept override;
  void OnLate(Exchange& exchange) noexcept override;
  void OnDrainTick() noexcept override;
  void Abort() noexcept override;
  void OnMemoryShort() noexcept override;
  void OnReturned() noexcept override;

  void OnBytes(std::span<const uint8_t> bytes) noexcept override;
  void OnFlushed() noexcept override;
  void OnTimeout() noexcept override;
  void OnClosed(net::Closed how) noexcept override;

 private:
  friend class Sessions;
  bool Start(net::Connection& connection) noexcept;
  http::Head* OnBegin(http2::Stream& stream) noexcept override;
  void OnHead(http2::Stream& stream) noexcept override;
  void OnBadHead(http2::Stream& stream, int status, std::string_view reason) noexcept override;
  size_t OnBody(http2::Stream& stream, std::span<const uint8_t> part) noexcept override;
  void OnEnd(http2::Stream& stream) noexcept override;
  void OnClosed(http2::Stream& stream) noexcept override;
  void OnBreach(http::Breach breach, std::string_view why) noexcept override { owner_.site_.OnBreach(breach, why); }
  void Resume() noexcept override;
  void Put(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept override;
  size_t unsent() const noexcept override;

  // http2_calls.cc: calls of gRPC that stream
  bool HasRoom(const Exchange& call) const noexcept;
  size_t TakeParts(Exchange& call, std::span<const uint8_t> bytes) noexcept;
  void TakeMessages(Exchange& call, std::span<const uint8_t>* bytes) noexcept;
  void BeginPart(Exchange& call) noexcept;
  bool Hold(Exchange& call, std::span<const uint8_t> bytes) noexcept;
  void TakeHeld() noexcept;
  void TakeHeldOf(Exchange& call) noexcept;
  void ReplyPart(Exchange& part, const http::ReplyHead& head, wf_sink& body) noexcept;
  void EndCall(Exchange& call, std::span<const http::Header> trailers) noexcept;
  void EndIfOver(Exchange& call) noexcept;
  void LeaveCall(Exchange& call) noexcept;  // nobody waits for its parts
  void EndIdleCalls() noexcept;

  // The head of an answer with what the site adds to all; valid until its next call.
  http::ReplyHead HeadOf(const Exchange& exchange, const http::ReplyHead& head, bool has_body) noexcept;
  void BeginWhole() noexcept;
  void FinishAnswered() noexcept;
  void Pump() noexcept;
  void GiveUp() noexcept;  // nobody waits for any answer
  void Arm() noexcept;
  void Tick() noexcept;
  void Break() noexcept;
  void BreakForMemory() noexcept;  // REQUIRES: no call of session_ is under way

  http2::Session session_;
  std::vector<Exchange*> whole_;     // came in this read; null: reset in it too
  std::vector<Exchange*> answered_;  // whose callers may still look at them
  uint32_t streams_ = 0;             // that the peer was told
  uint32_t places_ = 0;              // of requests that are under way, whether anybody waits for them or not
  uint32_t held_calls_ = 0;          // of which something is held
  int drain_ticks_ = 0;
  int64_t stall_ms_ = 0;
  bool may_read_ = true;     // nghttp2 takes more
  bool closing_ = false;     // nothing more is read or answered
  bool processing_ = false;  // answers are moved to the connection at the end of OnBytes
  enum class Wait : uint8_t { kNothing, kGreeting, kIdle, kTick };
  Wait waits_for_ = Wait::kNothing;  // what the connection's time limit is of
};

}  // namespace wf::server
