#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/search.h"

extern "C" wf_code wf_n_split(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* between, wf_list* parts) noexcept {
  using namespace wf::nodes;
  if (between->len == 0) return Fail(ctx, wf::code::kType, "split by an empty text");
  const std::string_view all(reinterpret_cast<const char*>(text->ptr), text->len);
  const std::string_view separator(reinterpret_cast<const char*>(between->ptr), between->len);
  uint64_t count = 1;
  size_t at = 0;
  if (!FindNext(ctx, all, separator, 0, &at)) return WF_FAILED;
  while (at != all.npos) {
    if (count++ % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    if (!FindNext(ctx, all, separator, at + separator.size(), &at)) return WF_FAILED;
  }
  auto* const out = static_cast<wf_bytes*>(wf_alloc(ctx, count * sizeof(wf_bytes), alignof(wf_bytes)));
  if (out == nullptr) return WF_FAILED;
  size_t begin = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i % kElementsPerStopCheck == kElementsPerStopCheck - 1 && Stopped(ctx)) return WF_FAILED;
    size_t end = all.size();
    if (i + 1 < count && !FindNext(ctx, all, separator, begin, &end)) return WF_FAILED;
    out[i] = {text->ptr + begin, end - begin};
    begin = end + separator.size();
  }
  *parts = {out, count};
  return 0;
}
