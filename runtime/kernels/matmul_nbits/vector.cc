#include "runtime/kernels/avx2.h"

#include <algorithm>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/operation.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

constexpr int64_t kBits = 4, kTogether = 2 * kLanes;  // elements that are unpacked at once, from 8 bytes
constexpr int64_t kMostInner = int64_t{1} << 26;      // as of `ref`, which tells what is longer
constexpr int64_t kMostRows = 4;                      // whose sums stay in registers
constexpr int64_t kManyRows = 8;                      // from these on unpacking once for all of them is worth its memory
constexpr int64_t kLeastColumns = 8;                  // that are unpacked together, however long they are
constexpr int64_t kUnpacked = int64_t{1} << 17;       // elements that are unpacked for oneDNN at a time: half a megabyte

struct Shape {
  int64_t rows, n, k, block, blocks;
  bool packed_zeros;
  int64_t columns;  // that are unpacked at a time; 0: none
};

// One column: its weights and what unpacks them.
struct Column {
  const uint8_t* weights;
  const float* scales;
  const uint8_t* packed_zeros;  // null: as floats, or none
  const float* zeros;

  float Zero(int64_t block) const {
    if (zeros != nullptr) return zeros[block];
    if (packed_zeros == nullptr) return 8;
    return static_cast<float>(packed_zeros[block / 2] >> (block % 2 * kBits) & 15);
  }
  // For what is left behind whole blocks.
  float At(const Shape& s, int64_t i) const {
    const int64_t block = i / s.block;
    return (static_cast<float>(weights[i / 2] >> (i % 2 * kBits) & 15) - Zero(block)) * scales[block];
  }
};

Column ColumnOf(const Shape& s, const Buffers& b, int64_t at) {
  const void* zeros = b.in.size() > 3 ? b.in[3] : nullptr;
  Column column{static_cast<const uint8_t*>(b.in[1]) + at * s.blocks * (s.block / 2), static_cast<const float*>(b.in[2]) + at * s.blocks,
                nullptr, nullptr};
  if (zeros != nullptr && s.packed_zeros) column.packed_zeros = static_cast<const uint8_t*>(zeros) + at * ((s.blocks + 1) / 2);
  if (zeros != nullptr && !s.packed_zeros) column.zeros = static_cast<const float*>(zeros) + at * s.blocks;
  return column;
}

struct Pair {
  __m256 first, second;
};

// The numbers of 8 bytes, in order.
WF_AVX2 inline Pair Unpacked(const uint8_t* from, __m256 zero, __m256 scale) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), mask = _mm_set1_epi8(15);
  const __m128i low = _mm_and_si128(bytes, mask), high = _mm_and_si128(_mm_srli_epi16(bytes, kBits), mask);
  const __m128i codes = _mm_unpacklo_epi8(low, high);
  const __m256 first = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
  const __m256 second = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(codes, kLanes)));
  return {_mm256_mul_ps(_mm256_sub_ps(first, zero), scale), _mm256_mul_ps(_mm256_sub_ps(second, zero), scale)};
}

int64_t InWholeBlocks(const Shape& s) { return s.k - s.k % s.block; }

// Products of kRows rows, k elements apart, with a column; y: n elements apart.
template <int64_t kRows>
WF_AVX2 void Dot(const Shape& s, const Column& column, const float* x, float bias, float* y) {
  const int64_t whole = InWholeBlocks(s);
  __m256 sum[kRows][2] = {};
  for (int64_t at = 0, block = 0; at < whole; ++block) {
    const __m256 zero = _mm256_set1_ps(column.Zero(block)), scale = _mm256_set1_ps(column.scales[block]);
    for (const int64_t end = at + s.block; at < end; at += kTogether) {
      const Pair w = Unpacked(column.weights + at / 2, zero, scale);
      for (int64_t row = 0; row < kRows; ++row) {
        sum[row][0] = _mm256_fmadd_ps(w.first, _mm256_loadu_ps(x + row * s.k + at), sum[row][0]);
        sum[row][1] = _mm256_fmadd_ps(w.second, _mm256_loadu_ps(x + row * s.k + at + kLanes), sum[row][1]);
      }
    }
  }
  for (int64_t row = 0; row < kRows; ++row) {
    float total = SumOf(_mm256_add_ps(sum[row][0], sum[row][1]));
    for (int64_t i = whole; i < s.k; ++i) total += x[row * s.k + i] * column.At(s, i);
    y[row * s.n] = total + bias;
  }
}

