#include "runtime/base/base64.h"

#include <algorithm>
#include <array>

namespace wf::base {

namespace {

constexpr std::array<int8_t, 256> MakeBase64Table() {
  std::array<int8_t, 256> table{};
  for (auto& value : table) value = -1;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kAlphabet.size(); ++i) table[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return table;
}
constexpr std::array<int8_t, 256> kBase64 = MakeBase64Table();

}  // namespace

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

int64_t DecodeBase64(std::string_view text, uint8_t* out) {
  if (text.size() % 4 != 0) return -1;
  uint8_t* to = out;
  size_t padding = 0;
  if (!text.empty() && text.back() == '=') padding = text[text.size() - 2] == '=' ? 2 : 1;
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t missing = last ? padding : 0;
    int32_t word = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int value = k >= 4 - missing ? 0 : kBase64[static_cast<uint8_t>(text[i + k])];
      if (value < 0) return -1;
      word = word << 6 | value;
    }
    *to++ = static_cast<uint8_t>(word >> 16);
    if (missing < 2) *to++ = static_cast<uint8_t>(word >> 8);
    if (missing < 1) *to++ = static_cast<uint8_t>(word);
    if (missing == 2 && (word & 0xffff) != 0) return -1;  // bits that no encoder writes
    if (missing == 1 && (word & 0xff) != 0) return -1;
  }
  return to - out;
}

}  // namespace wf::base
