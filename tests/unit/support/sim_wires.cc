#include "tests/unit/support/sim_wires.h"

#include <algorithm>

namespace wf::test {

std::unique_ptr<net::Wire> SimWires::NewWire(net::WireUser& user) { return std::make_unique<SimWire>(*this, user); }

void SimWire::Check(bool holds, const char* what) const {
  if (!holds) owner_.broken_(what);
}

bool SimWire::Open(int fd) noexcept {
  Check(peer_ == nullptr, "a wire was opened twice");
  peer_ = &owner_.peers_[static_cast<size_t>(fd)];
  peer_->wire = this;
  reading_ = closing_ = false;
  return !Breaks();
}

bool SimWire::Breaks() noexcept {
  if (owner_.fails && owner_.fails()) {
    peer_->broken = true;
    peer_->under_way.clear();
  }
  return peer_->broken;
}

void SimWire::Read(bool on) noexcept {
  Check(!on || !closing_, "a closed wire was read");
  reading_ = on;
}

// Moves what fits of the pieces into the peer's hands.
int64_t SimWire::Put(std::span<const base::SinkPiece> pieces) {
  int64_t moved = 0;
  for (const base::SinkPiece& piece : pieces) {
    const size_t part = std::min(piece.bytes, peer_->window);
    peer_->received.append(reinterpret_cast<const char*>(piece.data), part);
    peer_->window -= part;
    moved += static_cast<int64_t>(part);
    if (part < piece.bytes) break;
  }
  return moved;
}

int64_t SimWire::TrySend(std::span<const base::SinkPiece> pieces) noexcept {
  Check(!closing_ && pending_.empty(), "a wire was written to while it was closed or busy");
  peer_->delivered_at_send = peer_->delivered;
  return Breaks() ? -1 : Put(pieces);
}

int64_t SimWire::Send(std::span<const base::SinkPiece> pieces) noexcept {
  Check(!closing_ && pending_.empty(), "a wire was given more while it was closed or busy");
  if (Breaks()) return -1;
  int64_t bytes = 0;
  for (const base::SinkPiece& piece : pieces) {
    if (piece.bytes == 0) continue;
    pending_.push_back(piece);
    bytes += static_cast<int64_t>(piece.bytes);
  }
  sending_since_ms_ = owner_.now_ms();
  return bytes;
}

size_t SimWire::unsent() const noexcept {
  size_t bytes = 0;
  for (const base::SinkPiece& piece : pending_) bytes += piece.bytes;
  return bytes;
}

bool SimWire::EndSending() noexcept {
  Check(!closing_ && pending_.empty(), "a wire was half-closed while it was closed or busy");
  peer_->delivered_at_end = peer_->delivered;
  return !Breaks();
}

void SimWire::Close() noexcept {
  Check(!closing_, "a wire was closed twice");
  closing_ = true;
  reading_ = false;
  peer_->closed = true;
  peer_->starved = !pending_.empty() && owner_.now_ms() - sending_since_ms_ >= 30'000;  // limits.write_timeout
}

bool SimWire::Deliver(size_t most) {
  if (!reading_) return false;
  if (peer_->broken || (peer_->under_way.empty() && peer_->ended)) {
    user_.OnEnd(peer_->broken);
    return true;
  }
  if (peer_->under_way.empty()) return false;
  // Bytes of their own, gone after the call: a view that is kept is noticed.
  const std::vector<uint8_t> bytes(peer_->under_way.begin(),
                                   peer_->under_way.begin() + static_cast<ptrdiff_t>(std::min(most, peer_->under_way.size())));
  peer_->under_way.erase(0, bytes.size());
  peer_->delivered += bytes.size();
  user_.OnReceived(bytes);
  return true;
}

bool SimWire::Take(size_t bytes) {
  peer_->window += bytes;
  if (pending_.empty() || closing_) return false;
  if (!peer_->broken) {
    for (int64_t moved = Put(pending_); moved > 0;) {
      base::SinkPiece& first = pending_.front();
      const size_t part = std::min(first.bytes, static_cast<size_t>(moved));
      first.data += part;
      first.bytes -= part;
      moved -= static_cast<int64_t>(part);
      if (first.bytes == 0) pending_.erase(pending_.begin());
    }
    if (!pending_.empty()) return true;
  }
  pending_.clear();
  user_.OnSent(!peer_->broken);
  return true;
}

bool SimWire::FinishClose() {
  if (!closing_) return false;
  if (!pending_.empty()) {
    pending_.clear();
    user_.OnSent(false);
  }
  peer_->wire = nullptr;
  peer_ = nullptr;
  user_.OnWireClosed();
  return true;
}

}  // namespace wf::test
