#include "runtime/base/base64.h"

#include <algorithm>

namespace wf::base {

uint8_t* EncodeBase64(const uint8_t* bytes, size_t count, uint8_t* out) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < count; i += 3) {
    const size_t left = std::min<size_t>(count - i, 3);
    const uint32_t word = static_cast<uint32_t>(bytes[i] << 16 | (left > 1 ? bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0));
    *out++ = static_cast<uint8_t>(kAlphabet[word >> 18]);
    *out++ = static_cast<uint8_t>(kAlphabet[word >> 12 & 63]);
    *out++ = static_cast<uint8_t>(left > 1 ? kAlphabet[word >> 6 & 63] : '=');
    *out++ = static_cast<uint8_t>(left > 2 ? kAlphabet[word & 63] : '=');
  }
  return out;
}

}  // namespace wf::base