WF_AVX2 void Unpack(const Shape& s, const Column& column, float* to) {
  const int64_t whole = InWholeBlocks(s);
  for (int64_t at = 0, block = 0; at < whole; ++block) {
    const __m256 zero = _mm256_set1_ps(column.Zero(block)), scale = _mm256_set1_ps(column.scales[block]);
    for (const int64_t end = at + s.block; at < end; at += kTogether) {
      const Pair w = Unpacked(column.weights + at / 2, zero, scale);
      _mm256_storeu_ps(to + at, w.first);
      _mm256_storeu_ps(to + at + kLanes, w.second);
    }
  }
  for (int64_t i = whole; i < s.k; ++i) to[i] = column.At(s, i);
}

using Multiplier = void (*)(const Shape& s, const Column& column, const float* x, float bias, float* y);

Multiplier MultiplierOf(int64_t rows) { return rows == 1 ? Dot<1> : rows == 2 ? Dot<2> : rows == 3 ? Dot<3> : Dot<kMostRows>; }

// Columns from `first` on, unpacked beside one another.
bool MultiplyUnpacked(const Shape& s, const Buffers& b, int64_t first) {
  const int64_t count = std::min(s.columns, s.n - first);
  auto* const unpacked = static_cast<float*>(b.scratch);
  for (int64_t i = 0; i < count; ++i) Unpack(s, ColumnOf(s, b, first + i), unpacked + i * s.k);
  float* const y = static_cast<float*>(b.out[0]) + first;
  return onednn::Multiply({s.rows, count, s.k, 1, static_cast<const float*>(b.in[0]), s.k, true, unpacked, s.k, y, s.n});
}

const char* Run(const Shape& s, const Buffers& b) {
  const auto* x = static_cast<const float*>(b.in[0]);
  const auto* bias = b.in.size() > 4 ? static_cast<const float*>(b.in[4]) : nullptr;
  auto* const y = static_cast<float*>(b.out[0]);
  if (s.columns > 0) {
    for (int64_t first = 0; first < s.n; first += s.columns) {
      if (!MultiplyUnpacked(s, b, first)) return "no memory for a product";
    }
    for (int64_t row = 0; bias != nullptr && row < s.rows; ++row) {
      for (int64_t i = 0; i < s.n; ++i) y[row * s.n + i] += bias[i];
    }
    return nullptr;
  }
  for (int64_t i = 0; i < s.n; ++i) {
    const Column column = ColumnOf(s, b, i);
    for (int64_t row = 0; row < s.rows; row += kMostRows) {
      const Multiplier multiply = MultiplierOf(std::min(kMostRows, s.rows - row));
      multiply(s, column, x + row * s.k, bias == nullptr ? 0 : bias[i], y + row * s.n + i);
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeMatMulNBits(const Operation& operation) {
  const auto& format = std::get<MatMulNBits>(operation.params);
  const bool packed_zeros = HasInput(operation, 3) && operation.in[3].dtype == WF_U8;
  bool fits = Available() && format.bits == kBits && format.block % kTogether == 0 && format.k > 0 && format.k <= kMostInner &&
              !HasInput(operation, 5);
  for (const size_t i : {0, 2, 3, 4}) {
    const bool is_packed = i == 3 && packed_zeros;
    fits = fits && (!HasInput(operation, i) || is_packed || operation.in[i].dtype == WF_F32);
  }
  if (!fits) return std::unique_ptr<Kernel>();
  Shape shape{format.n == 0 ? 0 : operation.out[0].count() / format.n,
              format.n,
              format.k,
              format.block,
              (format.k + format.block - 1) / format.block,
              packed_zeros,
              0};
  if (shape.rows >= kManyRows && onednn::Available())
    shape.columns = std::min(std::max<int64_t>(kUnpacked / shape.k, kLeastColumns), shape.n);
  auto kernel = MakeFunction(operation.in.size(), [shape](const Buffers& b) { return Run(shape, b); });
  kernel->scratch_bytes = shape.columns * shape.k * static_cast<int64_t>(sizeof(float));
  return kernel;
}

}  // namespace wf::kernels::avx2
