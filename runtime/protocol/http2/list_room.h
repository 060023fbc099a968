#pragma once

#include <cstdint>
#include <span>

#include "runtime/protocol/http/head.h"

namespace wf::http2 {

// What goes of the fields of an answer to a peer whose SETTINGS_MAX_HEADER_LIST_SIZE says how many bytes of a list it takes, as RFC 9113
// counts them (6.5.2): all that an answer needs, and in their order what it can do without (annotations and what tells more of a failure of
// gRPC), up to the first that does not fit. `grpc-message` is cut there, others are left out.
// Borrows: nothing.   Bounds: fields that an answer needs go whatever the peer says.   Cost: a look at each field.
class ListRoom {
 public:
  explicit ListRoom(uint32_t most) : most_(most) {}
  void Count(std::span<const http::Header> fields) noexcept;  // those of the list, before any is taken
  // What goes of the next field; false: it is left out.
  bool Take(http::Header* field) noexcept;

 private:
  const uint64_t most_;
  uint64_t needed_ = 0, spare_ = 0;  // bytes that an answer needs, and that it can do without
  uint64_t taken_ = 0;               // of these
  bool is_full_ = false;
};

}  // namespace wf::http2
