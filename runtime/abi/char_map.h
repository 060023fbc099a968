#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace wf::abi {

// SentencePiece's compiled map of characters: a length in bytes, a double array of so many (that of darts-clone), texts that end with NUL.
// Thread: immutable.   Borrows: the bytes, of which any do no harm.
class CharMap {
 public:
  explicit CharMap(std::string_view bytes) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length) return;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size()) return;
    units_ = bytes.substr(0, length / sizeof(uint32_t) * sizeof(uint32_t));
    texts_ = bytes.substr(length);
  }
  bool empty() const { return units_.empty(); }

  // What the shortest beginning of `text` that the map has becomes; `tokenizers` takes it for the whole.
  std::optional<std::string_view> Find(std::string_view text) const {
    uint32_t unit = 0;
    if (!Read(0, &unit)) return std::nullopt;
    uint32_t at = OffsetOf(unit);
    for (const char c : text) {
      const auto byte = static_cast<uint8_t>(c);
      at ^= byte;
      if (byte == 0 || !Read(at, &unit) || (unit & kLabel) != byte) return std::nullopt;
      at ^= OffsetOf(unit);
      if ((unit & kHasValue) == 0) continue;
      if (!Read(at, &unit)) return std::nullopt;
      return TextAt(unit & kValue);
    }
    return std::nullopt;
  }

 private:
  static constexpr uint32_t kHasValue = 1U << 8, kFar = 1U << 9, kLabel = 1U << 31 | 0xff, kValue = (1U << 31) - 1;
  static uint32_t OffsetOf(uint32_t unit) { return unit >> 10 << ((unit & kFar) >> 6); }

  bool Read(uint32_t at, uint32_t* unit) const {
    if (at >= units_.size() / sizeof *unit) return false;
    std::memcpy(unit, units_.data() + size_t{at} * sizeof *unit, sizeof *unit);
    return true;
  }
  std::optional<std::string_view> TextAt(uint32_t at) const {
    if (at > texts_.size()) return std::nullopt;
    const std::string_view rest = texts_.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

  std::string_view units_, texts_;
};

}  // namespace wf::abi
