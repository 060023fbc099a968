#include <png.h>
#include <turbojpeg.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"

namespace wf::nodes {
namespace {

// Deflate never expands more than 1032 times, and a byte holds at most 8 pixels: a header that claims more has no data to go with it.
// Refused before memory is taken for it.
constexpr uint64_t kMostPngPixelsPerByte = 1032 * 8;

// What both decoders are asked for.
struct Layout {
  png_uint_32 png;
  int jpeg;
  int64_t channels;
};
constexpr Layout kGray{PNG_FORMAT_GRAY, TJPF_GRAY, 1};
constexpr Layout kRgb{PNG_FORMAT_RGB, TJPF_RGB, 3};
constexpr int64_t kInks = 4;  // of a CMYK pixel

struct Size {
  int64_t height, width;
  int64_t pixels() const { return height * width; }
};

// Grey has no axis of channels.
struct Shape {
  Shape(Size size, int64_t channels) : extents{size.height, size.width, channels} {}
  std::span<const int64_t> axes() const { return std::span(extents).first(extents[2] == 1 ? 2 : 3); }

  std::array<int64_t, 3> extents;
};

bool StartsWith(const wf_bytes& file, std::string_view magic) {
  return file.len >= magic.size() && std::memcmp(file.ptr, magic.data(), magic.size()) == 0;
}

wf_code FailTooLarge(wf_ctx* ctx, Size size, int64_t most_pixels) {
  return Fail(ctx, code::kType, "the image has %lld x %lld pixels; at most %lld are decoded", static_cast<long long>(size.width),
              static_cast<long long>(size.height), static_cast<long long>(most_pixels));
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

// Luma, by the weights of ITU-R 601 in 1/65536, as libjpeg and Pillow weigh.
uint8_t Luma(int red, int green, int blue) { return static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16); }

// In place.
void ColoursToLuma(uint8_t* px, int64_t count) {
  for (int64_t i = 0; i < count; ++i) px[i] = Luma(px[3 * i], px[3 * i + 1], px[3 * i + 2]);
}

wf_code DecodePng(wf_ctx* ctx, const wf_bytes& file, const Layout& wanted, wf_tensor* px) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, file.ptr, file.len) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  const Size size{png.image.height, png.image.width};
  if (size.pixels() > WF_MAX_PNG_PIXELS) return FailTooLarge(ctx, size, WF_MAX_PNG_PIXELS);
  if (static_cast<uint64_t>(size.pixels()) / kMostPngPixelsPerByte > file.len)
    return Fail(ctx, code::kType, "the PNG image is damaged: truncated");
  // libpng's own grey of colours is their luminance in linear light: another one than that of the same picture as JPEG.
  const bool to_luma = wanted.channels == 1 && (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const Layout& layout = to_luma ? kRgb : wanted;
  png.image.format = layout.png;
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16-bit samples without a gamma chunk would be read as linear light
  if (!AllocateTensor(ctx, WF_U8, Shape(size, layout.channels).axes(), px)) return WF_FAILED;
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&png.image, &white, px->data, static_cast<png_int_32>(px->stride[0]), nullptr) == 0) {
    return Fail(ctx, code::kType, "the PNG image is damaged: %s", png.image.message);
  }
  if (!to_luma) return 0;
  auto* const data = static_cast<uint8_t*>(px->data);
  ColoursToLuma(data, size.pixels());
  *px = Dense(WF_U8, Shape(size, wanted.channels).axes());
  px->data = data;
  return 0;
}

struct CloseTurboJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};

// What the bytes break is a warning of the library; its errors are also kinds of files that it does not know, such as 12 bits a sample.
wf_code FailJpeg(wf_ctx* ctx, void* decoder) {
  const char* what = tjGetErrorCode(decoder) == TJERR_WARNING ? "is damaged" : "cannot be decoded";
  return Fail(ctx, code::kType, "the JPEG image %s: %s", what, tjGetErrorStr2(decoder));
}

