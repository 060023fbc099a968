#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_argmax(wf_ctx* ctx, const wf_tensor* x, int64_t* index) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (n == 0) return Fail(ctx, wf::code::kEmpty, "argmax of no values");
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    const Ranking<T> ranks_before{data};
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (i % kElementsPerStopCheck == 0 && Stopped(ctx)) {
        code = WF_FAILED;
        return;
      }
      if (ranks_before(i, best)) best = i;
    }
    *index = best;
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "argmax takes numbers");
}
