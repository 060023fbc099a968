#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

constexpr int64_t kStretch = 64;     // places of a row that are mixed at a time
constexpr int64_t kLoad = 8;         // bytes: two pixels of up to four channels, side by side
constexpr int64_t kExact = 1 << 24;  // up to here floats are whole numbers without gaps

struct Picture {
  const uint8_t* data;
  int64_t height, width, channels, row;  // bytes from row to row
  int64_t bytes;                         // from the first to the last
  uint8_t fill;
};

// Where some pixels of the result come from.
struct Places {
  const float *v, *u;
  int64_t count;
};

// Of a place on a line of `extent` pixels: the pixel at or before it, and its share of the way to the next. The last pixel has no next, and
// a share of 0, as have the first half pixel and NaN.
struct Place {
  int64_t at;
  float share;
};

[[gnu::always_inline]] inline Place PlaceOn(float place, int64_t extent) {
  const float least = place > 0 ? place : 0;
  const auto last = static_cast<float>(extent - 1);
  const float within = least < last ? least : last;
  const auto at = static_cast<int32_t>(within);
  return {at, within - static_cast<float>(at)};
}

[[gnu::always_inline]] inline bool IsOn(float place, int64_t extent) {
  return static_cast<bool>(static_cast<int>(place >= -0.5F) & static_cast<int>(place < static_cast<float>(extent) - 0.5F));
}

[[gnu::always_inline]] inline float Mix(float a, float b, float share) { return a + (b - a) * share; }

// Pixels of up to four channels, as steps over a stretch that the compiler makes vectors of. A load of two pixels that would reach beyond
// the picture begins before them.
template <int64_t kChannels>
[[gnu::always_inline]] inline void MixStretch(const Picture& px, const Places& places, uint8_t* out) {
  const auto n = static_cast<int32_t>(places.count), row = static_cast<int32_t>(px.row), last = static_cast<int32_t>(px.bytes - kLoad);
  std::array<int32_t, kStretch> at, at_below;
  std::array<uint64_t, kStretch> pixels, below;
  std::array<float, kStretch> across, down;
  std::array<uint32_t, kStretch> inside, mixed;
  for (int32_t i = 0; i < n; ++i) {
    const Place y = PlaceOn(places.v[i], px.height), x = PlaceOn(places.u[i], px.width);
    at[i] = static_cast<int32_t>(y.at) * row + static_cast<int32_t>(x.at) * static_cast<int32_t>(kChannels);
    at_below[i] = at[i] + (y.at < px.height - 1 ? row : 0);
    across[i] = x.share, down[i] = y.share;
    inside[i] = 0 - (static_cast<uint32_t>(IsOn(places.v[i], px.height)) & static_cast<uint32_t>(IsOn(places.u[i], px.width)));
  }
  const auto load = [&](int32_t from) {
    const int32_t within = std::min(from, last);
    uint64_t bytes;
    std::memcpy(&bytes, px.data + within, kLoad);
    return bytes >> (8 * (from - within));
  };
  for (int32_t i = 0; i < n; ++i) pixels[i] = load(at[i]), below[i] = load(at_below[i]);
  const uint32_t fill = px.fill * 0x01010101U;
  for (int32_t i = 0; i < n; ++i) {
    uint32_t levels = 0;
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      const auto level = [channel](uint64_t two, int64_t which) {
        return static_cast<float>(static_cast<int32_t>(two >> (8 * (which * kChannels + channel)) & 0xff));
      };
      const float above = Mix(level(pixels[i], 0), level(pixels[i], 1), across[i]);
      const float beneath = Mix(level(below[i], 0), level(below[i], 1), across[i]);
      levels |= static_cast<uint32_t>(static_cast<int32_t>(Mix(above, beneath, down[i]) + 0.5F)) << (8 * channel);
    }
    mixed[i] = (levels & inside[i]) | (fill & ~inside[i]);
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int64_t channel = 0; channel < kChannels; ++channel)
      out[i * kChannels + channel] = static_cast<uint8_t>(mixed[i] >> (8 * channel));
  }
}

using Mixer = void (*)(const Picture&, const Places&, uint8_t*);

