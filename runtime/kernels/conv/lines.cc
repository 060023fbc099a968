#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/avx2.h"
#include "runtime/kernels/conv/planes.h"
#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"

#if defined(__GNUC__) && !defined(__clang__)
// Of what its own intrinsics take for any value, GCC 12 says that it is used uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// Along lines. What is read of one is copied first, with its padding: so that no tap looks where it is.
namespace wf::kernels::avx2 {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
using onednn::Layout;

constexpr size_t kWeights = 1, kBias = 2, kAddend = 3;
constexpr int64_t kChunk = 512;                                     // places of the result whose input is copied together
constexpr int64_t kMostStride = 16, kMostReach = int64_t{1} << 14;  // of windows: what they reach is in memory
constexpr int64_t kMostLanes = 16, kMostVectors = 8;                // of a line, whose sums stay in registers
constexpr int64_t kWide = 2 * kLanes, kPoints = 4;                  // the same of channels that lie side by side, and of their places

struct Shape {
  int64_t samples, channels, filters;  // a whole number of filters for each channel
  int64_t in, out, taps, stride, dilation, pad;
  int64_t block;  // channels that lie side by side, as [samples, channels / block, places, block]; 0: each is a line

  int64_t reach() const { return (taps - 1) * dilation; }
  // Row-major, every stride-th element lies side by side: what one tap reads for neighbours.
  int64_t phase() const { return kChunk + kMostVectors * kMostLanes + reach() / stride + 1; }
  int64_t scratch() const { return block == 0 ? stride * phase() : ((kChunk - 1) * stride + reach() + 1) * kWide; }
};

// What is done to a sum: an addend, then bounds. Of MAXPS and MINPS the second operand is the result where one is NaN.
struct Behind {
  explicit Behind(const Unary& then)
      : least(then.op == UnaryOp::kClip   ? then.alpha
              : then.op == UnaryOp::kRelu ? 0
                                          : -std::numeric_limits<float>::infinity()),
        most(then.op == UnaryOp::kClip ? then.beta : std::numeric_limits<float>::infinity()) {}
  static bool Is(const Unary& then) { return then.op == UnaryOp::kIdentity || then.op == UnaryOp::kRelu || then.op == UnaryOp::kClip; }

  float least, most;
};

struct Line;
struct Prepared {
  Shape s;
  void (*sum_lines)(const Prepared&, Line, int64_t);
  std::vector<int64_t> at;  // where a tap begins in what was copied
  Unary then;
  Behind behind;                         // of `then`, where it is such
  std::shared_ptr<const float> weights;  // [filters, taps], or [channels / kLanes, taps, kLanes]
};

// Some of a line of the result.
struct Line {
  const float *from, *weights, *addend;  // addend: null where there is none
  float bias;
  float* to;
  int64_t last;  // elements of the last vector
};

struct Avx2 {
  static constexpr int64_t kLanes = avx2::kLanes;

  template <int kVectors>
  WF_AVX2 static void Sum(const Prepared& of, const Line& line) {
    __m256 sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = _mm256_set1_ps(line.bias);
    for (int64_t k = 0; k < of.s.taps; ++k) {
      const __m256 weight = _mm256_broadcast_ss(line.weights + k);
      const float* from = line.from + of.at[static_cast<size_t>(k)];
      for (int v = 0; v < kVectors; ++v) sum[v] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(from + v * kLanes), sum[v]);
    }
    const __m256 least = _mm256_set1_ps(of.behind.least), most = _mm256_set1_ps(of.behind.most);
    const __m256i last = FirstLanes(line.last);
    for (int v = 0; v < kVectors; ++v) {
      const __m256i lanes = v + 1 < kVectors ? _mm256_set1_epi32(-1) : last;
      if (line.addend != nullptr) sum[v] = _mm256_add_ps(sum[v], _mm256_maskload_ps(line.addend + v * kLanes, lanes));
      _mm256_maskstore_ps(line.to + v * kLanes, lanes, _mm256_min_ps(most, _mm256_max_ps(least, sum[v])));
    }
  }
};

struct Avx512 {
  static constexpr int64_t kLanes = kMostLanes;

  template <int kVectors>
  __attribute__((target("avx512f"))) static void Sum(const Prepared& of, const Line& line) {
    __m512 sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = _mm512_set1_ps(line.bias);
    for (int64_t k = 0; k < of.s.taps; ++k) {
      const __m512 weight = _mm512_set1_ps(line.weights[k]);
      const float* from = line.from + of.at[static_cast<size_t>(k)];
      for (int v = 0; v < kVectors; ++v) sum[v] = _mm512_fmadd_ps(weight, _mm512_loadu_ps(from + v * kLanes), sum[v]);
    }
    const __m512 least = _mm512_set1_ps(of.behind.least), most = _mm512_set1_ps(of.behind.most);
    const auto last = static_cast<__mmask16>(0xFFFFU >> (kLanes - line.last));
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 lanes = v + 1 < kVectors ? static_cast<__mmask16>(0xFFFF) : last;
      if (line.addend != nullptr) sum[v] = _mm512_add_ps(sum[v], _mm512_maskz_loadu_ps(lanes, line.addend + v * kLanes));
      _mm512_mask_storeu_ps(line.to + v * kLanes, lanes, _mm512_min_ps(most, _mm512_max_ps(least, sum[v])));
    }
  }
};

