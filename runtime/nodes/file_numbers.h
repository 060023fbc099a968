// How files are read by hand.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/abi/values.h"

namespace wf::nodes {

inline std::string_view ViewOf(const wf_bytes& file) { return {reinterpret_cast<const char*>(file.ptr), file.len}; }

// Numbers of a text at a place, 0 where the text has ended.
class Numbers {
 public:
  Numbers(std::string_view bytes, bool is_big_endian) : bytes_(bytes), is_big_endian_(is_big_endian) {}
  uint32_t At(uint64_t place, int n_bytes) const {
    uint32_t value = 0;
    if (place > bytes_.size() || bytes_.size() - place < static_cast<uint64_t>(n_bytes)) return 0;
    for (int i = 0; i < n_bytes; ++i) {
      const auto byte = static_cast<uint8_t>(bytes_[place + static_cast<uint64_t>(is_big_endian_ ? i : n_bytes - 1 - i)]);
      value = value << 8 | byte;
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool is_big_endian_;
};

}  // namespace wf::nodes
