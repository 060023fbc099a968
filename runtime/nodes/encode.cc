#include <png.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/nodes/jpeg.h"
#include "runtime/nodes/picture.h"

#include <jerror.h>  // knows what jpeg.h does

namespace wf::nodes {
namespace {

constexpr int64_t kMostJpegSide = 65500, kMostPngSide = 1'000'000;  // the libraries' own

int64_t ChannelsOf(const wf_tensor& px) { return px.rank == 2 ? 1 : px.rank == 3 ? px.dim[2] : 0; }

wf_code CheckSides(wf_ctx* ctx, const wf_tensor& px, int64_t most) {
  if (px.dim[0] >= 1 && px.dim[1] >= 1 && px.dim[0] <= most && px.dim[1] <= most) return 0;
  return Fail(ctx, code::kType, "a picture of %lld x %lld pixels; 1 x 1 to %lld x %lld are encoded", static_cast<long long>(px.dim[1]),
              static_cast<long long>(px.dim[0]), static_cast<long long>(most), static_cast<long long>(most));
}

wf_code FailChannels(wf_ctx* ctx, const wf_tensor& px) {
  const int64_t channels = ChannelsOf(px);
  if (px.rank > 3)
    return Fail(ctx, code::kType, "a picture of %u axes is not encoded; it has height, width and channels", unsigned{px.rank});
  return Fail(ctx, code::kType, "a picture of %lld channels is not encoded", static_cast<long long>(channels));
}

// What an encoder has written, in memory of its own until its size is known.
// Thread: confined to the call.
class Written {
 public:
  Written() = default;
  ~Written() { std::free(data_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  bool Add(const uint8_t* bytes, size_t length) {  // false without memory
    if (capacity_ - size_ < length) {
      const size_t wanted = std::max(size_ + length, 2 * capacity_);
      auto* const data = static_cast<uint8_t*>(std::realloc(data_, wanted));
      if (data == nullptr) return false;
      data_ = data;
      capacity_ = wanted;
    }
    std::memcpy(data_ + size_, bytes, length);
    size_ += length;
    return true;
  }
  wf_code CopyTo(wf_ctx* ctx, wf_bytes* file) const {
    auto* const data = static_cast<uint8_t*>(wf_alloc(ctx, (size_ / WF_ALIGN + 1) * WF_ALIGN, WF_ALIGN));
    if (data == nullptr) return WF_FAILED;
    std::memcpy(data, data_, size_);
    *file = {data, size_};
    return 0;
  }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

// Where libjpeg writes to.
struct JpegOutput : jpeg_destination_mgr {
  JpegOutput() : jpeg_destination_mgr{} {
    init_destination = [](j_compress_ptr jpeg) { Of(jpeg).Begin(); };
    empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
      Of(jpeg).End(jpeg, sizeof part);
      Of(jpeg).Begin();
      return TRUE;
    };
    term_destination = [](j_compress_ptr jpeg) { Of(jpeg).End(jpeg, sizeof part - jpeg->dest->free_in_buffer); };
  }
  static JpegOutput& Of(j_compress_ptr jpeg) { return *static_cast<JpegOutput*>(jpeg->dest); }
  void Begin() {
    next_output_byte = part;
    free_in_buffer = sizeof part;
  }
  void End(j_compress_ptr jpeg, size_t length) {
    if (!written.Add(part, length)) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
  }

  Written written;
  uint8_t part[16384];
};

class JpegEncoder {
 public:
  explicit JpegEncoder(wf_ctx* ctx) : call_(ctx) {}
  ~JpegEncoder() { jpeg_destroy_compress(&jpeg_); }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  bool Write(const wf_tensor& px, int64_t quality) {
    const auto channels = static_cast<int>(ChannelsOf(px));
    return call_.Try([&] {
      call_.HandleErrorsOf(reinterpret_cast<j_common_ptr>(&jpeg_));
      jpeg_create_compress(&jpeg_);
      call_.Watch(reinterpret_cast<j_common_ptr>(&jpeg_));
      jpeg_.dest = &output_;
      jpeg_.image_width = static_cast<JDIMENSION>(px.dim[1]);
      jpeg_.image_height = static_cast<JDIMENSION>(px.dim[0]);
      jpeg_.input_components = channels;
      jpeg_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&jpeg_);  // colours at half the resolution
      jpeg_set_quality(&jpeg_, static_cast<int>(quality), TRUE);
      jpeg_start_compress(&jpeg_, TRUE);
      while (jpeg_.next_scanline < jpeg_.image_height) {
        JSAMPROW row = static_cast<uint8_t*>(px.data) + px.stride[0] * jpeg_.next_scanline;
        jpeg_write_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_compress(&jpeg_);
    });
  }
  const Written& written() const { return output_.written; }
  wf_code Fail() const { return call_.Fail("the picture cannot be encoded", "the picture cannot be encoded"); }

 private:
  JpegCall call_;
  JpegOutput output_;
  jpeg_compress_struct jpeg_{};
};

class PngEncoder {
 public:
  explicit PngEncoder(wf_ctx* ctx)
      : ctx_(ctx), png_(png_create_write_struct_2(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning, this, Allocate, Release)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngEncoder() { png_destroy_write_struct(&png_, &info_); }
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  bool Write(const wf_tensor& px) {
    constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const bool has_ended = info_ != nullptr && exit_.Try([&] {
      png_set_write_fn(png_, this, Add, nullptr);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(px.dim[1]), static_cast<png_uint_32>(px.dim[0]), 8, kColours[ChannelsOf(px) - 1],
                   PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
      png_set_sRGB(png_, info_, PNG_sRGB_INTENT_PERCEPTUAL);
      png_write_info(png_, info_);
      const auto* row = static_cast<const uint8_t*>(px.data);
      for (int64_t y = 0; y < px.dim[0] && !is_stopped_; ++y, row += px.stride[0]) {
        png_write_row(png_, row);
        is_stopped_ = Stopped(ctx_);
      }
      if (!is_stopped_) png_write_end(png_, info_);
    });
    return has_ended && !is_stopped_;
  }
  const Written& written() const { return written_; }
  wf_code Fail() const {
    if (is_stopped_) return WF_FAILED;
    if (info_ == nullptr || has_no_memory_) return nodes::Fail(ctx_, code::kMemoryCap, "no memory for a PNG encoder");
    return nodes::Fail(ctx_, code::kType, "the picture cannot be encoded: %s", message_);
  }

 private:
  static void OnError(png_structp png, png_const_charp message) {
    auto& encoder = *static_cast<PngEncoder*>(png_get_error_ptr(png));
    std::snprintf(encoder.message_, sizeof encoder.message_, "%s", message);
    encoder.exit_.Leave();
  }
  static void OnWarning(png_structp, png_const_charp) {}
  static png_voidp Allocate(png_structp png, png_alloc_size_t bytes) {
    void* const memory = std::malloc(bytes);
    static_cast<PngEncoder*>(png_get_mem_ptr(png))->has_no_memory_ |= memory == nullptr;
    return memory;
  }
  static void Release(png_structp, png_voidp memory) { std::free(memory); }
  static void Add(png_structp png, png_bytep bytes, size_t length) {
    auto& encoder = *static_cast<PngEncoder*>(png_get_io_ptr(png));
    if (encoder.written_.Add(bytes, length)) return;
    encoder.has_no_memory_ = true;
    png_error(png, "no memory");
  }

  wf_ctx* const ctx_;
  Exit exit_;
  bool is_stopped_ = false, has_no_memory_ = false;
  char message_[128] = {};
  Written written_;
  png_structp png_;
  png_infop info_ = nullptr;
};

wf_code EncodeJpeg(wf_ctx* ctx, const wf_tensor& px, int64_t quality, wf_bytes* file) {
  const int64_t channels = ChannelsOf(px);
  if (channels != 1 && channels != 3) return FailChannels(ctx, px);
  if (quality < 1 || quality > 100) return Fail(ctx, code::kType, "quality %lld; it is 1..100", static_cast<long long>(quality));
  if (const wf_code code = CheckSides(ctx, px, kMostJpegSide); code != 0) return code;
  JpegEncoder encoder(ctx);
  return encoder.Write(px, quality) ? encoder.written().CopyTo(ctx, file) : encoder.Fail();
}

wf_code EncodePng(wf_ctx* ctx, const wf_tensor& px, wf_bytes* file) {
  const int64_t channels = ChannelsOf(px);
  if (channels < 1 || channels > 4) return FailChannels(ctx, px);
  if (const wf_code code = CheckSides(ctx, px, kMostPngSide); code != 0) return code;
  PngEncoder encoder(ctx);
  return encoder.Write(px) ? encoder.written().CopyTo(ctx, file) : encoder.Fail();
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_encode_jpeg(wf_ctx* ctx, const wf_tensor* px, const int64_t* quality, wf_bytes* file) noexcept {
  return wf::nodes::EncodeJpeg(ctx, *px, *quality, file);
}

extern "C" wf_code wf_n_encode_png(wf_ctx* ctx, const wf_tensor* px, wf_bytes* file) noexcept {
  return wf::nodes::EncodePng(ctx, *px, file);
}
