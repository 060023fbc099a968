#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::abi {

// Names a region instance within a request: the entering tasks and elements on the way to it. A root's is its sample.
inline uint64_t ChildPath(uint64_t parent, uint16_t task, uint64_t element) {
  uint64_t x = parent * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t{task} << 40) + element + 1;
  x ^= x >> 29;
  return x * UINT64_C(0xbf58476d1ce4e5b9);
}

struct PlanFailure {
  wf_code code = 0;  // 0: none
  std::string message;
  uint16_t node = WF_NONE, task = WF_NONE;
  std::string path = {};  // of the node, with the elements of the loops around it
};

// The world of an interpreted request.
struct Hooks {
  wf_ctx* ctx = nullptr;                                      // handed to bodies
  std::function<void*(uint64_t bytes)> allocate;              // frames and lists, 64-aligned; lives as long as the request
  std::function<PlanFailure(wf_code returned)> take_failure;  // what the body that returned it has recorded
  // Calls a model; outputs are filled whole. A code other than 0 fails the call.
  std::function<PlanFailure(uint64_t path, uint16_t task, const wf_tensor* const* inputs, wf_tensor* const* outputs)> model;
  // A body about to run; a code other than 0 is its outcome in place of a run (the queue behind its strand is full). Null: never.
  std::function<PlanFailure(uint64_t path, uint16_t task)> start;
  // An attempt of an ENTER about to begin; a code other than 0 is its outcome in place of a run. Null: never.
  std::function<PlanFailure(uint64_t path, uint16_t task, int attempt)> enter;
};

struct Outcome {
  PlanFailure failure;  // code 0: the out slots of the root frame are filled
  std::vector<PlanFailure>
      known;  // every failure of a control point that some timing may see first; the scheduler may report any that it knew of in time

  bool MayReport(wf_code code) const;
};

// Runs one sample of a workflow task by task, always the ready task that stands first: no scheduler, no batches, no clock. What the
// scheduler does must be equal to this, whatever the timing. `frame` is the root's, with the in slots filled. REQUIRES: Verify(plan) is ok.
// Cost: that of the bodies; a frame per region entered.
Outcome Interpret(const wf_plan& plan, const wf_workflow& workflow, void* frame, uint64_t sample, const Hooks& hooks);

}  // namespace wf::abi
