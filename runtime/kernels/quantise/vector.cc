#include "runtime/kernels/quantise/vector.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/quantise/round.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
Made NotHere() { return std::unique_ptr<Kernel>(); }

constexpr bool IsByte(uint8_t dtype) { return dtype == WF_U8 || dtype == WF_I8; }

// Eight numbers of u8 or s8, less the zero point.
template <bool kSigned>
WF_AVX2 inline __m256 Numbers(const uint8_t* from, __m256i zero) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  const __m256i wide = kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, zero));
}

// What bounds quotients before the zero point is added, and it.
struct Ends {
  float low, high;
  int32_t zero;
};

template <bool kSigned>
Ends EndsOf(int32_t zero) {
  return {static_cast<float>((kSigned ? -128 : 0) - zero), static_cast<float>((kSigned ? 127 : 255) - zero), zero};
}

struct Bounds {
  __m256 low, high;
  __m256i zero;
};
WF_AVX2 inline Bounds BoundsOf(const Ends& ends) {
  return {_mm256_set1_ps(ends.low), _mm256_set1_ps(ends.high), _mm256_set1_epi32(ends.zero)};
}

// Eight quotients to bytes; NaN becomes the zero point.
template <bool kSigned>
WF_AVX2 inline void Store(__m256 quotient, const Bounds& bounds, uint8_t* to) {
  const __m256 number = _mm256_and_ps(quotient, _mm256_cmp_ps(quotient, quotient, _CMP_ORD_Q));
  const __m256 held = _mm256_min_ps(_mm256_max_ps(number, bounds.low), bounds.high);
  const __m256i whole = _mm256_add_epi32(_mm256_cvtps_epi32(held), bounds.zero);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  const __m128i bytes = kSigned ? _mm_packs_epi16(words, words) : _mm_packus_epi16(words, words);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
}

template <bool kSigned>
WF_AVX2 void Quantise(const float* x, float scale, const Ends& ends, uint8_t* y, int64_t n) {
  const __m256 divisor = _mm256_set1_ps(scale);
  const Bounds bounds = BoundsOf(ends);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store<kSigned>(_mm256_div_ps(_mm256_loadu_ps(x + i), divisor), bounds, y + i);
  if (i == n) return;
  float rest[kLanes] = {};
  uint8_t bytes[kLanes];
  std::copy(x + i, x + n, rest);
  Store<kSigned>(_mm256_div_ps(_mm256_loadu_ps(rest), divisor), bounds, bytes);
  std::copy_n(bytes, n - i, y + i);
}

template <bool kSigned>
WF_AVX2 void Dequantise(const uint8_t* x, float scale, int32_t zero, float* y, int64_t n) {
  const __m256 factor = _mm256_set1_ps(scale);
  const __m256i zeros = _mm256_set1_epi32(zero);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm256_storeu_ps(y + i, _mm256_mul_ps(Numbers<kSigned>(x + i, zeros), factor));
  if (i == n) return;
  uint8_t rest[kLanes] = {};
  float numbers[kLanes];
  std::copy(x + i, x + n, rest);
  _mm256_storeu_ps(numbers, _mm256_mul_ps(Numbers<kSigned>(rest, zeros), factor));
  std::copy_n(numbers, n - i, y + i);
}

// Of both operands the zero point and, divided by the scale of the result, the scale; of a product their product, in `a`.
struct Pair {
  float a, b;
  int32_t a_zero, b_zero;
  Ends ends;
};

struct PairLanes {
  __m256 a, b;
  __m256i a_zero, b_zero;
  Bounds bounds;
};

template <bool kSigned, bool kAdds>
WF_AVX2 inline void Combine(const PairLanes& p, const uint8_t* a, const uint8_t* b, uint8_t* y) {
  const __m256 left = _mm256_mul_ps(Numbers<kSigned>(a, p.a_zero), p.a), right = Numbers<kSigned>(b, p.b_zero);
  Store<kSigned>(kAdds ? _mm256_fmadd_ps(right, p.b, left) : _mm256_mul_ps(left, right), p.bounds, y);
}

