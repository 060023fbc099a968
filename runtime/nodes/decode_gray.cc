#include <png.h>
#include <turbojpeg.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"

namespace wf::nodes {
namespace {

// Deflate never expands more than 1032 times, and a byte holds at most 8 pixels: a header that claims more has no data to go with it.
// Refused before memory is taken for it.
constexpr uint64_t kMostPngPixelsPerByte = 1032 * 8;

bool StartsWith(const wf_bytes& file, std::string_view magic) {
  return file.len >= magic.size() && std::memcmp(file.ptr, magic.data(), magic.size()) == 0;
}

wf_code FailTooLarge(wf_ctx* ctx, int64_t width, int64_t height, int64_t most_pixels) {
  return Fail(ctx, code::kType, "the image has %lld x %lld pixels; at most %lld are decoded", static_cast<long long>(width),
              static_cast<long long>(height), static_cast<long long>(most_pixels));
}

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

wf_code DecodePng(wf_ctx* ctx, const wf_bytes& file, wf_tensor* gray) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, file.ptr, file.len) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  const int64_t dims[] = {png.image.height, png.image.width};
  const uint64_t pixels = static_cast<uint64_t>(dims[0]) * static_cast<uint64_t>(dims[1]);
  if (pixels > WF_MAX_PNG_PIXELS) return FailTooLarge(ctx, dims[1], dims[0], WF_MAX_PNG_PIXELS);
  if (pixels / kMostPngPixelsPerByte > file.len) return Fail(ctx, code::kType, "the PNG image is damaged: truncated");
  png.image.format = PNG_FORMAT_GRAY;
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16-bit samples without a gamma chunk would be read as linear light
  if (!AllocateTensor(ctx, WF_U8, dims, gray)) return WF_FAILED;
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&png.image, &white, gray->data, static_cast<png_int_32>(dims[1]), nullptr) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  return 0;
}

struct CloseTurboJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};

wf_code FailJpeg(wf_ctx* ctx, void* decoder) { return Fail(ctx, code::kType, "the JPEG image is damaged: %s", tjGetErrorStr2(decoder)); }

wf_code DecodeJpeg(wf_ctx* ctx, const wf_bytes& file, wf_tensor* gray) {
  const std::unique_ptr<void, CloseTurboJpeg> decoder(tjInitDecompress());
  if (decoder == nullptr) return Fail(ctx, code::kMemoryCap, "no memory for a JPEG decoder");
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), file.ptr, file.len, &width, &height, &subsampling, &colours) != 0)
    return FailJpeg(ctx, decoder.get());
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    return Fail(ctx, code::kType, "the JPEG image has colours for print (CMYK), which are not read; save it in RGB");
  const int64_t dims[] = {height, width};
  if (dims[0] * dims[1] > WF_MAX_JPEG_PIXELS) return FailTooLarge(ctx, width, height, WF_MAX_JPEG_PIXELS);
  if (!AllocateTensor(ctx, WF_U8, dims, gray)) return WF_FAILED;
  // A progressive file may have thousands of scans over the whole image: LIMITSCANS bounds the time that a small file can take.
  const int flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), file.ptr, file.len, static_cast<unsigned char*>(gray->data), width, width, height, TJPF_GRAY, flags) !=
      0) {
    return FailJpeg(ctx, decoder.get());
  }
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_decode_gray(wf_ctx* ctx, const wf_bytes* file, wf_tensor* gray) noexcept {
  using namespace wf::nodes;
  if (StartsWith(*file, "\x89PNG\r\n\x1a\n")) return DecodePng(ctx, *file, gray);
  if (StartsWith(*file, "\xff\xd8\xff")) return DecodeJpeg(ctx, *file, gray);
  return Fail(ctx, wf::code::kType, "not a PNG or JPEG image");
}
