#pragma once

#include <cstdint>
#include <random>

#include "tests/unit/support/plan_builder.h"

namespace wf::test {

struct RandomPlanOptions {
  int most_nodes = 6;  // of a region
  int most_depth = 3;
  bool with_models = true, with_timeouts = true, with_fan_out = true;
};

// A workflow of random shape: bodies, models, nodes with timeout, retry and fallback, branches, fan-outs, control points, early returns.
// The same numbers from `random` give the same plan.
const wf_plan& MakeRandomPlan(PlanBuilder& builder, std::mt19937_64& random, const RandomPlanOptions& options);

}  // namespace wf::test
