#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"

namespace wf::nodes {
namespace {

// `kept` is a heap whose first element ranks last among those kept, so that one comparison decides about most elements.
template <typename T>
wf_code Select(wf_ctx* ctx, const T* x, int64_t n, int64_t k, T* values, int64_t* kept) {
  const Ranking<T> ranks_before{x};
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    if (count < k) {
      kept[count++] = i;
      std::push_heap(kept, kept + count, ranks_before);
    } else if (k > 0 && ranks_before(i, kept[0])) {
      std::pop_heap(kept, kept + k, ranks_before);
      kept[k - 1] = i;
      std::push_heap(kept, kept + k, ranks_before);
    }
  }
  std::sort_heap(kept, kept + count, ranks_before);
  for (int64_t i = 0; i < count; ++i) values[i] = x[kept[i]];
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_top_k(wf_ctx* ctx, const wf_tensor* x, const int64_t* k, wf_top_k_result* result) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (*k < 0 || *k > n) return Fail(ctx, 7001, "top_k of %lld from %lld values", static_cast<long long>(*k), static_cast<long long>(n));
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    if (!AllocateTensor(ctx, x->dtype, sizeof(T), 1, k, &result->values) || !AllocateTensor(ctx, WF_I64, 8, 1, k, &result->indices)) {
      code = WF_FAILED;
      return;
    }
    code = Select(ctx, data, n, *k, static_cast<T*>(result->values.data), static_cast<int64_t*>(result->indices.data));
  });
  return is_number ? code : Fail(ctx, 7000, "top_k takes numbers");
}
