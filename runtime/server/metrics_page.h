#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/batch/batcher.h"
#include "runtime/sched/stats.h"
#include "runtime/server/node_settings.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

// A batcher and the name of its model, for labels.
struct NamedBatcher {
  std::string_view model;
  int64_t version = 0;
  const batch::Batcher* batcher = nullptr;
};

// What batchers that are gone have counted.
struct NamedStats {
  std::string_view model;
  int64_t version = 0;
  std::unique_ptr<batch::BatchStats> stats;
};

struct NamedVersion {
  std::string_view model;
  int64_t version = 0;
};
struct Reloads {
  uint64_t done = 0, failed = 0;
};
struct Retuned {
  const wf_plan* plan = nullptr;
  std::span<const NodeSetting> nodes;
};
struct MemoryInUse {
  int64_t bytes = 0, limit_bytes = 0;  // of `limits.memory_bytes`
};
struct MetricsSources {
  std::span<const sched::EngineStats* const> engines;
  std::span<const NamedBatcher> batchers;
  std::span<const NamedStats> removed;  // batchers
  std::span<const NamedVersion> versions;
  Reloads reloads;
  Retuned retuned;
  MemoryInUse memory;
  const Exporter* exporter = nullptr;  // null: nothing is traced
};

// The text of /metrics: everything that the loops, engines and batchers have counted, added up now.
std::string MetricsPage(const Shared& shared, const MetricsSources& sources);

}  // namespace wf::server
