#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_last_at(wf_ctx* ctx, const wf_tensor* at, const int64_t* extent, wf_tensor* last) noexcept {
  using namespace wf::nodes;
  const int64_t k = at->dim[0], n = std::max<int64_t>(*extent, 0);
  if (!AllocateTensor(ctx, WF_I64, {&n, 1}, last)) return WF_FAILED;
  const auto* const places = static_cast<const int64_t*>(at->data);
  auto* const out = static_cast<int64_t*>(last->data);
  std::fill(out, out + n, int64_t{-1});
  for (int64_t i = 0; i < k; ++i) {
    if (i % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    if (places[i] < 0 || places[i] >= n)
      return Fail(ctx, wf::code::kIndex, "index %lld of %lld elements", static_cast<long long>(places[i]), static_cast<long long>(n));
    out[places[i]] = i;
  }
  return 0;
}
