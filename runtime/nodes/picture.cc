#include "runtime/nodes/picture.h"

#include <algorithm>

namespace wf::nodes {
namespace {

// Of sRGB's 0..1, the light in 0..1. x^2.4 is x^2 times the square of its fifth root, which Newton's steps find: no library's `pow`, whose
// bits may differ between machines.
constexpr double Light(double value) {
  if (value <= 0.04045) return value / 12.92;
  const double x = (value + 0.055) / 1.055;
  double root = 1;
  for (int i = 0; i < 60; ++i) root -= (root * root * root * root * root - x) / (5 * root * root * root * root);
  return x * x * root * root;
}

struct LightTable {
  constexpr LightTable() {
    for (int i = 0; i < 256; ++i) of[i] = static_cast<uint32_t>(Light(i / 255.0) * 65535 + 0.5);
    for (int i = 0; i < 255; ++i) between[i] = static_cast<uint32_t>(Light((i + 0.5) / 255) * 65535 * 255 + 0.5);
  }
  uint32_t of[256] = {};       // in 1/65535
  uint32_t between[255] = {};  // where value i ends and the next begins, in 1/(65535 * 255)
};
constexpr LightTable kLight;

template <int64_t kChannels>
struct Pixel {
  uint8_t values[kChannels];
};

constexpr int64_t kTile = 32;  // pixels of a side that stay in the cache together

template <typename P>
bool Transpose(const wf_ctx* ctx, const P* from, Size size, P* to) {
  for (int64_t top = 0; top < size.height; top += kTile) {
    if (Stopped(ctx)) return false;
    for (int64_t left = 0; left < size.width; left += kTile) {
      for (int64_t x = left; x < std::min(left + kTile, size.width); ++x) {
        for (int64_t y = top; y < std::min(top + kTile, size.height); ++y) to[x * size.height + y] = from[y * size.width + x];
      }
    }
  }
  return true;
}

template <typename P>
wf_code Turn(wf_ctx* ctx, int orientation, Size size, int64_t channels, wf_tensor* px) {
  auto* data = static_cast<P*>(px->data);
  if (IsTurned(orientation)) {
    const Size turned{size.width, size.height};
    if (!AllocateTensor(ctx, WF_U8, Shape(turned, channels).axes(), px)) return WF_FAILED;
    if (!Transpose(ctx, data, size, static_cast<P*>(px->data))) return WF_FAILED;
    data = static_cast<P*>(px->data);
    size = turned;
  }
  if (orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7) {
    for (int64_t y = 0; y < size.height && !Stopped(ctx); ++y) std::reverse(data + y * size.width, data + (y + 1) * size.width);
  }
  if (orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8) {
    for (int64_t y = 0; y < size.height / 2 && !Stopped(ctx); ++y)
      std::swap_ranges(data + y * size.width, data + (y + 1) * size.width, data + (size.height - 1 - y) * size.width);
  }
  return Stopped(ctx) ? WF_FAILED : 0;
}

}  // namespace

bool ColoursToLuma(wf_ctx* ctx, Size size, wf_tensor* px) {
  auto* const data = static_cast<uint8_t*>(px->data);
  *px = Dense(WF_U8, Shape(size, 1).axes());
  px->data = data;
  return InSteps(ctx, size.pixels(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) data[i] = Luma(data[3 * i], data[3 * i + 1], data[3 * i + 2]);
  });
}

uint8_t OverWhite(uint8_t value, uint8_t opacity) {
  if (opacity == 255) return value;
  const uint32_t light = kLight.of[value] * opacity + 65535U * (255U - opacity);
  return static_cast<uint8_t>(std::upper_bound(std::begin(kLight.between), std::end(kLight.between), light) - std::begin(kLight.between));
}

namespace {

// OverWhite of all that there is.
struct MixedTable {
  MixedTable() {
    for (size_t opacity = 0; opacity < 256; ++opacity) {
      for (size_t value = 0; value < 256; ++value)
        of[opacity][value] = OverWhite(static_cast<uint8_t>(value), static_cast<uint8_t>(opacity));
    }
  }
  uint8_t of[256][256];
};

}  // namespace

void LayOverWhite(const uint8_t* rgba, int64_t count, int64_t channels, uint8_t* to) {
  static const MixedTable table;
  for (; count > 0; --count, rgba += 4, to += channels) {
    const uint8_t* const mixed = table.of[rgba[3]];
    for (int64_t channel = 0; channel < channels; ++channel) to[channel] = mixed[rgba[channel]];
  }
}

wf_code Upright(wf_ctx* ctx, int orientation, Size size, int64_t channels, wf_tensor* px) {
  if (orientation == 1) return 0;
  return channels == 1 ? Turn<Pixel<1>>(ctx, orientation, size, 1, px) : Turn<Pixel<3>>(ctx, orientation, size, 3, px);
}

}  // namespace wf::nodes
