#include "runtime/kernels/attention/brain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/attention/vector.h"
#include "runtime/kernels/matmul/brain.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/operation.h"

namespace wf::kernels::avx512 {
namespace {

constexpr int64_t kMostRows = 48;  // whose scores are there at once
constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Shape {
  AttentionShape of;
  bool bf16_out;

  int64_t line() const { return (of.l + kColumns - 1) / kColumns * kColumns; }  // of scores
  int64_t rows() const { return std::min(kMostRows, of.s); }
  int64_t v_line() const { return (of.v_size + kLanes - 1) / kLanes * kLanes; }
};

// Where the parts of the scratch memory lie, in bytes.
struct Places {
  explicit Places(const Shape& s) {
    const auto take = [this](int64_t elements, size_t size) {
      return std::exchange(end, end + Aligned(elements * static_cast<int64_t>(size)));
    };
    k = take(PanelElements(s.of.size, s.of.l), sizeof(Brain));
    v = take(PanelElements(s.of.l, s.of.v_size), sizeof(Brain));
    scores = take(s.rows() * s.line(), sizeof(float));
    weights = take(s.rows() * s.line(), sizeof(Brain));
    sums = take(s.rows(), sizeof(float));
    out = take(s.rows() * s.v_line(), sizeof(float));
  }
  int64_t k = 0, v = 0, scores = 0, weights = 0, sums = 0, out = 0, end = 0;
};

// k [l, size] turned, as the second factor [size, l]: pairs stay pairs.
void PackKeys(const Brain* k, int64_t row, int64_t l, int64_t size, Brain* to) {
  for (int64_t first = 0; first < l; first += kColumns) {
    const int64_t columns = std::min(kColumns, l - first);
    for (int64_t column = 0; column < kColumns; ++column) {
      const Brain* const from = k + (first + column) * row;
      for (int64_t pair = 0; pair < size / 2; ++pair) {
        uint32_t both = 0;
        if (column < columns) std::memcpy(&both, from + 2 * pair, sizeof(both));
        std::memcpy(to + (pair * kColumns + column) * 2, &both, sizeof(both));
      }
    }
    to += kColumns * size;
  }
}

// v [l, size] as it is: the elements of two rows side by side.
void PackValues(const Brain* v, int64_t row, int64_t l, int64_t size, Brain* to) {
  for (int64_t first = 0; first < size; first += kColumns) {
    const int64_t columns = std::min(kColumns, size - first);
    for (int64_t i = 0; i < l; i += 2, to += 2 * kColumns) {
      const Brain *const even = v + i * row + first, *const odd = even + row;
      for (int64_t k = 0; k < columns; ++k) {
        to[2 * k] = even[k];
        to[2 * k + 1] = i + 1 < l ? odd[k] : Brain{0};
      }
      std::fill(to + 2 * columns, to + 2 * kColumns, Brain{0});
    }
  }
}

// From products to weights, which are not divided by their sum, the result. Behind the weights of an odd count is a 0.
WF_BRAINS float Weigh(const AttentionShape& of, const float* added, float* row, Brain* weights) {
  const int64_t count = of.l;
  const __m512 none = _mm512_set1_ps(-kInfinite), factor = _mm512_set1_ps(of.scale);
  __m512 highs = none;
  for (int64_t i = 0; i < count; i += kLanes) {
    const __mmask16 lanes = FirstLanes(count - i);
    __m512 x = _mm512_mul_ps(_mm512_loadu_ps(row + i), factor);
    if (added != nullptr) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(lanes, added + i));
    x = _mm512_mask_mov_ps(none, lanes, x);
    highs = _mm512_max_ps(highs, x);
    _mm512_storeu_ps(row + i, x);
  }
  float high = _mm512_reduce_max_ps(highs);
  if (std::isinf(high) && !of.plain) {
    if (high < 0) {
      std::fill(weights, weights + (count + 1) / 2 * 2, Brain{0});
      return 1;
    }
    high = 0;
  }
  __m512 sums = _mm512_setzero_ps();
  for (int64_t i = 0; i < count; i += kLanes) {
    const __mmask16 lanes = FirstLanes(count - i);
    const __m512 power = _mm512_maskz_mov_ps(lanes, Exp(_mm512_sub_ps(_mm512_loadu_ps(row + i), _mm512_set1_ps(high))));
    sums = _mm512_add_ps(sums, power);
    StoreNarrow(weights + i, static_cast<__mmask16>(0xFFFF), power);
  }
  return _mm512_reduce_add_ps(sums);
}

struct Work {
  const Shape& s;
  const Buffers& b;
  uint8_t* const scratch = static_cast<uint8_t*>(b.scratch);
  const Places at{s};
  template <typename T>
  T* At(int64_t place) const {
    return reinterpret_cast<T*>(scratch + place);
  }
};

WF_BRAINS void PutRows(const Work& w, int64_t rows, int64_t to) {
  const Shape& s = w.s;
  const int64_t v_row = s.of.heads * s.of.v_size;
  for (int64_t i = 0; i < rows; ++i, to += v_row) {
    const __m512 factor = _mm512_set1_ps(1 / w.At<float>(w.at.sums)[i]);
    const float* const from = w.At<float>(w.at.out) + i * s.v_line();
    for (int64_t k = 0; k < s.of.v_size; k += kLanes) {
      const __mmask16 lanes = FirstLanes(s.of.v_size - k);
      const __m512 x = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, from + k), factor);
      if (s.bf16_out) {
        StoreNarrow(static_cast<Brain*>(w.b.out[0]) + to + k, lanes, x);
      } else {
        _mm512_mask_storeu_ps(static_cast<float*>(w.b.out[0]) + to + k, lanes, x);
      }
    }
  }
}

