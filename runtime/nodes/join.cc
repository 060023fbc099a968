#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"

extern "C" wf_code wf_n_join(wf_ctx* ctx, const wf_list* texts, const wf_bytes* between, wf_bytes* joined) noexcept {
  using namespace wf::nodes;
  const auto* const parts = static_cast<const wf_bytes*>(texts->ptr);
  uint64_t length = 0;
  for (uint64_t i = 0; i < texts->len; ++i) length += parts[i].len + (i == 0 ? 0 : between->len);
  TextBuilder out(ctx);
  if (!out.Reserve(length)) return WF_FAILED;
  for (uint64_t i = 0; i < texts->len; ++i) {
    if (i % kElementsPerStopCheck == kElementsPerStopCheck - 1 && Stopped(ctx)) return WF_FAILED;
    if ((i != 0 && !out.Add(wf::abi::View(*between))) || !out.Add(wf::abi::View(parts[i]))) return WF_FAILED;
  }
  *joined = out.Take();
  return 0;
}
