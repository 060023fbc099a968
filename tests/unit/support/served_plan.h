#pragma once

#include <vector>

#include "runtime/abi/plan.h"

namespace wf::test {

// A built plan of two ints in and one out with what a server needs: names, JSON codecs, a limit of requests in flight.
// `{"a": 1, "b": 2}` is answered by `{"value": 3}`; one value in eight carries spaces by reference, so that its answer pins the bus.
class ServedPlan {
 public:
  ServedPlan(const wf_plan& built, uint32_t inflight_max);  // `built` outlives this
  ServedPlan(const ServedPlan&) = delete;
  ServedPlan& operator=(const ServedPlan&) = delete;
  const wf_plan& plan() const { return plan_; }

 private:
  wf_plan plan_;
  wf_workflow workflow_;
  std::vector<wf_port> in_, out_;
};

}  // namespace wf::test
