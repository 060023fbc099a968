#include "runtime/net/connection.h"

#include <algorithm>

#include "runtime/net/connections.h"

namespace wf::net {

Connection::Connection(Connections& owner) : owner_(owner), wire_(owner.wires_.NewWire(*this)) {}
Connection::~Connection() = default;

bool Connection::Open(int fd, Handler* handler) noexcept {
  handler_ = handler;
  in_flight_ = due_bytes_ = turn_bytes_ = 0;
  write_timeout_at_ms_ = 0;  // the handler has set the other
  how_ = Closed::kByUs;
  paused_ = reading_ = dirty_ = closing_ = close_after_flush_ = linger_ = lingering_ = unflushed_ = half_closed_ = false;
  if (!wire_->Open(fd)) return false;
  UpdateReading();
  return true;
}

void Connection::UpdateReading() noexcept {
  const bool wanted = !closing_ && !half_closed_ && (lingering_ || (!paused_ && !close_after_flush_)) &&
                      turn_bytes_ < owner_.limits_.turn_bytes && out_.size() < owner_.limits_.unsent_bytes;
  if (wanted == reading_) return;
  reading_ = wanted;
  wire_->Read(wanted);
}

void Connection::OnEnd(bool broken) noexcept {
  half_closed_ = true;
  if (broken || lingering_ || !handler_->OnHalfClosed()) return Finish(broken ? Closed::kByError : Closed::kByPeer);
  UpdateReading();
}

void Connection::OnRefused(std::string_view why) noexcept {
  if (closing_) return;
  owner_.factory_.OnHandshakeFailed(why);
  CloseAfterFlush(true);
}

void Connection::OnBreach(std::string_view why) noexcept {
  if (closing_) return;
  owner_.factory_.OnBreach(why);
  Finish(Closed::kByError);
}

void Connection::OnReceived(std::span<const uint8_t> bytes) noexcept {
  if (closing_) return;
  turn_bytes_ += bytes.size();
  if (turn_bytes_ >= owner_.limits_.turn_bytes) {
    owner_.MarkDirty(*this);  // whose end of turn lets it read again
    UpdateReading();
  }
  if (lingering_) return;
  handler_->OnBytes(bytes);
  if (!closing_ && !out_.empty()) Flush();
}

void Connection::FlushLater() noexcept { owner_.MarkDirty(*this); }

// Sends what it can now; the wire takes the rest, and more is held back until that has left.
void Connection::Flush() noexcept {
  turn_bytes_ = 0;
  if (closing_) return;
  if (in_flight_ == 0 && !out_.empty()) {
    unflushed_ = true;
    if (!Send()) return;
    if (!out_.empty()) SendRest();
  }
  if (out_.empty() && unflushed_) {
    unflushed_ = false;
    write_timeout_at_ms_ = 0;
    if (close_after_flush_) return FinishAfterFlush();
    handler_->OnFlushed();
    if (closing_) return;
    if (!out_.empty()) owner_.MarkDirty(*this);
  } else if (out_.empty() && close_after_flush_) {
    return FinishAfterFlush();
  }
  UpdateReading();
}

void Connection::FinishAfterFlush() noexcept {
  constexpr int64_t kLingerMs = 2'000;
  if (!linger_ || half_closed_) return Close();
  if (!lingering_) {
    lingering_ = true;
    if (!wire_->EndSending()) return Close();
    write_timeout_at_ms_ = owner_.wires_.now_ms() + kLingerMs;
  }
  UpdateReading();
}

// False: the connection is broken and closing.
bool Connection::Send() noexcept {
  while (!out_.empty()) {
    const int64_t sent = wire_->TrySend(out_.Pieces());
    if (sent == 0) return true;
    if (sent < 0) {
      Finish(Closed::kByError);
      return false;
    }
    Took(static_cast<size_t>(sent));
  }
  return true;
}

void Connection::Took(size_t bytes) noexcept {
  out_.Consume(bytes);
  due_bytes_ -= std::min(bytes, due_bytes_);
}

void Connection::SendRest() noexcept {
  const int64_t now = owner_.wires_.now_ms();
  write_timeout_at_ms_ = now + owner_.limits_.write_timeout_ms;
  if (due_bytes_ == 0) {
    due_bytes_ = out_.size();
    due_at_ms_ = now + owner_.limits_.answer_timeout_ms;
  }
  const int64_t taken = wire_->Send(out_.Pieces());
  if (taken < 0) return Finish(Closed::kByError);
  in_flight_ = static_cast<size_t>(taken);
  unsent_ = wire_->unsent();
}

// What waits is memory that others do without: a peer that takes next to nothing of it is as good as gone.
void Connection::OnWriteTimeout() noexcept {
  const size_t left = wire_->unsent();
  const int64_t least = owner_.limits_.write_timeout_ms * ConnectionLimits::kLeastRate / 1000;
  if (lingering_) return Close();
  if (static_cast<int64_t>(unsent_) - static_cast<int64_t>(left) < least)
    return CutOff("an answer was not taken within `limits.write_timeout`");
  unsent_ = left;
  write_timeout_at_ms_ = owner_.wires_.now_ms() + owner_.limits_.write_timeout_ms;
}

void Connection::CutOff(std::string_view why) noexcept {
  owner_.factory_.OnCutOff(why);
  Close();
}

void Connection::OnSent(bool ok) noexcept {
  const size_t sent = in_flight_;
  in_flight_ = 0;
  if (closing_) return;
  if (!ok) return Finish(Closed::kByError);
  Took(sent);
  Flush();
}

int64_t Connection::now_ms() const noexcept { return owner_.wires_.now_ms(); }

void Connection::PauseReading() noexcept {
  paused_ = true;
  UpdateReading();
}

void Connection::ResumeReading() noexcept {
  paused_ = false;
  UpdateReading();
}

void Connection::CloseAfterFlush(bool linger) noexcept {
  close_after_flush_ = true;
  linger_ = linger;
  UpdateReading();
  owner_.MarkDirty(*this);
}

void Connection::Close() noexcept { Finish(Closed::kByUs); }

void Connection::SetTimeout(int64_t ms) noexcept { timeout_at_ms_ = ms == 0 ? 0 : owner_.wires_.now_ms() + ms; }

// The handler is told when the wire has let go, so never from inside its own calls.
void Connection::Finish(Closed how) noexcept {
  if (closing_) return;
  closing_ = true;
  how_ = how;
  wire_->Close();
}

void Connection::OnWireClosed() noexcept {
  handler_->OnClosed(how_);
  handler_ = nullptr;
  timeout_at_ms_ = 0;
  out_.Clear();
  owner_.Retire(*this);
}

}  // namespace wf::net
