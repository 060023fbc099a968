#include <algorithm>
#include <array>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// The input as alternating groups of kept and reduced axes: strides into the output are 0 for reduced ones.
struct Walk {
  std::vector<int64_t> extent, out_stride;
  int64_t out_count, reduced;
  bool mean;
};

Walk WalkOf(const Reduce& reduce, const Operation& operation) {
  const std::vector<int64_t>& dim = operation.in[0].dim;
  Walk walk{{}, {}, operation.out[0].count(), 1, reduce.mean};
  std::vector<bool> kind;
  for (size_t i = 0; i < dim.size(); ++i) {
    if (reduce.axis[i]) walk.reduced *= dim[i];
    if (!kind.empty() && kind.back() == reduce.axis[i]) {
      walk.extent.back() *= dim[i];
    } else {
      walk.extent.push_back(dim[i]);
      kind.push_back(reduce.axis[i]);
    }
  }
  walk.out_stride.resize(kind.size());
  int64_t stride = 1;
  for (size_t i = kind.size(); i-- > 0;) {
    walk.out_stride[i] = kind[i] ? 0 : stride;
    if (!kind[i]) stride *= walk.extent[i];
  }
  return walk;
}

template <typename T, typename Sum>
void Add(const Walk& walk, size_t axis, const T*& x, Sum* y) {
  if (axis == walk.extent.size()) {
    *y += static_cast<Sum>(*x++);
    return;
  }
  for (int64_t i = 0; i < walk.extent[axis]; ++i) Add(walk, axis + 1, x, y + i * walk.out_stride[axis]);  // at most as deep as axes
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeReduce(const Operation& operation) {
  const Walk walk = WalkOf(std::get<Reduce>(operation.params), operation);
  auto kernel = ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename T>() {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    return MakeFunction(1, [walk](const Buffers& b) -> const char* {
      Sum* sums = static_cast<Sum*>(b.scratch);
      std::fill(sums, sums + walk.out_count, Sum(0));
      const T* x = static_cast<const T*>(b.in[0]);
      if (std::find(walk.extent.begin(), walk.extent.end(), 0) == walk.extent.end()) Add(walk, 0, x, sums);
      T* out = static_cast<T*>(b.out[0]);
      for (int64_t i = 0; i < walk.out_count; ++i) {
        out[i] = static_cast<T>(walk.mean ? sums[i] / static_cast<Sum>(walk.reduced) : sums[i]);
      }
      return nullptr;
    });
  });
  if (kernel != nullptr) kernel->scratch_bytes = operation.out[0].count() * 8;
  if (walk.mean && operation.in[0].dtype != WF_F32 && operation.in[0].dtype != WF_F64) kernel.reset();
  return kernel;
}

}  // namespace wf::kernels::ref
