#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>

#include "runtime/kernels/quantise/round.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// A tensor as [outer, extent, inner] around the axis of its scales.
struct Blocks {
  int64_t outer = 1, extent = 1, inner = 1, block = 0;

  // run(first element, elements, first scale, step from scale to scale, 0 or 1)
  template <typename Run>
  void ForEach(Run run) const {
    const int64_t rows = block > 0 ? (extent + block - 1) / block : extent;
    for (int64_t o = 0, at = 0; o < outer; ++o) {
      if (inner == 1 && block == 0) {  // along the last axis: each element has its own
        run(at, extent, 0, 1);
        at += extent;
        continue;
      }
      for (int64_t a = 0; a < extent; ++a, at += inner) {
        if (block == 0) run(at, inner, a, 0);
        if (block > 0) run(at, inner, (o * rows + a / block) * inner, 1);
      }
    }
  }
};

Blocks BlocksOf(const Scaling& scaling, const TensorInfo& x) {
  Blocks blocks;
  blocks.block = scaling.block;
  if (scaling.axis < 0) {
    blocks.inner = x.count();
    return blocks;
  }
  const size_t axis = static_cast<size_t>(scaling.axis);
  for (size_t i = 0; i < x.dim.size(); ++i) (i < axis ? blocks.outer : i == axis ? blocks.extent : blocks.inner) *= x.dim[i];
  return blocks;
}

template <typename T>
const T* ZeroPoints(const Buffers& b) {
  return b.in.size() > 2 ? static_cast<const T*>(b.in[2]) : nullptr;
}

}  // namespace

namespace {

// From what has been divided by the scale to a number of an integer type, or of a format in it.
template <typename To>
struct ToWhole {
  explicit ToWhole(const Quantise& quantise) {
    if (quantise.to != base::Narrow::kNone) std::tie(low, high) = std::is_signed_v<To> ? std::pair(-8.0, 7.0) : std::pair(0.0, 15.0);
  }
  To operator()(float quotient, To zero) const { return Rounded<To>(quotient, zero, low, high); }

  double low = std::numeric_limits<To>::lowest(), high = std::numeric_limits<To>::max();
};

struct ToFloat {
  explicit ToFloat(const Quantise& quantise) : to(quantise.to), saturates(quantise.saturates) {}
  float operator()(float quotient, float zero) const { return base::NearestOf(to, quotient + zero, saturates); }

  base::Narrow to;
  bool saturates;
};

template <typename From, typename To>
std::unique_ptr<Kernel> QuantiseTo(const Operation& operation) {
  const Quantise& quantise = std::get<Quantise>(operation.params);
  using Round = std::conditional_t<std::is_same_v<To, float>, ToFloat, ToWhole<To>>;
  return MakeFunction(operation.in.size(),
                      [blocks = BlocksOf(quantise.scaling, operation.in[0]), round = Round(quantise)](const Buffers& b) -> const char* {
                        const From* x = static_cast<const From*>(b.in[0]);
                        const float* scale = static_cast<const float*>(b.in[1]);
                        const To* zero = ZeroPoints<To>(b);
                        To* y = static_cast<To*>(b.out[0]);
                        blocks.ForEach([&](int64_t at, int64_t n, int64_t from, int64_t step) {
                          for (int64_t i = 0; i < n; ++i) {
                            const int64_t k = from + i * step;
                            y[at + i] = round(static_cast<float>(x[at + i]) / scale[k], zero == nullptr ? To(0) : zero[k]);
                          }
                        });
                        return nullptr;
                      });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeQuantise(const Operation& operation) {
  if (operation.in[1].dtype != WF_F32) return std::unique_ptr<Kernel>();
  return ForType<float, int32_t>(operation.in[0].dtype, [&]<typename From>() {
    return ForType<int8_t, int16_t, uint8_t, uint16_t, float>(operation.out[0].dtype,
                                                              [&]<typename To>() { return QuantiseTo<From, To>(operation); });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeDequantise(const Operation& operation) {
  const Blocks blocks = BlocksOf(std::get<Dequantise>(operation.params).scaling, operation.in[0]);
  if (operation.in[1].dtype != WF_F32) return std::unique_ptr<Kernel>();
  return ForType<int8_t, int16_t, int32_t, uint8_t, uint16_t, float>(operation.in[0].dtype, [&]<typename From>() {
    using Wide = std::conditional_t<std::is_same_v<From, float>, float, int64_t>;
    return MakeFunction(operation.in.size(), [blocks](const Buffers& b) -> const char* {
      const From* x = static_cast<const From*>(b.in[0]);
      const float* scale = static_cast<const float*>(b.in[1]);
      const From* zero = ZeroPoints<From>(b);
      float* y = static_cast<float*>(b.out[0]);
      blocks.ForEach([&](int64_t at, int64_t n, int64_t from, int64_t step) {
        for (int64_t i = 0; i < n; ++i) {
          const int64_t k = from + i * step;
          const Wide around = Wide{x[at + i]} - (zero == nullptr ? Wide(0) : Wide{zero[k]});
          y[at + i] = static_cast<float>(around) * scale[k];
        }
      });
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeDynamicQuantise(const Operation& operation) {
  if (operation.in[0].dtype != WF_F32) return std::unique_ptr<Kernel>();
  return MakeFunction(1, [n = operation.in[0].count()](const Buffers& b) -> const char* {
    const float* x = static_cast<const float*>(b.in[0]);
    float low = 0, high = 0;
    for (int64_t i = 0; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
    const float scale = low == high ? 1.0f : (high - low) / 255;  // of nothing but 0 as in ONNX Runtime: the standard has 0
    const uint8_t zero = Rounded<uint8_t>(std::clamp(-low / scale, 0.0f, 255.0f), 0);
    uint8_t* y = static_cast<uint8_t*>(b.out[0]);
    for (int64_t i = 0; i < n; ++i) y[i] = Rounded<uint8_t>(x[i] / scale, zero);
    if (b.out.size() > 1 && b.out[1] != nullptr) *static_cast<float*>(b.out[1]) = scale;
    if (b.out.size() > 2 && b.out[2] != nullptr) *static_cast<uint8_t*>(b.out[2]) = zero;
    return nullptr;
  });
}

}  // namespace wf::kernels::ref
