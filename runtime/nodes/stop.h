#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/abi/values.h"

namespace wf::nodes {

// A loop looks at the stop flag once in so many elements: well under 100 us.
inline constexpr int64_t kElementsPerStopCheck = 16 * 1024;

inline bool Stopped(const wf_ctx* ctx) { return __atomic_load_n(ctx->stop, __ATOMIC_RELAXED) != 0; }

// Calls step(from, to) for all of `count` elements, few at a time; false once the job is stopped.
template <typename Step>
bool InSteps(const wf_ctx* ctx, int64_t count, const Step& step) {
  for (int64_t from = 0; from < count; from += kElementsPerStopCheck) {
    if (Stopped(ctx)) return false;
    step(from, std::min(from + kElementsPerStopCheck, count));
  }
  return true;
}

}  // namespace wf::nodes
