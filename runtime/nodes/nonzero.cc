#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_nonzero(wf_ctx* ctx, const wf_tensor* x, wf_tensor* places) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  const auto* const is = static_cast<const uint8_t*>(x->data);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += is[i] != 0 ? 1 : 0;
  if (Stopped(ctx) || !AllocateTensor(ctx, WF_I64, {&count, 1}, places)) return WF_FAILED;  // which has room for one more
  auto* out = static_cast<int64_t*>(places->data);
  for (int64_t first = 0; first < n; first += kElementsPerStopCheck) {
    if (Stopped(ctx)) return WF_FAILED;
    for (int64_t i = first; i < std::min(n, first + kElementsPerStopCheck); ++i) {  // without a jump on what it finds
      *out = i;
      out += is[i] != 0 ? 1 : 0;
    }
  }
  return 0;
}
