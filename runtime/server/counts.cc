#include "runtime/server/counts.h"

namespace wf::server {

void RequestCounts::Add(wf_code code, int64_t ns) noexcept {
  duration.Add(ns);
  if (code == 0) return ok.Add();
  for (ByCode& row : by_code) {
    const int32_t taken = row.code.load(std::memory_order_relaxed);
    if (taken != code && taken != 0) continue;
    row.code.store(code, std::memory_order_relaxed);
    row.count.Add();
    return;
  }
  other.Add();
}

LoopCounts::LoopCounts(size_t n_workflows, size_t n_services) : inflight(n_services) {
  for (size_t i = 0; i < (n_workflows + 1) * kProtocols; ++i) requests.push_back(std::make_unique<RequestCounts>());
}

}  // namespace wf::server
