#pragma once

#include <cstdint>

#include "runtime/abi/plan.h"
#include "runtime/base/dtype.h"

namespace wf::abi {

// No tensor has an axis of more, or more bytes, an empty one included, whose other axes count: more than any memory holds. What is computed
// with extents relies on it.
constexpr int64_t kMostExtent = int64_t{1} << 40;

// Bytes of an element as it lies between a call and its model; 0 for a number that is no element type.
constexpr int64_t ElementBytes(uint8_t dtype) { return dtype == WF_TEXTS ? int64_t{sizeof(wf_bytes)} : base::DTypeSize(dtype); }

// Bytes of a dense tensor of these extents; UINT64_MAX: an extent is negative, the dtype unknown, or the product beyond kMostExtent.
constexpr uint64_t DenseBytes(uint8_t dtype, uint32_t rank, const int64_t* dim) {
  auto bytes = static_cast<uint64_t>(ElementBytes(dtype));
  if (bytes == 0 || rank > WF_MAX_RANK) return UINT64_MAX;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dim[i] < 0) return UINT64_MAX;
    if (dim[i] == 0) {
      empty = true;
      continue;
    }
    if (bytes > static_cast<uint64_t>(kMostExtent) / static_cast<uint64_t>(dim[i])) return UINT64_MAX;
    bytes *= static_cast<uint64_t>(dim[i]);
  }
  return empty ? 0 : bytes;
}

}  // namespace wf::abi
