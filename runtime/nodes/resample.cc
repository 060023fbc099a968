#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/scratch.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

#define WF_AVX2 __attribute__((target("avx2")))
#define WF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

constexpr int kShareBits = 22;  // shares are in 1/4194304
constexpr int32_t kHalf = 1 << (kShareBits - 1);
constexpr int64_t kLoad = 16;  // bytes that are read at a time, and may be beyond the last pixel
constexpr int64_t kLanes = 8;

// The pixels of a line, `first` and those behind it, that each of the result is made of, and what they count.
struct Taps {
  int64_t Count(int64_t at) const { return std::min(most, inputs - First(at)); }
  int64_t First(int64_t at) const { return first[at * first_stride]; }
  const int32_t* Shares(int64_t at) const { return shares + at * shares_stride; }

  const int64_t* first;
  const int32_t* shares;
  int64_t inputs, outputs, most, first_stride, shares_stride;
};

Taps TapsOf(const wf_tensor& first, const wf_tensor& shares, int64_t inputs) {
  return {static_cast<const int64_t*>(first.data),
          static_cast<const int32_t*>(shares.data),
          inputs,
          first.dim[0],
          shares.dim[1],
          first.stride[0],
          shares.stride[0]};
}

bool AreWithin(const Taps& taps) {
  for (int64_t at = 0; at < taps.outputs; ++at) {
    if (taps.First(at) < 0 || taps.First(at) >= taps.inputs) return false;
  }
  return true;
}

int32_t Plus(int32_t sum, int32_t share, uint8_t level) {  // wraps
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(share) * level);
}
uint8_t Level(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kShareBits, 0, 255)); }

enum class Vectors : uint8_t { kNone, kAvx2, kAvx512 };

Vectors WidestVectors() {
  const bool has_512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return has_512 ? Vectors::kAvx512 : __builtin_cpu_supports("avx2") != 0 ? Vectors::kAvx2 : Vectors::kNone;
}

// Of the k-th pixel of a load each channel, as i32; the same in each 16 bytes of a vector.
template <int64_t kChannels>
constexpr auto Picks() {
  std::array<std::array<int8_t, 4 * kLoad>, kLoad / kChannels> picks{};
  for (size_t k = 0; k < picks.size(); ++k) {
    for (size_t byte = 0; byte < picks[k].size(); ++byte) {
      const size_t channel = byte % kLoad / 4;
      picks[k][byte] = static_cast<int8_t>(byte % 4 == 0 && channel < kChannels ? k * kChannels + channel : -1);
    }
  }
  return picks;
}

// Of 4 pixels with 4 bytes each those that are channels, side by side.
template <int64_t kChannels>
constexpr auto Joined() {
  std::array<int8_t, kLoad> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int8_t>(i < 4 * kChannels ? i / kChannels * 4 + i % kChannels : -1);
  return bytes;
}

// A row of fewer pixels. Two or four of them share a vector, if they have 2 to 4 channels: `groups_` has where they begin, and what their
// taps count, four times each.
class Across {
 public:
  Across(wf_ctx* ctx, const Taps& taps, int64_t channels, Vectors vectors)
      : taps_(taps), channels_(channels), vectors_(channels < 2 || channels > 4 ? Vectors::kNone : vectors), groups_(ctx) {}

  bool Prepare() {
    if (vectors_ == Vectors::kNone) return true;
    loads_ = (taps_.most + kLoad / channels_ - 1) / (kLoad / channels_);
    const int64_t together = vectors_ == Vectors::kAvx512 ? 4 : 2;
    const int64_t groups = (taps_.outputs + together - 1) / together, taps = loads_ * (kLoad / channels_);
    if (!groups_.Reserve(static_cast<uint64_t>(groups * together * (1 + taps * 4)))) return false;
    int32_t* to = groups_.data();
    for (int64_t first = 0; first < taps_.outputs; first += together) {
      const auto pixel = [&](int64_t i) { return std::min(first + i, taps_.outputs - 1); };
      for (int64_t i = 0; i < together; ++i) *to++ = static_cast<int32_t>(taps_.First(pixel(i)) * channels_);
      for (int64_t k = 0; k < taps; ++k) {
        for (int64_t i = 0; i < together; ++i) to = std::fill_n(to, 4, k < taps_.Count(pixel(i)) ? taps_.Shares(pixel(i))[k] : 0);
      }
    }
    return true;
  }

  int64_t channels() const { return channels_; }
  int64_t Bytes() const { return taps_.outputs * channels_; }  // of the result
  // Bytes beyond a row that may be read.
  int64_t Beyond() const { return vectors_ == Vectors::kNone ? 0 : (loads_ + 1) * kLoad; }

