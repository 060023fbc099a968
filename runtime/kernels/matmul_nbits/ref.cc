#include <algorithm>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

constexpr int64_t kMostInner = int64_t{1} << 26;
constexpr char kTooLong[] = "rows of more than 2^26 elements";
constexpr int64_t kColumns = 8;  // that are unpacked together: as many as a tile of the product has

struct Shape {
  int64_t rows, blocks;
  MatMulNBits format;
  bool packed_zeros;
};

// Element i of those packed from `bytes` on.
int64_t BitsAt(const uint8_t* bytes, int64_t i, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  return bytes[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
}

template <typename T>
T ZeroOf(const Shape& s, const void* zeros, int64_t column, int64_t block) {
  const int64_t bits = s.format.bits;
  if (zeros == nullptr) return static_cast<T>(int64_t{1} << (bits - 1));
  if (!s.packed_zeros) return static_cast<const T*>(zeros)[column * s.blocks + block];
  const int64_t row_bytes = (s.blocks * bits + 7) / 8;
  return static_cast<T>(BitsAt(static_cast<const uint8_t*>(zeros) + column * row_bytes, block, bits));
}

// One column of the product's right side, whose elements say of which block they are.
template <typename T>
void UnpackGrouped(const Shape& s, int64_t column, const Buffers& b, T* to, int64_t stride) {
  const MatMulNBits& f = s.format;
  const uint8_t* weights = static_cast<const uint8_t*>(b.in[1]) + column * s.blocks * (f.block * f.bits / 8);
  const T* scales = static_cast<const T*>(b.in[2]) + column * s.blocks;
  const int32_t* groups = static_cast<const int32_t*>(b.in[5]);
  for (int64_t i = 0; i < f.k; ++i)
    to[i * stride] = (static_cast<T>(BitsAt(weights, i, f.bits)) - ZeroOf<T>(s, b.in[3], column, groups[i])) * scales[groups[i]];
}

// The same where each element is of the block that it lies in.
template <typename T>
void Unpack(const Shape& s, int64_t column, const Buffers& b, T* to, int64_t stride) {
  const MatMulNBits& f = s.format;
  const int64_t block_bytes = f.block * f.bits / 8;
  const uint8_t* weights = static_cast<const uint8_t*>(b.in[1]) + column * s.blocks * block_bytes;
  const T* scales = static_cast<const T*>(b.in[2]) + column * s.blocks;
  const void* zeros = b.in.size() > 3 ? b.in[3] : nullptr;
  for (int64_t block = 0; block < s.blocks; ++block, weights += block_bytes) {
    const T zero = ZeroOf<T>(s, zeros, column, block), scale = scales[block];
    const int64_t first = block * f.block, count = std::min(f.block, f.k - first);
    for (int64_t i = 0; i < count; ++i) to[(first + i) * stride] = (static_cast<T>(BitsAt(weights, i, f.bits)) - zero) * scale;
  }
}

// y, which holds what is added, and a product of which unpack(column, to, stride) writes a column of the right side.
template <typename T, typename Unpack>
void Multiply(int64_t rows, int64_t n, int64_t k, const Buffers& b, Unpack unpack) {
  const T* x = static_cast<const T*>(b.in[0]);
  T *y = static_cast<T*>(b.out[0]), *unpacked = static_cast<T*>(b.scratch);
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t count = std::min(kColumns, n - first);
    for (int64_t i = 0; i < count; ++i) unpack(first + i, unpacked + i, kColumns);
    FastProduct(Product<T>{rows, count, k, Matrix<T>{x, k, 1}, unpacked, kColumns, y + first, n});
  }
}

template <typename T>
const char* Run(const Shape& s, const Buffers& b) {
  const T* bias = b.in.size() > 4 ? static_cast<const T*>(b.in[4]) : nullptr;
  T* y = static_cast<T*>(b.out[0]);
  const int64_t n = s.format.n, k = s.format.k;
  const int32_t* groups = b.in.size() > 5 ? static_cast<const int32_t*>(b.in[5]) : nullptr;
  if (groups != nullptr && std::any_of(groups, groups + k, [&](int32_t group) { return group < 0 || group >= s.blocks; }))
    return "a group of weights is no block of them";
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t i = 0; i < n; ++i) y[row * n + i] = bias == nullptr ? T(0) : bias[i];
  }
  Multiply<T>(s.rows, n, k, b, [&](int64_t column, T* to, int64_t stride) {
    groups == nullptr ? Unpack(s, column, b, to, stride) : UnpackGrouped(s, column, b, to, stride);
  });
  return nullptr;
}

constexpr float kFloats[] = {0, 0.0052083333f,  2.0f / 3,  1,  1.0f / 3,  0.5f,  1.0f / 6,  0.25f,
                             0, -0.0052083333f, -2.0f / 3, -1, -1.0f / 3, -0.5f, -1.0f / 6, -0.25f};
constexpr float kNormals[] = {-1,
                              -0.6961928f,
                              -0.52507305f,
                              -0.3949175f,
                              -0.28444138f,
                              -0.18477343f,
                              -0.09105004f,
                              0,
                              0.0795802996f,
                              0.16093020f,
                              0.24611230f,
                              0.33791524f,
                              0.44070983f,
                              0.56261700f,
                              0.72295684f,
                              1};

template <typename T>
const char* RunCodes(int64_t rows, const MatMulBnb4& f, const Buffers& b) {
  const auto* codes = static_cast<const uint8_t*>(b.in[1]);
  const T* scales = static_cast<const T*>(b.in[2]);
  std::fill_n(static_cast<T*>(b.out[0]), rows * f.n, T(0));
  const float* numbers = f.is_normal ? kNormals : kFloats;
  Multiply<T>(rows, f.n, f.k, b, [&](int64_t column, T* to, int64_t stride) {
    for (int64_t i = 0; i < f.k; ++i) {
      const int64_t at = column * f.k + i;
      to[i * stride] = static_cast<T>(numbers[codes[at / 2] >> (at % 2 == 0 ? 4 : 0) & 15]) * scales[at / f.block];
    }
  });
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeMatMulNBits(const Operation& operation) {
  const MatMulNBits& format = std::get<MatMulNBits>(operation.params);
  const uint8_t dtype = operation.in[0].dtype;
  const bool packed_zeros = HasInput(operation, 3) && operation.in[3].dtype == WF_U8;
  if (operation.in[2].dtype != dtype || (HasInput(operation, 3) && !packed_zeros && operation.in[3].dtype != dtype) ||
      (HasInput(operation, 4) && operation.in[4].dtype != dtype))
    return std::unique_ptr<Kernel>();
  const Shape shape{format.n == 0 ? 0 : operation.out[0].count() / format.n, (format.k + format.block - 1) / format.block, format,
                    packed_zeros};
  if (format.k > kMostInner) return base::Status(base::kOutOfRange, kTooLong);
  return ForType<float, double>(dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [shape](const Buffers& b) { return Run<T>(shape, b); });
    kernel->scratch_bytes = kColumns * format.k * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeMatMulBnb4(const Operation& operation) {
  const MatMulBnb4& format = std::get<MatMulBnb4>(operation.params);
  if (operation.in[2].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  if (format.k > kMostInner) return base::Status(base::kOutOfRange, kTooLong);
  const int64_t rows = format.n == 0 ? 0 : operation.out[0].count() / format.n;
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(3, [rows, format](const Buffers& b) { return RunCodes<T>(rows, format, b); });
    kernel->scratch_bytes = kColumns * format.k * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
