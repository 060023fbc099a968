#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// Box by box, the pixels of its frame once each; all that draws is false once the job is stopped.
struct Canvas {
  // Pixels [x0, x1) of the rows [y0, y1), as far as they are there.
  bool Fill(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
    x0 = std::max<int64_t>(x0, 0), y0 = std::max<int64_t>(y0, 0), x1 = std::min(x1, width), y1 = std::min(y1, height);
    for (int64_t y = y0; y < y1; ++y) {
      for (int64_t from = x0; from < x1; from += kElementsPerStopCheck) {
        const int64_t to = std::min(from + kElementsPerStopCheck, x1);
        for (int64_t x = from; x < to; ++x) std::memcpy(px + (y * width + x) * channels, colour, static_cast<size_t>(channels));
        if (!Spend(to - from)) return false;
      }
    }
    return true;
  }
  // Time for so many pixels.
  bool Spend(int64_t pixels) {
    left -= pixels;
    if (left > 0) return true;
    left = kElementsPerStopCheck;
    return !Stopped(ctx);
  }

  const wf_ctx* ctx;
  uint8_t* px;
  const uint8_t* colour;
  int64_t height, width, channels;
  int64_t left = kElementsPerStopCheck;
};

// Far beyond any picture, and sums of it fit.
int64_t Rounded(float place) { return static_cast<int64_t>(std::rint(std::clamp(place, -1e15F, 1e15F))); }

bool DrawBox(const float* box, int64_t thickness, Canvas& canvas) {
  constexpr int64_t kAtLeast = kElementsPerStopCheck / 64;  // of a box that is nowhere
  if (!canvas.Spend(kAtLeast)) return false;
  if (std::any_of(box, box + 4, [](float place) { return std::isnan(place); })) return true;
  const int64_t x0 = Rounded(box[0]), y0 = Rounded(box[1]), x1 = Rounded(box[2]), y1 = Rounded(box[3]);
  if (x0 >= x1 || y0 >= y1) return true;
  const int64_t across = std::min(thickness, x1 - x0), down = std::min(thickness, y1 - y0);
  const int64_t top = y0 + down, bottom = std::max(top, y1 - down), left = x0 + across, right = std::max(left, x1 - across);
  return canvas.Fill(x0, y0, x1, top) && canvas.Fill(x0, bottom, x1, y1) && canvas.Fill(x0, top, left, bottom) &&
         canvas.Fill(right, top, x1, bottom);
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_draw_boxes(wf_ctx* ctx, const wf_tensor* px, const wf_tensor* boxes, const wf_tensor* colour,
                                   const int64_t* thickness, wf_tensor* drawn) noexcept {
  using namespace wf::nodes;
  int64_t channels = 1;
  for (int axis = 2; axis < px->rank; ++axis) channels *= px->dim[axis];
  if (colour->dim[0] != channels) {
    return Fail(ctx, wf::code::kType, "a colour of %lld levels for %lld channels", static_cast<long long>(colour->dim[0]),
                static_cast<long long>(channels));
  }
  if (*thickness < 1) return Fail(ctx, wf::code::kType, "frames of %lld pixels", static_cast<long long>(*thickness));
  if (!AllocateTensor(ctx, WF_U8, {px->dim, px->rank}, drawn)) return WF_FAILED;
  const int64_t row = px->dim[1] * channels;
  auto* const data = static_cast<uint8_t*>(drawn->data);
  for (int64_t y = 0; y < px->dim[0] && row > 0; ++y)
    std::memcpy(data + y * row, static_cast<const uint8_t*>(px->data) + y * px->stride[0], static_cast<size_t>(row));
  Canvas canvas{ctx, data, static_cast<const uint8_t*>(colour->data), px->dim[0], px->dim[1], channels};
  for (int64_t i = 0; i < boxes->dim[0]; ++i) {
    if (!DrawBox(static_cast<const float*>(boxes->data) + i * boxes->stride[0], *thickness, canvas)) return WF_FAILED;
  }
  return 0;
}