  // Some bytes behind the result, up to kLoad, may be written.
  void Run(const uint8_t* row, uint8_t* out) {
    if (vectors_ != Vectors::kNone)
      return channels_ == 2 ? RunInVectors<2>(row, out) : channels_ == 3 ? RunInVectors<3>(row, out) : RunInVectors<4>(row, out);
    for (int64_t x = 0; x < taps_.outputs; ++x) {
      const uint8_t* const from = row + taps_.First(x) * channels_;
      const int32_t* const shares = taps_.Shares(x);
      const int64_t count = taps_.Count(x);
      for (int64_t channel = 0; channel < channels_; ++channel) {
        int32_t sum = kHalf;
        for (int64_t k = 0; k < count; ++k) sum = Plus(sum, shares[k], from[k * channels_ + channel]);
        *out++ = Level(sum);
      }
    }
  }

 private:
  template <int64_t kChannels>
  void RunInVectors(const uint8_t* row, uint8_t* out) {
    vectors_ == Vectors::kAvx512 ? RunInAvx512<kChannels>(row, out) : RunInAvx2<kChannels>(row, out);
  }

  template <int64_t kChannels>
  WF_AVX512 void RunInAvx512(const uint8_t* row, uint8_t* out) {
    static constexpr auto kPicks = Picks<kChannels>();
    static constexpr auto kJoined = Joined<kChannels>();
    const int32_t* group = groups_.data();
    for (int64_t x = 0; x < taps_.outputs; x += 4) {
      const std::array<const uint8_t*, 4> from{row + group[0], row + group[1], row + group[2], row + group[3]};
      group += from.size();
      __m512i sum = _mm512_set1_epi32(kHalf);
      for (int64_t at = 0; at < loads_ * static_cast<int64_t>(kPicks.size()) * kChannels; at += kPicks.size() * kChannels) {
        const auto load = [&](size_t i) WF_AVX512 { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[i] + at)); };
        __m512i pixels = _mm512_inserti32x4(_mm512_castsi128_si512(load(0)), load(1), 1);
        pixels = _mm512_inserti32x4(_mm512_inserti32x4(pixels, load(2), 2), load(3), 3);
#pragma GCC unroll 8
        for (size_t k = 0; k < kPicks.size(); ++k, group += 4 * from.size()) {
          const __m512i picked = _mm512_shuffle_epi8(pixels, _mm512_loadu_si512(kPicks[k].data()));
          sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(picked, _mm512_loadu_si512(group)));
        }
      }
      const __m128i levels = _mm512_cvtusepi32_epi8(_mm512_max_epi32(_mm512_srai_epi32(sum, kShareBits), _mm512_setzero_si512()));
      const __m128i joined = _mm_shuffle_epi8(levels, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kJoined.data())));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), joined);
      out += 4 * kChannels;
    }
  }

  template <int64_t kChannels>
  WF_AVX2 void RunInAvx2(const uint8_t* row, uint8_t* out) {
    static constexpr auto kPicks = Picks<kChannels>();
    const int32_t* group = groups_.data();
    for (int64_t x = 0; x < taps_.outputs; x += 2) {
      const uint8_t *left = row + group[0], *right = row + group[1];
      group += 2;
      __m256i sum = _mm256_set1_epi32(kHalf);
      for (int64_t load = 0; load < loads_; ++load) {
        const __m256i pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(left))),
                                                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(right)), 1);
#pragma GCC unroll 8
        for (size_t k = 0; k < kPicks.size(); ++k, group += kLanes) {
          const __m256i pick = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPicks[k].data()));
          const __m256i share = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(group));
          sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(_mm256_shuffle_epi8(pixels, pick), share));
        }
        left += kPicks.size() * kChannels, right += kPicks.size() * kChannels;
      }
      sum = _mm256_srai_epi32(sum, kShareBits);
      sum = _mm256_packs_epi32(sum, sum);
      sum = _mm256_packus_epi16(sum, sum);
      const int32_t first = _mm256_extract_epi32(sum, 0), second = _mm256_extract_epi32(sum, 4);
      std::memcpy(out, &first, sizeof first);
      std::memcpy(out + kChannels, &second, sizeof second);
      out += 2 * kChannels;
    }
  }

  const Taps& taps_;
  int64_t channels_, loads_ = 0;  // of a pixel
  Vectors vectors_;
  Scratch<int32_t> groups_;
};

void DownFrom(int64_t at, std::span<const uint8_t* const> rows, const int32_t* shares, int64_t bytes, uint8_t* out) {
  for (; at < bytes; ++at) {
    int32_t sum = kHalf;
    for (size_t k = 0; k < rows.size(); ++k) sum = Plus(sum, shares[k], rows[k][at]);
    out[at] = Level(sum);
  }
}

WF_AVX512 void DownInAvx512(std::span<const uint8_t* const> rows, const int32_t* shares, int64_t bytes, uint8_t* out) {
  int64_t at = 0;
  for (; at + kLoad <= bytes; at += kLoad) {
    __m512i sum = _mm512_set1_epi32(kHalf);
    for (size_t k = 0; k < rows.size(); ++k) {
      const __m512i levels = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[k] + at)));
      sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(levels, _mm512_set1_epi32(shares[k])));
    }
    sum = _mm512_max_epi32(_mm512_srai_epi32(sum, kShareBits), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at), _mm512_cvtusepi32_epi8(sum));
  }
  DownFrom(at, rows, shares, bytes, out);
}

