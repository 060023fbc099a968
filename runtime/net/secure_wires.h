#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/net/wire.h"
#include "runtime/protocol/tls/context.h"

namespace wf::net {

// TLS between the wires of one loop and the connections on them: what goes through here is encrypted below, plain above.
// Thread: loop-confined.   Owns: buffers that its wires take turns with.   Borrows: wires.
// Errors: a peer whose handshake fails is told why, then OnRefused; later, what is not as it should be is a broken wire.
// Bounds: of what is sent, a wire encrypts kChunkBytes ahead of its peer; of what comes it keeps one record. At most as many handshakes as
// set_handshakes says go a step further in one turn, so that answers do not wait for the signatures of a crowd; what the others sent waits,
// kMaxHeldBytes of it or so. What a peer is answered below its protocol is bounded as a breach: how often it may ask, by
// set_unpaid_messages, and what it has not read of it, by kMaxUnreadBytes.
class SecureWires final : public Wires {
 public:
  static constexpr size_t kChunkBytes = 64 * 1024;
  static constexpr size_t kMaxUnreadBytes = 256 * 1024;  // of out, of which what was encrypted ahead is a part
  static constexpr size_t kMaxHeldBytes = 4 * 1024 * 1024;

  explicit SecureWires(Wires& wires);
  ~SecureWires() override;
  void set_context(std::shared_ptr<const tls::Context> context) { context_ = std::move(context); }  // of wires that are opened later
  void set_unpaid_messages(int64_t most) { most_unpaid_ = most; }  // at once, and again in 30 s; of wires that are opened later
  void set_handshakes(size_t most) { most_handshakes_ = most; }

  std::unique_ptr<Wire> NewWire(WireUser& user) override;
  void Refuse(int fd) noexcept override { wires_.Refuse(fd); }
  int64_t now_ms() const noexcept override { return wires_.now_ms(); }
  bool OnTurn() noexcept override;

 private:
  class SecureWire;
  static constexpr size_t kReadBytes = 64 * 1024, kRecordBytes = 16 * 1024;
  bool TakeHandshake() noexcept;

  Wires& wires_;
  std::shared_ptr<const tls::Context> context_;
  const std::unique_ptr<uint8_t[]> read_buffer_, record_buffer_;
  std::vector<SecureWire*> waiting_;  // with bytes of handshakes; null: closed since
  int64_t most_unpaid_ = 1000;
  size_t most_handshakes_ = 16;
  size_t handshakes_ = 0;  // steps of this turn
  size_t held_bytes_ = 0;
};

}  // namespace wf::net
