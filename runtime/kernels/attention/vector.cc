#include "runtime/kernels/attention/vector.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

enum Input : size_t { kQ, kK, kV, kAdded = kAttentionAdded };
constexpr int64_t kMostRows = 128;  // whose scores are there at once
constexpr float kInfinite = std::numeric_limits<float>::infinity();

int64_t LineOf(const AttentionShape& s) { return (s.l + kLanes - 1) / kLanes * kLanes; }  // of scores

// From products to weights that sum to 1. added: null or as many as the products; behind the products the line has room to the next vector.
WF_AVX2 void Weigh(const float* added, int64_t count, bool plain, float* row) {
  const __m256 none = _mm256_set1_ps(-kInfinite);
  __m256 highs = none;
  for (int64_t i = 0; i < count; i += kLanes) {
    const __m256i lanes = FirstLanes(count - i);
    __m256 x = _mm256_loadu_ps(row + i);
    if (added != nullptr) x = _mm256_add_ps(x, _mm256_maskload_ps(added + i, lanes));
    x = _mm256_blendv_ps(none, x, _mm256_castsi256_ps(lanes));
    highs = _mm256_max_ps(highs, x);
    _mm256_storeu_ps(row + i, x);
  }
  float each[kLanes];
  _mm256_storeu_ps(each, highs);
  float high = *std::max_element(each, each + kLanes);
  if (std::isinf(high) && !plain) {
    if (high < 0) return std::fill(row, row + count, 0.0F);
    high = 0;
  }
  __m256 sums = _mm256_setzero_ps();
  for (int64_t i = 0; i < count; i += kLanes) {
    const __m256 power = Exp(_mm256_sub_ps(_mm256_loadu_ps(row + i), _mm256_set1_ps(high)));
    sums = _mm256_add_ps(sums, _mm256_and_ps(power, _mm256_castsi256_ps(FirstLanes(count - i))));
    _mm256_storeu_ps(row + i, power);
  }
  const __m256 factor = _mm256_set1_ps(1 / SumOf(sums));
  for (int64_t i = 0; i < count; i += kLanes) _mm256_storeu_ps(row + i, _mm256_mul_ps(_mm256_loadu_ps(row + i), factor));
}

// A block of rows of one head.
bool Attend(const AttentionShape& s, const Buffers& b, int64_t batch, int64_t head, int64_t first) {
  const int64_t rows = std::min(kMostRows, s.s - first), q_row = s.heads * s.size, v_row = s.heads * s.v_size, line = LineOf(s);
  const float* q = static_cast<const float*>(b.in[kQ]) + (batch * s.s + first) * q_row + head * s.size;
  const float* k = static_cast<const float*>(b.in[kK]) + batch * s.l * q_row + head * s.size;
  const float* v = static_cast<const float*>(b.in[kV]) + batch * s.l * v_row + head * s.v_size;
  const float* added = b.in.size() > kAdded ? static_cast<const float*>(b.in[kAdded]) : nullptr;
  if (added != nullptr) added += batch * s.added_batch + head * s.added_head + first * s.added_row;
  float* const scores = static_cast<float*>(b.scratch);
  if (!onednn::Multiply({rows, s.l, s.size, s.scale, q, q_row, true, k, q_row, scores, line})) return false;
  for (int64_t i = 0; i < rows; ++i) Weigh(added == nullptr ? nullptr : added + i * s.added_row, s.l, s.plain, scores + i * line);
  float* const out = static_cast<float*>(b.out[0]) + (batch * s.s + first) * v_row + head * s.v_size;
  return onednn::Multiply({rows, s.v_size, s.l, 1, scores, line, false, v, v_row, out, v_row});
}

const char* Run(const AttentionShape& s, const Buffers& b) {
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t head = 0; head < s.heads; ++head) {
      for (int64_t first = 0; first < s.s; first += kMostRows) {
        if (!Attend(s, b, batch, head, first)) return "no memory for a product";
      }
    }
  }
  return nullptr;
}

bool Fits(const Attention& a, const Operation& operation) {
  for (size_t i = 0; i < operation.in.size(); ++i) {
    const bool here = operation.in[i].dtype != 0, taken = i <= kV || i == kAdded;
    if ((i <= kV && (!here || operation.in[i].dim.size() != 3)) || (here && (!taken || operation.in[i].dtype != WF_F32))) return false;
    if (here && operation.in[i].count() == 0) return false;
    if (here && i == kAdded && operation.in[i].dim[3] != operation.in[kK].dim[1]) return false;
  }
  const bool has_others =
      std::any_of(operation.out.begin() + 1, operation.out.end(), [](const TensorInfo& each) { return each.dtype != 0; });
  return operation.in.size() > kV && !has_others && operation.out[0].count() > 0 && a.heads == a.kv_heads && a.softcap == 0 &&
         a.window <= 0 && !a.causal && !a.smooth && Available() && onednn::Available();
}

}  // namespace

std::optional<AttentionShape> ShapeOfAttention(const Operation& operation) {
  const Attention& a = std::get<Attention>(operation.params);
  if (!Fits(a, operation)) return std::nullopt;
  const std::vector<int64_t>&q = operation.in[kQ].dim, &k = operation.in[kK].dim;
  AttentionShape shape{q[0], a.heads, q[1], k[1], a.size, a.v_size, a.scale, a.plain, 0, 0, 0};
  if (operation.in.size() > kAdded && operation.in[kAdded].dtype != 0) {
    const std::vector<int64_t>& added = operation.in[kAdded].dim;
    shape.added_row = added[2] == 1 ? 0 : shape.l;
    shape.added_head = added[1] == 1 ? 0 : added[2] * shape.l;
    shape.added_batch = added[0] == 1 ? 0 : added[1] * added[2] * shape.l;
  }
  return shape;
}

base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation& operation) {
  const auto shape = ShapeOfAttention(operation);
  if (!shape) return std::unique_ptr<Kernel>();
  auto kernel = MakeFunction(operation.in.size(), [shape = *shape](const Buffers& b) { return Run(shape, b); });
  kernel->scratch_bytes = std::min(kMostRows, shape->s) * LineOf(*shape) * int64_t{sizeof(float)};
  return kernel;
}

}  // namespace wf::kernels::avx2
