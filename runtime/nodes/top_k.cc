#include <algorithm>
#include <numeric>
#include <span>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/radix.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// The first element from `i` on that ranks before `last`, an earlier one; n: none. Most do not, and one comparison says so.
template <typename T>
int64_t NextBefore(const T* x, int64_t i, int64_t n, const T& last) {
  if (last != last) {
    while (i < n && x[i] != x[i]) ++i;
    return i;
  }
  constexpr int64_t kAtOnce = 16;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    int found = 0;
    for (int64_t k = 0; k < kAtOnce; ++k) found |= x[i + k] > last ? 1 : 0;
    if (found != 0) break;
  }
  while (i < n && !(x[i] > last)) ++i;
  return i;
}

// Where so many of all are wanted, all are sorted: a heap of as many is no smaller, and walks memory in no order.
constexpr int64_t kOfWhichMany = 8;

template <typename T>
wf_code SelectMany(wf_ctx* ctx, std::span<const T> all, T* values, std::span<int64_t> best) {
  const uint64_t bytes = all.size() * sizeof(int64_t);
  auto* const spare = static_cast<int64_t*>(wf_alloc(ctx, bytes, alignof(int64_t)));
  auto* const order = best.size() == all.size() ? best.data() : static_cast<int64_t*>(wf_alloc(ctx, bytes, alignof(int64_t)));
  if (spare == nullptr || order == nullptr) return WF_FAILED;
  if (!SortPlaces<Descending>(all, order, spare, [ctx] { return Stopped(ctx); })) return WF_FAILED;
  if (order != best.data()) std::copy_n(order, best.size(), best.data());
  for (size_t i = 0; i < best.size(); ++i) values[i] = all[static_cast<size_t>(best[i])];
  return 0;
}

// `kept` is a heap whose first element ranks last among those kept.
template <typename T>
wf_code Select(wf_ctx* ctx, std::span<const T> all, T* values, std::span<int64_t> best) {
  const T* const x = all.data();
  int64_t* const kept = best.data();
  const auto n = static_cast<int64_t>(all.size()), k = static_cast<int64_t>(best.size());
  if (k == 0) return 0;
  if (n > kFewToSort && k > n / kOfWhichMany) return SelectMany(ctx, all, values, best);
  const Ranking<T> ranks_before{x};
  std::iota(kept, kept + k, int64_t{0});
  std::make_heap(kept, kept + k, ranks_before);
  for (int64_t i = k; i < n;) {
    if (Stopped(ctx)) return WF_FAILED;
    for (const int64_t end = std::min(n, i + kElementsPerStopCheck); i < end; ++i) {
      i = NextBefore(x, i, end, x[kept[0]]);
      if (i == end) break;
      std::pop_heap(kept, kept + k, ranks_before);
      kept[k - 1] = i;
      std::push_heap(kept, kept + k, ranks_before);
    }
  }
  std::sort_heap(kept, kept + k, ranks_before);
  for (int64_t i = 0; i < k; ++i) values[i] = x[kept[i]];
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_top_k(wf_ctx* ctx, const wf_tensor* x, const int64_t* k, wf_top_k_result* result) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (*k < 0 || *k > n)
    return Fail(ctx, wf::code::kIndex, "top_k of %lld from %lld values", static_cast<long long>(*k), static_cast<long long>(n));
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    if (!AllocateTensor(ctx, x->dtype, {k, 1}, &result->values) || !AllocateTensor(ctx, WF_I64, {k, 1}, &result->indices)) {
      code = WF_FAILED;
      return;
    }
    const std::span<const T> all(data, static_cast<size_t>(n));
    const std::span best(static_cast<int64_t*>(result->indices.data), static_cast<size_t>(*k));
    code = Select(ctx, all, static_cast<T*>(result->values.data), best);
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "top_k takes numbers");
}
