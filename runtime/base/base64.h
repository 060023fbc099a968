#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::base {

// Base64 with padding (RFC 4648) of `count` bytes; `out` holds Base64Bytes(count). Returns its end.
constexpr size_t Base64Bytes(size_t count) { return (count + 2) / 3 * 4; }
uint8_t* EncodeBase64(const uint8_t* bytes, size_t count, uint8_t* out);

}  // namespace wf::base
