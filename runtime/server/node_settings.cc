#include "runtime/server/node_settings.h"

#include <algorithm>
#include <string_view>

#include "runtime/abi/bounds.h"
#include "runtime/abi/defaults.h"
#include "runtime/abi/view.h"
#include "runtime/base/ascii.h"
#include "runtime/base/units.h"
#include "runtime/server/setting_values.h"

namespace wf::server {
namespace {

constexpr std::string_view kPriorities[] = {"high", "normal", "low"};  // in the order of WF_HIGH and so on

using abi::View;

// The tasks of every node of this path: a workflow that several services publish has several.
template <typename Function>
void ForEachTask(const wf_plan& plan, std::string_view path, Function&& function) {
  for (uint32_t i = 0; i < plan.n_tasks; ++i) {
    const wf_task& task = plan.tasks[i];
    if (task.node != WF_NONE && View(plan.nodes[task.node].path) == path) function(i, task);
  }
}

bool CallsModel(const wf_task& task) { return task.kind == WF_MODEL; }
bool IsOrdered(const wf_task& task) { return task.kind == WF_MODEL || task.kind == WF_RUN; }

// A node has attempts that end by time only when the program says `timeout`: they are regions of the plan.
bool HasTimeout(const wf_plan& plan, const wf_task& task) {
  return task.kind == WF_ENTER && task.policy != WF_NONE && plan.policies[task.policy].timeout_ns > 0;
}

// Of a task without one: the language's defaults.
wf_policy DefaultPolicy() {
  wf_policy policy{};
  policy.priority = WF_NORMAL;
  policy.instances = policy.threads = 1;
  return policy;
}

NodeSetting& SettingOf(const std::string& path, const std::string& source, std::vector<NodeSetting>* nodes) {
  for (NodeSetting& setting : *nodes) {
    if (setting.path == path) return setting;
  }
  nodes->push_back({});
  nodes->back().path = path;
  nodes->back().source = source;
  return nodes->back();
}

std::string Stored(const std::string& value, std::string expected) {
  return expected.empty() ? "" : "expected " + expected + ", found " + Quoted(value);
}

std::string StoreCount(const std::string& value, int64_t highest, std::optional<int64_t>* out) {
  setting::Count count = 0;
  const std::string expected = setting::Parse(value, {1, highest}, &count);
  if (expected.empty()) *out = count;
  return Stored(value, expected);
}

std::string StoreTime(const std::string& value, const setting::Range& range, std::optional<int64_t>* out) {
  setting::Duration duration;
  const std::string expected = setting::Parse(value, range, &duration);
  if (expected.empty()) *out = duration.ns;
  return Stored(value, expected);
}

std::string StorePriority(const std::string& value, std::optional<uint8_t>* out) {
  const auto* const found = std::find(std::begin(kPriorities), std::end(kPriorities), value);
  if (found == std::end(kPriorities)) return Stored(value, "`high`, `normal` or `low`");
  *out = static_cast<uint8_t>(found - std::begin(kPriorities));
  return {};
}

std::string StorePad(const std::string& value, std::vector<int64_t>* out) {
  constexpr std::string_view kExpected = "up to 256 sizes from 1 to 1073741824 behind commas, ascending, as `64, 128`";
  constexpr size_t kMostSizes = 256;
  constexpr int64_t kMostExtent = int64_t{1} << 30;
  std::vector<int64_t> sizes;
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find(',', at), value.size());
    const std::string_view item = base::Trim(std::string_view(value).substr(at, end - at));
    setting::Count size = 0;
    const bool ascends = setting::Parse(item, {1, kMostExtent}, &size).empty() && (sizes.empty() || size > sizes.back());
    if (!ascends || sizes.size() == kMostSizes) return Stored(value, std::string(kExpected));
    sizes.push_back(size);
    at = end + 1;
  }
  *out = std::move(sizes);
  return {};
}

// A size at which an axis that is computed from it would be below 0.
std::optional<int64_t> TooSmall(const wf_policy& policy, const std::vector<int64_t>& sizes) {
  const auto fits = [](const wf_pad& axis, int64_t size) { return size * axis.mul + axis.add >= 0; };  // below 2^62
  for (const int64_t size : sizes) {
    const auto holds = [&](const wf_pad& axis) { return fits(axis, size); };
    if (!std::all_of(policy.pad, policy.pad + policy.n_pads, holds) || !std::all_of(policy.crop, policy.crop + policy.n_crops, holds))
      return size;
  }
  return std::nullopt;
}

