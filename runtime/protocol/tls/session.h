#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/protocol/tls/context.h"

struct ssl_st;

namespace wf::tls {

// One connection, the server's side. Handshakes happen within Read.
// Thread: loop-confined.   Owns: bytes of records that are not whole, and what waits to be sent.
// Errors: kBroken, for good, with a reason(); an alert for the peer may then be in output().
// Bounds: a record (16 KiB) of what was fed, once Read has answered kNeedInput; output() is as long as what was written.
class Session {
 public:
  enum class Step : uint8_t {
    kNeedInput,
    kData,
    kEnd,  // the peer ended its side in order; none follows
    kBroken,
  };

  static std::unique_ptr<Session> Create(const Context& context) noexcept;  // null: no memory
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool Feed(std::span<const uint8_t> bytes) noexcept;  // of the peer; false: no memory
  // kData: the first bytes of `place`, and how many. Asked again until it answers something else.
  Step Read(std::span<uint8_t> place, size_t* count) noexcept;
  bool Write(std::span<const uint8_t> bytes) noexcept;  // REQUIRES: is_open(). False: broken, or no memory
  void Close() noexcept;                                // tells the peer that nothing more is written

  std::span<const uint8_t> output() const noexcept;  // for the peer; until the next call
  void Consume(size_t count) noexcept;               // the first bytes of output() are sent

  bool is_open() const noexcept;                       // the handshake is over
  std::string_view protocol() const noexcept;          // by ALPN: "h2", "http/1.1", or empty
  std::string_view reason() const { return reason_; }  // of kBroken; a constant text

 private:
  explicit Session(ssl_st* session) : session_(session) {}
  Step Fail() noexcept;

  ssl_st* session_;
  std::string_view reason_;
};

}  // namespace wf::tls
