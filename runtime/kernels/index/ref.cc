#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

constexpr const char* kOutOfRange = "an index is out of range";

bool ResolveIndex(int64_t& index, int64_t extent) {
  if (index < -extent || index >= extent) return false;
  if (index < 0) index += extent;
  return true;
}

template <size_t kSize>
struct Opaque {
  uint8_t byte[kSize];
};

template <typename F>
std::unique_ptr<Kernel> BySize(uint8_t dtype, F f) {
  switch (base::DTypeSize(dtype)) {
    case 1:
      return f.template operator()<Opaque<1>>();
    case 2:
      return f.template operator()<Opaque<2>>();
    case 4:
      return f.template operator()<Opaque<4>>();
    case 8:
      return f.template operator()<Opaque<8>>();
    default:
      return nullptr;
  }
}

struct Replace {
  template <typename T>
  static T Of(const T&, const T& update) {
    return update;
  }
};
struct AddTo {
  template <typename T>
  static T Of(T a, T b) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  }
};
struct MulBy {
  template <typename T>
  static T Of(T a, T b) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};
struct Larger {
  template <typename T>
  static T Of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Smaller {
  template <typename T>
  static T Of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// f.operator()<T, Combine>() for the reduction and the type of elements.
template <typename F>
std::unique_ptr<Kernel> ForReduction(Reduction reduction, uint8_t dtype, F f) {
  const auto with = [&]<typename Combine>() {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        dtype, [&]<typename T>() { return f.template operator()<T, Combine>(); });
  };
  switch (reduction) {
    case Reduction::kNone:
      return BySize(dtype, [&]<typename T>() { return f.template operator()<T, Replace>(); });
    case Reduction::kAdd:
      return with.template operator()<AddTo>();
    case Reduction::kMul:
      return with.template operator()<MulBy>();
    case Reduction::kMax:
      return with.template operator()<Larger>();
    case Reduction::kMin:
      return with.template operator()<Smaller>();
  }
  return nullptr;
}

template <typename F>
std::unique_ptr<Kernel> ForIndex(uint8_t dtype, F f) {
  return ForType<int32_t, int64_t>(dtype, f);
}

// Positions of indices within data: every axis but one runs along.
struct ElementPlaces {
  StridedWalk walk;
  int64_t extent, stride;  // of the axis
};
ElementPlaces ElementPlacesOf(const Operation& operation, size_t axis) {
  std::vector<int64_t> stride = StridesOf(operation.in[0].dim);
  const int64_t along = stride[axis];
  stride[axis] = 0;
  return {StridedWalk(operation.in[1].dim, stride), operation.in[0].dim[axis], along};
}

template <typename T, typename Index>
std::unique_ptr<Kernel> MakeGatherOf(const ElementPlaces& elements) {
  return MakeFunction(2, [elements](const Buffers& b) -> const char* {
    const T* data = static_cast<const T*>(b.in[0]);
    const Index* at = static_cast<const Index*>(b.in[1]);
    T* out = static_cast<T*>(b.out[0]);
    bool inside = true;
    elements.walk.ForEach([&](int64_t offset) {
      int64_t index = *at++;
      inside = inside && ResolveIndex(index, elements.extent);
      if (inside) *out++ = data[offset + index * elements.stride];
    });
    return inside ? nullptr : kOutOfRange;
  });
}

template <typename T, typename Index, typename Combine>
std::unique_ptr<Kernel> MakeScatterOf(const ElementPlaces& elements, int64_t count) {
  return MakeFunction(3, [elements, count](const Buffers& b) -> const char* {
    T* out = static_cast<T*>(b.out[0]);
    if (count > 0) std::memcpy(static_cast<void*>(out), b.in[0], static_cast<size_t>(count) * sizeof(T));
    const Index* at = static_cast<const Index*>(b.in[1]);
    const T* update = static_cast<const T*>(b.in[2]);
    bool inside = true;
    elements.walk.ForEach([&](int64_t offset) {
      int64_t index = *at++;
      inside = inside && ResolveIndex(index, elements.extent);
      if (!inside) return;
      T& to = out[offset + index * elements.stride];
      to = Combine::Of(to, *update++);
    });
    return inside ? nullptr : kOutOfRange;
  });
}

// Tuples of indices and what they stand for in data.
struct Tuples {
  std::vector<int64_t> extent, stride;  // by place in the tuple; strides in blocks
  int64_t batches, batch_stride;        // in blocks
  int64_t per_batch, block;             // tuples; elements

