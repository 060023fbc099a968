#pragma once

#include <vector>

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

// The catalogue that engines understand: the binding of every MODEL task of the plan.
// Thread: immutable once published.   Borrows: batchers and models (must outlive it).
class Catalogue final : public bus::Catalogue {
 public:
  Catalogue(uint64_t epoch, size_t n_tasks) : bus::Catalogue(epoch), by_task(n_tasks) {}
  std::vector<ModelBinding> by_task;  // index: task of the plan; empty for other kinds
};

}  // namespace wf::sched