// As the compiler refuses it of a program. Empty: nothing, or what is left to the server follows.
std::string Contradiction(const wf_policy& policy, const NodeSetting& setting) {
  const int64_t batch = setting.batch.value_or(policy.batch_max), queue = setting.queue.value_or(policy.queue_max);
  if (batch == 0 || queue == 0 || queue >= batch) return {};
  const std::string told = "`queue` and `batch` of " + Quoted(setting.path) + " contradict each other: a batch of " +
                           std::to_string(batch) + " never fits into a queue of " + std::to_string(queue);
  if (setting.batch && setting.queue) return told;
  return told + (setting.batch ? "; `queue` is the program's: set it, too" : "; `batch` is the program's: set it, too");
}

std::string Store(const std::string& member, const std::string& value, NodeSetting* setting) {
  if (member == "batch") return StoreCount(value, abi::kMostBatchRows, &setting->batch);
  if (member == "instances") return StoreCount(value, abi::kMostInstances, &setting->instances);
  if (member == "threads") return StoreCount(value, abi::kMostRunThreads, &setting->threads);
  if (member == "queue") return StoreCount(value, abi::kMostQueuedRows, &setting->queue);
  if (member == "within") return StoreTime(value, {0, abi::kMostWithinNs}, &setting->within_ns);
  if (member == "timeout") return StoreTime(value, {base::kNsPerMs, abi::kMostNodeTimeoutNs}, &setting->timeout_ns);
  if (member == "pad") return StorePad(value, &setting->pad);
  return StorePriority(value, &setting->priority);
}

}  // namespace

std::string_view PriorityName(uint8_t priority) { return kPriorities[priority]; }

bool HasNode(const wf_plan& plan, std::string_view path) {
  bool calls_model = false;
  ForEachTask(plan, path, [&](uint32_t, const wf_task& task) { calls_model |= CallsModel(task); });
  const bool is_workflow = path.find('/') == std::string_view::npos;  // whose row is for what fails in no node; or a published model's
  return calls_model ||
         (!is_workflow && std::any_of(plan.nodes, plan.nodes + plan.n_nodes, [path](const auto& node) { return View(node.path) == path; }));
}

std::string AddNodeSetting(const wf_plan& plan, const ConfigEntry& entry, const std::string& source, std::vector<NodeSetting>* nodes) {
  constexpr char kSizes[] = "several sizes are one text, as `pad: \"64, 128\"`";
  if (entry.path.size() > 3 && entry.path[2] == "pad") return "expected sizes for `pad`, found a mapping; " + std::string(kSizes);
  if (entry.path.size() == 1 || entry.path.size() > 3) return "expected `nodes: {NODE: {batch: 8}}`";
  const std::string& path = entry.path[1];
  if (!HasNode(plan, path)) {
    std::vector<std::string> known;
    for (uint32_t i = 0; i < plan.n_tasks; ++i) {
      const wf_task& task = plan.tasks[i];
      if (task.node != WF_NONE && (IsOrdered(task) || HasTimeout(plan, task))) known.emplace_back(View(plan.nodes[task.node].path));
    }
    return "unknown node " + Quoted(path) + DidYouMean(path, known);
  }
  if (entry.path.size() == 2) {
    if (entry.is_section) return {};
    if (!entry.problem.empty()) return entry.problem;
    return entry.no_value ? "the node " + Quoted(path) + " has no settings"
                          : "expected the settings of the node " + Quoted(path) + ", found a value";
  }
  const std::string& member = entry.path[2];
  const std::vector<std::string> known(kNodeMembers.begin(), kNodeMembers.end());
  const bool is_number =
      entry.no_value && !member.empty() && member.find_first_not_of("0123456789") == std::string::npos;  // `{pad: 64, 128}`
  if (is_number) return Quoted(member) + " is no setting of a node; " + kSizes;
  if (std::find(known.begin(), known.end(), member) == known.end())
    return "unknown setting " + Quoted(member) + " of a node" + DidYouMean(member, known);
  if (!entry.problem.empty()) return entry.problem;
  if (entry.no_value) return Quoted(member) + " has no value";
  if (entry.is_section) return "expected a value for " + Quoted(member) + ", found a mapping";
  const std::string problem = Store(member, entry.value, &SettingOf(path, source, nodes));
  return problem.empty() ? problem : Quoted(entry.key()) + ": " + problem;
}

