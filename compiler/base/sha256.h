#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace wf::source {

// SHA-256 (FIPS 180-4), to tell whether two builds come from the same text. Not for secrets: its time depends on nothing but the length.
class Sha256 {
 public:
  void Add(std::string_view bytes);
  std::array<uint8_t, 32> Finish();  // once, at the end

 private:
  void Block(const uint8_t* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  uint64_t length_ = 0;
};

}  // namespace wf::source
