#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/growing.h"
#include "runtime/protocol/http1/decoder.h"
#include "runtime/protocol/http1/encoder.h"
#include "runtime/server/session.h"

namespace wf::server {

// HTTP/1.1 on one connection: one request at a time, later ones wait as bytes.
// Thread: loop-confined.   Owns: bytes of requests that wait.   Borrows: connection, until OnClosed.
// Bounds: kMaxPending bytes of later requests and one read, then reading stops; they share SessionLimits::waiting_bytes with heads that are
// not whole, and are claimed of the site as those are: beyond either, and while memory is short, they are dropped and refused;
// kTurnRequests are answered in one turn of the loop, and none while a lot waits to be sent; a refused body is read up to
// SessionLimits::discarded_bytes, then the connection closes.
class Http1Session final : public Session {
 public:
  static constexpr size_t kMaxPending = 64 * 1024;
  static constexpr int kTurnRequests = 64;
  static constexpr int kIdleTicks = 10;    // of a drain, for a client to send what it is about to: the answer then says that it is the last
  static constexpr int kLingerTicks = 10;  // for one to see the end, or what it has sent by then would break the connection

  explicit Http1Session(Sessions& owner) : Session(owner, 0) {}  // whose one exchange is little beside the connection

  void OnLate(Exchange& exchange) noexcept override;
  void OnDrainTick() noexcept override;
  void Abort() noexcept override;
  void OnMemoryShort() noexcept override;
  size_t pending_bytes() const { return pending_.size() - pending_at_; }

  void OnBytes(std::span<const uint8_t> bytes) noexcept override;
  void OnFlushed() noexcept override;
  void OnTimeout() noexcept override;
  bool OnHalfClosed() noexcept override;
  void OnEndUnread() noexcept override;
  void OnClosed(net::Closed how) noexcept override;

 private:
  friend class Sessions;
  enum class Request : uint8_t {
    kFirst,      // no head has come yet
    kNext,       // one may begin, or is coming
    kAnswering,  // it is complete, its answer is not there
  };
  enum class Input : uint8_t {
    kOpen,
    kHeld,      // reading has stopped until less is pending
    kEnded,     // nothing more comes; what came is answered
    kOverfull,  // there was no room for pending_: a refusal follows, and the end
    kClosing,   // nothing more is read
  };
  bool answering() const { return request_ == Request::kAnswering; }
  bool closing() const { return input_ == Input::kClosing; }
  void Start(net::Connection& connection) noexcept;
  std::span<const uint8_t> Process(std::span<const uint8_t> bytes) noexcept;  // what is left waits
  void GoOnAsHttp2(std::span<const uint8_t> rest) noexcept;
  bool Begin() noexcept;
  bool CountWaiting(size_t head_bytes) noexcept;
  void OnPartOfHead() noexcept;
  void Hold(std::span<const uint8_t> bytes) noexcept;
  void DropPending() noexcept;
  void GiveWay(std::string_view why) noexcept;  // what waits is dropped, and refused; `why` lives for ever
  void RefusePending() noexcept;
  void OnHead() noexcept;
  void OnChunk() noexcept;
  void OnBody() noexcept;
  void OnEnd() noexcept;
  void OnError() noexcept;
  void EndInRefusal(bool close) noexcept;
  void AnswerBroken(int status, std::string_view reason) noexcept;
  void AnswerBreach(int status, std::string_view reason) noexcept;
  void FinishExchange() noexcept;
  void Resume() noexcept override;
  void Put(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept override;
  size_t unsent() const noexcept override { return connection_->out().size() + counted_; }
  void ArmIdle() noexcept;
  bool HasLastWords() noexcept;
  void End() noexcept;  // is not used any more

  http1::Decoder decoder_;
  Exchange* exchange_ = nullptr;
  base::Growing<uint8_t> pending_;
  size_t pending_at_ = 0;  // before it, pending_ has been read
  size_t head_bytes_ = 0;  // of a head that is not whole
  size_t counted_ = 0;     // by the owner, as waiting
  std::string_view why_;   // pending_ is refused
  int idle_ticks_ = 0;     // of a drain, with nothing under way
  Request request_ = Request::kFirst;
  Input input_ = Input::kOpen;
  bool processing_ = false;  // inside Process: an answer needs no resumption
};

}  // namespace wf::server
