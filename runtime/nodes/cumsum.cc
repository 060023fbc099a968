#include <type_traits>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// Integers wrap, as everywhere in a program.
template <typename T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_cumsum(wf_ctx* ctx, const wf_tensor* x, wf_tensor* sums) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  wf_code code = 0;
  bool is_known = false;
  VisitElements(*x, [&]<typename T>(const T* data) {
    if constexpr (sizeof(T) >= sizeof(int32_t)) {  // smaller ones are for storage
      is_known = true;
      if (!AllocateTensor(ctx, x->dtype, {&n, 1}, sums)) {
        code = WF_FAILED;
        return;
      }
      T* const out = static_cast<T*>(sums->data);
      T sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (i % kElementsPerStopCheck == 0 && Stopped(ctx)) {
          code = WF_FAILED;
          return;
        }
        out[i] = sum = Sum(sum, data[i]);
      }
    }
  });
  return is_known ? code : Fail(ctx, wf::code::kType, "cumsum takes numbers of 32 or 64 bits");
}
