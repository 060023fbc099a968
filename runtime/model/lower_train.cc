#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

Status LowerTrainStep(Lowering& of) {
  using enum kernels::TrainStep::Rule;
  kernels::TrainStep step;
  const bool is_adam = of.node.op == Op::kTrainAdam;
  if (is_adam) step.rule = kAdam;
  if (of.node.op == Op::kTrainMomentum) step.rule = of.node.String("mode", "") == "nesterov" ? kNesterov : kMomentum;
  step.alpha = of.node.Float("alpha", is_adam ? 0.9f : 0);
  step.beta = of.node.Float("beta", is_adam ? 0.999f : 0);
  step.decay = of.node.Float("decay_factor", 0);
  step.epsilon = of.node.Float("epsilon", is_adam || step.rule == kAdagrad ? 1e-6f : 0);
  step.norm = of.node.Float("norm_coefficient", 0);
  step.norm_afterwards = of.node.Float("norm_coefficient_post", 0);
  of.lowered.params = step;
  return Status::Ok();
}

}  // namespace wf::model
