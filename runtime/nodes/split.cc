#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_split(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* between, wf_list* parts) noexcept {
  using namespace wf::nodes;
  if (between->len == 0) return Fail(ctx, wf::code::kType, "split by an empty text");
  const std::string_view all(reinterpret_cast<const char*>(text->ptr), text->len);
  const std::string_view separator(reinterpret_cast<const char*>(between->ptr), between->len);
  uint64_t count = 1;
  for (size_t at = all.find(separator); at != all.npos; at = all.find(separator, at + separator.size())) {
    if (count++ % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
  }
  auto* const out = static_cast<wf_bytes*>(wf_alloc(ctx, count * sizeof(wf_bytes), alignof(wf_bytes)));
  if (out == nullptr) return WF_FAILED;
  size_t begin = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i % kElementsPerStopCheck == kElementsPerStopCheck - 1 && Stopped(ctx)) return WF_FAILED;
    const size_t end = i + 1 < count ? all.find(separator, begin) : all.size();
    out[i] = {text->ptr + begin, end - begin};
    begin = end + separator.size();
  }
  *parts = {out, count};
  return 0;
}
