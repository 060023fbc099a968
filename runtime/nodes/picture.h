// What the decoders and encoders of pictures share: sizes, colours, orientation.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {

struct Size {
  int64_t height, width;
  int64_t pixels() const { return height * width; }
};

// A picture of 1 channel has no axis of channels.
struct Shape {
  Shape(Size size, int64_t channels) : extents{size.height, size.width, channels} {}
  std::span<const int64_t> axes() const { return std::span(extents).first(extents[2] == 1 ? 2 : 3); }

  std::array<int64_t, 3> extents;
};

// What a decoder is asked for: 1 channel of grey or 3 of colour; where least sizes are given, a picture of no fewer pixels may be one of
// half, a quarter or an eighth of the size.
struct Wanted {
  int64_t channels;
  wf_optional_i64 least_height, least_width;
};

// The largest of 8, 4 and 2 by which `size` may be divided, else 1.
inline int64_t Divisor(Size size, const Wanted& wanted) {
  if (wanted.least_height.has == 0 && wanted.least_width.has == 0) return 1;
  const auto is_left = [](int64_t extent, const wf_optional_i64& least) { return least.has == 0 || extent >= least.value; };
  for (const int64_t divisor : {8, 4, 2}) {
    if (is_left(size.height / divisor, wanted.least_height) && is_left(size.width / divisor, wanted.least_width)) return divisor;
  }
  return 1;
}

enum class PictureKind { kNone, kPng, kJpeg, kWebp, kBmp };

// What a file begins as.
inline PictureKind KindOf(const wf_bytes& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.ptr), file.len);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return PictureKind::kPng;
  if (bytes.starts_with("\xff\xd8\xff")) return PictureKind::kJpeg;
  if (bytes.starts_with("BM")) return PictureKind::kBmp;
  if (bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") return PictureKind::kWebp;
  return PictureKind::kNone;
}

// It is a picture, and what it takes is more than a request may have.
inline wf_code FailTooLarge(wf_ctx* ctx, Size size, int64_t most_pixels) {
  return Fail(ctx, code::kMemoryCap, "the image has %lld x %lld pixels; at most %lld are decoded", static_cast<long long>(size.width),
              static_cast<long long>(size.height), static_cast<long long>(most_pixels));
}

// Luma, by the weights of ITU-R 601 in 1/65536, as libjpeg and Pillow weigh.
inline uint8_t Luma(int red, int green, int blue) {
  return static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}
// Red, green and blue become grey, in place; false once the job is stopped.
bool ColoursToLuma(wf_ctx* ctx, Size size, wf_tensor* px);

// `value`, of sRGB, so opaque (0..255) over white, in linear light.
uint8_t OverWhite(uint8_t value, uint8_t opacity);
// Pixels of red, green, blue and opacity as the first one or three of these, over white; `to` may be where they begin.
void LayOverWhite(const uint8_t* rgba, int64_t count, int64_t channels, uint8_t* to);

// What EXIF says of how a picture lies, 1..8; 1 where it says nothing that can be read. `tiff` is what follows "Exif\0\0".
int Orientation(std::string_view tiff);
int OrientationOfJpeg(const wf_bytes& file);
int OrientationOfPng(const wf_bytes& file);
int OrientationOfWebp(const wf_bytes& file);

// Does an orientation exchange height and width?
inline bool IsTurned(int orientation) { return orientation >= 5; }
// Turns px, whose extents are `size`, as it is to be seen; memory for a second picture where it exchanges height and width. Fails without
// memory, and once the job is stopped.
wf_code Upright(wf_ctx* ctx, int orientation, Size size, int64_t channels, wf_tensor* px);

// Each for a file that begins as one of its format.
wf_code DecodePng(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px);
wf_code DecodeJpeg(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px);
wf_code DecodeWebp(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px);
wf_code DecodeBmp(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px);

}  // namespace wf::nodes