template <typename Isa, int... kVector>
constexpr std::array<void (*)(const Prepared&, const Line&), sizeof...(kVector)> SumsOf(std::integer_sequence<int, kVector...> /*each*/) {
  return {Isa::template Sum<kVector + 1>...};
}

// `count` elements of a line, of which `from` is the copy: shared out, so that at no time few sums each wait for their last.
template <typename Isa>
void SumLines(const Prepared& of, Line line, int64_t count) {
  static constexpr auto kSums = SumsOf<Isa>(std::make_integer_sequence<int, kMostVectors>());
  constexpr int64_t kEach = Isa::kLanes;
  while (count > 0) {
    const int64_t vectors = (count + kEach - 1) / kEach, parts = (vectors + kMostVectors - 1) / kMostVectors;
    const int64_t some = (vectors + parts - 1) / parts, done = std::min(count, some * kEach);
    line.last = done - (some - 1) * kEach;
    kSums[static_cast<size_t>(some - 1)](of, line);
    line.from += done;
    line.to += done;
    if (line.addend != nullptr) line.addend += done;
    count -= done;
  }
}

// What is read for the result from `first` on: of each phase every stride-th element.
void CopyPhases(const Shape& s, const float* x, int64_t first, int64_t count, float* to) {
  for (int64_t phase = 0; phase < s.stride; ++phase, to += s.phase()) {
    const int64_t begin = first * s.stride - s.pad + phase, length = count + s.reach() / s.stride;
    const auto [from, end] = ref::Inside(begin, s.stride, s.in, length);
    if (from >= end) {
      std::fill_n(to, length, 0.0F);
      continue;
    }
    std::fill(to, to + from, 0.0F);
    const float* in = x + begin;
    if (s.stride == 1) {
      std::copy(in + from, in + end, to + from);
    } else if (s.stride == 2) {
      for (int64_t i = from; i < end; ++i) to[i] = in[i * 2];
    } else {
      for (int64_t i = from; i < end; ++i) to[i] = in[i * s.stride];
    }
    std::fill(to + end, to + length, 0.0F);
  }
}

void Finish(const Unary& then, float* y, int64_t count) {
  if (Behind::Is(then)) return;
  if (then.op == UnaryOp::kSwish) return Swish(then.alpha, y, y, count);
  ref::Apply(then, y, count);
}

void RunRows(const Prepared& of, const Buffers& b) {
  const Shape& s = of.s;
  const auto* x = static_cast<const float*>(b.in[0]);
  const auto* bias = b.in.size() > kBias ? static_cast<const float*>(b.in[kBias]) : nullptr;
  const auto* addend = b.in.size() > kAddend ? static_cast<const float*>(b.in[kAddend]) : nullptr;
  auto *y = static_cast<float*>(b.out[0]), *copy = static_cast<float*>(b.scratch);
  const int64_t each = s.filters / s.channels;
  std::fill_n(copy, s.scratch(), 0.0F);  // what vectors reach behind
  for (int64_t plane = 0; plane < s.samples * s.channels; ++plane) {
    for (int64_t first = 0; first < s.out; first += kChunk) {
      const int64_t count = std::min(kChunk, s.out - first);
      CopyPhases(s, x + plane * s.in, first, count, copy);
      for (int64_t i = 0; i < each; ++i) {
        const int64_t row = plane * each + i, filter = row % s.filters, at = row * s.out + first;
        of.sum_lines(of,
                     {copy, of.weights.get() + filter * s.taps, addend == nullptr ? nullptr : addend + at,
                      bias == nullptr ? 0 : bias[filter], y + at, 0},
                     count);
        Finish(of.then, y + at, count);
      }
    }
  }
}

// Some places of some channels that lie side by side.
struct Places {
  const float *from, *weights, *bias, *addend;  // bias, addend: null where there is none
  float* to;
};

