#include <png.h>

#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

// Deflate never expands more than 1032 times, and a byte holds at most 8 pixels: a header that claims more has no data to go with it.
// Refused before memory is taken for it.
constexpr uint64_t kMostPixelsPerByte = 1032 * 8;

// The simplified interface keeps setjmp, messages and warnings inside libpng.
class PngImage {
 public:
  PngImage() {
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
  }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image image;
};

}  // namespace

wf_code DecodePng(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, file.ptr, file.len) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  const Size size{png.image.height, png.image.width};
  if (size.pixels() > WF_MAX_PNG_PIXELS) return FailTooLarge(ctx, size, WF_MAX_PNG_PIXELS);
  if (static_cast<uint64_t>(size.pixels()) / kMostPixelsPerByte > file.len)
    return Fail(ctx, code::kType, "the PNG image is damaged: truncated");
  // libpng's own grey of colours is their luminance in linear light: another one than that of the same picture as JPEG.
  const bool to_luma = wanted.channels == 1 && (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const bool is_gray = wanted.channels == 1 && !to_luma;
  png.image.format = is_gray ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16-bit samples without a gamma chunk would be read as linear light
  if (!AllocateTensor(ctx, WF_U8, Shape(size, is_gray ? 1 : 3).axes(), px)) return WF_FAILED;
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&png.image, &white, px->data, static_cast<png_int_32>(px->stride[0]), nullptr) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  if (to_luma) ColoursToLuma(size, px);
  return Upright(ctx, OrientationOfPng(file), size, wanted.channels, px);
}

}  // namespace wf::nodes
