#include <ctime>

#include "runtime/base/units.h"
#include "runtime/nodes/nodes.h"

extern "C" wf_code wf_n_now(wf_ctx*, int64_t* ns) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *ns = now.tv_sec * wf::base::kNsPerSecond + now.tv_nsec;
  return 0;
}
