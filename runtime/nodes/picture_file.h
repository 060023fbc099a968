// How files of pictures are read by hand, where it is about a few of their bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "runtime/nodes/file_numbers.h"

namespace wf::nodes {

// What a JPEG holds before its pixels, one segment after the other; bytes of filling and markers without a length are empty ones.
class JpegSegments {
 public:
  explicit JpegSegments(const wf_bytes& file) : bytes_(ViewOf(file)), numbers_(bytes_, true) {}

  // False where the pixels begin, and where there is no segment.
  bool Next() {
    marker_ = numbers_.At(at_ + 1, 1);
    segment_ = {};
    if (numbers_.At(at_, 1) != 0xff) return false;
    const bool is_bare = marker_ == 0x01 || (marker_ >= 0xd0 && marker_ <= 0xd7);
    if (marker_ == 0xff || is_bare) {
      at_ += is_bare ? 2 : 1;
      return true;
    }
    if (marker_ < 0xc0 || marker_ == 0xda) return false;
    const uint32_t length = numbers_.At(at_ + 2, 2);
    if (length < 2) return false;
    segment_ = bytes_.substr(std::min<uint64_t>(at_ + 4, bytes_.size()), length - 2);
    at_ += 2 + length;
    return true;
  }
  uint32_t marker() const { return marker_; }
  std::string_view bytes() const { return segment_; }  // fewer where the file ends

 private:
  std::string_view bytes_;
  Numbers numbers_;
  uint64_t at_ = 2;
  uint32_t marker_ = 0;
  std::string_view segment_;
};

}  // namespace wf::nodes
