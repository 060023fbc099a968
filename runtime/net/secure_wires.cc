#include "runtime/net/secure_wires.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/budget.h"
#include "runtime/protocol/tls/session.h"

namespace wf::net {

using tls::Session;

class SecureWires::SecureWire final : public Wire, private WireUser {
 public:
  SecureWire(SecureWires& owner, WireUser& user) : owner_(owner), user_(user), wire_(owner.wires_.NewWire(*this)) {}

  // ---- of the user ----
  bool Open(int fd) noexcept override;
  void Read(bool on) noexcept override;
  int64_t TrySend(std::span<const base::SinkPiece> pieces) noexcept override;
  int64_t Send(std::span<const base::SinkPiece> pieces) noexcept override;
  size_t unsent() const noexcept override;
  bool ended() const noexcept override { return wire_->ended(); }
  bool has_unread() const noexcept override { return !held_.empty() || wire_->has_unread(); }
  bool EndSending() noexcept override;
  void Close() noexcept override;
  bool opening() const noexcept override { return begun_ && session_->reason().empty() && !session_->is_open(); }

  void GoOn() noexcept;  // with what was held

 private:
  // ---- of the wire below ----
  void OnReceived(std::span<const uint8_t> bytes) noexcept override;
  void OnEnd(bool broken) noexcept override;
  void OnRefused(std::string_view why) noexcept override { user_.OnRefused(why); }
  void OnBreach(std::string_view why) noexcept override { user_.OnBreach(why); }
  void OnSent(bool ok) noexcept override;
  void OnWireClosed() noexcept override;

  void Hold(std::span<const uint8_t> bytes) noexcept;
  void Drop() noexcept;
  void Decrypt(std::span<const uint8_t> bytes) noexcept;
  int64_t Encrypt(std::span<const base::SinkPiece> pieces) noexcept;
  std::string_view Breach() noexcept;
  bool Push() noexcept;
  bool PushRest() noexcept;
  bool PushAll() noexcept { return sending_ || (Push() && (out_.empty() || PushRest())); }

