#include <algorithm>
#include <span>
#include <utility>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/radix.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

template <typename T>
wf_code Sort(wf_ctx* ctx, std::span<const T> data, T* sorted) {
  if (static_cast<int64_t>(data.size()) <= kFewToSort) {
    std::copy(data.begin(), data.end(), sorted);
    std::stable_sort(sorted, sorted + data.size(), [](const T& a, const T& b) { return IsBelow(a, b); });
    return 0;
  }
  T* const spare = static_cast<T*>(wf_alloc(ctx, data.size_bytes(), alignof(T)));
  if (spare == nullptr) return WF_FAILED;
  Radix<T> radix(data);
  std::span<const T> from = data;
  T *to = sorted, *other = spare;
  for (int digit = 0; digit < Radix<T>::kDigits; ++digit) {
    if (Stopped(ctx)) return WF_FAILED;
    if (!radix.Sort(digit, from, to, [](const T& x) { return x; })) continue;
    from = {to, data.size()};
    std::swap(to, other);
  }
  if (from.data() != sorted) std::copy(from.begin(), from.end(), sorted);
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_sort(wf_ctx* ctx, const wf_tensor* x, wf_tensor* sorted) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (Stopped(ctx) || !AllocateTensor(ctx, x->dtype, {&n, 1}, sorted)) return WF_FAILED;
  wf_code code = 0;
  const bool is_number = VisitElements(
      *x, [&]<typename T>(const T* data) { code = Sort(ctx, std::span(data, static_cast<size_t>(n)), static_cast<T*>(sorted->data)); });
  return is_number ? code : Fail(ctx, wf::code::kType, "sort takes numbers");
}
