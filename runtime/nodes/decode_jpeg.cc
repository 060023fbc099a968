#include <turbojpeg.h>

#include <memory>
#include <utility>

#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

constexpr int64_t kInks = 4;  // of a CMYK pixel

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

wf_code DecodePixels(wf_ctx* ctx, void* decoder, const wf_bytes& file, const Shape& wanted, wf_tensor* px) {
  if (!AllocateTensor(ctx, WF_U8, wanted.axes(), px)) return WF_FAILED;
  const Size size{wanted.extents[0], wanted.extents[1]};
  return DecodeInto(decoder, file, size, wanted.extents[2] == 1 ? TJPF_GRAY : TJPF_RGB, px->data) ? 0 : FailJpeg(ctx, decoder);
}

}  // namespace

wf_code DecodeJpeg(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  const std::unique_ptr<void, CloseTurboJpeg> decoder(tjInitDecompress());
  if (decoder == nullptr) return Fail(ctx, code::kMemoryCap, "no memory for a JPEG decoder");
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), file.ptr, file.len, &width, &height, &subsampling, &colours) != 0)
    return FailJpeg(ctx, decoder.get());
  const Size whole{height, width};
  if (whole.pixels() > WF_MAX_JPEG_PIXELS) return FailTooLarge(ctx, whole, WF_MAX_JPEG_PIXELS);
  const int orientation = OrientationOfJpeg(file);
  const int64_t divisor = Divisor(IsTurned(orientation) ? Size{width, height} : whole, wanted);
  const Size size{(height + divisor - 1) / divisor, (width + divisor - 1) / divisor};
  const bool is_cmyk = colours == TJCS_CMYK || colours == TJCS_YCCK;
  const wf_code code = (is_cmyk ? DecodeCmyk : DecodePixels)(ctx, decoder.get(), file, Shape(size, wanted.channels), px);
  return code != 0 ? code : Upright(ctx, orientation, size, wanted.channels, px);
}

}  // namespace wf::nodes