template <int kPlaces, int kVectors>
WF_AVX2 void SumPlaces(const Prepared& of, const Places& p) {
  const Shape& s = of.s;
  __m256 sum[kPlaces][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = p.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(p.bias + v * kLanes);
    for (int i = 0; i < kPlaces; ++i) sum[i][v] = bias;
  }
  const int64_t step = s.stride * kVectors * kLanes, next = s.taps * kLanes;
  for (int64_t k = 0; k < s.taps; ++k) {
    const float *from = p.from + k * s.dilation * kVectors * kLanes, *weights = p.weights + k * kLanes;
    for (int v = 0; v < kVectors; ++v) {
      const __m256 weight = _mm256_loadu_ps(weights + v * next);
      for (int i = 0; i < kPlaces; ++i) sum[i][v] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(from + i * step + v * kLanes), sum[i][v]);
    }
  }
  const __m256 least = _mm256_set1_ps(of.behind.least), most = _mm256_set1_ps(of.behind.most);
  for (int i = 0; i < kPlaces; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = i * s.block + v * kLanes;
      if (p.addend != nullptr) sum[i][v] = _mm256_add_ps(sum[i][v], _mm256_loadu_ps(p.addend + at));
      _mm256_storeu_ps(p.to + at, _mm256_min_ps(most, _mm256_max_ps(least, sum[i][v])));
    }
  }
}

// Places [begin, begin + count) of the input, some channels of each.
template <int64_t kChannels>
void CopyPlaces(const Shape& s, const float* x, int64_t begin, int64_t count, float* to) {
  for (int64_t i = begin; i < begin + count; ++i, to += kChannels) {
    if (i < 0 || i >= s.in) {
      std::fill_n(to, kChannels, 0.0F);
    } else {
      std::copy_n(x + i * s.block, kChannels, to);
    }
  }
}

// So many vectors of channels, of all places.
template <int kVectors>
void RunChannels(const Prepared& of, const float* x, Places p, float* copy) {
  const Shape& s = of.s;
  constexpr int64_t kEach = kVectors * kLanes;
  for (int64_t first = 0; first < s.out; first += kChunk) {
    const int64_t count = std::min(kChunk, s.out - first);
    CopyPlaces<kEach>(s, x, first * s.stride - s.pad, (count - 1) * s.stride + s.reach() + 1, copy);
    for (int64_t i = 0; i < count;) {
      const int64_t some = count - i >= kPoints ? kPoints : 1;
      p.from = copy + i * s.stride * kEach;
      some == kPoints ? SumPlaces<kPoints, kVectors>(of, p) : SumPlaces<1, kVectors>(of, p);
      p.to += some * s.block;
      if (p.addend != nullptr) p.addend += some * s.block;
      i += some;
    }
  }
}

void RunBlocks(const Prepared& of, const Buffers& b) {
  const Shape& s = of.s;
  const auto* x = static_cast<const float*>(b.in[0]);
  const auto* bias = b.in.size() > kBias ? static_cast<const float*>(b.in[kBias]) : nullptr;
  const auto* addend = b.in.size() > kAddend ? static_cast<const float*>(b.in[kAddend]) : nullptr;
  auto *y = static_cast<float*>(b.out[0]), *copy = static_cast<float*>(b.scratch);
  const int64_t blocks = s.channels / s.block;
  for (int64_t each = 0; each < s.samples * blocks; ++each, x += s.in * s.block, y += s.out * s.block) {
    for (int64_t channel = 0; channel < s.block;) {
      const int64_t at = each % blocks * s.block + channel;
      const Places places{nullptr, of.weights.get() + at * s.taps, bias == nullptr ? nullptr : bias + at,
                          addend == nullptr ? nullptr : addend + each * s.out * s.block + channel, y + channel};
      const bool is_wide = channel + kWide <= s.block;
      is_wide ? RunChannels<2>(of, x + channel, places, copy) : RunChannels<1>(of, x + channel, places, copy);
      channel += is_wide ? kWide : kLanes;
    }
    Finish(of.then, y, s.out * s.block);
  }
}

// Nothing: they are not known, or one is not finite, times which padding is not 0.
base::Result<std::shared_ptr<const float>> Pack(const Shape& s, const Constant& constant) {
  const auto none = std::shared_ptr<const float>();
  std::shared_ptr<const void>& packed = constant.Packed(fmt::format("lines of {} taps{}", s.taps, s.block == 0 ? "" : " by channels"));
  if (packed == nullptr) {
    auto elements = constant.Load();
    if (!elements.ok()) return elements.status();
    const auto* from = reinterpret_cast<const float*>(elements->get());
    const int64_t count = s.filters * s.taps;
    if (!std::all_of(from, from + count, [](float each) { return std::isfinite(each); })) return none;
    const auto memory = constant.packed_memory().Take(Aligned(count * int64_t{sizeof(float)}));
    if (memory == nullptr) return base::Status(base::kResourceExhausted, "out of memory for weights");
    auto* const to = reinterpret_cast<float*>(memory.get());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t filter = i / s.taps, tap = i % s.taps;
      to[s.block == 0 ? i : (filter / kLanes * s.taps + tap) * kLanes + filter % kLanes] = from[i];
    }
    packed = memory;
  }
  return std::static_pointer_cast<const float>(packed);
}