  bool Find(const int64_t* tuple, int64_t& at) const {
    for (size_t i = 0; i < extent.size(); ++i) {
      int64_t index = tuple[i];
      if (!ResolveIndex(index, extent[i])) return false;
      at += index * stride[i];
    }
    return true;
  }
};

Tuples TuplesOf(const Operation& operation, size_t batch) {
  const std::span<const int64_t> data = operation.in[0].dim, at = operation.in[1].dim;
  const size_t length = static_cast<size_t>(at.back());
  const auto picked = data.subspan(batch, length);
  return {{picked.begin(), picked.end()},
          StridesOf(picked),
          CountOf(data.first(batch)),
          CountOf(picked),
          CountOf(at.subspan(batch, at.size() - 1 - batch)),
          CountOf(data.subspan(batch + length))};
}

template <typename T>
void MarkHot(const Buffers& b, const Around& around, int64_t off_on_bytes, const T* at) {
  const uint8_t* values = static_cast<const uint8_t*>(b.in[2]);
  uint8_t* out = static_cast<uint8_t*>(b.out[0]);
  const size_t size = static_cast<size_t>(off_on_bytes);
  for (int64_t i = 0; i < around.outer * around.extent * around.inner; ++i) std::memcpy(out + i * off_on_bytes, values, size);
  for (int64_t o = 0; o < around.outer; ++o) {
    for (int64_t i = 0; i < around.inner; ++i) {
      const double given = static_cast<double>(*at++);
      if (!(given >= -static_cast<double>(around.extent) && given < static_cast<double>(around.extent))) continue;
      int64_t index = static_cast<int64_t>(given);
      if (index < 0) index += around.extent;
      if (index < around.extent)
        std::memcpy(out + ((o * around.extent + index) * around.inner + i) * off_on_bytes, values + off_on_bytes, size);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeGatherElements(const Operation& operation) {
  const ElementPlaces elements = ElementPlacesOf(operation, std::get<GatherElements>(operation.params).axis);
  return ForIndex(operation.in[1].dtype, [&]<typename Index>() {
    return BySize(operation.in[0].dtype, [&]<typename T>() { return MakeGatherOf<T, Index>(elements); });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeScatterElements(const Operation& operation) {
  const auto& [axis, reduction] = std::get<ScatterElements>(operation.params);
  const ElementPlaces elements = ElementPlacesOf(operation, axis);
  const int64_t count = operation.in[0].count();
  return ForIndex(operation.in[1].dtype, [&]<typename Index>() {
    return ForReduction(reduction, operation.in[0].dtype,
                        [&]<typename T, typename Combine>() { return MakeScatterOf<T, Index, Combine>(elements, count); });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeGatherND(const Operation& operation) {
  const Tuples tuples = TuplesOf(operation, std::get<GatherND>(operation.params).batch);
  const int64_t bytes = tuples.block * base::DTypeSize(operation.in[0].dtype);
  return MakeFunction(2, [tuples, bytes](const Buffers& b) -> const char* {
    const int64_t* tuple = static_cast<const int64_t*>(b.in[1]);
    const uint8_t* data = static_cast<const uint8_t*>(b.in[0]);
    uint8_t* out = static_cast<uint8_t*>(b.out[0]);
    for (int64_t i = 0; i < tuples.batches * tuples.per_batch; ++i, tuple += tuples.extent.size(), out += bytes) {
      int64_t at = i / tuples.per_batch * tuples.batch_stride;
      if (!tuples.Find(tuple, at)) return kOutOfRange;
      if (bytes > 0) std::memcpy(out, data + at * bytes, static_cast<size_t>(bytes));
    }
    return nullptr;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeScatterND(const Operation& operation) {
  const Tuples tuples = TuplesOf(operation, 0);
  const int64_t count = operation.in[0].count();
  const Reduction reduction = std::get<ScatterND>(operation.params).reduction;
  return ForReduction(reduction, operation.in[0].dtype, [&]<typename T, typename Combine>() {
    return MakeFunction(3, [tuples, count](const Buffers& b) -> const char* {
      T* out = static_cast<T*>(b.out[0]);
      if (count > 0) std::memcpy(static_cast<void*>(out), b.in[0], static_cast<size_t>(count) * sizeof(T));
      const int64_t* tuple = static_cast<const int64_t*>(b.in[1]);
      const T* update = static_cast<const T*>(b.in[2]);
      for (int64_t i = 0; i < tuples.per_batch; ++i, tuple += tuples.extent.size(), update += tuples.block) {
        int64_t at = 0;
        if (!tuples.Find(tuple, at)) return kOutOfRange;
        T* to = out + at * tuples.block;
        for (int64_t k = 0; k < tuples.block; ++k) to[k] = Combine::Of(to[k], update[k]);
      }
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeOneHot(const Operation& operation) {
  const Around around = AroundAxis(operation.out[0].dim, std::get<OneHot>(operation.params).axis);
  const int64_t size = base::DTypeSize(operation.out[0].dtype);
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        return MakeFunction(3, [around, size](const Buffers& b) -> const char* {
          MarkHot(b, around, size, static_cast<const T*>(b.in[0]));
          return nullptr;
        });
      });
}

}  // namespace wf::kernels::ref
