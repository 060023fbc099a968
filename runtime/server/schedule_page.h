#pragma once

#include <span>

#include "runtime/base/sink.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "runtime/server/metrics_page.h"

namespace wf::server {

struct ScheduleSources {
  const wf_plan& plan;
  std::span<const sched::EngineStats* const> engines;  // of the loops
  std::span<const NamedBatcher> batchers;              // all of them
  const sched::Catalogue& catalogue;                   // whose bindings requests take now
  sched::EngineOptions options;                        // the limits that loops keep to
  int threads = 0;                                     // of the pool
  int executor_threads = 0;                            // that run models; as many again, or none
  int cpus = 1;                                        // that the process may use
  int64_t spin_ns = 0;                                 // for which a thread of the pool looks for work before it sleeps
};

// What runs where, how long it takes and why it is there: for people, or as JSON.
void SchedulePage(const ScheduleSources& sources, bool json, wf_sink* out);

}  // namespace wf::server
