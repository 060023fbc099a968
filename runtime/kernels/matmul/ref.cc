#include <algorithm>
#include <type_traits>

#include "runtime/kernels/matmul/matrices.h"
#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

std::vector<int64_t> Without(std::vector<int64_t> dim, size_t last) {
  dim.resize(dim.size() - std::min(last, dim.size()));
  return dim;
}

}  // namespace

Matrices MatricesOf(const MatMul& matmul, const Operation& operation) {
  std::vector<int64_t> a = operation.in[0].dim, b = operation.in[1].dim, out = operation.out[0].dim;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const int64_t ar = a[a.size() - 2], ac = a.back(), br = b[b.size() - 2], bc = b.back();
  const std::vector<int64_t> batch = Without(out, size_t{2} - (row ? 1 : 0) - (column ? 1 : 0)), a_batch = Without(a, 2),
                             b_batch = Without(b, 2);
  const bool has_c = operation.in.size() > 2 && operation.in[2].dtype != 0;
  return Matrices{matmul.turn_a ? ac : ar,
                  matmul.turn_a ? ar : ac,
                  matmul.turn_b ? br : bc,
                  matmul.turn_a ? 1 : ac,
                  matmul.turn_a ? ac : 1,
                  matmul.turn_b ? 1 : bc,
                  matmul.turn_b ? bc : 1,
                  Broadcast<2>(batch, {a_batch, b_batch}),
                  Broadcast<1>(out, {has_c ? std::span<const int64_t>(operation.in[2].dim) : std::span<const int64_t>()})};
}

namespace {

template <typename T>
void Multiply(const Matrices& s, const T* a, const T* b, T* y) {
  const Matrix<T> left{a, s.a_row, s.a_col};
  std::fill(y, y + s.m * s.n, T(0));
  if (s.b_col == 1) return AddProduct(Product<T>{s.m, s.n, s.k, left, b, s.b_row, y, s.n});
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < s.k; ++k) sum += a[i * s.a_row + k * s.a_col] * b[k * s.b_row + j * s.b_col];
      y[i * s.n + j] = sum;
    }
  }
}

template <typename T, typename U>
void Run(const Matrices& s, const MatMul& matmul, int64_t count, const Buffers& buffers) {
  const U *a = static_cast<const U*>(buffers.in[0]), *b = static_cast<const U*>(buffers.in[1]);
  U* y = static_cast<U*>(buffers.out[0]);
  s.batch.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t matrices) {
    for (int64_t i = 0; i < matrices; ++i) {
      Multiply(s, a + (offset[0] + i * stride[0]) * s.m * s.k, b + (offset[1] + i * stride[1]) * s.k * s.n, y + (out + i) * s.m * s.n);
    }
  });
  const U* c = buffers.in.size() > 2 ? static_cast<const U*>(buffers.in[2]) : nullptr;
  Finish<T>(s, matmul, count, c, y);
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation& operation) {
  const MatMul& matmul = std::get<MatMul>(operation.params);
  const Matrices matrices = MatricesOf(matmul, operation);
  const bool real = operation.in[0].dtype == WF_F32 || operation.in[0].dtype == WF_F64;
  if (!real && matmul.then.op != UnaryOp::kIdentity) return std::unique_ptr<Kernel>();
  return ForType<float, double, int32_t, int64_t, uint32_t, uint64_t>(operation.in[0].dtype, [&]<typename T>() {
    using U = typename std::conditional_t<std::is_floating_point_v<T>, std::type_identity<T>, std::make_unsigned<T>>::type;
    return MakeFunction(operation.in.size(), [matrices, matmul, count = operation.out[0].count()](const Buffers& buffers) -> const char* {
      Run<T, U>(matrices, matmul, count, buffers);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
