#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

wf_code DecodeImage(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  if (StartsWith(file, "\x89PNG\r\n\x1a\n")) return DecodePng(ctx, file, wanted, px);
  if (StartsWith(file, "\xff\xd8\xff")) return DecodeJpeg(ctx, file, wanted, px);
  if (StartsWith(file, "BM")) return DecodeBmp(ctx, file, wanted, px);
  if (StartsWith(file, "RIFF") && file.len >= 12 && std::memcmp(file.ptr + 8, "WEBP", 4) == 0) return DecodeWebp(ctx, file, wanted, px);
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
