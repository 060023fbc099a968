#include <algorithm>
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

template <typename From>
float FloatOf(From x) {
  if constexpr (kIsHalf<From>) {
    return ToFloat(x);
  } else {
    return static_cast<float>(x);
  }
}

// To the low 4 bits, or to the nearest end of what they hold.
template <typename To, typename From>
To ToQuarter(From x) {
  constexpr int kLow = std::is_signed_v<To> ? -8 : 0, kHigh = std::is_signed_v<To> ? 7 : 15;
  if constexpr (kIsHalf<From> || std::is_floating_point_v<From>) {
    return static_cast<To>(std::clamp<int>(Convert<int32_t>(x), kLow, kHigh));
  } else {
    const int low = static_cast<int>(x) & 15;
    return static_cast<To>(low > kHigh ? low - 16 : low);
  }
}

template <typename From>
std::unique_ptr<Kernel> MakeNarrowing(const Cast& cast, int64_t n) {
  return MakeFunction(1, [cast, n](const Buffers& b) -> const char* {
    const From* x = static_cast<const From*>(b.in[0]);
    for (int64_t i = 0; i < n; ++i) {
      if (cast.to == base::Narrow::kU4) {
        static_cast<uint8_t*>(b.out[0])[i] = ToQuarter<uint8_t>(x[i]);
      } else if (cast.to == base::Narrow::kI4) {
        static_cast<int8_t*>(b.out[0])[i] = ToQuarter<int8_t>(x[i]);
      } else {
        static_cast<Half*>(b.out[0])[i] = ToHalf(base::NearestOf(cast.to, FloatOf(x[i]), cast.saturates));
      }
    }
    return nullptr;
  });
}

// The loop of two types. What holds it is compiled once, not for each pair.
template <typename From, typename To>
void ConvertAll(const void* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in);
  To* y = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = Convert<To>(x[i]);
}

std::unique_ptr<Kernel> Make(void (*run)(const void*, void*, int64_t), int64_t n) {
  return MakeFunction(1, [run, n](const Buffers& b) -> const char* {
    run(b.in[0], b.out[0], n);
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
  const Cast& cast = std::get<Cast>(operation.params);
  return ForAny(operation.in[0].dtype, [&]<typename From>() {
    if (cast.to != base::Narrow::kNone) return MakeNarrowing<From>(cast, operation.out[0].count());
    return ForAny(operation.out[0].dtype, [&]<typename To>() { return Make(ConvertAll<From, To>, operation.out[0].count()); });
  });
}

}  // namespace wf::kernels::ref
