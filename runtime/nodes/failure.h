#pragma once

#include <cstdarg>
#include <cstdio>
#include <span>

#include "runtime/abi/values.h"
#include "runtime/base/dtype.h"
#include "runtime/base/error_codes.h"

namespace wf::nodes {

// wf_fail with a formatted text of at most 255 bytes; natives have no source line of their own.
[[gnu::format(printf, 3, 4)]] inline wf_code Fail(wf_ctx* ctx, wf_code code, const char* format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  uint64_t kept = length < 0 ? 0 : static_cast<uint64_t>(length);
  if (kept >= sizeof text) {  // no part of a character
    kept = sizeof text - 1;
    while (kept > 0 && (static_cast<uint8_t>(text[kept - 1]) & 0x80) != 0) --kept;
  }
  return wf_fail(ctx, code, 0, {reinterpret_cast<const uint8_t*>(text), kept});
}

// A dense tensor without its data.
inline wf_tensor Dense(uint8_t dtype, std::span<const int64_t> dims) {
  wf_tensor tensor{};
  tensor.dtype = dtype;
  tensor.rank = static_cast<uint8_t>(dims.size());
  int64_t count = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    tensor.dim[axis] = dims[axis];
    tensor.stride[axis] = count;
    count *= dims[axis];
  }
  return tensor;
}

// A dense tensor in the job's memory, readable to the next multiple of 64 bytes; false when the budget is spent (recorded).
inline bool AllocateTensor(wf_ctx* ctx, uint8_t dtype, std::span<const int64_t> dims, wf_tensor* out) {
  *out = Dense(dtype, dims);
  uint64_t bytes = static_cast<uint64_t>(base::DTypeSize(dtype));
  for (const int64_t extent : dims) bytes *= static_cast<uint64_t>(extent);
  out->data = wf_alloc(ctx, (bytes / WF_ALIGN + 1) * WF_ALIGN, WF_ALIGN);
  return out->data != nullptr;
}

}  // namespace wf::nodes