// A block of rows of one head.
void Attend(const Work& w, int64_t batch, int64_t head, int64_t first) {
  const AttentionShape& a = w.s.of;
  const int64_t rows = std::min(kMostRows, a.s - first), q_row = a.heads * a.size, line = w.s.line();
  const Brain* const q = static_cast<const Brain*>(w.b.in[0]) + (batch * a.s + first) * q_row + head * a.size;
  const float* added = w.b.in.size() > kAttentionAdded ? static_cast<const float*>(w.b.in[kAttentionAdded]) : nullptr;
  if (added != nullptr) added += batch * a.added_batch + head * a.added_head + first * a.added_row;
  auto* const scores = w.At<float>(w.at.scores);
  auto* const weights = w.At<Brain>(w.at.weights);
  Multiply({rows, a.size, a.l, q, q_row, w.At<Brain>(w.at.k), scores, line});
  for (int64_t i = 0; i < rows; ++i) {
    w.At<float>(w.at.sums)[i] = Weigh(a, added == nullptr ? nullptr : added + i * a.added_row, scores + i * line, weights + i * line);
  }
  Multiply({rows, (a.l + 1) / 2 * 2, a.v_size, weights, line, w.At<Brain>(w.at.v), w.At<float>(w.at.out), w.s.v_line()});
  PutRows(w, rows, ((batch * a.s + first) * a.heads + head) * a.v_size);
}

const char* Run(const Shape& s, const Buffers& b) {
  const Work work{s, b};
  const AttentionShape& a = s.of;
  const int64_t k_row = a.heads * a.size, v_row = a.heads * a.v_size;
  for (int64_t batch = 0; batch < a.batch; ++batch) {
    for (int64_t head = 0; head < a.heads; ++head) {
      PackKeys(static_cast<const Brain*>(b.in[1]) + batch * a.l * k_row + head * a.size, k_row, a.l, a.size, work.At<Brain>(work.at.k));
      PackValues(static_cast<const Brain*>(b.in[2]) + batch * a.l * v_row + head * a.v_size, v_row, a.l, a.v_size,
                 work.At<Brain>(work.at.v));
      for (int64_t first = 0; first < a.s; first += kMostRows) Attend(work, batch, head, first);
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation& operation) {
  if (!operation.bf16 || !MultipliesBf16()) return std::unique_ptr<Kernel>();
  const auto of = avx2::ShapeOfAttention(operation);
  if (!of || of->size % 2 != 0) return std::unique_ptr<Kernel>();
  const Shape shape{*of, operation.bf16_out};
  auto kernel = MakeFunction(operation.in.size(), [shape](const Buffers& b) { return Run(shape, b); });
  for (size_t i = 0; i < 3; ++i) kernel->in_format[i] = onednn::RowMajor(operation.in[i].dim, WF_BF16);
  if (shape.bf16_out) kernel->out_format = onednn::RowMajor(operation.out[0].dim, WF_BF16);
  kernel->scratch_bytes = Places(shape).end;
  return kernel;
}

}  // namespace wf::kernels::avx512
