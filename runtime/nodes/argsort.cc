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

template <typename T>
wf_code Order(wf_ctx* ctx, std::span<const T> data, int64_t* order) {
  const auto n = static_cast<int64_t>(data.size());
  if (n <= kFewToSort) {
    std::iota(order, order + n, int64_t{0});
    std::sort(order, order + n, [x = data.data()](int64_t a, int64_t b) { return IsBelow(x[a], x[b]) || (!IsBelow(x[b], x[a]) && a < b); });
    return 0;
  }
  auto* const spare = static_cast<int64_t*>(wf_alloc(ctx, static_cast<uint64_t>(n) * sizeof(int64_t), alignof(int64_t)));
  if (spare == nullptr) return WF_FAILED;
  return SortPlaces<Ascending>(data, order, spare, [ctx] { return Stopped(ctx); }) ? 0 : WF_FAILED;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_argsort(wf_ctx* ctx, const wf_tensor* x, wf_tensor* order) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (Stopped(ctx) || !AllocateTensor(ctx, WF_I64, {&n, 1}, order)) return WF_FAILED;
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    code = Order(ctx, std::span(data, static_cast<size_t>(n)), static_cast<int64_t*>(order->data));
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "argsort takes numbers");
}
