#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/interpret.h"
#include "runtime/abi/plan.h"
#include "runtime/model/version.h"

namespace wf::bench {

// Memory of one request that starts over: blocks are handed out in order and never freed. `mark` is where repeats begin.
class Scratch {
 public:
  Scratch();
  void* Allocate(uint64_t bytes);  // 64-aligned; ends the program when kBytes are spent
  void* Grow(const void* block, uint64_t used,
             uint64_t bytes);  // as a server's arena does: from the second time on with as much room again
  void SetMark() { mark_ = used_; }
  void Rewind() {
    used_ = mark_;
    grown_end_ = nullptr;
  }

 private:
  static constexpr uint64_t kBytes = uint64_t{1} << 30;  // touched only as far as used
  std::unique_ptr<uint8_t, void (*)(void*)> memory_;
  uint64_t used_ = 0, mark_ = 0;
  const uint8_t* grown_end_ = nullptr;  // of the block that Grow gave last
  uint64_t grown_room_ = 0;             // behind it
};

// One step of a request: a body with the frames that it ran on, or a call of a model with its tensors.
struct Step {
  wf_run_fn run = nullptr;
  std::vector<void*> frames;
  const wf_model* row = nullptr;  // of `model`
  model::Version* model = nullptr;
  std::vector<const wf_tensor*> inputs;
  std::vector<wf_tensor*> outputs;
};

// Runs a request of a plan once and keeps its steps. One at a time in a process: bodies reach it through a global, as wf_alloc does.
class Recorder {
 public:
  // `plan` is the one that wfc emitted; `models` holds one for each of its models.
  Recorder(const wf_plan& plan, std::vector<std::unique_ptr<model::Version>> models);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Interprets a request of `workflow` and keeps its steps, its parameters filled from the text of a request or from tensors (rank 0:
  // scalars). Empty when all went well, else what failed.
  std::string Record(const wf_workflow& workflow, const std::string& input, bool is_json);
  std::string Record(const wf_workflow& workflow, std::span<const wf_tensor> inputs);
  const wf_tensor& Result(const wf_workflow& workflow, size_t port) const;  // a tensor; of the last run
  // Does the same work again; the number of steps.
  size_t Repeat();

  wf_code RunTask(uint16_t task, wf_ctx* ctx, void* const* frame);  // called by the thunks that stand in for bodies
  abi::PlanFailure CallModel(uint16_t task, const wf_tensor* const* inputs, wf_tensor* const* outputs);

  const wf_plan& plan() const { return plan_; }
  Scratch& scratch() { return scratch_; }
  std::string& failure() { return failure_; }

 private:
  void MakeFrame(const wf_workflow& workflow);
  std::string FillParameters(const wf_workflow& workflow, const std::string& input, bool is_json);
  std::string RecordFrame(const wf_workflow& workflow);
  wf_code RunModel(const Step& step);

  wf_plan plan_;  // a copy whose tasks run through thunks
  std::vector<wf_task> tasks_, original_;
  std::vector<std::unique_ptr<model::Version>> models_;
  Scratch scratch_;
  uint8_t* frame_ = nullptr;  // the root's, in scratch_
  std::vector<Step> steps_;
  std::string failure_;
  uint32_t stop_ = 0;
  wf_ctx ctx_{&stop_};
};

// The model of a plan's row, read from below `root`; ends the program with a message when it cannot be loaded.
std::unique_ptr<model::Version> LoadModel(const wf_model& row, const std::string& root);

}  // namespace wf::bench
