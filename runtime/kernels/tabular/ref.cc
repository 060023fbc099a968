#include "runtime/kernels/tabular/tabular.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

int64_t ColumnsOf(const TensorInfo& in) { return in.dim.empty() ? 1 : in.dim.back(); }

template <typename T>
const T& Of(const std::vector<T>& values, int64_t column) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(column)];
}

template <typename X>
float NormOf(Normalize::Norm norm, const X* row, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float x = static_cast<float>(row[i]);
    if (norm == Normalize::Norm::kMax)
      sum = i == 0 || x > sum ? x : sum;
    else
      sum += norm == Normalize::Norm::kL1 ? std::abs(x) : x * x;
  }
  return norm == Normalize::Norm::kL2 ? std::sqrt(sum) : sum;
}

// A part of each row of the result.
struct Part {
  int64_t rows, columns, wanted;  // columns: of the input
  int64_t at, stride;             // in the result
};

using AddFn = void (*)(const void*, const Part&, float*);
template <typename X>
void AddFrom(const void* input, const Part& part, float* out) {
  const X* in = static_cast<const X*>(input);
  for (int64_t r = 0; r < part.rows; ++r) {
    for (int64_t c = 0; c < part.wanted; ++c)
      out[r * part.stride + part.at + c] = c < part.columns ? static_cast<float>(in[r * part.columns + c]) : 0.0f;
  }
}
AddFn AdderFor(uint8_t dtype) {
  switch (dtype) {
    case WF_F32:
      return AddFrom<float>;
    case WF_F64:
      return AddFrom<double>;
    case WF_I32:
      return AddFrom<int32_t>;
    case WF_I64:
      return AddFrom<int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeBinarize(const Operation& operation) {
  const float threshold = std::get<Binarize>(operation.params).threshold;
  const int64_t n = operation.in[0].count();
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    return MakeFunction(
        1,
        [=](const Buffers& b) -> const char* {
          const X* x = static_cast<const X*>(b.in[0]);
          X* y = static_cast<X*>(b.out[0]);
          for (int64_t i = 0; i < n; ++i) y[i] = static_cast<double>(x[i]) > static_cast<double>(threshold) ? X(1) : X(0);
          return nullptr;
        },
        true);
  });
}

base::Result<std::unique_ptr<Kernel>> MakeImpute(const Operation& operation) {
  const Impute& impute = std::get<Impute>(operation.params);
  const int64_t n = operation.in[0].count(), columns = ColumnsOf(operation.in[0]);
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    std::vector<X> values;
    X replaced = 0;
    if constexpr (std::is_integral_v<X>) {
      for (const int64_t value : impute.whole_values) values.push_back(static_cast<X>(value));
      replaced = static_cast<X>(impute.whole_replaced);
    } else {
      values.assign(impute.values.begin(), impute.values.end());
      replaced = static_cast<X>(impute.replaced);
    }
    return MakeFunction(1, [=, nan = replaced != replaced](const Buffers& b) -> const char* {
      const X* x = static_cast<const X*>(b.in[0]);
      X* y = static_cast<X*>(b.out[0]);
      for (int64_t i = 0; i < n; ++i) y[i] = (nan ? x[i] != x[i] : x[i] == replaced) ? Of(values, i % columns) : x[i];
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeScale(const Operation& operation) {
  const Scale& scale = std::get<Scale>(operation.params);
  const int64_t columns = ColumnsOf(operation.in[0]), rows = columns == 0 ? 0 : operation.in[0].count() / columns;
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    return MakeFunction(1, [=](const Buffers& b) -> const char* {
      const X* x = static_cast<const X*>(b.in[0]);
      float* y = static_cast<float*>(b.out[0]);
      for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
        for (int64_t c = 0; c < columns; ++c) y[c] = (static_cast<float>(x[c]) - Of(scale.offset, c)) * Of(scale.scale, c);
      }
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeNormalize(const Operation& operation) {
  const Normalize::Norm norm = std::get<Normalize>(operation.params).norm;
  const int64_t columns = ColumnsOf(operation.in[0]), rows = columns == 0 ? 0 : operation.in[0].count() / columns;
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    return MakeFunction(1, [=](const Buffers& b) -> const char* {
      const X* x = static_cast<const X*>(b.in[0]);
      float* y = static_cast<float*>(b.out[0]);
      for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
        const float size = NormOf(norm, x, columns);
        for (int64_t c = 0; c < columns; ++c) y[c] = size == 0 ? static_cast<float>(x[c]) : static_cast<float>(x[c]) / size;
      }
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeJoinFeatures(const Operation& operation) {
  const std::vector<int64_t>& wanted = std::get<JoinFeatures>(operation.params).columns;
  std::vector<std::pair<AddFn, Part>> parts;
  int64_t at = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const TensorInfo& in = operation.in[i];
    const AddFn add = AdderFor(in.dtype);
    if (add == nullptr) return std::unique_ptr<Kernel>();
    parts.push_back({add, {operation.out[0].dim[0], in.dim.size() == 1 ? 1 : in.dim[1], wanted[i], at, operation.out[0].dim[1]}});
    at += wanted[i];
  }
  return MakeFunction(wanted.size(), [parts](const Buffers& b) -> const char* {
    for (size_t i = 0; i < parts.size(); ++i) parts[i].first(b.in[i], parts[i].second, static_cast<float*>(b.out[0]));
    return nullptr;
  });
}

}  // namespace wf::kernels::ref
