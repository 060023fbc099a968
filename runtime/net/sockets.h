#pragma once

#include <memory>

#include "runtime/loop/loop.h"
#include "runtime/net/wire.h"

namespace wf::net {

// TCP sockets on a libuv loop.
// Thread: loop-confined.   Owns: the loop's read buffer.   Borrows: loop.
// Cost: one read and one writev per event, no allocation.
class Sockets final : public Wires {
 public:
  explicit Sockets(loop::Loop& loop);
  std::unique_ptr<Wire> NewWire(WireUser& user) override;
  void Refuse(int fd) noexcept override;
  int64_t now_ms() const noexcept override { return loop_.now_ms(); }

 private:
  class Socket;
  static constexpr size_t kReadBytes = 64 * 1024;
  loop::Loop& loop_;
  const std::unique_ptr<uint8_t[]> read_buffer_;
};

}  // namespace wf::net
