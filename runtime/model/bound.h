#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/model/origin.h"
#include "runtime/model/plan.h"

namespace wf::model {

// A plan bound to memory, ready to run.
// Thread: one at a time; REQUIRES kernels::UseOneThread() on it before.   Owns: a reference to the plan.   Borrows: the memory.
// Cost: Run allocates nothing.
class BoundPlan {
 public:
  // memory: plan->arena_bytes(), 64-aligned; inputs: how many the plan has; texts: of its strings. Errors: memory.
  static base::Result<std::unique_ptr<BoundPlan>> Bind(std::shared_ptr<const Plan> plan, size_t inputs, uint8_t* memory,
                                                       kernels::Texts* texts = nullptr);

  // inputs: the elements of each, dense and 64-aligned. Errors: kInvalidArgument, an element that a step cannot compute with; the text
  // names the step and not the file. The results stay until the next run.
  base::Status Run(std::span<const void* const> inputs);
  // A run that did not fail, once more.
  void Trace(std::span<const void* const> inputs, Origin& origin);

  const Plan& plan() const { return *plan_; }
  const std::vector<wf_tensor>& outputs() const { return outputs_; }

 private:
  struct Use {
    size_t call, operand;
  };
  void Take(std::span<const void* const> inputs);

  std::shared_ptr<const Plan> plan_;
  uint8_t* memory_ = nullptr;
  std::vector<std::unique_ptr<kernels::Call>> calls_;
  std::vector<std::vector<Use>> uses_;  // per input
  std::vector<const void*> data_;       // per input: what the calls are bound to
  std::vector<wf_tensor> outputs_;
};

// A dense tensor as the ABI has it.
void Describe(const kernels::TensorInfo& info, void* data, wf_tensor& tensor);

}  // namespace wf::model
