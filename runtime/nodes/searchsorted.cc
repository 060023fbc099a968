#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_searchsorted(wf_ctx* ctx, const wf_tensor* sorted, const wf_tensor* values, const uint8_t* right,
                                     wf_tensor* places) noexcept {
  using namespace wf::nodes;
  const int64_t n = sorted->dim[0], k = values->dim[0];
  if (!AllocateTensor(ctx, WF_I64, {&k, 1}, places)) return WF_FAILED;
  wf_code code = 0;
  const bool is_number = VisitElements(*sorted, [&]<typename T>(const T* data) {
    const auto* const wanted = static_cast<const T*>(values->data);
    auto* const found = static_cast<int64_t*>(places->data);
    const auto is_below = [](const T& a, const T& b) { return IsBelow(a, b); };
    for (int64_t i = 0; i < k; ++i) {
      if (i % kElementsPerStopCheck == 0 && Stopped(ctx)) {
        code = WF_FAILED;
        return;
      }
      found[i] =
          (*right != 0 ? std::upper_bound(data, data + n, wanted[i], is_below) : std::lower_bound(data, data + n, wanted[i], is_below)) -
          data;
    }
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "searchsorted takes numbers");
}
