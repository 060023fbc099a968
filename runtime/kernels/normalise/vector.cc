#include "runtime/kernels/avx2.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/operation.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

enum Input : size_t { kX, kScale, kShift, kSkip, kBias };

struct Shape {
  int64_t rows, n;
  int64_t skip_count;  // elements of skip, which repeats
  float epsilon;
  bool centre;
  size_t sum;  // the output with what is normalised; 0: none
};

const float* InOf(const Buffers& b, size_t i) { return i < b.in.size() ? static_cast<const float*>(b.in[i]) : nullptr; }

WF_AVX2 inline __m256 Load(const float* from, __m256i lanes) { return _mm256_maskload_ps(from, lanes); }

// The sum of x - middle, or of its squares; in two parts, so that an addition waits less for the one before.
template <bool kSquares>
WF_AVX2 inline float Total(const float* x, int64_t n, float middle) {
  const __m256 middles = _mm256_set1_ps(middle);
  __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int64_t i = 0; i < n; i += 2 * kLanes) {
    for (int64_t k = 0; k < 2; ++k) {
      const __m256i lanes = FirstLanes(n - i - k * kLanes);
      const __m256 far = _mm256_and_ps(_mm256_sub_ps(Load(x + i + k * kLanes, lanes), middles), _mm256_castsi256_ps(lanes));
      sum[k] = _mm256_add_ps(sum[k], kSquares ? _mm256_mul_ps(far, far) : far);
    }
  }
  return SumOf(_mm256_add_ps(sum[0], sum[1]));
}

WF_AVX2 void Add(const float* x, const float* skip, const float* bias, int64_t n, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const __m256i lanes = FirstLanes(n - i);
    __m256 sum = Load(x + i, lanes);
    if (skip != nullptr) sum = _mm256_add_ps(sum, Load(skip + i, lanes));
    if (bias != nullptr) sum = _mm256_add_ps(sum, Load(bias + i, lanes));
    _mm256_maskstore_ps(to + i, lanes, sum);
  }
}

WF_AVX2 void Normalise(const Shape& s, const float* v, const float* scale, const float* shift, float* y) {
  const auto count = static_cast<float>(s.n);
  const float mean = s.centre ? Total<false>(v, s.n, 0) / count : 0;
  const float spread = Total<true>(v, s.n, mean);
  const __m256 middle = _mm256_set1_ps(mean);
  const __m256 inverse = _mm256_set1_ps(1 / std::sqrt(spread / count + s.epsilon));
  for (int64_t i = 0; i < s.n; i += kLanes) {
    const __m256i lanes = FirstLanes(s.n - i);
    __m256 result = _mm256_mul_ps(_mm256_sub_ps(Load(v + i, lanes), middle), inverse);
    if (scale != nullptr) result = _mm256_mul_ps(result, Load(scale + i, lanes));
    if (shift != nullptr) result = _mm256_add_ps(result, Load(shift + i, lanes));
    _mm256_maskstore_ps(y + i, lanes, result);
  }
}

