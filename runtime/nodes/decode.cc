#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

wf_code DecodeImage(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  switch (KindOf(file)) {
    case PictureKind::kPng:
      return DecodePng(ctx, file, wanted, px);
    case PictureKind::kJpeg:
      return DecodeJpeg(ctx, file, wanted, px);
    case PictureKind::kBmp:
      return DecodeBmp(ctx, file, wanted, px);
    case PictureKind::kWebp:
      return DecodeWebp(ctx, file, wanted, px);
    case PictureKind::kNone:
      break;
  }
  return Fail(ctx, code::kType, "not a PNG, JPEG, WebP or BMP image");
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_decode_gray(wf_ctx* ctx, const wf_bytes* file, const wf_optional_i64* least_height,
                                    const wf_optional_i64* least_width, wf_tensor* gray) noexcept {
  return wf::nodes::DecodeImage(ctx, *file, {1, *least_height, *least_width}, gray);
}

extern "C" wf_code wf_n_decode(wf_ctx* ctx, const wf_bytes* file, const wf_optional_i64* least_height, const wf_optional_i64* least_width,
                               wf_tensor* rgb) noexcept {
  return wf::nodes::DecodeImage(ctx, *file, {3, *least_height, *least_width}, rgb);
}
