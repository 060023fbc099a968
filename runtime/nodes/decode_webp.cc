#include <webp/decode.h>

#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

const char* TextOf(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OK:
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its bits make no picture";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "no memory for the decoder";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature that is not supported";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_USER_ABORT:
      return "truncated";
    case VP8_STATUS_INVALID_PARAM:
      return "a parameter is out of range";
  }
  return "damaged";
}

wf_code FailWebp(wf_ctx* ctx, VP8StatusCode status) {
  const wf_code code = status == VP8_STATUS_OUT_OF_MEMORY ? code::kMemoryCap : code::kType;
  return Fail(ctx, code, "the WebP image cannot be decoded: %s", TextOf(status));
}

// Four channels to three, in place.
void LayOverWhite(uint8_t* px, int64_t count) {
  const uint8_t* from = px;
  for (int64_t i = 0; i < count; ++i, from += 4, px += 3) {
    const uint8_t opacity = from[3];
    for (int channel = 0; channel < 3; ++channel) px[channel] = OverWhite(from[channel], opacity);
  }
}

}  // namespace

wf_code DecodeWebp(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return FailWebp(ctx, VP8_STATUS_INVALID_PARAM);
  const VP8StatusCode header = WebPGetFeatures(file.ptr, file.len, &config.input);
  if (header != VP8_STATUS_OK) return FailWebp(ctx, header);
  if (config.input.has_animation != 0) return Fail(ctx, code::kType, "the WebP image is animated; one picture is wanted");
  const Size size{config.input.height, config.input.width};
  if (size.pixels() > WF_MAX_WEBP_PIXELS) return FailTooLarge(ctx, size, WF_MAX_WEBP_PIXELS);
  const int64_t channels = config.input.has_alpha != 0 ? 4 : 3;
  if (!AllocateTensor(ctx, WF_U8, Shape(size, channels).axes(), px)) return WF_FAILED;
  auto* const data = static_cast<uint8_t*>(px->data);
  config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = data;
  config.output.u.RGBA.stride = static_cast<int>(px->stride[0]);
  config.output.u.RGBA.size = static_cast<size_t>(size.pixels() * channels);
  const VP8StatusCode status = WebPDecode(file.ptr, file.len, &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return FailWebp(ctx, status);
  if (channels == 4) {
    LayOverWhite(data, size.pixels());
    *px = Dense(WF_U8, Shape(size, 3).axes());
    px->data = data;
  }
  if (wanted.channels == 1) ColoursToLuma(size, px);
  return Upright(ctx, OrientationOfWebp(file), size, wanted.channels, px);
}

}  // namespace wf::nodes