const char* Run(const Shape& s, const Buffers& b) {
  const float *x = InOf(b, kX), *skip = InOf(b, kSkip), *bias = InOf(b, kBias);
  float *y = static_cast<float*>(b.out[0]), *sums = s.sum != 0 && s.sum < b.out.size() ? static_cast<float*>(b.out[s.sum]) : nullptr;
  for (int64_t row = 0; row < s.rows; ++row, x += s.n, y += s.n) {
    const float* v = x;
    if (sums != nullptr || skip != nullptr || bias != nullptr) {
      float* const to = sums != nullptr ? sums + row * s.n : y;
      Add(x, skip == nullptr ? nullptr : skip + row * s.n % s.skip_count, bias, s.n, to);
      v = to;
    }
    Normalise(s, v, InOf(b, kScale), InOf(b, kShift), y);
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeLayerNorm(const Operation& operation) {
  const LayerNorm& norm = std::get<LayerNorm>(operation.params);
  const auto has_out = [&](size_t i) { return i != 0 && i < operation.out.size() && operation.out[i].dtype != 0; };
  const std::vector<int64_t>& dim = operation.in[kX].dim;
  Shape shape{1, 1, 1, norm.epsilon, norm.centre, norm.sum};
  for (size_t i = 0; i < dim.size(); ++i) (i < norm.axis ? shape.rows : shape.n) *= dim[i];
  if (HasInput(operation, kSkip)) shape.skip_count = std::max<int64_t>(operation.in[kSkip].count(), 1);
  bool fits = Available() && shape.n > 0 && !has_out(norm.mean) && !has_out(norm.inverse);
  for (const TensorInfo& in : operation.in) fits = fits && (in.dtype == 0 || in.dtype == WF_F32);
  for (const size_t i : {kScale, kShift})
    fits =
        fits && (!HasInput(operation, i) || (operation.in[i].count() == shape.n && operation.in[i].dim.size() <= dim.size() - norm.axis));
  if (!fits) return std::unique_ptr<Kernel>();
  return MakeFunction(operation.in.size(), [shape](const Buffers& b) { return Run(shape, b); });
}

namespace {

struct Groups {
  int64_t parts, groups, channels, inner;  // channels of a group
  bool by_channel;
  double epsilon;
};

// The sum of x - middle, or of its squares.
template <bool kSquares>
WF_AVX2 double WideTotal(const float* x, int64_t n, double middle) {
  constexpr int64_t kHalf = 4, kSums = 4;
  const __m256d middles = _mm256_set1_pd(middle);
  __m256d sum[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kHalf <= n; i += kSums * kHalf) {
    for (int64_t k = 0; k < kSums; ++k) {
      const __m256d far = _mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(x + i + k * kHalf)), middles);
      sum[k] = kSquares ? _mm256_fmadd_pd(far, far, sum[k]) : _mm256_add_pd(sum[k], far);
    }
  }
  double each[kHalf];
  _mm256_storeu_pd(each, _mm256_add_pd(_mm256_add_pd(sum[0], sum[1]), _mm256_add_pd(sum[2], sum[3])));
  double total = (each[0] + each[1]) + (each[2] + each[3]);
  for (; i < n; ++i) {
    const double far = static_cast<double>(x[i]) - middle;
    total += kSquares ? far * far : far;
  }
  return total;
}

struct Change {
  float middle, factor, offset;
};

// (x - middle) * factor + offset
WF_AVX2 void Shift(const float* x, int64_t n, const Change& by, float* y) {
  const __m256 middles = _mm256_set1_ps(by.middle), factors = _mm256_set1_ps(by.factor), offsets = _mm256_set1_ps(by.offset);
  for (int64_t i = 0; i < n; i += kLanes) {
    const __m256i lanes = FirstLanes(n - i);
    const __m256 far = _mm256_sub_ps(Load(x + i, lanes), middles);
    _mm256_maskstore_ps(y + i, lanes, _mm256_add_ps(_mm256_mul_ps(far, factors), offsets));
  }
}

const char* RunGroups(const Groups& s, const Buffers& b) {
  const float *x = InOf(b, kX), *scale = InOf(b, kScale), *shift = InOf(b, kShift);
  auto* y = static_cast<float*>(b.out[0]);
  const int64_t size = s.channels * s.inner;
  for (int64_t part = 0; part < s.parts; ++part) {
    const double count = static_cast<double>(size), mean = WideTotal<false>(x, size, 0) / count;
    const double inverse = 1 / std::sqrt(WideTotal<true>(x, size, mean) / count + s.epsilon);
    const int64_t group = part % s.groups;
    for (int64_t i = 0; i < s.channels; ++i, x += s.inner, y += s.inner) {
      const int64_t k = s.by_channel ? group * s.channels + i : group;
      Shift(x, s.inner, {static_cast<float>(mean), static_cast<float>(inverse * static_cast<double>(scale[k])), shift[k]}, y);
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeGroupNorm(const Operation& operation) {
  const GroupNorm& norm = std::get<GroupNorm>(operation.params);
  const std::vector<int64_t>& dim = operation.in[kX].dim;
  bool fits = Available();
  for (size_t i = 0; i <= kShift; ++i) fits = fits && operation.in[i].dtype == WF_F32;
  if (!fits) return std::unique_ptr<Kernel>();
  Groups groups{dim[0] * norm.groups,
                norm.groups,
                dim[1] / norm.groups,
                1,
                operation.in[kScale].count() == dim[1],
                static_cast<double>(norm.epsilon)};
  for (size_t i = 2; i < dim.size(); ++i) groups.inner *= dim[i];
  return MakeFunction(3, [groups](const Buffers& b) { return RunGroups(groups, b); });
}

}  // namespace wf::kernels::avx2
