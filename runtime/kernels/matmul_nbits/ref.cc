#include <algorithm>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

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

// One column of the product's right side.
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

template <typename T>
void Run(const Shape& s, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  const T* bias = b.in.size() > 4 ? static_cast<const T*>(b.in[4]) : nullptr;
  T *y = static_cast<T*>(b.out[0]), *unpacked = static_cast<T*>(b.scratch);
  const int64_t n = s.format.n, k = s.format.k;
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t i = 0; i < n; ++i) y[row * n + i] = bias == nullptr ? T(0) : bias[i];
  }
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t count = std::min(kColumns, n - first);
    for (int64_t i = 0; i < count; ++i) Unpack(s, first + i, b, unpacked + i, kColumns);
    FastProduct(Product<T>{s.rows, count, k, Matrix<T>{x, k, 1}, unpacked, kColumns, y + first, n});
  }
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
  if (format.k > (int64_t{1} << 26)) return base::Status(base::kOutOfRange, "rows of more than 2^26 elements");
  return ForType<float, double>(dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [shape](const Buffers& b) -> const char* {
      Run<T>(shape, b);
      return nullptr;
    });
    kernel->scratch_bytes = kColumns * format.k * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
