#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/base/sink.h"

namespace wf::net {

// What a wire tells the connection on it. Calls come on the wire's loop, never from inside a call into the wire.
class WireUser {
 public:
  virtual ~WireUser() = default;
  virtual void OnReceived(std::span<const uint8_t> bytes) noexcept = 0;  // while it reads; the view ends with the call
  virtual void OnEnd(bool broken) noexcept = 0;                          // while it reads: the peer sends no more, or is gone
  // While it reads, in place of bytes: this peer is not let in. What it is told is on its way; what it sends is dropped.
  virtual void OnRefused(std::string_view why) noexcept = 0;
  // While it reads: the peer asks for more than it may. The wire is of no use any more; why: a constant text.
  virtual void OnBreach(std::string_view why) noexcept = 0;
  virtual void OnSent(bool ok) noexcept = 0;  // what Send took has left, or never will
  virtual void OnWireClosed() noexcept = 0;   // the last call, after Close; the wire may be opened again
};

// A stream of bytes from and to one peer: a socket, or what a simulation puts in its place.
// Thread: loop-confined.   Borrows: its user; pieces given to Send, until OnSent or OnWireClosed.
class Wire {
 public:
  virtual ~Wire() = default;               // REQUIRES: closed, or never opened
  virtual bool Open(int fd) noexcept = 0;  // takes the descriptor also when it fails; then too Close is due
  virtual void Read(bool on) noexcept = 0;
  // How many bytes the peer's side takes at once; negative: the wire is broken.
  virtual int64_t TrySend(std::span<const base::SinkPiece> pieces) noexcept = 0;
  // Sends the first so many bytes of the pieces as soon as they fit, and answers how many; negative: broken. One at a time.
  virtual int64_t Send(std::span<const base::SinkPiece> pieces) noexcept = 0;
  // What still is on this side of all that was sent, as the wire counts it: what the peer has taken is seen by how much less it has become.
  virtual size_t unsent() const noexcept = 0;
  // The peer sends no more, or is gone, whether or not what it sent has been read: for who does not read, and so hears nothing.
  virtual bool ended() const noexcept = 0;
  virtual bool has_unread() const noexcept = 0;  // bytes of the peer have come that the user has not been given
  virtual bool EndSending() noexcept = 0;        // half-closes; false: broken
  virtual void Close() noexcept = 0;
  virtual bool opening() const noexcept { return false; }  // something has come, but nothing yet for the user
};

// Where the wires of one loop come from, and what time it is there.
// Thread: loop-confined.
class Wires {
 public:
  virtual ~Wires() = default;
  virtual std::unique_ptr<Wire> NewWire(WireUser& user) = 0;
  virtual void Refuse(int fd) noexcept = 0;     // closes a descriptor that no wire takes
  virtual int64_t now_ms() const noexcept = 0;  // as of the begin of this turn
  // At the end of each turn, where wires may tell their users something. True: there is more, at once.
  virtual bool OnTurn() noexcept { return false; }
};

}  // namespace wf::net
