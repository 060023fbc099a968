#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/wanted.h"
#include "runtime/model/bound.h"
#include "runtime/model/loaded.h"

namespace wf::model {

// How the instances of a version run it: by plans that are known beforehand, or by walks, where the elements of inputs decide what is done.
// What version.h says of functions of these names holds here. Instances are counted from 0.
// Thread: one at a time for each instance, of different instances side by side.   Borrows: what was loaded (outlives this).
class Runs {
 public:
  explicit Runs(const LoadOptions& options) : threads_(static_cast<size_t>(options.instances)) {
    for (std::atomic<int>& threads : threads_) threads.store(options.threads, std::memory_order_relaxed);
  }
  virtual ~Runs() = default;

  // The plan for inputs of these shapes; null: only a run tells what it does.
  virtual base::Result<std::shared_ptr<const Plan>> PlanFor(const std::vector<onnx::Port>& shapes) = 0;
  // The same, bound to memory of the instance. ahead: it is kept, whatever else runs.
  virtual base::Result<BoundPlan*> Bind(int instance, int64_t rows, std::span<const wf_tensor> inputs, bool ahead) = 0;
  virtual base::Status CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) = 0;
  virtual base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                           const base::Wanted* wanted) = 0;
  virtual void Trim(int instance, int64_t kept_bytes) = 0;
  virtual void Release(int instance) = 0;

  void set_threads(int instance, int threads) { threads_[static_cast<size_t>(instance)].store(threads, std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }  // plans that were made when they were wanted

 protected:
  int ThreadsOf(int instance) const { return threads_[static_cast<size_t>(instance)].load(std::memory_order_relaxed); }
  bool AnyHas(int threads) const {
    return std::any_of(threads_.begin(), threads_.end(), [threads](const auto& each) { return each == threads; });
  }

  std::atomic<uint64_t> misses_{0};

 private:
  std::vector<std::atomic<int>> threads_;  // that work at a run, by instance
};

std::unique_ptr<Runs> MakePlannedRuns(const Loaded& loaded);
std::unique_ptr<Runs> MakeWalkedRuns(const Loaded& loaded);

}  // namespace wf::model