WF_AVX2 void DownInAvx2(std::span<const uint8_t* const> rows, const int32_t* shares, int64_t bytes, uint8_t* out) {
  int64_t at = 0;
  for (; at + kLanes <= bytes; at += kLanes) {
    __m256i sum = _mm256_set1_epi32(kHalf);
    for (size_t k = 0; k < rows.size(); ++k) {
      const __m256i levels = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows[k] + at)));
      sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(levels, _mm256_set1_epi32(shares[k])));
    }
    sum = _mm256_srai_epi32(sum, kShareBits);
    const __m128i levels = _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + at), _mm_packus_epi16(levels, levels));
  }
  DownFrom(at, rows, shares, bytes, out);
}

// Rows of the picture that were made narrow, as many as one of the result needs.
class NarrowRows {
 public:
  NarrowRows(wf_ctx* ctx, const wf_tensor& px, Across& across, int64_t most)
      : px_(px),
        across_(across),
        row_(px.dim[1] * across.channels()),
        pitch_(across.Bytes() + kLoad),
        most_(most),
        padded_(ctx),
        rows_(ctx),
        held_(ctx) {}

  bool Prepare() {
    if (!padded_.Reserve(static_cast<uint64_t>(row_ + across_.Beyond())) || !rows_.Reserve(static_cast<uint64_t>(most_ * pitch_)) ||
        !held_.Reserve(static_cast<uint64_t>(most_))) {
      return false;
    }
    std::memset(padded_.data(), 0, static_cast<size_t>(row_ + across_.Beyond()));
    std::fill_n(held_.data(), most_, -1);
    return true;
  }

  const uint8_t* At(int64_t y) {
    const int64_t slot = y % most_;
    uint8_t* const narrow = rows_.data() + slot * pitch_;
    if (held_[static_cast<uint64_t>(slot)] == y) return narrow;
    held_[static_cast<uint64_t>(slot)] = y;
    const uint8_t* row = static_cast<const uint8_t*>(px_.data) + y * px_.stride[0];
    if ((px_.dim[0] - 1 - y) * row_ < across_.Beyond()) {
      std::memcpy(padded_.data(), row, static_cast<size_t>(row_));
      row = padded_.data();
    }
    across_.Run(row, narrow);
    return narrow;
  }

 private:
  const wf_tensor& px_;
  Across& across_;
  int64_t row_, pitch_, most_;
  Scratch<uint8_t> padded_, rows_;
  Scratch<int64_t> held_;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_resample(wf_ctx* ctx, const wf_tensor* px, const wf_tensor* first_across, const wf_tensor* shares_across,
                                 const wf_tensor* first_down, const wf_tensor* shares_down, wf_tensor* resized) noexcept {
  using namespace wf::nodes;
  const Taps across = TapsOf(*first_across, *shares_across, px->dim[1]), down = TapsOf(*first_down, *shares_down, px->dim[0]);
  if (shares_across->dim[0] != across.outputs || shares_down->dim[0] != down.outputs)
    return Fail(ctx, wf::code::kType, "shares of other lines than there are");
  if (!AreWithin(across) || !AreWithin(down)) return Fail(ctx, wf::code::kIndex, "index out of range");
  wf_tensor shape = *px;
  shape.dim[0] = down.outputs, shape.dim[1] = across.outputs;
  if (!AllocateTensor(ctx, WF_U8, {shape.dim, px->rank}, resized)) return WF_FAILED;
  int64_t channels = 1;
  for (int axis = 2; axis < px->rank; ++axis) channels *= px->dim[axis];
  const int64_t bytes = across.outputs * channels;
  if (bytes == 0) return 0;

  const Vectors vectors = WidestVectors();
  Across narrowed(ctx, across, channels, vectors);
  NarrowRows rows(ctx, *px, narrowed, down.most);
  Scratch<const uint8_t*> needed(ctx);
  if (!narrowed.Prepare() || !rows.Prepare() || !needed.Reserve(static_cast<uint64_t>(down.most))) return WF_FAILED;
  for (int64_t y = 0; y < down.outputs; ++y) {
    needed.Resize(0);
    for (int64_t k = 0; k < down.Count(y); ++k) {
      if (Stopped(ctx)) return WF_FAILED;
      needed.Push(rows.At(down.First(y) + k));
    }
    uint8_t* const out = static_cast<uint8_t*>(resized->data) + y * bytes;
    const std::span<const uint8_t* const> lines(needed.data(), needed.size());
    if (vectors == Vectors::kAvx512) {
      DownInAvx512(lines, down.Shares(y), bytes, out);
    } else if (vectors == Vectors::kAvx2) {
      DownInAvx2(lines, down.Shares(y), bytes, out);
    } else {
      DownFrom(0, lines, down.Shares(y), bytes, out);
    }
  }
  return 0;
}
