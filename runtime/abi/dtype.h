#pragma once

#include <cstdint>

#include "runtime/abi/values.h"

namespace wf::abi {

// Bytes of one element; 0: not a dtype.
constexpr uint32_t DtypeBytes(uint8_t dtype) {
  switch (dtype) {
    case WF_BOOL:
    case WF_I8:
    case WF_U8:
      return 1;
    case WF_I16:
    case WF_U16:
    case WF_F16:
    case WF_BF16:
      return 2;
    case WF_I32:
    case WF_U32:
    case WF_F32:
      return 4;
    case WF_I64:
    case WF_U64:
    case WF_F64:
      return 8;
    default:
      return 0;
  }
}

// Bytes of a dense tensor of these extents; UINT64_MAX: an extent is negative, the dtype unknown, or the product beyond 2^62.
constexpr uint64_t DenseBytes(uint8_t dtype, uint32_t rank, const int64_t* dim) {
  uint64_t bytes = DtypeBytes(dtype);
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
