#include "runtime/net/connection.h"

#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>

#include "runtime/net/connections.h"
#include "runtime/net/io.h"

namespace wf::net {
namespace {

constexpr size_t kMaxPieces = 64;

// Up to kMaxPieces pieces as libuv wants them; the sum of their bytes.
size_t Gather(wf_sink& sink, uv_buf_t (&buffers)[kMaxPieces], unsigned* count) {
  size_t bytes = 0;
  *count = 0;
  for (const base::SinkPiece& piece : sink.Pieces()) {
    if (*count == kMaxPieces) break;
    if (piece.bytes == 0) continue;
    buffers[(*count)++] = uv_buf_init(reinterpret_cast<char*>(const_cast<uint8_t*>(piece.data)), static_cast<unsigned>(piece.bytes));
    bytes += piece.bytes;
  }
  return bytes;
}

}  // namespace

Connection::Connection(Connections& owner) : owner_(owner), io_(std::make_unique<Io>()) {}
Connection::~Connection() = default;

bool Connection::Open(int fd, Handler* handler) noexcept {
  handler_ = handler;
  in_flight_ = turn_bytes_ = 0;
  timeout_at_ms_ = write_timeout_at_ms_ = 0;
  how_ = Closed::kByUs;
  paused_ = reading_ = dirty_ = closing_ = close_after_flush_ = linger_ = lingering_ = unflushed_ = false;
  uv_tcp_init(owner_.loop().uv(), &io_->socket);
  io_->socket.data = this;
  if (uv_tcp_open(&io_->socket, fd) != 0) {
    close(fd);
    return false;
  }
  uv_tcp_nodelay(&io_->socket, 1);
  UpdateReading();
  return true;
}

void Connection::UpdateReading() noexcept {
  const bool wanted =
      !closing_ && (lingering_ || (!paused_ && !close_after_flush_)) && turn_bytes_ < kTurnBytes && out_.size() < kHighMarkBytes;
  if (wanted == reading_) return;
  reading_ = wanted;
  auto* stream = reinterpret_cast<uv_stream_t*>(&io_->socket);
  if (!wanted) {
    uv_read_stop(stream);
    return;
  }
  const auto on_alloc = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) noexcept {
    auto& owner = static_cast<Connection*>(handle->data)->owner_;
    *buffer = uv_buf_init(reinterpret_cast<char*>(owner.read_buffer_.get()), Connections::kReadBytes);
  };
  const auto on_read = [](uv_stream_t* handle, ssize_t count, const uv_buf_t* buffer) noexcept {
    static_cast<Connection*>(handle->data)->OnRead(count, reinterpret_cast<const uint8_t*>(buffer->base));
  };
  uv_read_start(stream, on_alloc, on_read);
}

void Connection::OnRead(int64_t count, const uint8_t* bytes) noexcept {
  if (count == 0 || closing_) return;
  if (count < 0) {
    Finish(count == UV_EOF ? Closed::kByPeer : Closed::kByError);
    return;
  }
  turn_bytes_ += static_cast<size_t>(count);
  if (turn_bytes_ >= kTurnBytes) {
    owner_.MarkDirty(*this);  // whose end of turn lets it read again
    UpdateReading();
  }
  if (lingering_) return;
  handler_->OnBytes({bytes, static_cast<size_t>(count)});
  if (!closing_ && !out_.empty()) Flush();
}

void Connection::FlushLater() noexcept { owner_.MarkDirty(*this); }

// Sends what it can now; libuv takes the rest, and more is held back until that has left.
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
  if (!linger_) return Close();
  if (!lingering_) {
    lingering_ = true;
    uv_os_fd_t fd = -1;
    if (uv_fileno(reinterpret_cast<uv_handle_t*>(&io_->socket), &fd) != 0 || shutdown(fd, SHUT_WR) != 0) return Close();
    write_timeout_at_ms_ = owner_.loop().now_ms() + kLingerMs;
  }
  UpdateReading();
}

// False: the connection is broken and closing.
bool Connection::Send() noexcept {
  while (!out_.empty()) {
    uv_buf_t buffers[kMaxPieces];
    unsigned count = 0;
    Gather(out_, buffers, &count);
    const int sent = uv_try_write(reinterpret_cast<uv_stream_t*>(&io_->socket), buffers, count);
    if (sent == UV_EAGAIN) return true;
    if (sent < 0) {
      Finish(Closed::kByError);
      return false;
    }
    out_.Consume(static_cast<size_t>(sent));
  }
  return true;
}

void Connection::SendRest() noexcept {
  uv_buf_t buffers[kMaxPieces];
  unsigned count = 0;
  in_flight_ = Gather(out_, buffers, &count);
  write_timeout_at_ms_ = owner_.loop().now_ms() + Connections::kWriteTimeoutMs;
  io_->write.data = this;
  const auto on_sent = [](uv_write_t* write, int status) noexcept { static_cast<Connection*>(write->data)->OnSent(status); };
  if (uv_write(&io_->write, reinterpret_cast<uv_stream_t*>(&io_->socket), buffers, count, on_sent) != 0) {
    in_flight_ = 0;
    Finish(Closed::kByError);
  }
}

void Connection::OnSent(int status) noexcept {
  const size_t sent = in_flight_;
  in_flight_ = 0;
  if (closing_) return;
  if (status != 0) {
    Finish(Closed::kByError);
    return;
  }
  out_.Consume(sent);
  Flush();
}

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

void Connection::SetTimeout(int64_t ms) noexcept { timeout_at_ms_ = ms == 0 ? 0 : owner_.loop().now_ms() + ms; }

// The handler is told when libuv has let go of the socket, so never from inside its own calls.
void Connection::Finish(Closed how) noexcept {
  if (closing_) return;
  closing_ = true;
  how_ = how;
  uv_close(reinterpret_cast<uv_handle_t*>(&io_->socket), [](uv_handle_t* handle) noexcept {
    Connection& connection = *static_cast<Connection*>(handle->data);
    if (connection.handler_ != nullptr) connection.handler_->OnClosed(connection.how_);
    connection.handler_ = nullptr;
    connection.out_.Clear();
    connection.owner_.Retire(connection);
  });
}

}  // namespace wf::net
