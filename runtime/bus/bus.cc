#include "runtime/bus/bus.h"

#include "runtime/base/check.h"
#include "runtime/bus/instance.h"

namespace wf::bus {

void* Bus::frame(uint32_t sample) const {
  WF_CHECK(sample < n_samples, sample, n_samples);
  return roots[sample]->frame;
}

}  // namespace wf::bus
