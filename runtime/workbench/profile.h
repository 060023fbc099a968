#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/model/plan.h"

namespace wf::workbench {

// The name of a step's operator; of what only moves elements, "reorder" or "result".
std::string OperatorOf(const model::Program& program, const model::Plan& plan, size_t step);

// A plan that runs step by step, so that each can be timed.
// Thread: one, that of kernels::UseOneThread.   Owns: memory for the results.   Borrows: the plan, the clock.
class SteppedPlan {
 public:
  // Errors: memory.
  static base::Result<std::unique_ptr<SteppedPlan>> Bind(const model::Plan& plan, const base::Clock& clock);

  // stamps: one more than there are steps; when each began, and when the last ended. Errors: kInvalidArgument, an element that a step
  // cannot compute with.
  base::Status Run(std::span<const wf_tensor> inputs, std::vector<int64_t>& stamps);

 private:
  SteppedPlan(const model::Plan& plan, const base::Clock& clock) : plan_(plan), clock_(clock) {}

  const model::Plan& plan_;
  const base::Clock& clock_;
  std::shared_ptr<uint8_t> memory_;
  std::vector<std::unique_ptr<kernels::Call>> calls_;
};

// Where the time of runs goes, one row an operator and implementation.
struct Share {
  std::string op, impl;
  int64_t steps = 0, ns = 0;  // of one run, the mean
  double share = 0;           // of all steps
};
struct Profile {
  int64_t runs = 0;
  std::vector<Share> shares;                        // largest first
  std::vector<std::pair<size_t, int64_t>> slowest;  // steps with their mean ns, largest first
  std::vector<int64_t> stamps;                      // of the last run
};
// Runs for `ns`, once at least.
base::Result<Profile> ProfileRuns(const model::Program& program, const model::Plan& plan, std::span<const wf_tensor> inputs, int64_t ns);

// Of the profile's last run, as Chrome's trace viewer and Perfetto read it.
std::string TraceJson(const model::Program& program, const model::Plan& plan, const Profile& profile);

}  // namespace wf::workbench
