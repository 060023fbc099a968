#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/memory_limit.h"
#include "runtime/base/thread.h"
#include "runtime/batch/executor.h"
#include "runtime/kernels/choices.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/signature.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/metrics_page.h"
#include "runtime/server/settings.h"

namespace wf::server {

class LoadedModel;

// What models may take.
struct ModelMemory {
  base::MemoryShare share;             // of all instances together, where requests decide how much
  int64_t request_bytes = INT64_MAX;   // that a request may have,
  int64_t requests_bytes = INT64_MAX;  // all requests,
  int64_t process_bytes = INT64_MAX;   // and the process
};

// The models of a plan, loaded and warm, in the versions that the program asks for, with the executor that runs them and the queues that
// lead there. Queues follow the settings of nodes: each catalogue is bound to those that it asks for, which it may share with others.
// Thread: the main thread.   Owns: models, executor, queues.   Borrows: plan, clock; catalogues, from Bind to Unbind.
// Errors: Load names the file, and the node of it, that stands in the way; a version that is refused is logged while another one is served.
// Bounds: each model has as many instances as two settings of all its nodes may want.
class Models {
 public:
  Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  base::Status Load(int loops, int threads, const ModelMemory& memory);
  base::Status LoadVersions(int loops, const ModelMemory& memory);  // all of Load but what runs them: enough to know whether they are sound
  // What the MODEL tasks of the catalogue call, by the policies of its `tuned`.
  // Errors: kResourceExhausted while earlier catalogues hold the instances that it wants; it is not bound then.
  base::Status Bind(sched::Catalogue* catalogue);
  void Unbind(const sched::Catalogue& catalogue);  // no request has it any more
  void Sweep();                                    // takes away what nothing is bound to; from time to time
  void StartPreparing();                           // once the first one is bound: what is bound later is prepared, too
  size_t VersionsOf(uint16_t model) const;         // how many are loaded
  int threads() const { return executor_ == nullptr ? 0 : executor_->threads(); }
  // That of no threads is driven by whoever loaded this. Null: no node calls a model.
  batch::Executor* executor() { return executor_.get(); }
  const std::vector<NamedBatcher>& batchers() const { return batchers_; }
  const std::vector<NamedStats>& removed() const { return removed_; }
  const std::vector<NamedVersion>& served() const { return served_; }
  void BeginDrain();  // no row waits for company any more
  // Runs what waits; no engine submits any more. False: what measures the models is in the middle of a run that has not ended by then, so
  // that nothing of them may go.
  [[nodiscard]] bool Stop(base::TimePoint by = INT64_MAX);

 private:
  struct Queue;
  struct Wanted;
  base::Status LoadModel(uint32_t index, int instances);
  struct Resident;
  struct Precisions;
  Precisions PrecisionsOf(uint32_t model) const;
  base::Result<std::unique_ptr<LoadedModel>> LoadVersion(const wf_model& row, const onnx::VersionFile& file, int instances,
                                                         bool bf16) const;
  void ChoosePrecision(const wf_model& row, const Precisions& precisions, Resident& resident) const;
  base::Result<Resident> LoadResident(const wf_model& row, const onnx::VersionFile& file, int instances,
                                      const Precisions& precisions) const;
  base::Status BindVersions(size_t rank, const wf_plan& tuned, std::vector<sched::ModelBinding>* bindings);
  base::Result<Queue*> QueueFor(const Wanted& wanted);
  Queue* Add(const Wanted& wanted, int first_instance);
  template <typename Change>
  void ForEachUse(const sched::Catalogue& catalogue, Change&& change);
  void ShareMemory();
  int RunThreadsOf(const wf_plan& tuned, uint32_t model) const;
  void SetThreadsOfLoops(const wf_plan& tuned);
  const wf_plan& plan_;
  const std::string model_root_, kernel_cache_;
  const base::Clock& clock_;
  base::Thread loader_;  // of what kernels are made with, while the server makes itself
  ModelMemory memory_;
  std::shared_ptr<kernels::Choices> choices_;  // null: only what is sound is asked
  int loops_ = 1, compute_threads_ = 1;
  bool prepares_ = false;
  std::vector<std::vector<Resident>> loaded_;  // by model, newest first
  std::vector<int> loop_instance_;             // by model: the instance of the first loop, behind those of queues
  std::unique_ptr<batch::Executor> executor_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<NamedBatcher> batchers_;  // of the queues
  std::vector<NamedStats> removed_;     // of queues that are gone
  std::vector<NamedVersion> served_;
};

}  // namespace wf::server
