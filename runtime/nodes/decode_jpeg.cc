#include "runtime/nodes/claim.h"
#include "runtime/nodes/jpeg.h"
#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

constexpr int64_t kInks = 4;  // of a CMYK pixel

class JpegDecoder {
 public:
  explicit JpegDecoder(wf_ctx* ctx) : call_(ctx) {}
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  bool ReadHeader(const wf_bytes& file) {
    return call_.Try([&] {
      call_.HandleErrorsOf(reinterpret_cast<j_common_ptr>(&jpeg_));
      jpeg_create_decompress(&jpeg_);
      call_.Watch(reinterpret_cast<j_common_ptr>(&jpeg_));
      jpeg_mem_src(&jpeg_, file.ptr, file.len);
      jpeg_read_header(&jpeg_, TRUE);
    });
  }
  Size size() const { return {jpeg_.image_height, jpeg_.image_width}; }
  // What libjpeg keeps of a file of several scans until the last: each coefficient in two bytes, in whole blocks of the full size.
  uint64_t coefficient_bytes() {
    if (jpeg_has_multiple_scans(&jpeg_) == 0) return 0;
    const auto padded = [](JDIMENSION count, int factor) {
      const auto by = static_cast<uint64_t>(factor);
      return (count + by - 1) / by * by;
    };
    uint64_t blocks = 0;
    for (const jpeg_component_info& of : std::span(jpeg_.comp_info, static_cast<size_t>(jpeg_.num_components)))
      blocks += padded(of.width_in_blocks, of.h_samp_factor) * padded(of.height_in_blocks, of.v_samp_factor);
    return blocks * sizeof(JBLOCK);
  }
  bool has_inks() const { return jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK; }

  // Pixels of `channels` bytes each, one row behind the other.
  bool ReadPixels(int64_t divisor, int64_t channels, uint8_t* px) {
    return call_.Try([&] {
      jpeg_.scale_num = 1;
      jpeg_.scale_denom = static_cast<unsigned>(divisor);
      jpeg_.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
      jpeg_start_decompress(&jpeg_);
      const int64_t row_bytes = channels * jpeg_.output_width;
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = px + row_bytes * jpeg_.output_scanline;
        jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&jpeg_);
    });
  }
  wf_code Fail() const { return call_.Fail("the JPEG image cannot be decoded", "the JPEG image is damaged"); }

 private:
  JpegCall call_;
  jpeg_decompress_struct jpeg_{};
};

// 255 of an ink, inverted as Adobe writes it, lets all light pass. Rounds to nearest.
int Light(int ink, int black) { return (ink * black + 127) / 255; }

// In place: each pixel ends before the inks of the next.
bool InksToPixels(wf_ctx* ctx, int64_t count, int64_t channels, uint8_t* data) {
  return InSteps(ctx, count, [&](int64_t from, int64_t to) {
    const uint8_t* inks = data + kInks * from;
    uint8_t* px = data + channels * from;
    for (int64_t i = from; i < to; ++i, inks += kInks, px += channels) {
      const int red = Light(inks[0], inks[3]), green = Light(inks[1], inks[3]), blue = Light(inks[2], inks[3]);
      if (channels == 1) {
        px[0] = Luma(red, green, blue);
      } else {
        px[0] = static_cast<uint8_t>(red);
        px[1] = static_cast<uint8_t>(green);
        px[2] = static_cast<uint8_t>(blue);
      }
    }
  });
}

}  // namespace

wf_code DecodeJpeg(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  Claim claim(ctx);
  JpegDecoder decoder(ctx);
  if (!decoder.ReadHeader(file)) return decoder.Fail();
  const Size whole = decoder.size();
  if (whole.pixels() > WF_MAX_JPEG_PIXELS) return FailTooLarge(ctx, whole, WF_MAX_JPEG_PIXELS);
  const int orientation = OrientationOfJpeg(file);
  const int64_t divisor = Divisor(IsTurned(orientation) ? Size{whole.width, whole.height} : whole, wanted);
  const Size size{(whole.height + divisor - 1) / divisor, (whole.width + divisor - 1) / divisor};
  const int64_t channels = decoder.has_inks() ? kInks : wanted.channels;
  if (!claim.Take(decoder.coefficient_bytes()) || !AllocateTensor(ctx, WF_U8, Shape(size, channels).axes(), px)) return WF_FAILED;
  auto* const data = static_cast<uint8_t*>(px->data);
  if (!decoder.ReadPixels(divisor, channels, data)) return decoder.Fail();
  claim.GiveBack();
  if (decoder.has_inks()) {
    if (!InksToPixels(ctx, size.pixels(), wanted.channels, data)) return WF_FAILED;
    *px = Dense(WF_U8, Shape(size, wanted.channels).axes());
    px->data = data;
  }
  return Upright(ctx, orientation, size, wanted.channels, px);
}

}  // namespace wf::nodes