template <int64_t kChannels>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void MixInAvx512(const Picture& px, const Places& places, uint8_t* out) {
  MixStretch<kChannels>(px, places, out);
}
template <int64_t kChannels>
__attribute__((target("avx2"))) void MixInAvx2(const Picture& px, const Places& places, uint8_t* out) {
  MixStretch<kChannels>(px, places, out);
}
template <int64_t kChannels>
void MixAnywhere(const Picture& px, const Places& places, uint8_t* out) {
  MixStretch<kChannels>(px, places, out);
}

// Of any picture, one level after the other.
void MixPlainly(const Picture& px, const Places& places, uint8_t* out) {
  for (int64_t i = 0; i < places.count; ++i) {
    const Place y = PlaceOn(places.v[i], px.height), x = PlaceOn(places.u[i], px.width);
    const bool is_inside = IsOn(places.v[i], px.height) && IsOn(places.u[i], px.width);
    const uint8_t* const pixel = px.data + std::min(y.at, px.height - 1) * px.row + std::min(x.at, px.width - 1) * px.channels;
    const int64_t next = x.at < px.width - 1 ? px.channels : 0, row = y.at < px.height - 1 ? px.row : 0;
    for (int64_t channel = 0; channel < px.channels; ++channel) {
      const auto level = [&](int64_t from) { return static_cast<float>(pixel[from + channel]); };
      const float mixed = Mix(Mix(level(0), level(next), x.share), Mix(level(row), level(row + next), x.share), y.share);
      *out++ = is_inside ? static_cast<uint8_t>(mixed + 0.5F) : px.fill;
    }
  }
}

template <int64_t kChannels>
Mixer FastestOf() {
  const bool has_512 =
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return has_512 ? MixInAvx512<kChannels> : __builtin_cpu_supports("avx2") != 0 ? MixInAvx2<kChannels> : MixAnywhere<kChannels>;
}

Mixer MixerOf(const Picture& px) {
  const bool has_short_lines = std::max(px.height, px.width) <= kExact;
  if (!has_short_lines || px.bytes < kLoad || px.bytes > std::numeric_limits<int32_t>::max() || px.channels > 4) return MixPlainly;
  static const std::array<Mixer, 4> fastest{FastestOf<1>(), FastestOf<2>(), FastestOf<3>(), FastestOf<4>()};
  return fastest[static_cast<size_t>(px.channels - 1)];
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_remap(wf_ctx* ctx, const wf_tensor* px, const wf_tensor* v, const wf_tensor* u, const uint8_t* fill,
                              wf_tensor* shown) noexcept {
  using namespace wf::nodes;
  if (v->dim[0] != u->dim[0] || v->dim[1] != u->dim[1])
    return Fail(ctx, wf::code::kType, "rows and columns of other places than there are");
  wf_tensor shape = *px;
  shape.dim[0] = v->dim[0], shape.dim[1] = v->dim[1];
  if (!AllocateTensor(ctx, WF_U8, {shape.dim, px->rank}, shown)) return WF_FAILED;
  Picture from{static_cast<const uint8_t*>(px->data), px->dim[0], px->dim[1], 1, px->stride[0], 0, *fill};
  for (int axis = 2; axis < px->rank; ++axis) from.channels *= px->dim[axis];
  if (v->dim[0] == 0 || v->dim[1] == 0 || from.channels == 0) return 0;
  if (from.height == 0 || from.width == 0) return Fail(ctx, wf::code::kIndex, "index out of range");
  from.bytes = (from.height - 1) * from.row + from.width * from.channels;
  const Mixer mix = MixerOf(from);
  auto* out = static_cast<uint8_t*>(shown->data);
  for (int64_t y = 0; y < v->dim[0]; ++y) {
    const auto *const rows = static_cast<const float*>(v->data) + y * v->stride[0], *const columns = static_cast<const float*>(u->data) +
                                                                                                     y * u->stride[0];
    for (int64_t x = 0; x < v->dim[1]; x += kStretch) {
      if (Stopped(ctx)) return WF_FAILED;
      const int64_t count = std::min(kStretch, v->dim[1] - x);
      mix(from, {rows + x, columns + x, count}, out);
      out += count * from.channels;
    }
  }
  return 0;
}
