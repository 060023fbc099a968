#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"
#include "tests/diff/oracle.h"

namespace wf::diff {

struct Call {
  size_t workflow = 0, input = 0;
  const Input* asked = nullptr;
};
// `waits`: work may have been away from the loop, or was a model's, which is not begun while a request is bound to end; without, of several
// failures that may be first it is the textually first.
using Answered = std::function<void(const Call&, const Reported&, const bus::Bus&, bool waits)>;

// Fills the slots of parameters as a server does of plain JSON. REQUIRES: 64 readable bytes behind the body.
wf_code ReadInput(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body, void* frame);

// Runs the calls in a simulated process: some loops, some workers, all on this thread, and `models`, whose rows meet in batches; the seed
// picks what happens next. `answered` is told how each ended. What does not come to rest is told as text.
std::string RunScheduled(const wf_plan& plan, const std::vector<Call>& calls, uint64_t seed, ModelHost& models, const Answered& answered);

}  // namespace wf::diff