  SecureWires& owner_;
  WireUser& user_;
  const std::unique_ptr<Wire> wire_;
  std::unique_ptr<Session> session_;
  wf_sink out_;                // encrypted
  std::vector<uint8_t> held_;  // of a handshake that goes on in a later turn
  base::Budget budget_{0};     // of messages that the peer does not pay for
  int64_t charged_ = 0;        // of session_->unpaid()
  int64_t encrypted_ = 0;      // of what the user wants sent, the first so many bytes are in out_
  size_t in_flight_ = 0;       // of out_
  bool begun_ = false;         // something has come
  bool delivered_ = false;     // and the user has seen some of it
  bool wants_ = false;         // the user reads
  bool sending_ = false;       // the wire sends in_flight_ by itself
  bool awaited_ = false;       // by the user, who is told once out_ is empty
  bool ends_ = false;          // half-closes once out_ is empty
  bool closed_ = false;
};

bool SecureWires::SecureWire::Open(int fd) noexcept {
  encrypted_ = charged_ = 0;
  in_flight_ = 0;
  budget_ = base::Budget(owner_.most_unpaid_);
  begun_ = delivered_ = wants_ = sending_ = awaited_ = ends_ = closed_ = false;
  session_ = Session::Create(*owner_.context_, out_);
  return wire_->Open(fd) && session_ != nullptr;
}

void SecureWires::SecureWire::Read(bool on) noexcept {
  wants_ = on;
  if (held_.empty()) wire_->Read(on);
}

void SecureWires::SecureWire::OnReceived(std::span<const uint8_t> bytes) noexcept {
  if (closed_ || !session_->reason().empty()) return;  // a refused peer is still writing
  begun_ = true;
  if (session_->is_open() || owner_.TakeHandshake()) return Decrypt(bytes);
  Hold(bytes);
}

void SecureWires::SecureWire::Hold(std::span<const uint8_t> bytes) noexcept {
  held_.assign(bytes.begin(), bytes.end());
  owner_.held_bytes_ += held_.size();
  owner_.waiting_.push_back(this);
  wire_->Read(false);
}

void SecureWires::SecureWire::Drop() noexcept {
  owner_.held_bytes_ -= held_.size();
  held_ = {};
}

void SecureWires::SecureWire::GoOn() noexcept {
  const std::vector<uint8_t> bytes = held_;
  Drop();
  wire_->Read(wants_);
  Decrypt(bytes);
}

void SecureWires::SecureWire::Decrypt(std::span<const uint8_t> bytes) noexcept {
  const std::span<uint8_t> place(owner_.read_buffer_.get(), kReadBytes);
  Session::Step step;
  do {
    size_t filled = 0;
    do {
      size_t count = 0;
      step = session_->Read(&bytes, place.subspan(filled), &count);
      if (step == Session::Step::kData) filled += count;
    } while (step == Session::Step::kData && filled < place.size());
    if (filled == 0) break;
    delivered_ = true;
    user_.OnReceived(place.first(filled));
    if (closed_) return;
  } while (step == Session::Step::kData);
  const bool told = PushAll();
  if (!told || (step == Session::Step::kBroken && delivered_)) return user_.OnEnd(true);
  if (const std::string_view why = Breach(); !why.empty()) return user_.OnBreach(why);
  if (step == Session::Step::kBroken) user_.OnRefused(session_->reason());
  if (step == Session::Step::kEnd) user_.OnEnd(false);
}

// What came in one read, which has been answered. Empty: as it may be.
std::string_view SecureWires::SecureWire::Breach() noexcept {
  for (; charged_ < session_->unpaid(); ++charged_) {
    if (!budget_.Spend(owner_.now_ms())) return "more updates of TLS keys and their like than `limits.control_frames`";
  }
  const bool is_full = session_->is_open() && out_.size() > kMaxUnreadBytes;
  return is_full ? "more answers to updates of TLS keys than the client reads" : std::string_view();
}

void SecureWires::SecureWire::OnEnd(bool broken) noexcept {
  if (!closed_) user_.OnEnd(broken);
}

// Up to kChunkBytes of the pieces, short ones as one record; negative: broken.
int64_t SecureWires::SecureWire::Encrypt(std::span<const base::SinkPiece> pieces) noexcept {
  constexpr size_t kShortBytes = 4096;
  if (!session_->is_open()) return -1;
  uint8_t* const record = owner_.record_buffer_.get();
  size_t taken = 0, gathered = 0;
  for (const base::SinkPiece& piece : pieces) {
    const std::span<const uint8_t> part(piece.data, std::min(piece.bytes, kChunkBytes - taken));
    const bool is_short = part.size() <= kShortBytes;
    if (!is_short || gathered + part.size() > kRecordBytes) {
      if (!session_->Write({record, std::exchange(gathered, 0)})) return -1;
    }
    if (is_short) {
      std::copy(part.begin(), part.end(), record + gathered);
      gathered += part.size();
    } else if (!session_->Write(part)) {
      return -1;
    }
    taken += part.size();
  }
  return session_->Write({record, gathered}) ? static_cast<int64_t>(taken) : -1;
}

// What does not leave at once counts as not sent, so that the user waits for it with Send.
int64_t SecureWires::SecureWire::TrySend(std::span<const base::SinkPiece> pieces) noexcept {
  if (sending_) return 0;
  if (encrypted_ == 0) encrypted_ = Encrypt(pieces);
  if (encrypted_ < 0 || !Push()) return -1;
  return out_.empty() ? std::exchange(encrypted_, 0) : 0;
}

int64_t SecureWires::SecureWire::Send(std::span<const base::SinkPiece> pieces) noexcept {
  if (encrypted_ == 0) encrypted_ = Encrypt(pieces);
  awaited_ = true;
  return encrypted_ < 0 || !(sending_ || PushRest()) ? -1 : encrypted_;
}

size_t SecureWires::SecureWire::unsent() const noexcept { return wire_->unsent() + out_.size() - in_flight_; }

// What the peer's side takes at once. False: broken.
bool SecureWires::SecureWire::Push() noexcept {
  while (!out_.empty()) {
    const int64_t sent = wire_->TrySend(out_.Pieces());
    if (sent < 0) return false;
    if (sent == 0) break;
    out_.Consume(static_cast<size_t>(sent));
  }
  return true;
}

bool SecureWires::SecureWire::PushRest() noexcept {
  const int64_t taken = wire_->Send(out_.Pieces());
  if (taken < 0) return false;
  in_flight_ = static_cast<size_t>(taken);
  sending_ = true;
  return true;
}

void SecureWires::SecureWire::OnSent(bool ok) noexcept {
  sending_ = false;
  if (closed_) return;
  if (ok) out_.Consume(std::exchange(in_flight_, 0));
  if (!ok || !PushAll()) return awaited_ ? user_.OnSent(false) : user_.OnEnd(true);
  if (sending_) return;
  if (std::exchange(awaited_, false)) {
    encrypted_ = 0;
    user_.OnSent(true);
  } else if (std::exchange(ends_, false) && !wire_->EndSending()) {
    user_.OnEnd(true);
  }
}

bool SecureWires::SecureWire::EndSending() noexcept {
  session_->Close();
  if (!PushAll()) return false;
  ends_ = sending_;
  return ends_ || wire_->EndSending();
}

// The peer learns that nothing follows, where the little there is to say finds room.
void SecureWires::SecureWire::Close() noexcept {
  closed_ = true;
  if (!held_.empty()) {
    std::replace(owner_.waiting_.begin(), owner_.waiting_.end(), this, static_cast<SecureWire*>(nullptr));
    Drop();
  }
  if (session_ != nullptr) session_->Close();
  if (!sending_) Push();
  wire_->Close();
}

void SecureWires::SecureWire::OnWireClosed() noexcept {
  session_ = nullptr;
  out_.Clear();
  user_.OnWireClosed();
}

SecureWires::SecureWires(Wires& wires) : wires_(wires), read_buffer_(new uint8_t[kReadBytes]), record_buffer_(new uint8_t[kRecordBytes]) {}

SecureWires::~SecureWires() = default;

std::unique_ptr<Wire> SecureWires::NewWire(WireUser& user) { return std::make_unique<SecureWire>(*this, user); }

bool SecureWires::TakeHandshake() noexcept {
  if (handshakes_ >= most_handshakes_ && held_bytes_ < kMaxHeldBytes) return false;
  ++handshakes_;
  return true;
}

// Those that waited count for the turn that begins, so that who comes anew does not overtake them.
bool SecureWires::OnTurn() noexcept {
  handshakes_ = std::min(waiting_.size(), most_handshakes_);
  for (size_t i = 0; i < handshakes_; ++i) {
    if (SecureWire* const wire = std::exchange(waiting_[i], nullptr); wire != nullptr) wire->GoOn();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(handshakes_));
  return !waiting_.empty();
}

}  // namespace wf::net
