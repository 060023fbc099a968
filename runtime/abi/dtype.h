#pragma once

#include <cstdint>

#include "runtime/abi/values.h"
#include "runtime/base/dtype.h"

namespace wf::abi {

// Bytes of a dense tensor of these extents; UINT64_MAX: an extent is negative, the dtype unknown, or the product beyond 2^62.
constexpr uint64_t DenseBytes(uint8_t dtype, uint32_t rank, const int64_t* dim) {
  auto bytes = static_cast<uint64_t>(base::DTypeSize(dtype));
  if (bytes == 0 || rank > WF_MAX_RANK) return UINT64_MAX;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dim[i] < 0) return UINT64_MAX;
    if (dim[i] == 0) {
      empty = true;
      continue;
    }
    if (bytes > (UINT64_C(1) << 62) / static_cast<uint64_t>(dim[i])) return UINT64_MAX;
    bytes *= static_cast<uint64_t>(dim[i]);
  }
  return empty ? 0 : bytes;
}

}  // namespace wf::abi