std::string CheckNodeSetting(const wf_plan& plan, const NodeSetting& setting) {
  bool calls_model = false, has_timeout = false, batched = true, never_waits = false, pads = false;
  std::optional<int64_t> too_small;
  std::string contradiction;
  ForEachTask(plan, setting.path, [&](uint32_t, const wf_task& task) {
    has_timeout |= HasTimeout(plan, task);
    if (!CallsModel(task)) return;
    calls_model = true;
    batched &= plan.models[task.target].batched != 0;
    if (contradiction.empty())
      contradiction = Contradiction(task.policy == WF_NONE ? DefaultPolicy() : plan.policies[task.policy], setting);
    never_waits |= task.policy == WF_NONE || plan.policies[task.policy].batch_max == 0;
    if (task.policy == WF_NONE || plan.policies[task.policy].n_buckets == 0) return;
    pads = true;
    if (!too_small) too_small = TooSmall(plan.policies[task.policy], setting.pad);
  });
  if (setting.timeout_ns && !has_timeout)
    return "the program gives " + Quoted(setting.path) + " no `timeout`, so that it cannot be changed; add one and build again";
  if (!calls_model && (setting.batch || setting.within_ns || setting.instances || setting.threads || setting.queue || !setting.pad.empty()))
    return Quoted(setting.path) + " calls no model; of a node like this only `timeout` and `priority` can be changed";
  if (!setting.pad.empty() && !pads)
    return "the program gives " + Quoted(setting.path) + " no `pad`, so that its sizes cannot be changed; add one and build again";
  if (too_small) return "`pad` of " + Quoted(setting.path) + ": at " + std::to_string(*too_small) + " an axis would be below 0";
  if (setting.batch.value_or(1) > 1 && !batched)
    return "the model of " + Quoted(setting.path) + " has no batch axis; `batch` can only be 1";
  if (setting.within_ns.value_or(0) > 0 && never_waits && !setting.batch)
    return Quoted(setting.path) + " has `batch auto`, which never waits; set `batch` beside `within`";
  return contradiction;
}

std::vector<SettingInForce> SettingsInForce(const wf_plan& retuned, const NodeSetting& setting) {
  std::vector<SettingInForce> all;
  ForEachTask(retuned, setting.path, [&](uint32_t, const wf_task& task) {
    if (!CallsModel(task) || !all.empty()) return;
    const wf_policy policy = task.policy == WF_NONE ? DefaultPolicy() : retuned.policies[task.policy];
    const bool batched = retuned.models[task.target].batched != 0;
    const uint32_t queue = abi::QueueRows(policy.queue_max, abi::BatchRows(policy.batch_max, batched));
    all = {{"batch", batched ? policy.batch_max : 1},
           {"within", policy.delay_ns, true},
           {"queue", queue},
           {"instances", policy.instances},
           {"threads", ThreadsOf(retuned, task.target)}};
  });
  if (setting.priority) all.push_back({"priority", *setting.priority});
  if (setting.timeout_ns) all.push_back({"timeout", *setting.timeout_ns, true});
  return all;
}

int ThreadsOf(const wf_plan& plan, uint32_t model) {
  int most = 1;
  for (uint32_t t = 0; t < plan.n_tasks; ++t) {
    const wf_task& task = plan.tasks[t];
    if (!CallsModel(task) || task.target != model || task.policy == WF_NONE) continue;
    most = std::max<int>(most, plan.policies[task.policy].threads);
  }
  return most;
}

RetunedPlan::RetunedPlan(const wf_plan& original, const std::vector<NodeSetting>& nodes) : plan_(original) {
  if (nodes.empty()) return;
  tasks_.assign(original.tasks, original.tasks + original.n_tasks);
  policies_.assign(original.policies, original.policies + original.n_policies);
  for (const NodeSetting& setting : nodes) Apply(setting);
  plan_.tasks = tasks_.data();
  plan_.policies = policies_.data();
  plan_.n_policies = static_cast<uint32_t>(policies_.size());
}

// Every task that changes gets a policy of its own, since others may share the one that it has.
void RetunedPlan::Apply(const NodeSetting& setting) {
  ForEachTask(plan_, setting.path, [&](uint32_t i, const wf_task& task) {
    const bool times = HasTimeout(plan_, task) && setting.timeout_ns.has_value();
    const bool orders = IsOrdered(task) && setting.priority.has_value();
    if (!times && !orders && !CallsModel(task)) return;
    wf_policy policy = task.policy == WF_NONE ? DefaultPolicy() : plan_.policies[task.policy];
    if (times) policy.timeout_ns = *setting.timeout_ns;
    if (orders) policy.priority = *setting.priority;
    if (CallsModel(task)) {
      if (setting.batch) policy.batch_max = static_cast<uint32_t>(*setting.batch);
      if (setting.within_ns) policy.delay_ns = *setting.within_ns;
      if (setting.instances) policy.instances = static_cast<uint16_t>(*setting.instances);
      if (setting.threads) policy.threads = static_cast<uint16_t>(*setting.threads);
      if (setting.queue) policy.queue_max = static_cast<uint32_t>(*setting.queue);
      if (!setting.pad.empty()) {
        policy.bucket = setting.pad.data();
        policy.n_buckets = static_cast<uint16_t>(setting.pad.size());
      }
    }
    WF_CHECK(policies_.size() < WF_NONE, policies_.size());
    tasks_[i].policy = static_cast<uint16_t>(policies_.size());
    policies_.push_back(policy);
  });
}

}  // namespace wf::server
