#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/base/sink.h"
#include "runtime/protocol/tls/context.h"

struct bio_st;
struct ssl_st;

namespace wf::tls {

// One connection, the server's side. Handshakes happen within Read.
// Thread: loop-confined.   Owns: the bytes of a record that is not whole.   Borrows: output, where the bytes for the peer go.
// Errors: kBroken, for good, with a reason(); what the peer is told of it is in the output: an alert, or for one that speaks HTTP without
// TLS an answer.
// Bounds: one record, 16 KiB, and of a handshake at most 100 KiB of certificates.
class Session {
 public:
  enum class Step : uint8_t {
    kNeedInput,  // and `bytes` is empty
    kData,
    kEnd,  // the peer ended its side in order; none follows
    kBroken,
  };

  static std::unique_ptr<Session> Create(const Context& context, wf_sink& output) noexcept;  // null: no memory
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes bytes of the peer from the front. kData: the first bytes of `place`, and how many; there may be more.
  Step Read(std::span<const uint8_t>* bytes, std::span<uint8_t> place, size_t* count) noexcept;
  bool Write(std::span<const uint8_t> bytes) noexcept;  // REQUIRES: is_open(). False: broken, or no memory
  void Close() noexcept;                                // tells the peer that nothing more is written

  bool is_open() const noexcept;                                // the handshake is over
  std::string_view reason() const noexcept { return reason_; }  // of kBroken; a constant text
  // Messages so far that cost the peer nothing, and this side work and perhaps an answer: updates of keys, renegotiations that are refused.
  int64_t unpaid() const noexcept { return unpaid_; }

 private:
  struct Bytes;
  void OnMessage(bool is_ours, int type, uint8_t first) noexcept;  // as OpenSSL tells them
  Session(ssl_st* session, wf_sink& output) : session_(session), output_(output) {}
  Step Fail() noexcept;

  ssl_st* const session_;
  wf_sink& output_;
  std::span<const uint8_t> input_;  // while Read runs
  std::string_view reason_;
  int64_t unpaid_ = 0;
};

}  // namespace wf::tls
