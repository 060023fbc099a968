#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wf::base {

// Base64 with padding (RFC 4648) of `count` bytes; `out` holds Base64Bytes(count). Returns its end.
constexpr size_t Base64Bytes(size_t count) { return (count + 2) / 3 * 4; }
uint8_t* EncodeBase64(const uint8_t* bytes, size_t count, uint8_t* out);

// The bytes of `text`; unpadded or wrong base64 is refused: their number, or -1. `out` holds three for each four characters.
int64_t DecodeBase64(std::string_view text, uint8_t* out);

}  // namespace wf::base
