#pragma once

#include <memory>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/batch/executor.h"
#include "runtime/onnx/signature.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/metrics_page.h"
#include "runtime/server/settings.h"

namespace wf::server {

// The models of a plan, loaded and warm, with the executor that runs them, as one catalogue.
// Thread: Load on the main thread before the loops run; immutable afterwards.   Owns: models, executor, catalogue.
// Errors: Load names the file, and the node of it, that stands in the way.
class Models {
 public:
  Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  base::Status Load(int loops, int threads);
  const sched::Catalogue& catalogue() const { return *catalogue_; }
  const std::vector<NamedBatcher>& batchers() const { return batchers_; }
  void Stop();  // runs what waits; no engine submits any more

 private:
  struct Loaded;
  base::Status LoadOne(const wf_model& row, int64_t max_rows, int instances);
  static base::Status CheckCompiled(const onnx::Signature& file, const onnx::Signature& compiled);
  const wf_plan& plan_;
  const Settings& settings_;
  const base::Clock& clock_;
  std::vector<std::unique_ptr<Loaded>> models_;
  std::unique_ptr<sched::Catalogue> catalogue_;
  std::unique_ptr<batch::Executor> executor_;
  std::vector<NamedBatcher> batchers_;
};

}  // namespace wf::server
