#include <algorithm>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/integer_matmul/requantise.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

using In = IntegerInputs;

// A scale or zero point of one side.
struct Parameter {
  std::vector<int64_t> batch;
  int64_t per_matrix = 1;  // values
};

Parameter ParameterOf(const Operation& operation, size_t i) {
  Parameter parameter;
  if (i >= operation.in.size() || operation.in[i].dtype == 0) return parameter;
  const std::vector<int64_t>& dim = operation.in[i].dim;
  const size_t batch = dim.size() < 2 ? 0 : dim.size() - 2;
  parameter.batch.assign(dim.begin(), dim.begin() + static_cast<ptrdiff_t>(batch));
  for (size_t axis = batch; axis < dim.size(); ++axis) parameter.per_matrix *= dim[axis];
  return parameter;
}

constexpr size_t kBatched[] = {In::kA, In::kB, In::kAScale, In::kAZero, In::kBScale, In::kBZero};

struct IntegerMatrices {
  int64_t m, k, n;
  Within within;
  std::array<int64_t, 6> size;  // elements of one matrix, in the order of kBatched
  Broadcast<6> batch;
};

std::vector<int64_t> Front(const std::vector<int64_t>& dim) {
  return {dim.begin(), dim.end() - static_cast<ptrdiff_t>(std::min<size_t>(dim.size(), 2))};
}

IntegerMatrices IntegerMatricesOf(const Operation& operation) {
  std::vector<int64_t> a = operation.in[In::kA].dim, b = operation.in[In::kB].dim, out = operation.out[0].dim;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  out.resize(out.size() - (row ? 0 : 1) - (column ? 0 : 1));
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  std::array<std::vector<int64_t>, 6> dims = {Front(a), Front(b), {}, {}, {}, {}};
  std::array<int64_t, 6> size = {m * k, k * n, 1, 1, 1, 1};
  std::array<std::span<const int64_t>, 6> spans = {dims[0], dims[1]};
  for (size_t i = 2; i < 6; ++i) {
    const Parameter parameter = ParameterOf(operation, kBatched[i]);
    dims[i] = parameter.batch;
    size[i] = parameter.per_matrix;
    spans[i] = dims[i];
  }
  return {m, k, n, std::get<IntegerMatMul>(operation.params).within, size, Broadcast<6>(out, spans)};
}

// What belongs to one product of matrices.
template <typename A, typename B>
struct Product {
  const A *a, *a_zero;
  const B *b, *b_zero;
  const float *a_scale, *b_scale;
  const int32_t* bias;
};

template <typename T>
const T* At(const Buffers& buffers, size_t i, int64_t offset) {
  const T* data = i < buffers.in.size() ? static_cast<const T*>(buffers.in[i]) : nullptr;
  return data == nullptr ? nullptr : data + offset;
}

// Row `i` of the product; `b`: the right side less its zero points.
template <typename A, typename B>
void Row(const IntegerMatrices& s, const Product<A, B>& product, const int32_t* b, int64_t i, int32_t* sums) {
  const int32_t zero = ValueAt<A>(product.a_zero, s.size[3] > 1, i, 0);
  for (int64_t j = 0; j < s.n; ++j) sums[j] = ValueAt<int32_t>(product.bias, true, j, 0);
  for (int64_t k = 0; k < s.k; ++k) {
    const int32_t factor = int32_t{product.a[i * s.k + k]} - zero;
    const int32_t* row = b + k * s.n;
    for (int64_t j = 0; j < s.n; ++j) sums[j] = AddProduct(sums[j], factor, row[j]);
  }
}

template <typename A, typename B, typename Y>
void Multiply(const IntegerMatrices& s, const Product<A, B>& product, const Buffers& buffers, Y* y) {
  int32_t* const b = static_cast<int32_t*>(buffers.scratch);
  int32_t* const sums = b + s.k * s.n;
  for (int64_t k = 0; k < s.k; ++k) {
    for (int64_t j = 0; j < s.n; ++j) b[k * s.n + j] = int32_t{product.b[k * s.n + j]} - ValueAt<B>(product.b_zero, s.size[5] > 1, j, 0);
  }
  for (int64_t i = 0; i < s.m; ++i, y += s.n) {
    if constexpr (std::is_same_v<Y, int32_t>) {
      Row(s, product, b, i, y);
    } else if constexpr (std::is_same_v<Y, float>) {
      Row(s, product, b, i, sums);
      const float a_scale = product.a_scale[s.size[2] > 1 ? i : 0];
      const float* const bias = At<float>(buffers, In::kBias, 0);
      for (int64_t j = 0; j < s.n; ++j)
        y[j] = static_cast<float>(sums[j]) * (a_scale * product.b_scale[s.size[4] > 1 ? j : 0]) + ValueAt<float>(bias, true, j, 0);
    } else {
      Row(s, product, b, i, sums);
      const float y_scale = *At<float>(buffers, In::kYScale, 0), a_scale = product.a_scale[s.size[2] > 1 ? i : 0];
      const Target<Y> target{y_scale, ValueAt(At<Y>(buffers, In::kYZero, 0), false, 0, Y(0)), s.within};
      for (int64_t j = 0; j < s.n; ++j) y[j] = Requantised(sums[j], a_scale * product.b_scale[s.size[4] > 1 ? j : 0], target);
    }
  }
}

template <typename A, typename B, typename Y>
void Run(const IntegerMatrices& s, const Buffers& buffers) {
  s.batch.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t matrices) {
    for (int64_t i = 0; i < matrices; ++i) {
      std::array<int64_t, 6> at;
      for (size_t k = 0; k < 6; ++k) at[k] = (offset[k] + i * stride[k]) * s.size[k];
      const Product<A, B> product = {At<A>(buffers, In::kA, at[0]),
                                     At<A>(buffers, In::kAZero, at[3]),
                                     At<B>(buffers, In::kB, at[1]),
                                     At<B>(buffers, In::kBZero, at[5]),
                                     At<float>(buffers, In::kAScale, at[2]),
                                     At<float>(buffers, In::kBScale, at[4]),
                                     std::is_same_v<Y, float> ? nullptr : At<int32_t>(buffers, In::kBias, 0)};
      Multiply(s, product, buffers, static_cast<Y*>(buffers.out[0]) + (out + i) * s.m * s.n);
    }
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeIntegerMatMul(const Operation& operation) {
  const IntegerMatrices matrices = IntegerMatricesOf(operation);
  auto kernel = ForType<int8_t, uint8_t>(operation.in[In::kA].dtype, [&]<typename A>() {
    return ForType<int8_t, uint8_t>(operation.in[In::kB].dtype, [&]<typename B>() {
      return ForType<int8_t, uint8_t, int32_t, float>(operation.out[0].dtype, [&]<typename Y>() {
        return MakeFunction(operation.in.size(), [matrices](const Buffers& buffers) -> const char* {
          Run<A, B, Y>(matrices, buffers);
          return nullptr;
        });
      });
    });
  });
  for (const size_t i : {In::kAScale, In::kBScale, In::kYScale}) {
    if (HasInput(operation, i) && operation.in[i].dtype != WF_F32) kernel.reset();
  }
  if (kernel != nullptr) kernel->scratch_bytes = (matrices.k * matrices.n + matrices.n) * int64_t{sizeof(int32_t)};
  return kernel;
}

}  // namespace wf::kernels::ref