template <bool kSigned, bool kAdds>
WF_AVX2 void CombineAll(const Pair& p, const uint8_t* a, const uint8_t* b, uint8_t* y, int64_t n) {
  const PairLanes lanes{_mm256_set1_ps(p.a), _mm256_set1_ps(p.b), _mm256_set1_epi32(p.a_zero), _mm256_set1_epi32(p.b_zero),
                        BoundsOf(p.ends)};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Combine<kSigned, kAdds>(lanes, a + i, b + i, y + i);
  if (i == n) return;
  uint8_t rest[3][kLanes] = {};
  std::copy(a + i, a + n, rest[0]);
  std::copy(b + i, b + n, rest[1]);
  Combine<kSigned, kAdds>(lanes, rest[0], rest[1], rest[2]);
  std::copy_n(rest[2], n - i, y + i);
}

// The least and the most, and 0; NaN is passed over.
WF_AVX2 std::pair<float, float> RangeOf(const float* x, int64_t n) {
  __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m256 value = _mm256_loadu_ps(x + i);
    low = _mm256_min_ps(value, low);
    high = _mm256_max_ps(value, high);
  }
  float lows[kLanes], highs[kLanes];
  _mm256_storeu_ps(lows, low);
  _mm256_storeu_ps(highs, high);
  float least = *std::min_element(lows, lows + kLanes), most = *std::max_element(highs, highs + kLanes);
  for (; i < n; ++i) {
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  return {least, most};
}

int32_t ZeroOf(const void* zero, bool is_signed) {
  if (zero == nullptr) return 0;
  return is_signed ? int32_t{*static_cast<const int8_t*>(zero)} : int32_t{*static_cast<const uint8_t*>(zero)};
}

const void* InOf(const Buffers& b, size_t i) { return i < b.in.size() ? b.in[i] : nullptr; }

// The kernel reads input 0 in the format that it has, and so it writes.
std::unique_ptr<Kernel> KeepingFormat(const Operation& operation, Body body) {
  auto kernel = MakeFunction(operation.in.size(), std::move(body));
  const TensorInfo& x = operation.in[0];
  kernel->out_format = onednn::FormatFor(x, operation.out[0].dtype);
  if (kernel->out_format != nullptr) kernel->in_format[0] = x.format;
  return kernel;
}

}  // namespace

Made MakeQuantise(const Operation& operation) {
  const TensorInfo& x = operation.in[0];
  const uint8_t to = operation.out[0].dtype;
  const auto& quantise = std::get<kernels::Quantise>(operation.params);
  const bool fits = quantise.scaling.axis < 0 && quantise.to == base::Narrow::kNone && x.dtype == WF_F32 && IsByte(to);
  if (!fits || operation.in[1].dtype != WF_F32 || !Available()) return NotHere();
  return KeepingFormat(operation, [n = x.count(), is_signed = to == WF_I8](const Buffers& b) -> const char* {
    const float *values = static_cast<const float*>(b.in[0]), scale = *static_cast<const float*>(b.in[1]);
    const int32_t zero = ZeroOf(InOf(b, 2), is_signed);
    auto* const y = static_cast<uint8_t*>(b.out[0]);
    is_signed ? Quantise<true>(values, scale, EndsOf<true>(zero), y, n) : Quantise<false>(values, scale, EndsOf<false>(zero), y, n);
    return nullptr;
  });
}

Made MakeDequantise(const Operation& operation) {
  const TensorInfo& x = operation.in[0];
  const bool fits = std::get<kernels::Dequantise>(operation.params).scaling.axis < 0 && IsByte(x.dtype);
  if (!fits || operation.in[1].dtype != WF_F32 || !Available()) return NotHere();
  return KeepingFormat(operation, [n = x.count(), is_signed = x.dtype == WF_I8](const Buffers& b) -> const char* {
    const auto* values = static_cast<const uint8_t*>(b.in[0]);
    const float scale = *static_cast<const float*>(b.in[1]);
    const int32_t zero = ZeroOf(InOf(b, 2), is_signed);
    auto* const y = static_cast<float*>(b.out[0]);
    is_signed ? Dequantise<true>(values, scale, zero, y, n) : Dequantise<false>(values, scale, zero, y, n);
    return nullptr;
  });
}

