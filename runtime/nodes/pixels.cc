// How large a picture is by its file's first bytes.

#include <webp/decode.h>

#include "runtime/nodes/picture.h"
#include "runtime/nodes/picture_file.h"

namespace wf::nodes {
namespace {

constexpr int kMostSegments = 1024;  // before the header of a JPEG: a loop does not look through more

Size SizeOfPng(const wf_bytes& file) {
  const Numbers numbers(ViewOf(file), true);
  return {numbers.At(20, 4), numbers.At(16, 4)};
}

Size SizeOfBmp(const wf_bytes& file) {
  const Numbers numbers(ViewOf(file), false);
  if (numbers.At(14, 4) == 12) return {numbers.At(20, 2), numbers.At(18, 2)};
  return {std::abs(int64_t{static_cast<int32_t>(numbers.At(22, 4))}), static_cast<int32_t>(numbers.At(18, 4))};
}

Size SizeOfWebp(const wf_bytes& file) {
  int width = 0, height = 0;
  return WebPGetInfo(file.ptr, file.len, &width, &height) != 0 ? Size{height, width} : Size{0, 0};
}

Size SizeOfJpeg(const wf_bytes& file) {
  JpegSegments segments(file);
  for (int i = 0; segments.Next(); ++i) {
    if (i == kMostSegments) return {1, WF_MAX_JPEG_PIXELS};
    const uint32_t marker = segments.marker();
    const bool is_frame = marker >= 0xc0 && marker < 0xd0 && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    const Numbers numbers(segments.bytes(), true);
    if (is_frame) return {numbers.At(1, 2), numbers.At(3, 2)};
  }
  return {0, 0};
}

uint64_t Within(Size size, int64_t most) {
  return size.height > 0 && size.width > 0 && size.pixels() <= most ? static_cast<uint64_t>(size.pixels()) : 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" uint64_t wf_pixels(wf_bytes file) noexcept {
  using namespace wf::nodes;
  switch (KindOf(file)) {
    case PictureKind::kPng:
      return Within(SizeOfPng(file), WF_MAX_PNG_PIXELS);
    case PictureKind::kJpeg:
      return Within(SizeOfJpeg(file), WF_MAX_JPEG_PIXELS);
    case PictureKind::kBmp:
      return Within(SizeOfBmp(file), WF_MAX_BMP_PIXELS);
    case PictureKind::kWebp:
      return Within(SizeOfWebp(file), WF_MAX_WEBP_PIXELS);
    case PictureKind::kNone:
      return 0;
  }
  return 0;
}
