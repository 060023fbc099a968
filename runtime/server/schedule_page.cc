#include "runtime/server/schedule_page.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/abi/view.h"
#include "runtime/batch/batcher.h"
#include "runtime/protocol/json/builder.h"
#include "runtime/sched/job.h"

namespace wf::server {
namespace {

using abi::View;
using sched::Placement;

constexpr std::string_view kScheduleNames[] = {"auto", "inline", "pool"};

// "12.3 us"
std::string Time(int64_t ns) {
  const bool in_ms = ns >= 1'000'000;
  const int64_t tenths = (in_ms ? ns / 1'000 : ns) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + (in_ms ? " ms" : " us");
}

// A task as all loops have seen it.
struct Row {
  uint16_t id = 0;
  std::string_view workflow, node;
  uint64_t on_loop = 0, on_pool = 0, in_batch = 0;
  int64_t estimate_ns = 0;
  bool has_run = false;
  Placement last = Placement::kFits;  // of the loop that has run it most
  uint64_t runs[sched::kPlacements] = {};
  std::vector<uint16_t> strand;  // itself and those that follow it on the pool
};

std::string_view WorkflowOf(const wf_plan& plan, uint16_t region) {
  while (plan.regions[region].parent != WF_NONE) region = plan.regions[region].parent;
  for (uint32_t w = 0; w < plan.n_workflows; ++w)
    if (plan.workflows[w].root == region) return View(plan.workflows[w].name);
  return {};
}

std::string_view PlaceOf(const wf_task& task, Placement where) {
  if (where <= Placement::kOnLoop) return "loop";
  return task.kind == WF_MODEL ? "batch" : "pool";
}

Row RowOf(const ScheduleSources& sources, uint16_t id) {
  const wf_task& task = sources.plan.tasks[id];
  Row row;
  row.id = id;
  row.workflow = WorkflowOf(sources.plan, task.region);
  if (task.node != WF_NONE) row.node = View(sources.plan.nodes[task.node].path);
  uint64_t most = 0;
  for (const sched::EngineStats* engine : sources.engines) {
    const sched::TaskStats& seen = engine->task[id];
    for (int i = 0; i < sched::kPlacements; ++i) {
      const uint64_t count = seen.runs[i].value();
      const std::string_view place = PlaceOf(task, static_cast<Placement>(i));
      row.runs[i] += count;
      (place == "loop" ? row.on_loop : place == "pool" ? row.on_pool : row.in_batch) += count;
    }
    if (seen.count() <= most) continue;
    most = seen.count();
    row.has_run = true;
    row.last = seen.last.load(std::memory_order_relaxed);
    row.estimate_ns = seen.estimate_ns.load(std::memory_order_relaxed);
  }
  for (uint16_t at = id; at != WF_NONE && row.strand.size() < sched::Job::kMaxTasks; at = sources.plan.tasks[at].chain) {
    row.strand.push_back(at);
    if (sources.plan.tasks[at].kind == WF_MODEL) break;
  }
  return row;
}

std::string WhyModel(const ScheduleSources& sources, const Row& row) {
  const sched::ModelBinding& binding = sources.catalogue.by_task[row.id];
  if (row.last == Placement::kToldLoop) return "schedule=inline";
  if (binding.batcher == nullptr) return "the model is not loaded";
  const batch::CostCurve& cost = binding.batcher->recent_cost();
  if (row.last == Placement::kFits) return "a run of 1 takes " + Time(cost.RunNs(1)) + ", and a batch would save next to nothing";
  const batch::Rows rows = binding.batcher->model().rows(cost.max_rows());
  if (cost.max_rows() > 1 && rows == batch::Rows::kMixed) return "rows depend on one another: each runs alone";
  if (sources.options.schedule == sched::Schedule::kPool) return "schedule=pool";
  if (!cost.known(1)) return "what it takes is not known yet";
  if (cost.RunNs(1) > sources.options.inline_task_ns) return "a run of 1 takes " + Time(cost.RunNs(1)) + ", too long for a loop";
  if (!binding.batcher->inline_pays()) {
    const int64_t best = cost.BestRows();
    return "a batch pays: a run of " + std::to_string(best) + " takes " + Time(cost.RunNs(best)) + ", of 1 " + Time(cost.RunNs(1));
  }
  if (row.last == Placement::kFollows) return "follows the task before it, in one strand";
  return "its loop had worked for " + Time(sources.options.inline_turn_ns) + " in this turn, or a run needs too much memory";
}

std::string WhyTask(const ScheduleSources& sources, const Row& row) {
  const sched::EngineOptions& options = sources.options;
  switch (row.last) {
    case Placement::kFits:
      return "takes " + Time(row.estimate_ns) + ", at most " + Time(options.inline_task_ns);
    case Placement::kTooLong:
      if (row.estimate_ns <= options.inline_task_ns)
        return "takes " + Time(row.estimate_ns) + ", for other inputs perhaps more than the " + Time(options.inline_task_ns) + " of a loop";
      return "takes " + Time(row.estimate_ns) + ", and a loop runs what takes " + Time(options.inline_task_ns) + " at most";
    case Placement::kBarred:
      return "took more than 1 ms on a loop within the last 10 s";
    case Placement::kMoved:
      return "ran on its loop for too long, and was begun anew";
    case Placement::kTurn:
      return "its loop had worked for " + Time(options.inline_turn_ns) + " since it last looked at its sockets";
    case Placement::kBlocks:
      return "an extern node may wait";
    case Placement::kFollows:
      return "follows the task before it, in one strand";
    case Placement::kToldLoop:
    case Placement::kToldPool:
      return "schedule=" + std::string(kScheduleNames[static_cast<size_t>(options.schedule)]);
    case Placement::kRow:
      break;
  }
  return {};
}

std::string WhyOf(const ScheduleSources& sources, const Row& row) {
  if (!row.has_run) return "has not run yet";
  return sources.plan.tasks[row.id].kind == WF_MODEL ? WhyModel(sources, row) : WhyTask(sources, row);
}

// What machine code or a model does; entering, choosing and returning is the loop's always.
std::vector<Row> RowsOf(const ScheduleSources& sources) {
  std::vector<Row> rows;
  for (uint32_t t = 0; t < sources.plan.n_tasks; ++t) {
    const uint8_t kind = sources.plan.tasks[t].kind;
    if (kind == WF_RUN || kind == WF_MODEL) rows.push_back(RowOf(sources, static_cast<uint16_t>(t)));
  }
  return rows;
}

std::string_view WhereOf(const ScheduleSources& sources, const Row& row) {
  return row.has_run ? PlaceOf(sources.plan.tasks[row.id], row.last) : "-";
}

std::vector<int64_t> KnownSizes(const batch::CostCurve& cost) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= cost.max_rows(); ++size) {
    size = cost.SizeFor(size);
    if (cost.known(size)) sizes.push_back(size);
  }
  return sizes;
}

// Those of which something is measured.
std::vector<size_t> KnownSorts(const batch::Batcher& batcher) {
  std::vector<size_t> sorts;
  for (size_t sort = 0; sort < batcher.sorts().count(); ++sort)
    if (!KnownSizes(batcher.cost(sort)).empty()) sorts.push_back(sort);
  return sorts;
}

std::string RunTimes(const batch::CostCurve& cost) {
  std::string takes;
  for (const int64_t size : KnownSizes(cost)) takes += (takes.empty() ? "" : ", ") + std::to_string(size) + ": " + Time(cost.RunNs(size));
  return takes;
}

// Of rows of several sizes: each with the elements from which on it holds.
std::string RunTimes(const batch::Batcher& batcher) {
  const std::vector<size_t> sorts = KnownSorts(batcher);
  if (!batcher.sorts().by_size() || sorts.size() < 2) return RunTimes(batcher.recent_cost());
  std::string takes;
  for (const size_t sort : sorts) {
    takes += takes.empty() ? "" : "; ";
    takes += "from " + std::to_string(batcher.sorts().elements(sort)) + " elements a row " + RunTimes(batcher.cost(sort));
  }
  return takes;
}

// Whose rows the queue takes, in the order of the program; none where a configuration has gone and its requests have not.
std::vector<std::string_view> NodesOf(const ScheduleSources& sources, const batch::Batcher& batcher) {
  const auto uses = [&batcher](const std::vector<sched::ModelBinding>& bindings, uint32_t task) {
    return bindings[task].batcher == &batcher;
  };
  const auto& versions = sources.catalogue.versions;
  std::vector<std::string_view> nodes;
  for (uint32_t t = 0; t < sources.plan.n_tasks; ++t) {
    if (!uses(sources.catalogue.by_task, t) &&
        std::none_of(versions.begin(), versions.end(), [&](const auto& at) { return uses(at.by_task, t); }))
      continue;
    const wf_task& task = sources.plan.tasks[t];
    const std::string_view node = task.node == WF_NONE ? WorkflowOf(sources.plan, task.region) : View(sources.plan.nodes[task.node].path);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

// Sizes of batches whose plans are not made yet.
int UnreadySizes(const batch::Batcher& batcher) {
  int sizes = 0;
  for (size_t sort = 0; sort < batcher.sorts().count(); ++sort) sizes += batcher.cost(sort).unready();
  return sizes;
}

struct BatchTotals {
  uint64_t rows = 0, batches = 0;
  explicit BatchTotals(const batch::Batcher& batcher)
      : rows(batcher.stats().rows.load(std::memory_order_relaxed)), batches(batcher.stats().batches()) {}
};

void PutTaskJson(const ScheduleSources& sources, const Row& row, json::Builder& json) {
  constexpr std::string_view kReasons[] = {"fits", "told", "too_long", "barred", "moved", "turn", "blocks", "follows", "told", "row"};
  static_assert(std::size(kReasons) == sched::kPlacements);
  const wf_task& task = sources.plan.tasks[row.id];
  json.Line().Object().Name("task").Number(row.id).Name("workflow").Text(row.workflow).Name("node").Text(row.node);
  json.Name("line").Number(task.node == WF_NONE ? 0 : sources.plan.nodes[task.node].line);
  json.Name("kind").Text(task.kind == WF_MODEL ? "model" : "run");
  if (task.kind == WF_MODEL) json.Name("model").Text(View(sources.plan.models[task.target].name));
  json.Name("where").Text(WhereOf(sources, row));
  json.Name("reason").Text(row.has_run ? kReasons[static_cast<size_t>(row.last)] : "none");
  json.Name("why").Text(WhyOf(sources, row)).Name("estimate_us").Thousandths(row.estimate_ns);
  json.Name("runs").Object().Name("loop").Number(static_cast<int64_t>(row.on_loop));
  json.Name("pool").Number(static_cast<int64_t>(row.on_pool)).Name("batch").Number(static_cast<int64_t>(row.in_batch)).End();
  json.Name("strand").Array();
  for (const uint16_t id : row.strand) json.Number(id);
  json.End().End();
}

void PutRunTimes(const batch::CostCurve& cost, json::Builder& json) {
  json.Name("run_us").Object();
  for (const int64_t size : KnownSizes(cost)) json.Name(std::to_string(size)).Thousandths(cost.RunNs(size));
  json.End();
}

void PutSizes(const batch::Batcher& batcher, json::Builder& json) {
  const std::vector<size_t> sorts = KnownSorts(batcher);
  if (!batcher.sorts().by_size() || sorts.size() < 2) return;
  json.Name("sizes").Array();
  for (const size_t sort : sorts) {
    const batch::CostCurve& cost = batcher.cost(sort);
    json.Object();
    if (batcher.padding().pads()) json.Name("bucket").Number(batcher.padding().bucket(batcher.sorts().kind(sort)));
    json.Name("elements").Number(batcher.sorts().elements(sort)).Name("best_rows").Number(cost.BestRows());
    PutRunTimes(cost, json);
    json.End();
  }
  json.End();
}

void PutBatcherJson(const ScheduleSources& sources, const NamedBatcher& at, json::Builder& json) {
  const batch::Batcher& batcher = *at.batcher;
  const batch::CostCurve& cost = batcher.recent_cost();
  const BatchTotals totals(batcher);
  json.Line().Object().Name("model").Text(at.model).Name("version").Number(at.version);
  json.Name("nodes").Array();
  for (const std::string_view node : NodesOf(sources, batcher)) json.Text(node);
  json.End();
  json.Name("instances").Number(batcher.options().instances).Name("batch").Number(batcher.options().policy.max_rows);
  json.Name("queue").Number(batcher.options().policy.max_queued_rows).Name("queued").Number(batcher.queued_rows());
  constexpr std::string_view kRowsAre[] = {"unknown", "apart", "mixed"};
  json.Name("rows_are").Text(kRowsAre[static_cast<size_t>(batcher.model().rows(cost.max_rows()))]);
  json.Name("unready_sizes").Number(UnreadySizes(batcher));
  json.Name("best_rows").Number(cost.BestRows()).Name("on_loop").Bool(batcher.inline_pays());
  json.Name("rows").Number(static_cast<int64_t>(totals.rows)).Name("batches").Number(static_cast<int64_t>(totals.batches));
  PutRunTimes(cost, json);
  PutSizes(batcher, json);
  json.End();
}

std::string WhySpin(const ScheduleSources& sources) {
  const size_t threads = sources.engines.size() + static_cast<size_t>(sources.threads + sources.executor_threads);
  return std::to_string(threads) + " threads, " + std::to_string(sources.cpus) + (sources.cpus == 1 ? " CPU" : " CPUs");
}

void PutJson(const ScheduleSources& sources, wf_sink* out) {
  json::Builder json(out);
  json.Object().Name("schedule").Text(kScheduleNames[static_cast<size_t>(sources.options.schedule)]);
  json.Name("loops").Number(static_cast<int64_t>(sources.engines.size())).Name("pool_threads").Number(sources.threads);
  json.Name("executor_threads").Number(sources.executor_threads).Name("cpus").Number(sources.cpus);
  json.Name("spin_us").Thousandths(sources.spin_ns).Name("spin_why").Text(WhySpin(sources));
  json.Name("inline_task_us").Thousandths(sources.options.inline_task_ns);
  json.Name("inline_turn_us").Thousandths(sources.options.inline_turn_ns);
  json.Name("tasks").Array();
  for (const Row& row : RowsOf(sources)) PutTaskJson(sources, row, json);
  json.End().Line().Name("batchers").Array();
  for (const NamedBatcher& at : sources.batchers) PutBatcherJson(sources, at, json);
  json.End().End();
  out->Put("\n", 1);
}

// Columns as wide as their longest entry, the last one as it is.
void PutTable(const std::vector<std::vector<std::string>>& lines, std::string* text) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      *text += line[i];
      if (i + 1 < line.size()) text->append(widths[i] - line[i].size() + 2, ' ');
    }
    *text += '\n';
  }
}

