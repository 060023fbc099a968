#include <png.h>
#include <turbojpeg.h>

#include <memory>
#include <new>

#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

constexpr int64_t kMostJpegSide = 65500, kMostPngSide = 1'000'000;  // the libraries' own

struct CloseTurboJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};
struct FreeTurboJpeg {
  void operator()(unsigned char* bytes) const { tjFree(bytes); }
};

int64_t ChannelsOf(const wf_tensor& px) { return px.rank == 2 ? 1 : px.rank == 3 ? px.dim[2] : 0; }

wf_code CheckSides(wf_ctx* ctx, const wf_tensor& px, int64_t most) {
  if (px.dim[0] >= 1 && px.dim[1] >= 1 && px.dim[0] <= most && px.dim[1] <= most) return 0;
  return Fail(ctx, code::kType, "a picture of %lld x %lld pixels; 1 x 1 to %lld x %lld are encoded", static_cast<long long>(px.dim[1]),
              static_cast<long long>(px.dim[0]), static_cast<long long>(most), static_cast<long long>(most));
}

wf_code FailChannels(wf_ctx* ctx, int64_t channels) {
  return Fail(ctx, code::kType, "a picture of %lld channels is not encoded", static_cast<long long>(channels));
}

bool Copy(wf_ctx* ctx, const void* bytes, uint64_t size, wf_bytes* file) {
  auto* const data = static_cast<uint8_t*>(wf_alloc(ctx, (size / WF_ALIGN + 1) * WF_ALIGN, WF_ALIGN));
  if (data == nullptr) return false;
  std::memcpy(data, bytes, size);
  *file = {data, size};
  return true;
}

wf_code EncodeJpeg(wf_ctx* ctx, const wf_tensor& px, int64_t quality, wf_bytes* file) {
  const int64_t channels = ChannelsOf(px);
  if (channels != 1 && channels != 3) return FailChannels(ctx, channels);
  if (quality < 1 || quality > 100) return Fail(ctx, code::kType, "quality %lld; it is 1..100", static_cast<long long>(quality));
  if (const wf_code code = CheckSides(ctx, px, kMostJpegSide); code != 0) return code;
  const std::unique_ptr<void, CloseTurboJpeg> encoder(tjInitCompress());
  if (encoder == nullptr) return Fail(ctx, code::kMemoryCap, "no memory for a JPEG encoder");
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: TurboJPEG's type
  const int format = channels == 1 ? TJPF_GRAY : TJPF_RGB, subsampling = channels == 1 ? TJSAMP_GRAY : TJSAMP_420;
  const int failed =
      tjCompress2(encoder.get(), static_cast<const unsigned char*>(px.data), static_cast<int>(px.dim[1]), static_cast<int>(px.stride[0]),
                  static_cast<int>(px.dim[0]), format, &bytes, &size, subsampling, static_cast<int>(quality), TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, FreeTurboJpeg> owned(bytes);
  if (failed != 0) return Fail(ctx, code::kType, "the picture cannot be encoded: %s", tjGetErrorStr2(encoder.get()));
  return Copy(ctx, bytes, size, file) ? 0 : WF_FAILED;
}

wf_code EncodePng(wf_ctx* ctx, const wf_tensor& px, wf_bytes* file) {
  constexpr uint32_t kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  const int64_t channels = ChannelsOf(px);
  if (channels < 1 || channels > 4) return FailChannels(ctx, channels);
  if (const wf_code code = CheckSides(ctx, px, kMostPngSide); code != 0) return code;
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(px.dim[1]);
  image.height = static_cast<png_uint_32>(px.dim[0]);
  image.format = kFormats[channels - 1];
  // The most that it can take, of which little is touched: to ask for the size would be to compress twice.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  const std::unique_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[size]);
  if (bytes == nullptr) return Fail(ctx, code::kMemoryCap, "no memory for a PNG encoder");
  if (png_image_write_to_memory(&image, bytes.get(), &size, 0, px.data, static_cast<png_int_32>(px.stride[0]), nullptr) == 0)
    return Fail(ctx, code::kType, "the picture cannot be encoded: %s", image.message);
  return Copy(ctx, bytes.get(), size, file) ? 0 : WF_FAILED;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_encode_jpeg(wf_ctx* ctx, const wf_tensor* px, const int64_t* quality, wf_bytes* file) noexcept {
  return wf::nodes::EncodeJpeg(ctx, *px, *quality, file);
}

extern "C" wf_code wf_n_encode_png(wf_ctx* ctx, const wf_tensor* px, wf_bytes* file) noexcept {
  return wf::nodes::EncodePng(ctx, *px, file);
}
