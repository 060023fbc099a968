#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

#define NUMBERS float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

// NaN above all.
template <typename T>
bool RanksAbove(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || (a != a && b == b);
  return a > b;
}
template <typename T>
bool Ties(T a, T b) {
  return !RanksAbove(a, b) && !RanksAbove(b, a);
}

template <typename T>
struct Ranked {
  T value;
  int64_t at;
};

template <typename T>
struct RanksBefore {
  bool largest;
  bool operator()(const Ranked<T>& a, const Ranked<T>& b) const {
    if (Ties(a.value, b.value)) return a.at < b.at;
    return largest == RanksAbove(a.value, b.value);
  }
};

// `best`: room for k. The worst of the best so far stands first.
template <typename T>
void RankRow(const Around& around, std::span<Ranked<T>> best, bool largest, const T* x) {
  const RanksBefore<T> before{largest};
  const int64_t k = static_cast<int64_t>(best.size());
  if (k == 0) return;
  for (int64_t i = 0; i < k; ++i) best[static_cast<size_t>(i)] = {x[i * around.inner], i};
  std::make_heap(best.begin(), best.end(), before);
  for (int64_t i = k; i < around.extent; ++i) {
    const Ranked<T> next{x[i * around.inner], i};
    if (!before(next, best.front())) continue;
    std::pop_heap(best.begin(), best.end(), before);
    best.back() = next;
    std::push_heap(best.begin(), best.end(), before);
  }
  std::sort_heap(best.begin(), best.end(), before);
}

template <typename T>
void WriteRanked(std::span<const Ranked<T>> best, int64_t stride, T* values, int64_t* indices) {
  for (const Ranked<T>& each : best) {
    *values = each.value;
    values += stride;
    if (indices == nullptr) continue;
    *indices = each.at;
    indices += stride;
  }
}

// Of [extent, inner] elements, for each of inner the place of the extreme.
template <typename T>
void FindExtremes(const Around& around, const ArgExtreme& arg, const T* x, int64_t* best) {
  std::fill_n(best, around.inner, 0);
  for (int64_t k = 1; k < around.extent; ++k) {
    const T* row = x + k * around.inner;
    for (int64_t i = 0; i < around.inner; ++i) {
      const T now = row[i], held = x[best[i] * around.inner + i];
      const bool beats = arg.largest ? RanksAbove(now, held) : now < held || (now != now && held == held);
      const bool ties = arg.last && (now == held || (now != now && held != held));
      if (beats || ties) best[i] = k;
    }
  }
}

