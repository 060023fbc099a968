#include <png.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/nodes/exit.h"
#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

// Deflate never expands more than 1032 times, and a byte holds at most 8 pixels: a header that claims more has no data to go with it.
// Refused before memory is taken for it.
constexpr uint64_t kMostPixelsPerByte = 1032 * 8;

class PngDecoder {
 public:
  PngDecoder(wf_ctx* ctx, const wf_bytes& file)
      : ctx_(ctx), rest_(file), png_(png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning, this, Allocate, Release)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  bool ReadHeader();
  Size size() const { return {png_get_image_height(png_, info_), png_get_image_width(png_, info_)}; }
  bool has_colour() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0; }
  bool has_opacity() const {
    return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  }
  // Rows of pixels with opacity that are wanted beside the result: one, or all, which the passes of an interlaced file fill bit by bit.
  int64_t rows_of_opacity() const {
    if (!has_opacity()) return 0;
    return png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1 : size().height;
  }
  // Of sRGB, `channels` bytes each, one row behind the other; transparency is laid over white. `rgba`: memory for rows_of_opacity().
  bool ReadPixels(int64_t channels, uint8_t* rgba, uint8_t* px);
  wf_code Fail() const;

 private:
  static PngDecoder& Of(png_structp png) { return *static_cast<PngDecoder*>(png_get_error_ptr(png)); }
  static void OnError(png_structp png, png_const_charp message);
  static void OnWarning(png_structp, png_const_charp) {}
  static png_voidp Allocate(png_structp png, png_alloc_size_t bytes);
  static void Release(png_structp, png_voidp memory) { std::free(memory); }
  static void Read(png_structp png, png_bytep to, size_t length);
  int64_t ChooseOutput(int64_t channels);

  wf_ctx* const ctx_;
  wf_bytes rest_;
  Exit exit_;
  bool is_stopped_ = false, has_no_memory_ = false;
  char message_[128] = {};
  png_structp png_;
  png_infop info_ = nullptr;
};

void PngDecoder::OnError(png_structp png, png_const_charp message) {
  PngDecoder& decoder = Of(png);
  std::snprintf(decoder.message_, sizeof decoder.message_, "%s", message);
  decoder.exit_.Leave();
}

// The library tells of memory that is not there as of damage.
png_voidp PngDecoder::Allocate(png_structp png, png_alloc_size_t bytes) {
  void* const memory = std::malloc(bytes);
  static_cast<PngDecoder*>(png_get_mem_ptr(png))->has_no_memory_ |= memory == nullptr;
  return memory;
}

void PngDecoder::Read(png_structp png, png_bytep to, size_t length) {
  wf_bytes& rest = static_cast<PngDecoder*>(png_get_io_ptr(png))->rest_;
  if (length > rest.len) png_error(png, "read beyond end of data");
  std::memcpy(to, rest.ptr, length);
  rest = {rest.ptr + length, rest.len - length};
}

bool PngDecoder::ReadHeader() {
  return info_ != nullptr && exit_.Try([&] {
    // What else a file holds is passed over: texts may expand to gigabytes.
    constexpr png_byte kColours[] = "cHRM\0gAMA\0iCCP\0sBIT\0sRGB";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, kColours, sizeof kColours / 5);
    png_set_benign_errors(png_, 1);
    png_set_read_fn(png_, this, Read);
    png_read_info(png_, info_);
  });
}

// How many bytes libpng gives for a pixel. (Its own mixing with a background computes with 8 bits of light, which is levels off where it is
// dark.)
int64_t PngDecoder::ChooseOutput(int64_t channels) {
  png_set_expand(png_);
  if (channels == 3 || has_opacity()) png_set_gray_to_rgb(png_);
  if (png_get_bit_depth(png_, info_) == 16) png_set_scale_16(png_);
  // A file that does not say its gamma has that of sRGB, with 16 bits, too.
  png_set_alpha_mode_fixed(png_, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  return has_opacity() ? 4 : channels;
}

bool PngDecoder::ReadPixels(int64_t channels, uint8_t* rgba, uint8_t* px) {
  const int64_t width = size().width, rows = rows_of_opacity();
  const bool has_ended = exit_.Try([&] {
    const int64_t given = ChooseOutput(channels);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != static_cast<size_t>(given * width)) png_error(png_, "unknown kind of pixels");
    for (int pass = 1; pass <= passes; ++pass) {
      for (int64_t y = 0; y < size().height && !is_stopped_; ++y) {
        uint8_t* const row = px + y * channels * width;
        uint8_t* const read = rows == 0 ? row : rgba + (rows == 1 ? 0 : y) * given * width;
        png_read_row(png_, read, nullptr);
        if (rows != 0 && pass == passes) LayOverWhite(read, width, channels, row);
        is_stopped_ = Stopped(ctx_);
      }
    }
  });
  return has_ended && !is_stopped_;
}

wf_code PngDecoder::Fail() const {
  if (is_stopped_) return WF_FAILED;
  if (info_ == nullptr || has_no_memory_) return nodes::Fail(ctx_, code::kMemoryCap, "no memory for a PNG decoder");
  return nodes::Fail(ctx_, code::kType, "the PNG image is damaged: %s", message_);
}

}  // namespace

wf_code DecodePng(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  PngDecoder decoder(ctx, file);
  if (!decoder.ReadHeader()) return decoder.Fail();
  const Size size = decoder.size();
  if (size.pixels() > WF_MAX_PNG_PIXELS) return FailTooLarge(ctx, size, WF_MAX_PNG_PIXELS);
  if (static_cast<uint64_t>(size.pixels()) / kMostPixelsPerByte > file.len)
    return Fail(ctx, code::kType, "the PNG image is damaged: truncated");
  // libpng's own grey of colours is their luminance in linear light: another one than that of the same picture as JPEG.
  const int64_t channels = wanted.channels == 1 && !decoder.has_colour() ? 1 : 3;
  if (!AllocateTensor(ctx, WF_U8, Shape(size, channels).axes(), px)) return WF_FAILED;
  uint8_t* rgba = nullptr;
  if (const int64_t rows = decoder.rows_of_opacity(); rows != 0) {
    rgba = static_cast<uint8_t*>(wf_alloc(ctx, static_cast<size_t>(rows * size.width * 4 / WF_ALIGN + 1) * WF_ALIGN, WF_ALIGN));
    if (rgba == nullptr) return WF_FAILED;
  }
  if (!decoder.ReadPixels(channels, rgba, static_cast<uint8_t*>(px->data))) return decoder.Fail();
  if (channels != wanted.channels && !ColoursToLuma(ctx, size, px)) return WF_FAILED;
  return Upright(ctx, OrientationOfPng(file), size, wanted.channels, px);
}

}  // namespace wf::nodes
