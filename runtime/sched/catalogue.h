#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/abi/defaults.h"
#include "runtime/abi/plan.h"
#include "runtime/bus/catalogue.h"

namespace wf::batch {
class Batcher;
class Runnable;
}  // namespace wf::batch

namespace wf::sched {

// What a MODEL task calls.
struct ModelBinding {
  batch::Batcher* batcher = nullptr;
  batch::Runnable* model = nullptr;
  int first_loop_instance = -1;  // loop i may run instance first_loop_instance + i itself; -1: never on a loop
};

// A version of a published model, which requests may ask for by its number.
struct ModelVersion {
  uint16_t model = 0;
  int64_t number = 0;
  std::vector<ModelBinding> by_task;
};

// How long requests may take.
struct Deadlines {
  int64_t default_ns = abi::kTimeoutNs.value;  // of a workflow that does not say
  int64_t most_ns = abi::kTimeoutCapNs.value;

  int64_t Of(const wf_workflow& workflow) const { return std::min(workflow.timeout_ns > 0 ? workflow.timeout_ns : default_ns, most_ns); }
};

// The catalogue that engines understand: the binding of every MODEL task of the plan.
// Thread: immutable once published.   Borrows: batchers and models (must outlive it).
class Catalogue : public bus::Catalogue {
 public:
  Catalogue(uint64_t epoch, size_t n_tasks) : bus::Catalogue(epoch), by_task(n_tasks) {}

  // Number 0: the newest. Null: there is no such version to ask for.
  const ModelVersion* Find(uint16_t model, int64_t number) const {
    const auto found = std::find_if(versions.begin(), versions.end(), [&](const ModelVersion& version) {
      return version.model == model && (number == 0 || version.number == number);
    });
    return found == versions.end() ? nullptr : &*found;
  }

  // How many of the model's versions are newer; 0 where there is no such version.
  size_t PlaceOf(uint16_t model, int64_t number) const {
    size_t newer = 0;
    for (const ModelVersion& version : versions) {
      if (version.model != model) continue;
      if (version.number == number) return newer;
      ++newer;
    }
    return 0;
  }

  std::vector<ModelBinding> by_task;   // index: task of the plan; empty for other kinds; the newest version of each model
  std::vector<ModelVersion> versions;  // of each published model the newest first
  Deadlines deadlines;
  const wf_plan* tuned = nullptr;  // whose tasks' policies hold; null: as compiled
};

}  // namespace wf::sched
