#pragma once

#include <cstdint>

// Contract of a step of training.
namespace wf::kernels {

// New values of parameters, and of what is kept for each of them from step to step. Inputs: the rate, one f32 or f64; how many steps were
// made before, one i64; then all parameters, all gradients, all of the first that is kept, all of the second (Adam alone). Outputs: all
// parameters, then what is kept in the same order. Those of one parameter have its shape and element type.
struct TrainStep {
  enum class Rule : uint8_t { kAdagrad, kAdam, kMomentum, kNesterov };
  Rule rule = Rule::kAdagrad;
  float alpha = 0, beta = 0;            // shares of what is kept (Adam, momentum)
  float decay = 0, epsilon = 0;         // of the rate (Adagrad); beside a root
  float norm = 0, norm_afterwards = 0;  // of the parameter: added to the gradient, taken from the result (Adam)

  int kept() const { return rule == Rule::kAdam ? 2 : 1; }
};

}  // namespace wf::kernels
