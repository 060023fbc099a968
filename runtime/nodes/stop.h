#pragma once

#include <cstdint>

#include "runtime/abi/values.h"

namespace wf::nodes {

// A loop looks at the stop flag once in so many elements: well under 100 us.
inline constexpr int64_t kElementsPerStopCheck = 16 * 1024;

inline bool Stopped(const wf_ctx* ctx) { return __atomic_load_n(ctx->stop, __ATOMIC_RELAXED) != 0; }

}  // namespace wf::nodes