// Which axis is the line: of others there is one place alone. 0: there is none.
size_t AxisOf(const Operation& operation) {
  const TensorInfo &x = operation.in[0], &w = operation.in[kWeights], &y = operation.out[0];
  const std::vector<int64_t>& pad = std::get<Conv>(operation.params).pad_begin;
  if (x.dim.size() == 3) return 2;
  size_t line = 0;
  for (size_t i = 2; i < x.dim.size(); ++i) {
    if (x.dim[i] == 1 && w.dim[i] == 1 && y.dim[i] == 1 && pad[i - 2] == 0) continue;
    if (line != 0) return 0;
    line = i;
  }
  return line;
}

bool Fits(const Operation& operation, size_t axis) {
  const auto& conv = std::get<Conv>(operation.params);
  const TensorInfo &x = operation.in[0], &w = operation.in[kWeights];
  const bool is_line = Available() && x.dtype == WF_F32 && axis != 0 && w.constant != nullptr;
  if (!is_line || x.count() == 0 || w.count() == 0 || operation.out[0].count() == 0) return false;
  if (conv.group != x.dim[1] || w.dim[1] != 1) return false;
  const int64_t taps = w.dim[axis], dilation = conv.dilation[axis - 2];
  return conv.stride[axis - 2] <= kMostStride && taps <= kMostReach && dilation <= kMostReach && taps * dilation <= kMostReach;
}

// In which the input comes, where that has whole vectors of channels; else row-major.
Layout LayoutFor(const Operation& operation) {
  const TensorInfo &x = operation.in[0], &y = operation.out[0];
  const auto layout = onednn::LayoutOf(x.format, x.dim);
  if (!layout || y.dim[1] != x.dim[1]) return {};
  const int64_t block = layout->order == onednn::Order::kChannelsLast ? x.dim[1] : layout->block;
  return block % kLanes == 0 && layout->Format(y.dim) != nullptr ? *layout : Layout{};
}

// is_wide: with AVX-512, row-major alone.
Made Make(const Operation& operation, bool is_wide) {
  const size_t axis = AxisOf(operation);
  if (!Fits(operation, axis)) return Made(nullptr);
  const auto& conv = std::get<Conv>(operation.params);
  const TensorInfo &x = operation.in[0], &w = operation.in[kWeights], &y = operation.out[0];
  const Layout layout = LayoutFor(operation);
  if (is_wide && layout.order != onednn::Order::kRowMajor) return Made(nullptr);
  const int64_t block = layout.order == onednn::Order::kRowMajor       ? 0
                        : layout.order == onednn::Order::kChannelsLast ? x.dim[1]
                                                                       : layout.block;
  const Shape s{x.dim[0],
                x.dim[1],
                y.dim[1],
                x.dim[axis],
                y.dim[axis],
                w.dim[axis],
                conv.stride[axis - 2],
                conv.dilation[axis - 2],
                conv.pad_begin[axis - 2],
                block};
  Prepared prepared{s, is_wide ? SumLines<Avx512> : SumLines<Avx2>, {}, conv.then, Behind(conv.then), nullptr};
  for (int64_t k = 0; k < s.taps; ++k) {
    const int64_t place = k * s.dilation;
    prepared.at.push_back(place % s.stride * s.phase() + place / s.stride);
  }
  auto weights = Pack(s, *w.constant);
  if (!weights.ok()) return weights.status();
  if (*weights == nullptr) return Made(nullptr);
  prepared.weights = *std::move(weights);
  const int64_t scratch = s.scratch() * int64_t{sizeof(float)};
  auto kernel = MakeFunction(operation.in.size(), [prepared = std::move(prepared)](const Buffers& b) -> const char* {
    prepared.s.block == 0 ? RunRows(prepared, b) : RunBlocks(prepared, b);
    return nullptr;
  });
  kernel->scratch_bytes = scratch;
  kernel->packed_in[kWeights] = true;
  kernel->in_format[0] = layout.Format(x.dim);
  kernel->out_format = layout.Format(y.dim);
  if (HasInput(operation, kAddend)) kernel->in_format[kAddend] = kernel->out_format;
  return kernel;
}

}  // namespace

Made MakeConv(const Operation& operation) { return Make(operation, /*is_wide=*/false); }

}  // namespace wf::kernels::avx2

namespace wf::kernels::avx512 {

base::Result<std::unique_ptr<Kernel>> MakeLineConv(const Operation& operation) {
  static const bool has = __builtin_cpu_supports("avx512f") != 0;
  return has ? avx2::Make(operation, /*is_wide=*/true) : std::unique_ptr<Kernel>();
}

}  // namespace wf::kernels::avx512