Made MakeDynamicQuantise(const Operation& operation) {
  const TensorInfo& x = operation.in[0];
  if (x.dtype != WF_F32 || !Available()) return NotHere();
  return MakeFunction(1, [n = x.count()](const Buffers& b) -> const char* {
    const auto* values = static_cast<const float*>(b.in[0]);
    const auto [low, high] = RangeOf(values, n);
    const float scale = low == high ? 1.0F : (high - low) / 255;
    const uint8_t zero = ref::Rounded<uint8_t>(std::clamp(-low / scale, 0.0F, 255.0F), 0);
    Quantise<false>(values, scale, EndsOf<false>(zero), static_cast<uint8_t*>(b.out[0]), n);
    if (b.out.size() > 1 && b.out[1] != nullptr) *static_cast<float*>(b.out[1]) = scale;
    if (b.out.size() > 2 && b.out[2] != nullptr) *static_cast<uint8_t*>(b.out[2]) = zero;
    return nullptr;
  });
}

namespace {

// What a kernel of constant scales knows of them. Nothing: they are no constants, or such as no tensor is made with.
base::Result<std::optional<Pair>> PairOf(const Operation& operation) {
  using In = IntegerBinaryInputs;
  const IntegerBinary& binary = std::get<IntegerBinary>(operation.params);
  const bool is_signed = operation.out[0].dtype == WF_I8;
  float scale[3];
  int32_t zero[3] = {};
  for (const auto& [i, at] : {std::pair<size_t, size_t>(In::kAScale, 0), {In::kBScale, 1}, {In::kYScale, 2}}) {
    if (operation.in[i].dtype != WF_F32 || operation.in[i].constant == nullptr) return std::optional<Pair>();
    auto loaded = operation.in[i].constant->Load();
    if (!loaded.ok()) return loaded.status();
    std::memcpy(&scale[at], loaded->get(), sizeof(float));
    if (!std::isnormal(scale[at])) return std::optional<Pair>();
    if (i + 1 >= operation.in.size() || operation.in[i + 1].dtype == 0) continue;
    if (operation.in[i + 1].constant == nullptr) return std::optional<Pair>();
    auto point = operation.in[i + 1].constant->Load();
    if (!point.ok()) return point.status();
    zero[at] = ZeroOf(point->get(), is_signed);
  }
  if (scale[2] < 0) return std::optional<Pair>();
  const bool adds = binary.op == IntegerBinary::Op::kAdd;
  Pair pair{adds ? scale[0] / scale[2] : scale[0] * scale[1] / scale[2], scale[1] / scale[2], zero[0], zero[1],
            is_signed ? EndsOf<true>(zero[2]) : EndsOf<false>(zero[2])};
  if (!std::isfinite(pair.a) || !std::isfinite(pair.b)) return std::optional<Pair>();
  // Bounds beyond the ends of the type change nothing, but may lie beyond each other.
  pair.ends.low = std::clamp(binary.within.low / scale[2], pair.ends.low, pair.ends.high);
  pair.ends.high = std::clamp(binary.within.high / scale[2], pair.ends.low, pair.ends.high);
  return std::optional(pair);
}

}  // namespace

// Of two tensors of one shape.
Made MakeIntegerBinary(const Operation& operation) {
  using In = IntegerBinaryInputs;
  const TensorInfo &a = operation.in[In::kA], &b = operation.in[In::kB];
  if (a.dim != b.dim || a.dim != operation.out[0].dim || !IsByte(a.dtype) || !Available()) return NotHere();
  const auto pair = PairOf(operation);
  if (!pair.ok()) return pair.status();
  if (!*pair) return NotHere();
  const bool adds = std::get<IntegerBinary>(operation.params).op == IntegerBinary::Op::kAdd;
  auto* const combine = a.dtype == WF_I8 ? (adds ? CombineAll<true, true> : CombineAll<true, false>)
                                         : (adds ? CombineAll<false, true> : CombineAll<false, false>);
  const bool first = a.format != nullptr || b.format == nullptr;  // in the format that one of them has
  const TensorInfo& leading = first ? a : b;
  auto kernel = MakeFunction(operation.in.size(), [n = a.count(), p = **pair, combine](const Buffers& buffers) -> const char* {
    combine(p, static_cast<const uint8_t*>(buffers.in[In::kA]), static_cast<const uint8_t*>(buffers.in[In::kB]),
            static_cast<uint8_t*>(buffers.out[0]), n);
    return nullptr;
  });
  if (onednn::FormatFor(leading, leading.dtype) != nullptr)
    kernel->in_format[In::kA] = kernel->in_format[In::kB] = kernel->out_format = leading.format;
  kernel->in_place = true;
  return kernel;
}

}  // namespace wf::kernels::avx2