void PutBatchers(const ScheduleSources& sources, std::string* text) {
  std::vector<std::vector<std::string>> lines = {
      {"MODEL", "VERSION", "INSTANCES", "BATCH", "QUEUE", "BEST", "QUEUED", "ROWS", "BATCHES", "NODES", "A RUN OF n ROWS TAKES"}};
  for (const NamedBatcher& at : sources.batchers) {
    const batch::BatcherOptions& options = at.batcher->options();
    const BatchTotals totals(*at.batcher);
    std::string nodes;
    for (const std::string_view node : NodesOf(sources, *at.batcher)) nodes.append(nodes.empty() ? "" : ", ").append(node);
    lines.push_back({std::string(at.model), std::to_string(at.version), std::to_string(options.instances),
                     std::to_string(options.policy.max_rows), std::to_string(options.policy.max_queued_rows),
                     std::to_string(at.batcher->recent_cost().BestRows()), std::to_string(at.batcher->queued_rows()),
                     std::to_string(totals.rows), std::to_string(totals.batches), nodes, RunTimes(*at.batcher)});
  }
  PutTable(lines, text);
}

void PutText(const ScheduleSources& sources, wf_sink* out) {
  std::string text = "schedule=" + std::string(kScheduleNames[static_cast<size_t>(sources.options.schedule)]) +
                     "; loops: " + std::to_string(sources.engines.size()) + "; threads of the pool: " + std::to_string(sources.threads) +
                     "; before they sleep they look for work for " + Time(sources.spin_ns) + " (" + WhySpin(sources) + ")\n\n";
  std::vector<std::vector<std::string>> lines = {{"WHERE", "NODE", "TAKES", "LOOP", "POOL", "BATCH", "WHY"}};
  for (const Row& row : RowsOf(sources)) {
    const std::string node = row.node.empty() ? std::string(row.workflow) + ", outside of its nodes" : std::string(row.node);
    lines.push_back({std::string(WhereOf(sources, row)), node, row.has_run ? Time(row.estimate_ns) : "-", std::to_string(row.on_loop),
                     std::to_string(row.on_pool), std::to_string(row.in_batch), WhyOf(sources, row)});
  }
  PutTable(lines, &text);
  if (!sources.batchers.empty()) {
    text += '\n';
    PutBatchers(sources, &text);
  }
  out->Put(text.data(), text.size());
}

}  // namespace

void SchedulePage(const ScheduleSources& sources, bool json, wf_sink* out) { json ? PutJson(sources, out) : PutText(sources, out); }

}  // namespace wf::server
