#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <span>
#include <string_view>

#include "runtime/abi/dtype.h"
#include "runtime/abi/values.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"

namespace wf::nodes {

inline wf_code Fail(wf_ctx* ctx, wf_code code, std::string_view text) {
  return wf_fail(ctx, code, 0, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// wf_fail with a formatted text, cut to 255 bytes; natives have no source line of their own. What stands in a request is no value of it:
// a TextBuilder quotes that.
[[gnu::format(printf, 3, 4)]] inline wf_code Fail(wf_ctx* ctx, wf_code code, const char* format, ...) {
  constexpr size_t kMost = 255;
  char text[kMost + 2];  // with a byte more than is told: whether a character ends before it
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const std::string_view written(text, std::min(static_cast<size_t>(std::max(length, 0)), kMost + 1));
  return Fail(ctx, code, base::Cut(written, kMost));
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
  constexpr uint64_t kNever = uint64_t{1} << 62;  // more than any budget
  const uint64_t bytes = std::min(abi::DenseBytes(dtype, out->rank, out->dim), kNever);
  out->data = wf_alloc(ctx, (bytes / WF_ALIGN + 1) * WF_ALIGN, WF_ALIGN);
  return out->data != nullptr;
}

}  // namespace wf::nodes
