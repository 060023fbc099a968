#include "runtime/net/sockets.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

namespace wf::net {
namespace {

constexpr size_t kMaxPieces = 64;

// Up to kMaxPieces pieces as libuv wants them.
struct Buffers {
  explicit Buffers(std::span<const base::SinkPiece> pieces) {
    for (const base::SinkPiece& piece : pieces) {
      if (count == kMaxPieces) break;
      if (piece.bytes == 0) continue;
      list[count++] = uv_buf_init(reinterpret_cast<char*>(const_cast<uint8_t*>(piece.data)), static_cast<unsigned>(piece.bytes));
      bytes += static_cast<int64_t>(piece.bytes);
    }
  }
  uv_buf_t list[kMaxPieces];
  unsigned count = 0;
  int64_t bytes = 0;
};

}  // namespace

class Sockets::Socket final : public Wire {
 public:
  Socket(Sockets& owner, WireUser& user) : owner_(owner), user_(user) {}

  bool Open(int fd) noexcept override {
    uv_tcp_init(owner_.loop_.uv(), &tcp_);
    tcp_.data = this;
    if (uv_tcp_open(&tcp_, fd) != 0) {
      close(fd);
      return false;
    }
    uv_tcp_nodelay(&tcp_, 1);
    return true;
  }

  void Read(bool on) noexcept override {
    if (!on) {
      uv_read_stop(stream());
      return;
    }
    const auto on_alloc = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) noexcept {
      *buffer = uv_buf_init(reinterpret_cast<char*>(static_cast<Socket*>(handle->data)->owner_.read_buffer_.get()), kReadBytes);
    };
    const auto on_read = [](uv_stream_t* handle, ssize_t count, const uv_buf_t* buffer) noexcept {
      WireUser& user = static_cast<Socket*>(handle->data)->user_;
      if (count > 0) user.OnReceived({reinterpret_cast<const uint8_t*>(buffer->base), static_cast<size_t>(count)});
      if (count < 0) user.OnEnd(count != UV_EOF);
    };
    uv_read_start(stream(), on_alloc, on_read);
  }

  int64_t TrySend(std::span<const base::SinkPiece> pieces) noexcept override {
    const Buffers buffers(pieces);
    const int sent = uv_try_write(stream(), buffers.list, buffers.count);
    return sent == UV_EAGAIN ? 0 : sent;
  }

  int64_t Send(std::span<const base::SinkPiece> pieces) noexcept override {
    const Buffers buffers(pieces);
    write_.data = this;
    const auto on_sent = [](uv_write_t* write, int status) noexcept { static_cast<Socket*>(write->data)->user_.OnSent(status == 0); };
    return uv_write(&write_, stream(), buffers.list, buffers.count, on_sent) == 0 ? buffers.bytes : -1;
  }

  // The kernel says that there is room only when a third of its megabytes has left, which takes a slow peer minutes.
  size_t unsent() const noexcept override {
    int held = 0;
    if (ioctl(fd(), SIOCOUTQ, &held) != 0) held = 0;
    return uv_stream_get_write_queue_size(reinterpret_cast<const uv_stream_t*>(&tcp_)) + static_cast<size_t>(held);
  }

  bool ended() const noexcept override {
    pollfd asked = {.fd = fd(), .events = POLLRDHUP, .revents = 0};
    return poll(&asked, 1, 0) == 1;
  }

  bool has_unread() const noexcept override {
    int held = 0;
    return ioctl(fd(), FIONREAD, &held) == 0 && held > 0;
  }

  bool EndSending() noexcept override { return shutdown(fd(), SHUT_WR) == 0; }

  void Close() noexcept override {
    uv_close(reinterpret_cast<uv_handle_t*>(&tcp_),
             [](uv_handle_t* handle) noexcept { static_cast<Socket*>(handle->data)->user_.OnWireClosed(); });
  }

 private:
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&tcp_); }
  int fd() const {
    uv_os_fd_t fd = -1;
    uv_fileno(reinterpret_cast<const uv_handle_t*>(&tcp_), &fd);
    return fd;
  }

  Sockets& owner_;
  WireUser& user_;
  uv_tcp_t tcp_;
  uv_write_t write_;
};

Sockets::Sockets(loop::Loop& loop) : loop_(loop), read_buffer_(new uint8_t[kReadBytes]) {}

std::unique_ptr<Wire> Sockets::NewWire(WireUser& user) { return std::make_unique<Socket>(*this, user); }

void Sockets::Refuse(int fd) noexcept { close(fd); }

}  // namespace wf::net