bool DecodeInto(void* decoder, const wf_bytes& file, Size size, int format, void* pixels) {
  // A progressive file may have thousands of scans over the whole image: LIMITSCANS bounds the time that a small file can take.
  const int flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  const int width = static_cast<int>(size.width), height = static_cast<int>(size.height);
  return tjDecompress2(decoder, file.ptr, file.len, static_cast<unsigned char*>(pixels), width, 0, height, format, flags) == 0;
}

// 255 of an ink, inverted as Adobe writes it, lets all light pass. Rounds to nearest.
int Light(int ink, int black) { return (ink * black + 127) / 255; }

// In place: each pixel ends before the inks of the next.
void InksToPixels(uint8_t* px, int64_t count, int64_t channels) {
  const uint8_t* inks = px;
  for (int64_t i = 0; i < count; ++i, inks += kInks, px += channels) {
    const int red = Light(inks[0], inks[3]), green = Light(inks[1], inks[3]), blue = Light(inks[2], inks[3]);
    if (channels == 1) {
      px[0] = Luma(red, green, blue);
    } else {
      px[0] = static_cast<uint8_t>(red);
      px[1] = static_cast<uint8_t>(green);
      px[2] = static_cast<uint8_t>(blue);
    }
  }
}

wf_code DecodeCmyk(wf_ctx* ctx, void* decoder, const wf_bytes& file, const Shape& wanted, wf_tensor* px) {
  const Size size{wanted.extents[0], wanted.extents[1]};
  wf_tensor inks;
  if (!AllocateTensor(ctx, WF_U8, Shape(size, kInks).axes(), &inks)) return WF_FAILED;
  auto* const data = static_cast<uint8_t*>(inks.data);
  if (!DecodeInto(decoder, file, size, TJPF_CMYK, data)) return FailJpeg(ctx, decoder);
  InksToPixels(data, size.pixels(), wanted.extents[2]);
  *px = Dense(WF_U8, wanted.axes());
  px->data = data;
  return 0;
}

wf_code DecodeJpeg(wf_ctx* ctx, const wf_bytes& file, const Layout& layout, wf_tensor* px) {
  const std::unique_ptr<void, CloseTurboJpeg> decoder(tjInitDecompress());
  if (decoder == nullptr) return Fail(ctx, code::kMemoryCap, "no memory for a JPEG decoder");
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), file.ptr, file.len, &width, &height, &subsampling, &colours) != 0)
    return FailJpeg(ctx, decoder.get());
  const Size size{height, width};
  if (size.pixels() > WF_MAX_JPEG_PIXELS) return FailTooLarge(ctx, size, WF_MAX_JPEG_PIXELS);
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) return DecodeCmyk(ctx, decoder.get(), file, Shape(size, layout.channels), px);
  if (!AllocateTensor(ctx, WF_U8, Shape(size, layout.channels).axes(), px)) return WF_FAILED;
  return DecodeInto(decoder.get(), file, size, layout.jpeg, px->data) ? 0 : FailJpeg(ctx, decoder.get());
}

wf_code DecodeImage(wf_ctx* ctx, const wf_bytes& file, const Layout& layout, wf_tensor* px) {
  if (StartsWith(file, "\x89PNG\r\n\x1a\n")) return DecodePng(ctx, file, layout, px);
  if (StartsWith(file, "\xff\xd8\xff")) return DecodeJpeg(ctx, file, layout, px);
  return Fail(ctx, code::kType, "not a PNG or JPEG image");
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_decode_gray(wf_ctx* ctx, const wf_bytes* file, wf_tensor* gray) noexcept {
  return wf::nodes::DecodeImage(ctx, *file, wf::nodes::kGray, gray);
}

extern "C" wf_code wf_n_decode(wf_ctx* ctx, const wf_bytes* file, wf_tensor* rgb) noexcept {
  return wf::nodes::DecodeImage(ctx, *file, wf::nodes::kRgb, rgb);
}
