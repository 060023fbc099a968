#include "runtime/base/xxh64.h"

#include <algorithm>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

extern "C" wf_code wf_n_xxh64(wf_ctx* ctx, const wf_bytes* data, const uint64_t* seed, uint64_t* hash) noexcept {
  using namespace wf::nodes;
  using wf::base::Xxh64;
  Xxh64 state(*seed);
  const uint8_t* at = data->ptr;
  for (uint64_t left = data->len / Xxh64::kStripeBytes; left != 0;) {
    const uint64_t stripes = std::min<uint64_t>(left, kElementsPerStopCheck);
    if (Stopped(ctx)) return WF_FAILED;
    state.Add(at, stripes);
    at += stripes * Xxh64::kStripeBytes;
    left -= stripes;
  }
  *hash = state.Finish(at, data->len % Xxh64::kStripeBytes);
  return 0;
}
