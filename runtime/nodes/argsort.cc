#include <algorithm>
#include <numeric>
#include <span>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"

extern "C" wf_code wf_n_argsort(wf_ctx* ctx, const wf_tensor* x, wf_tensor* order) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (Stopped(ctx) || !AllocateTensor(ctx, WF_I64, {&n, 1}, order)) return WF_FAILED;
  const std::span all(static_cast<int64_t*>(order->data), static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    const auto stands_before = [data](int64_t a, int64_t b) { return IsBelow(data[a], data[b]) || (!IsBelow(data[b], data[a]) && a < b); };
    std::sort(all.begin(), all.end(), stands_before);
  });
  return is_number ? 0 : Fail(ctx, wf::code::kType, "argsort takes numbers");
}
