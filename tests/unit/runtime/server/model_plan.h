#pragma once

#include <string>

#include "runtime/abi/plan.h"

// A plan with a model, written by hand as wfc would emit it, and the model's files.
namespace wf::server {

// Service Rows:
//   model Scale from "scale": (x: f32[batch, 4]) -> (y: f32[batch, 4]), all its versions; published
//   workflow Score(x: f32[4]) -> (y: f32[4])     node doubled = x * 2; node scaled = Scale(doubled), batch 8 within 1 ms; node y = scaled /
//   2
// So that both answer x times what the version scales by.
const wf_plan& ModelPlan();

// Writes versions 1 to `count` of the model below `root`; each scales by its number and one.
void WriteModel(const std::string& root, int count);

}  // namespace wf::server
