#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/net/wire.h"
#include "tests/unit/support/fake_clock.h"

namespace wf::test {

class SimWire;

// The far end of a wire, moved by a test: what it has written, how much it is willing to read, and how it leaves.
struct SimPeer {
  std::string under_way;                   // written, not yet at the server
  uint64_t delivered = 0;                  // bytes that the server has been given
  uint64_t delivered_at_send = 0;          // of these, when the server last began to send
  uint64_t delivered_at_end = UINT64_MAX;  // and when it ended: what comes then is dropped
  std::string received;                    // bytes of the server that the test has not looked at yet
  size_t window = 0;                       // so many more bytes fit into what lies between
  bool ended = false;                      // writes no more
  bool broken = false;                     // reset: nothing gets through any more
  bool closed = false;                     // by the server
  bool starved = false;                    // closed because too little was taken for as long as the server waits
  SimWire* wire = nullptr;                 // null: none, or closed for good
};

// Wires whose bytes move only when the test says so. The descriptor of a wire is the index of its peer.
// Errors: use against the rules of net/wire.h is told to `broken`.
class SimWires final : public net::Wires {
 public:
  SimWires(const FakeClock& clock, std::deque<SimPeer>& peers, std::function<void(const std::string&)> broken)
      : clock_(clock), peers_(peers), broken_(std::move(broken)) {}

  std::unique_ptr<net::Wire> NewWire(net::WireUser& user) override;
  void Refuse(int fd) noexcept override { peers_[static_cast<size_t>(fd)].closed = true; }
  int64_t now_ms() const noexcept override { return clock_.Now() / 1'000'000; }
  std::function<bool()> fails;  // a call of a wire, which is broken then; null: none

 private:
  friend class SimWire;
  const FakeClock& clock_;
  std::deque<SimPeer>& peers_;
  const std::function<void(const std::string&)> broken_;
};

class SimWire final : public net::Wire {
 public:
  SimWire(SimWires& owner, net::WireUser& user) : owner_(owner), user_(user) {}

  bool Open(int fd) noexcept override;
  void Read(bool on) noexcept override;
  int64_t TrySend(std::span<const base::SinkPiece> pieces) noexcept override;
  int64_t Send(std::span<const base::SinkPiece> pieces) noexcept override;
  size_t unsent() const noexcept override;
  bool ended() const noexcept override { return peer_->broken || peer_->ended; }
  bool has_unread() const noexcept override { return !peer_->broken && !peer_->under_way.empty(); }
  bool EndSending() noexcept override;
  void Close() noexcept override;

  // ---- of the test; each tells the connection at most one thing. False: there was nothing to tell ----
  bool Deliver(size_t most);  // bytes, or the end
  bool Take(size_t bytes);    // the peer reads
  bool FinishClose();         // the wire may be gone afterwards

 private:
  int64_t Put(std::span<const base::SinkPiece> pieces);
  bool Breaks() noexcept;
  void Check(bool holds, const char* what) const;

  SimWires& owner_;
  net::WireUser& user_;
  SimPeer* peer_ = nullptr;
  std::vector<base::SinkPiece> pending_;  // of Send; not copied, so that memory which goes too early is noticed
  int64_t sending_since_ms_ = 0;          // of pending_
  bool reading_ = false, closing_ = false;
};

}  // namespace wf::test
