#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/resize/taps.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

// Picks elements by an index for each position of each axis, of any type.
struct Picked {
  std::vector<std::vector<int64_t>> from;  // per axis, per output position: byte offset in the input, or -1
  int64_t size = 1;                        // bytes of what lies behind the axes

  // What is picked whole at the end lies side by side. Not where something lies outside, of which there is one element alone.
  void JoinWhole(const std::vector<int64_t>& dim) {
    const auto reaches_out = [](const std::vector<int64_t>& places) { return std::find(places.begin(), places.end(), -1) != places.end(); };
    if (std::any_of(from.begin(), from.end(), reaches_out)) return;
    const auto is_whole = [&](const std::vector<int64_t>& places) {
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] != static_cast<int64_t>(i) * size) return false;
      }
      return static_cast<int64_t>(places.size()) == dim[from.size() - 1];
    };
    while (!from.empty() && is_whole(from.back())) {
      size *= static_cast<int64_t>(from.back().size());
      from.pop_back();
    }
  }

  uint8_t* Fill(size_t axis, const uint8_t* in, const uint8_t* outside, uint8_t* out) const {
    if (axis == from.size()) return CopyOne(in != nullptr ? in : outside, out, size);
    if (axis + 1 == from.size() && in != nullptr) {
      if (size == 1) return Row<1>(in, outside, out);
      if (size == 2) return Row<2>(in, outside, out);
      if (size == 4) return Row<4>(in, outside, out);
      if (size == 8) return Row<8>(in, outside, out);
    }
    const uint8_t* last = nullptr;  // where the result of the place before begins
    for (size_t i = 0; i < from[axis].size(); ++i) {
      const int64_t each = from[axis][i];
      uint8_t* const begin = out;
      if (i > 0 && each == from[axis][i - 1]) {
        out = CopyOne(last, out, begin - last);
      } else {
        out = Fill(axis + 1, in != nullptr && each >= 0 ? in + each : nullptr, outside, out);
      }
      last = begin;
    }
    return out;
  }

 private:
  static uint8_t* CopyOne(const uint8_t* from, uint8_t* to, int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return to + bytes;
  }

  // Elements of the last axis, which a copy of a known size makes a load and a store.
  template <size_t kSize>
  uint8_t* Row(const uint8_t* in, const uint8_t* outside, uint8_t* out) const {
    for (const int64_t each : from.back()) {
      std::memcpy(out, each >= 0 ? in + each : outside, kSize);
      out += kSize;
    }
    return out;
  }
};

// One axis of a tensor, made anew.
struct AxisPass {
  Around around;  // of the input
  int64_t out = 0;
  Taps taps;
};

template <typename In, typename Acc>
void RunPass(const AxisPass& pass, Acc outside, const In* x, Acc* y) {
  const auto& [outer, extent, inner] = pass.around;
  const int64_t taps = pass.taps.count;
  for (int64_t o = 0; o < outer; ++o, x += extent * inner) {
    for (int64_t k = 0; k < pass.out; ++k, y += inner) {
      const int64_t* index = pass.taps.index.data() + k * taps;
      const double* weight = pass.taps.weight.data() + k * taps;
      std::fill_n(y, inner, index[0] < 0 ? outside : Acc(0));
      for (int64_t t = 0; t < taps && index[0] >= 0; ++t) {
        const In* row = x + index[t] * inner;
        const Acc w = static_cast<Acc>(weight[t]);
        if (w == 0) continue;
        for (int64_t i = 0; i < inner; ++i) y[i] += w * static_cast<Acc>(row[i]);
      }
    }
  }
}

struct Passes {
  std::vector<AxisPass> list;
  int64_t count = 0, most = 0;  // elements of the result, and of the largest between
  float outside = 0;
};

