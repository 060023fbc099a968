#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/memory_limit.h"
#include "runtime/base/thread.h"
#include "runtime/batch/executor.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/signature.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/metrics_page.h"
#include "runtime/server/settings.h"

namespace wf::server {

class LoadedModel;

// The models of a plan, loaded and warm, in the versions that the program asks for, with the executor that runs them.
// Thread: Load on the main thread before the loops run; immutable afterwards.   Owns: models, executor.   Borrows: plan, clock.
// Errors: Load names the file, and the node of it, that stands in the way; a version that is refused is logged while another one is served.
class Models {
 public:
  Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  // share: of all instances together.
  base::Status Load(int loops, int threads, const base::MemoryShare& share);
  base::Status LoadVersions(int loops,
                            const base::MemoryShare& share = {});  // all of Load but what runs them: enough to know whether they are sound
  void AddTo(sched::Catalogue* catalogue) const;
  const std::vector<NamedBatcher>& batchers() const { return batchers_; }
  const std::vector<NamedVersion>& served() const { return served_; }
  void BeginDrain();  // no row waits for company any more
  void Stop();        // runs what waits; no engine submits any more

 private:
  base::Status LoadModel(uint32_t index, int64_t max_rows, int instances);
  base::Result<std::unique_ptr<LoadedModel>> LoadVersion(const wf_model& row, const onnx::VersionFile& file, int64_t max_rows,
                                                         int instances) const;
  std::vector<sched::ModelBinding> Bind(size_t rank, int loops);
  const wf_plan& plan_;
  const std::string model_root_;
  const base::Clock& clock_;
  base::Thread loader_;                                            // of what kernels are made with, while the server makes itself
  base::MemoryShare share_;                                        // of each instance
  std::vector<std::vector<std::unique_ptr<LoadedModel>>> loaded_;  // by model, newest first
  std::vector<int> loop_instance_;                                 // by model: the instance of the first loop
  std::unique_ptr<batch::Executor> executor_;
  std::vector<NamedBatcher> batchers_;
  std::vector<NamedVersion> served_;
  std::vector<sched::ModelBinding> newest_;
  std::vector<sched::ModelVersion> versions_;
};

}  // namespace wf::server
