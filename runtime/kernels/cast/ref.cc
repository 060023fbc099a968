#include <cstdint>
#include <type_traits>

#include "runtime/kernels/half.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename To, typename From>
To Convert(From x) {
  if constexpr (kIsHalf<From>) {
    return Convert<To>(ToFloat(x));
  } else if constexpr (kIsHalf<To>) {
    return ToNarrow<To>(x);
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return Saturated<To>(static_cast<double>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
std::unique_ptr<Kernel> Make(int64_t n) {
  return MakeFunction(1, [n](const Buffers& b) -> const char* {
    const From* x = static_cast<const From*>(b.in[0]);
    To* y = static_cast<To*>(b.out[0]);
    for (int64_t i = 0; i < n; ++i) y[i] = Convert<To>(x[i]);
    return nullptr;
  });
}

template <typename F>
std::unique_ptr<Kernel> ForAny(uint8_t dtype, F f) {
  if (dtype == WF_F16) return f.template operator()<Half>();
  if (dtype == WF_BF16) return f.template operator()<Brain>();
  return ForType<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>(dtype, f);
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeCast(const Operation& operation) {
  return ForAny(operation.in[0].dtype, [&]<typename From>() {
    return ForAny(operation.out[0].dtype, [&]<typename To>() { return Make<From, To>(operation.out[0].count()); });
  });
}

}  // namespace wf::kernels::ref