// Axes that shrink first, so that nothing between is larger than the input and the output.
bool PlanPasses(const Resize& resize, const Operation& operation, Passes& passes) {
  std::vector<int64_t> dim = operation.in[0].dim;
  const std::vector<int64_t>& to = operation.out[0].dim;
  std::vector<size_t> order(dim.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto ratio = [&](size_t axis) { return static_cast<double>(to[axis]) / static_cast<double>(std::max<int64_t>(dim[axis], 1)); };
  std::vector<double> ratios;
  for (const size_t axis : order) ratios.push_back(ratio(axis));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ratios[a] < ratios[b]; });
  for (const size_t axis : order) {
    const bool same = to[axis] == dim[axis] && resize.scale[axis] == 1 && resize.from != Resize::From::kCrop && !resize.exclude_outside &&
                      resize.from != Resize::From::kHalfPixelUnshifted;
    if (same) continue;
    auto taps = TapsOf(resize, axis, dim[axis], to[axis]);
    if (!taps) return false;
    passes.list.push_back({AroundAxis(dim, axis), to[axis], *std::move(taps)});
    dim[axis] = to[axis];
    passes.most = std::max(passes.most, CountOf(dim));
  }
  passes.count = CountOf(to);
  passes.outside = resize.outside;
  return true;
}

template <typename Acc, typename T>
T Narrowed(Acc value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return Saturated<T>(static_cast<double>(value));
  }
}

template <typename T, typename Acc>
void RunPasses(const Passes& passes, const Buffers& b) {
  Acc *here = static_cast<Acc*>(b.scratch), *there = here + passes.most;
  const T* in = static_cast<const T*>(b.in[0]);
  T* out = static_cast<T*>(b.out[0]);
  if (passes.list.empty()) {
    std::copy(in, in + passes.count, out);
    return;
  }
  for (size_t i = 0; i < passes.list.size(); ++i) {
    const Acc outside = static_cast<Acc>(passes.outside);
    if constexpr (std::is_same_v<T, Acc>) there = i + 1 == passes.list.size() ? out : there;
    if (i == 0) {
      RunPass<T, Acc>(passes.list[i], outside, in, there);
    } else {
      RunPass<Acc, Acc>(passes.list[i], outside, here, there);
    }
    std::swap(here, there);
  }
  if constexpr (std::is_same_v<T, Acc>) return;
  for (int64_t i = 0; i < passes.count; ++i) out[i] = Narrowed<Acc, T>(here[i]);
}

// The bytes of a value as an element. False: of a type that C++ has not, where only 0 has bytes.
template <typename... Ts>
bool StoreAs(float value, uint8_t dtype, std::array<uint8_t, 8>& bytes) {
  const auto store = [&]<typename T>(T element) {
    std::memcpy(bytes.data(), &element, sizeof element);
    return true;
  };
  return value == 0 || ((kDTypeOf<Ts> == dtype && store(Narrowed<float, Ts>(value))) || ...);
}

base::Result<std::unique_ptr<Kernel>> MakeNearest(const Resize& resize, const Operation& operation) {
  const TensorInfo &in = operation.in[0], &out = operation.out[0];
  const std::vector<int64_t> stride = StridesOf(in.dim);
  std::array<uint8_t, 8> outside{};
  const bool stored =
      StoreAs<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(resize.outside, in.dtype, outside);
  if (!stored) return std::unique_ptr<Kernel>();
  Picked picked;
  picked.size = base::DTypeSize(in.dtype);
  for (size_t axis = 0; axis < in.dim.size(); ++axis) {
    auto taps = TapsOf(resize, axis, in.dim[axis], out.dim[axis]);
    if (!taps) return base::Status(base::kUnimplemented, "an axis that is too long to be resized");
    for (int64_t& each : taps->index) each = each < 0 ? -1 : each * stride[axis] * picked.size;
    picked.from.push_back(std::move(taps->index));
  }
  picked.JoinWhole(in.dim);
  return MakeFunction(1, [picked, outside, count = out.count()](const Buffers& b) -> const char* {
    if (count > 0) picked.Fill(0, static_cast<const uint8_t*>(b.in[0]), outside.data(), static_cast<uint8_t*>(b.out[0]));
    return nullptr;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeResize(const Operation& operation) {
  const Resize& resize = std::get<Resize>(operation.params);
  if (resize.mode == Resize::Mode::kNearest) return MakeNearest(resize, operation);
  auto passes = std::make_shared<Passes>();
  if (!PlanPasses(resize, operation, *passes)) return base::Status(base::kUnimplemented, "an axis that is too long to be resized");
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        using Acc = std::conditional_t<std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) > 2), double, float>;
        auto kernel = MakeFunction(1, [passes](const Buffers& b) -> const char* {
          RunPasses<T, Acc>(*passes, b);
          return nullptr;
        });
        kernel->scratch_bytes = passes->most * 2 * static_cast<int64_t>(sizeof(Acc));
        return kernel;
      });
}

}  // namespace wf::kernels::ref
