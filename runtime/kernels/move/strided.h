#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace wf::kernels::ref {

// Copies a block of `extent` out of an array with byte strides, element by element of `size` bytes, the output dense.
struct Strided {
  std::vector<int64_t> extent, stride;  // stride: bytes of the input
  int64_t offset = 0, size = 1;

  // Merges axes that are one run in the input, so that the innermost copy is long.
  void Merge() {
    for (size_t i = extent.size(); i-- > 0;) {
      if (extent[i] == 1) Erase(i);
    }
    for (size_t i = extent.size(); i-- > 1;) {
      if (stride[i - 1] != stride[i] * extent[i]) continue;
      extent[i - 1] *= extent[i];
      stride[i - 1] = stride[i];
      Erase(i);
    }
    while (!extent.empty() && stride.back() == size) {
      size *= extent.back();
      extent.pop_back();
      stride.pop_back();
    }
  }

  uint8_t* Copy(size_t axis, const uint8_t* in, uint8_t* out) const {
    if (axis == extent.size()) {
      std::memcpy(out, in, static_cast<size_t>(size));
      return out + size;
    }
    if (axis + 1 == extent.size()) {
      if (size == 4) return Inner<4>(in, out, extent[axis], stride[axis]);
      if (size == 8) return Inner<8>(in, out, extent[axis], stride[axis]);
      if (size == 2) return Inner<2>(in, out, extent[axis], stride[axis]);
      if (size == 1) return Inner<1>(in, out, extent[axis], stride[axis]);
    }
    for (int64_t i = 0; i < extent[axis]; ++i) out = Copy(axis + 1, in + i * stride[axis], out);
    return out;
  }

 private:
  void Erase(size_t i) {
    extent.erase(extent.begin() + static_cast<ptrdiff_t>(i));
    stride.erase(stride.begin() + static_cast<ptrdiff_t>(i));
  }

  template <size_t kSize>
  static uint8_t* Inner(const uint8_t* in, uint8_t* out, int64_t n, int64_t step) {
    for (int64_t i = 0; i < n; ++i, in += step, out += kSize) std::memcpy(out, in, kSize);
    return out;
  }
};

inline std::unique_ptr<Kernel> MakeStrided(Strided strided, int64_t count) {
  strided.Merge();
  return MakeFunction(1, [strided, count](const Buffers& b) -> const char* {
    if (count > 0) strided.Copy(0, static_cast<const uint8_t*>(b.in[0]) + strided.offset, static_cast<uint8_t*>(b.out[0]));
    return nullptr;
  });
}

}  // namespace wf::kernels::ref
