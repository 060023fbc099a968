#include "runtime/server/metrics_page.h"

#include <array>
#include <cstdio>
#include <map>
#include <span>
#include <tuple>

#include "runtime/abi/version.h"
#include "runtime/abi/view.h"
#include "runtime/base/units.h"
#include "runtime/observe/log.h"
#include "runtime/observe/process.h"

namespace wf::server {
namespace {

using observe::Label;
using observe::MetricsText;

using abi::View;

// The row behind the last workflow is of requests that name none.
std::string_view ServiceOf(const wf_plan& plan, uint32_t workflow) {
  return workflow < plan.n_workflows ? View(plan.workflows[workflow].service) : "-";
}
std::string_view WorkflowOf(const wf_plan& plan, uint32_t workflow) {
  return workflow < plan.n_workflows ? View(plan.workflows[workflow].name) : "-";
}

using ByCode = std::map<int32_t, uint64_t>;  // -1: other

void AddCodes(const CodeCounts& counts, ByCode& by_code) {
  for (const auto& row : counts.by_code) {
    if (row.count.value() != 0) by_code[row.code.load(std::memory_order_relaxed)] += row.count.value();
  }
  if (counts.other.value() != 0) by_code[-1] += counts.other.value();
}

std::string NameOfCode(int32_t code) { return code < 0 ? "other" : std::to_string(code); }

void AddHidden(const Shared& shared, MetricsText* out) {
  out->Family("wf_hidden_failures_total", "counter",
              "Failures that a fallback, another failure or the rest of the request has hidden, each once, by error code.");
  ByCode by_code;
  for (const auto& loop : shared.loops) AddCodes(loop->hidden, by_code);
  for (const auto& [code, count] : by_code) out->Sample({{"code", NameOfCode(code)}}, static_cast<double>(count));
}

void AddRequests(const Shared& shared, MetricsText* out) {
  out->Family("wf_requests_total", "counter",
              "Requests answered, refused or left by their client, by workflow, protocol and error code (0 fine).");
  for (uint32_t w = 0; w <= shared.plan.n_workflows; ++w) {
    for (int p = 0; p < kProtocols; ++p) {
      ByCode by_code{{0, 0}};
      for (const auto& loop : shared.loops) {
        loop->ForVersions(w, static_cast<Protocol>(p), [&](const RequestCounts& counts) {
          by_code[0] += counts.ok.value();
          AddCodes(counts.failures, by_code);
        });
      }
      for (const auto& [code, count] : by_code) {
        const std::string name = NameOfCode(code);
        out->Sample({{"service", ServiceOf(shared.plan, w)},
                     {"workflow", WorkflowOf(shared.plan, w)},
                     {"protocol", RowOf(static_cast<Protocol>(p)).name},
                     {"code", name}},
                    static_cast<double>(count));
      }
    }
  }
  out->Family("wf_request_duration_seconds", "histogram", "From the end of the headers to the answer.");
  for (uint32_t w = 0; w <= shared.plan.n_workflows; ++w) {
    for (int p = 0; p < kProtocols; ++p) {
      std::vector<const observe::Histogram*> parts;
      for (const auto& loop : shared.loops)
        loop->ForVersions(w, static_cast<Protocol>(p), [&](const RequestCounts& counts) { parts.push_back(&counts.duration); });
      out->Durations({{"service", ServiceOf(shared.plan, w)},
                      {"workflow", WorkflowOf(shared.plan, w)},
                      {"protocol", RowOf(static_cast<Protocol>(p)).name}},
                     parts);
    }
  }
}

// Powers of two of ns, from 1 us to 137 s, out of histograms with a bucket per power.
void AddPowers(std::initializer_list<Label> labels, std::span<const sched::DurationHistogram* const> parts, MetricsText* out) {
  constexpr int kFirst = 10, kLast = 37;
  std::vector<double> ends;
  std::vector<uint64_t> counts;
  uint64_t count = 0;
  uint64_t sum_ns = 0;
  for (int b = 0; b < sched::DurationHistogram::kBuckets; ++b) {
    for (const auto* part : parts) count += part->bucket[b].value();
    const bool last = b == sched::DurationHistogram::kBuckets - 1;
    if (!last && (b < kFirst || b > kLast)) continue;
    counts.push_back(count);
    count = 0;
    if (!last) ends.push_back(base::Seconds(INT64_C(1) << b));
  }
  for (const auto* part : parts) sum_ns += part->sum_ns.value();
  out->Buckets(labels, ends, counts, base::Seconds(static_cast<int64_t>(sum_ns)));
}

template <typename Pick>
std::vector<const sched::DurationHistogram*> Parts(std::span<const sched::EngineStats* const> engines, Pick&& pick) {
  std::vector<const sched::DurationHistogram*> parts;
  for (const auto* engine : engines) parts.push_back(pick(*engine));
  return parts;
}

// The one that is served, of nodes of a workflow that it calls, too: where the node's path begins.
std::string_view WorkflowOfPath(std::string_view path) { return path.substr(0, path.find('/')); }

void AddEngines(const wf_plan& plan, std::span<const sched::EngineStats* const> engines, MetricsText* out) {
  out->Family("wf_stage_duration_seconds", "histogram", "First start to last end of a stage, of the requests that are timed.");
  for (uint32_t s = 0; s < plan.n_stages; ++s) {
    AddPowers({{"workflow", View(plan.stages[s].workflow)}, {"stage", View(plan.stages[s].name)}},
              Parts(engines, [s](const auto& e) { return &e.stage[s]; }), out);
  }
  const auto add_node = [&plan, out](uint32_t node, std::span<const sched::DurationHistogram* const> parts) {
    const std::string_view path = View(plan.nodes[node].path);
    AddPowers({{"workflow", WorkflowOfPath(path)}, {"node", path}}, parts, out);
  };
  out->Family("wf_node_compute_seconds", "histogram",
              "A node's own work, of an execution that is timed; a model's is the run of its batch.");
  for (uint32_t n = 0; n < plan.n_nodes; ++n) {
    if (plan.nodes[n].stage >= plan.n_stages) continue;  // what a workflow does outside of its nodes
    add_node(n, Parts(engines, [n](const auto& e) { return &e.node_compute[n]; }));
  }
  out->Family("wf_queue_wait_seconds", "histogram", "Waits of a node's rows for a batch, also of those that left without it.");
  for (uint32_t n = 0; n < plan.n_nodes; ++n) {
    const auto parts = Parts(engines, [n](const auto& e) { return &e.queue_wait[n]; });
    uint64_t count = 0;
    for (const auto* part : parts) count += part->count.value();
    if (count != 0) add_node(n, parts);
  }
}

// All batchers of one version of a model: nodes with other settings have one of their own.
struct VersionTotals {
  std::string_view model;
  std::string version;
  double queued = 0, rows = 0, shape_misses = 0;
  std::map<std::tuple<int64_t, int64_t, int64_t>, double> run_seconds;  // by rows, bucket and elements of a row, at least
  std::array<uint64_t, batch::BatchStats::kSizeBuckets> sizes{};
  std::array<uint64_t, batch::kCloseReasons> closed{};
};

void TakeRunTimes(const batch::Batcher& batcher, VersionTotals* total) {
  const batch::Padding& padding = batcher.padding();
  const batch::Sorts& sorts = batcher.sorts();
  for (size_t sort = 0; sort < sorts.count(); ++sort) {
    const batch::CostCurve& cost = batcher.cost(sort);
    const int64_t bucket = padding.pads() ? padding.bucket(sorts.kind(sort)) : 0;
    for (int64_t size = 1; size <= cost.max_rows(); ++size) {
      size = cost.SizeFor(size);
      if (!cost.known(size)) continue;
      total->run_seconds.emplace(std::tuple(size, bucket, sorts.elements(sort)), base::Seconds(cost.RunNs(size)));
    }
  }
}

void Count(const batch::BatchStats& stats, VersionTotals* total) {
  total->rows += static_cast<double>(stats.rows.load(std::memory_order_relaxed));
  for (size_t i = 0; i < total->sizes.size(); ++i) total->sizes[i] += stats.size_bucket[i].load(std::memory_order_relaxed);
  for (size_t i = 0; i < total->closed.size(); ++i) total->closed[i] += stats.closed[i].load(std::memory_order_relaxed);
}

std::vector<VersionTotals> AddUp(std::span<const NamedBatcher> batchers, std::span<const NamedStats> removed) {
  std::map<std::pair<std::string_view, int64_t>, VersionTotals> by_version;
  for (const NamedBatcher& at : batchers) {
    VersionTotals& total = by_version[{at.model, at.version}];
    total.model = at.model;
    total.version = std::to_string(at.version);
    total.shape_misses = static_cast<double>(at.batcher->model().shape_misses());
    TakeRunTimes(*at.batcher, &total);
    total.queued += at.batcher->queued_rows();
    Count(at.batcher->stats(), &total);
  }
  for (const NamedStats& at : removed) {  // each version has batchers still
    if (const auto found = by_version.find({at.model, at.version}); found != by_version.end()) Count(*at.stats, &found->second);
  }
  std::vector<VersionTotals> totals;
  for (auto& [key, total] : by_version) totals.push_back(std::move(total));
  return totals;
}

void AddBatchers(const MetricsSources& sources, MetricsText* out) {
  const std::vector<VersionTotals> totals = AddUp(sources.batchers, sources.removed);
  out->Family("wf_queue_depth", "gauge", "Rows that hold a place in a model's queue.");
  for (const VersionTotals& at : totals) out->Sample({{"model", at.model}, {"version", at.version}}, at.queued);
  out->Family("wf_batch_size", "histogram", "Rows of a batch, padding not counted.");
  std::array<double, batch::BatchStats::kSizeBuckets - 1> ends;
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<double>(1 << i);
  for (const VersionTotals& at : totals) out->Buckets({{"model", at.model}, {"version", at.version}}, ends, at.sizes, at.rows);
  out->Family("wf_batch_close_total", "counter", "Batches by what closed them.");
  for (const VersionTotals& at : totals) {
    for (size_t r = 0; r < at.closed.size(); ++r) {
      out->Sample({{"model", at.model}, {"version", at.version}, {"reason", batch::CloseReasonName(static_cast<batch::CloseReason>(r))}},
                  static_cast<double>(at.closed[r]));
    }
  }
  out->Family("wf_batch_run_seconds", "gauge", "What a run of so many rows takes, as measured so far; bucket: of `pad`, 0 without.");
  for (const VersionTotals& at : totals) {
    for (const auto& [sort, seconds] : at.run_seconds) {
      const auto& [rows, bucket, elements] = sort;
      const std::string texts[] = {std::to_string(rows), std::to_string(bucket), std::to_string(elements)};
      const std::array<Label, 5> labels = {
          {{"model", at.model}, {"version", at.version}, {"rows", texts[0]}, {"bucket", texts[1]}, {"elements", texts[2]}}};
      out->Sample("", std::span(labels).first(elements > 0 ? 5 : 4), seconds);
    }
  }
  out->Family("wf_model_shape_misses_total", "counter", "Runs that waited until their shape was made ready.");
  for (const VersionTotals& at : totals) out->Sample({{"model", at.model}, {"version", at.version}}, at.shape_misses);
}

void AddServer(const MetricsSources& sources, MetricsText* out) {
  out->Family("wf_request_memory_bytes", "gauge", "Memory that requests, answers and what models keep for shapes of requests have now.");
  out->Sample({}, static_cast<double>(sources.memory.bytes));
  out->Family("wf_request_memory_limit_bytes", "gauge", "What all of it together may be: `limits.memory_bytes`.");
  out->Sample({}, static_cast<double>(sources.memory.limit_bytes));
  out->Family("wf_model_info", "gauge", "Versions that are served.");
  for (const NamedVersion& at : sources.versions) out->Sample({{"model", at.model}, {"version", std::to_string(at.version)}}, 1);
  out->Family("wf_config_reloads_total", "counter", "Configurations read again, by what came of it.");
  out->Sample({{"result", "ok"}}, static_cast<double>(sources.reloads.done));
  out->Sample({{"result", "error"}}, static_cast<double>(sources.reloads.failed));
}

// Several services may publish a workflow: its nodes are there once for each, and set alike.
void AddRetuned(const Retuned& retuned, MetricsText* out) {
  if (retuned.nodes.empty()) return;
  out->Family("wf_node_setting", "gauge",
              "Settings of nodes that the configuration has changed, as they are in force: counts, seconds, a priority (0 high, 2 low); a "
              "batch of 0 is auto.");
  for (const NodeSetting& setting : retuned.nodes) {
    for (const SettingInForce& each : SettingsInForce(*retuned.plan, setting)) {
      const double value = each.is_ns ? base::Seconds(each.value) : static_cast<double>(each.value);
      out->Sample({{"workflow", WorkflowOfPath(setting.path)}, {"node", setting.path}, {"setting", each.name}}, value);
    }
  }
}

void AddExporter(const Exporter& exporter, MetricsText* out) {
  const Exporter::Counts counts = exporter.counts();
  out->Family("wf_spans_total", "counter", "Spans of traced requests, by what became of them; dropped: there was no room.");
  out->Sample({{"result", "exported"}}, static_cast<double>(counts.exported));
  out->Sample({{"result", "failed"}}, static_cast<double>(counts.failed));
  out->Sample({{"result", "dropped"}}, static_cast<double>(counts.dropped));
  out->Family("wf_span_exports_total", "counter", "Requests to the collector of spans that are over, by what came of them.");
  out->Sample({{"result", "ok"}}, static_cast<double>(counts.taken_requests));
  out->Sample({{"result", "error"}}, static_cast<double>(counts.failed_requests));
}

void AddBreaches(const Shared& shared, MetricsText* out) {
  out->Family("wf_broken_connections_total", "counter",
              "Connections that were ended for what came on them, or for a head, a body or a first frame that did not come in time.");
  for (size_t i = 0; i < http::kBreachCount; ++i) {
    uint64_t count = 0;
    for (const auto& loop : shared.loops) count += loop->breaches[i].value();
    out->Sample({{"reason", http::kBreaches[i]}}, static_cast<double>(count));
  }
}

void AddLoops(const Shared& shared, std::span<const sched::EngineStats* const> engines, MetricsText* out) {
  uint64_t inflight = 0, by_inflight = 0, by_deadline = 0, by_bytes = 0, by_connections = 0, by_handshake = 0, by_key = 0, connections = 0,
           broken = 0, queue_full = 0, drained = 0, answered = 0;
  for (const auto& loop : shared.loops) {
    inflight += loop->inflight_all.value();
    by_inflight += loop->refused_inflight.value();
    by_deadline += loop->refused_late.value();
    by_bytes += loop->refused_bytes.value();
    by_connections += loop->refused_connections.value();
    by_handshake += loop->refused_handshakes.value();
    by_key += loop->refused_keys.value();
    broken += loop->broken_for_memory.value();
    connections += loop->connections.value();
  }
  for (const auto* engine : engines) {
    queue_full += engine->refused_full.value();
    by_deadline += engine->refused_late.value();
    answered += engine->answered.value() + engine->failed.value() + engine->cancelled.value();
    drained += engine->drained.value();
  }
  out->Family("wf_inflight_requests", "gauge", "Requests admitted and not drained.");
  out->Sample({}, static_cast<double>(inflight));
  out->Family("wf_abandoned_inflight", "gauge", "Of these, answered or cancelled while work is still under way.");
  out->Sample({}, answered > drained ? static_cast<double>(answered - drained) : 0);
  out->Family("wf_connections", "gauge", "Open connections.");
  out->Sample({}, static_cast<double>(connections));
  out->Family(
      "wf_refused_total", "counter",
      "Requests and connections that were refused, by what ran out; of queue, requests of which a model's full queue refused a row.");
  out->Sample({{"reason", "inflight"}}, static_cast<double>(by_inflight));
  out->Sample({{"reason", "deadline"}}, static_cast<double>(by_deadline));
  out->Sample({{"reason", "memory"}}, static_cast<double>(by_bytes));
  out->Sample({{"reason", "connection_memory"}}, static_cast<double>(broken));
  out->Sample({{"reason", "connections"}}, static_cast<double>(by_connections));
  out->Sample({{"reason", "handshake"}}, static_cast<double>(by_handshake));
  out->Sample({{"reason", "key"}}, static_cast<double>(by_key));
  out->Sample({{"reason", "queue"}}, static_cast<double>(queue_full));
  AddBreaches(shared, out);
  out->Family("wf_log_lines_dropped_total", "counter", "Log lines for which there was no room.");
  out->Sample({}, static_cast<double>(observe::DroppedLogLines()));
}

void AddBuild(const wf_plan& plan, MetricsText* out) {
  std::string source;
  for (const uint8_t byte : plan.source_hash) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    source += digits;
  }
  out->Family("wf_build_info", "gauge", "What this server was built from.");
  out->Sample({{"source", source}, {"abi", WF_ABI_SYMBOL_TEXT}}, 1);
}

}  // namespace

std::string MetricsPage(const Shared& shared, const MetricsSources& sources) {
  MetricsText out;
  AddRequests(shared, &out);
  AddHidden(shared, &out);
  AddEngines(shared.plan, sources.engines, &out);
  AddBatchers(sources, &out);
  AddLoops(shared, sources.engines, &out);
  AddServer(sources, &out);
  AddRetuned(sources.retuned, &out);
  if (sources.exporter != nullptr) AddExporter(*sources.exporter, &out);
  AddBuild(shared.plan, &out);
  observe::AddProcess(&out);
  return out.text();
}

}  // namespace wf::server
