#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/base/sink.h"
#include "runtime/net/wire.h"

namespace wf::net {

class Connection;
class Connections;

enum class Closed : uint8_t { kByPeer, kByError, kByUs };

// What speaks a protocol on a connection. Calls come on the connection's loop, never from inside a call of the handler into the connection.
class Handler {
 public:
  virtual ~Handler() = default;
  // Bytes have come; the view ends with the call. What was put into out() is sent afterwards.
  virtual void OnBytes(std::span<const uint8_t> bytes) noexcept = 0;
  virtual void OnFlushed() noexcept = 0;  // everything put into out() has left
  virtual void OnTimeout() noexcept = 0;  // the limit set by SetTimeout has come
  // The peer sends no more, but may still read. True: there is something to say to it, and CloseAfterFlush comes; else the connection ends.
  virtual bool OnHalfClosed() noexcept { return false; }
  virtual void OnEndUnread() noexcept {}  // the same while reading is paused, and again each second; what was sent before is unread
  virtual void OnClosed(Closed how) noexcept = 0;  // the last call; the connection is gone
};

// Of every connection of a loop.
struct ConnectionLimits {
  static constexpr int64_t kLeastRate = 1024;  // bytes a second

  int64_t write_timeout_ms = 30'000;    // for a peer to take all that waits, or kLeastRate of it; else it is cut off
  int64_t answer_timeout_ms = 300'000;  // the same for all that waits, whatever its rate
  size_t unsent_bytes = 256 * 1024;     // reading stops while so much waits to be sent
  size_t turn_bytes = 256 * 1024;       // read before other connections get their turn
};

// What a protocol sees of a wire: bytes in, bytes out, back-pressure, time limits.
// Thread: loop-confined.   Owns: its wire, bytes on their way out.   Borrows: handler, until OnClosed.
// Errors: a broken wire is OnClosed.
// Bounds: ConnectionLimits of its owner.   Cost: one read and one writev per event, no allocation.
class Connection final : private WireUser {
 public:
  explicit Connection(Connections& owner);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  wf_sink& out() { return out_; }
  void FlushLater() noexcept;    // out() is sent at the end of this turn
  void PauseReading() noexcept;  // for back-pressure; a peer that leaves is noticed within a second, by OnEndUnread
  void ResumeReading() noexcept;
  // linger: the peer may still be sending, and closing under its bytes would destroy what it has not read: half-closes and drops bytes for
  // a while.
  void CloseAfterFlush(bool linger = false) noexcept;  // reads no more, sends what is in out(), then closes
  void Close() noexcept;
  void SetTimeout(int64_t ms) noexcept;  // from the begin of this turn, in steps of a second; 0: none
  bool closing() const { return closing_; }
  bool lingering() const { return lingering_; }  // half-closed, until the peer closes, too
  bool has_unread() const noexcept { return wire_->has_unread(); }
  bool opening() const { return wire_->opening(); }  // by a handshake; nothing has come for the handler
  int64_t now_ms() const noexcept;                   // as of the begin of this turn
  Handler* handler() const { return handler_; }
  void SetHandler(Handler& handler) { handler_ = &handler; }  // another protocol goes on from here

 private:
  friend class Connections;
  bool Open(int fd, Handler* handler) noexcept;
  void OnReceived(std::span<const uint8_t> bytes) noexcept override;
  void OnEnd(bool broken) noexcept override;
  void OnRefused(std::string_view why) noexcept override;
  void OnBreach(std::string_view why) noexcept override;
  void OnSent(bool ok) noexcept override;
  void OnWireClosed() noexcept override;
  void Flush() noexcept;
  bool Send() noexcept;
  void SendRest() noexcept;
  void UpdateReading() noexcept;
  void Took(size_t bytes) noexcept;
  void FinishAfterFlush() noexcept;
  void OnWriteTimeout() noexcept;
  void CutOff(std::string_view why) noexcept;
  void Finish(Closed how) noexcept;

  Connections& owner_;
  const std::unique_ptr<Wire> wire_;
  Handler* handler_ = nullptr;
  wf_sink out_;
  size_t in_flight_ = 0;  // bytes that the wire sends by itself
  size_t unsent_ = 0;     // of the wire, when the time limit was set
  size_t due_bytes_ = 0;  // of out_, that are to have left at due_at_ms_
  size_t turn_bytes_ = 0;
  int64_t timeout_at_ms_ = 0, write_timeout_at_ms_ = 0, due_at_ms_ = 0;
  Closed how_ = Closed::kByUs;
  bool paused_ = false, reading_ = false, dirty_ = false, closing_ = false, close_after_flush_ = false, linger_ = false, lingering_ = false,
       unflushed_ = false, half_closed_ = false;
  Connection* next_dirty_ = nullptr;
  Connection* previous_ = nullptr;  // of all open ones, or of the pool
  Connection* next_ = nullptr;
};

}  // namespace wf::net