template <typename T>
void Accumulate(const Around& around, const CumSum& sum, const T* x, T* y) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  const int64_t step = sum.reverse ? -around.inner : around.inner, first = sum.reverse ? (around.extent - 1) * around.inner : 0;
  for (int64_t k = 0; k < around.extent; ++k) {
    const int64_t at = first + k * step;
    for (int64_t i = 0; i < around.inner; ++i) {
      const Wide before = k > 0 ? static_cast<Wide>(y[at - step + i]) : Wide(0);
      const Wide added = !sum.exclusive ? static_cast<Wide>(x[at + i]) : k > 0 ? static_cast<Wide>(x[at - step + i]) : Wide(0);
      y[at + i] = static_cast<T>(before + added);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeTopK(const Operation& operation) {
  const auto& [axis, largest] = std::get<TopK>(operation.params);
  const Around around = AroundAxis(operation.in[0].dim, axis);
  const int64_t k = operation.out[0].dim[axis];
  return ForType<NUMBERS>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [around, k, largest = largest](const Buffers& b) -> const char* {
      const int64_t step = around.extent * around.inner;
      int64_t* indices = b.out.size() > 1 ? static_cast<int64_t*>(b.out[1]) : nullptr;
      for (int64_t o = 0; o < around.outer; ++o) {
        for (int64_t i = 0; i < around.inner; ++i) {
          const int64_t to = o * k * around.inner + i;
          const std::span<Ranked<T>> best(static_cast<Ranked<T>*>(b.scratch), static_cast<size_t>(k));
          RankRow<T>(around, best, largest, static_cast<const T*>(b.in[0]) + o * step + i);
          WriteRanked<T>(best, around.inner, static_cast<T*>(b.out[0]) + to, indices != nullptr ? indices + to : nullptr);
        }
      }
      return nullptr;
    });
    kernel->scratch_bytes = k * static_cast<int64_t>(sizeof(Ranked<T>));
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeArgExtreme(const Operation& operation) {
  const ArgExtreme& arg = std::get<ArgExtreme>(operation.params);
  const Around around = AroundAxis(operation.in[0].dim, arg.axis);
  return ForType<NUMBERS>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [around, arg](const Buffers& b) -> const char* {
      for (int64_t o = 0; o < around.outer; ++o) {
        FindExtremes<T>(around, arg, static_cast<const T*>(b.in[0]) + o * around.extent * around.inner,
                        static_cast<int64_t*>(b.out[0]) + o * around.inner);
      }
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeHardmax(const Operation& operation) {
  const auto& [axis, end] = std::get<Hardmax>(operation.params);
  const std::span<const int64_t> dim = operation.in[0].dim;
  const Around around{CountOf(dim.first(axis)), CountOf(dim.subspan(axis, end - axis)), CountOf(dim.subspan(end))};
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [around](const Buffers& b) -> const char* {
      const int64_t step = around.extent * around.inner;
      T* out = static_cast<T*>(b.out[0]);
      int64_t* best = static_cast<int64_t*>(b.scratch);
      if (step == 0) return nullptr;
      std::fill_n(out, around.outer * step, T(0));
      for (int64_t o = 0; o < around.outer; ++o) {
        FindExtremes<T>(around, {}, static_cast<const T*>(b.in[0]) + o * step, best);
        for (int64_t i = 0; i < around.inner; ++i) out[o * step + best[i] * around.inner + i] = T(1);
      }
      return nullptr;
    });
    kernel->scratch_bytes = around.inner * 8;
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeCumSum(const Operation& operation) {
  const CumSum& sum = std::get<CumSum>(operation.params);
  const Around around = AroundAxis(operation.in[0].dim, sum.axis);
  return ForType<NUMBERS>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [around, sum](const Buffers& b) -> const char* {
      const int64_t step = around.extent * around.inner;
      for (int64_t o = 0; o < around.outer; ++o) {
        Accumulate<T>(around, sum, static_cast<const T*>(b.in[0]) + o * step, static_cast<T*>(b.out[0]) + o * step);
      }
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeReverseSequence(const Operation& operation) {
  const bool time_first = std::get<ReverseSequence>(operation.params).time_first;
  const std::vector<int64_t>& dim = operation.in[0].dim;
  const int64_t times = dim[time_first ? 0 : 1], rows = dim[time_first ? 1 : 0];
  const int64_t bytes = CountOf(std::span(dim).subspan(2)) * base::DTypeSize(operation.in[0].dtype);
  return MakeFunction(2, [=](const Buffers& b) -> const char* {
    const int64_t* length = static_cast<const int64_t*>(b.in[1]);
    const auto place = [&](int64_t time, int64_t row) { return (time_first ? time * rows + row : row * times + time) * bytes; };
    for (int64_t row = 0; row < rows; ++row) {
      if (length[row] < 0 || length[row] > times) return "a length is out of range";
      for (int64_t time = 0; time < times && bytes > 0; ++time) {
        const int64_t from = time < length[row] ? length[row] - 1 - time : time;
        std::memcpy(static_cast<uint8_t*>(b.out[0]) + place(time, row), static_cast<const uint8_t*>(b.in[0]) + place(from, row),
                    static_cast<size_t>(bytes));
      }
    }
    return nullptr;
  });
}

#undef NUMBERS

}  // namespace wf::kernels::ref
