#include "compiler/load/server_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "compiler/load/fetch.h"
#include "compiler/load/target.h"
#include "runtime/base/units.h"

namespace wf::load {
namespace {

struct Sample {
  std::string_view name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
};

// name{label="value",...} value
std::optional<Sample> ReadSample(std::string_view line) {
  Sample sample;
  sample.name = line.substr(0, line.find_first_of("{ "));
  line.remove_prefix(sample.name.size());
  while (!line.empty() && line.front() != ' ' && line.front() != '}') {
    line.remove_prefix(1);  // { or ,
    const size_t equals = line.find("=\"");
    if (equals == std::string_view::npos) return std::nullopt;
    std::string& value = sample.labels[std::string(line.substr(0, equals))];
    line.remove_prefix(equals + 2);
    for (; !line.empty() && line.front() != '"'; line.remove_prefix(1)) {
      const bool escaped = line.front() == '\\' && line.size() > 1;
      if (escaped) line.remove_prefix(1);
      value += escaped && line.front() == 'n' ? '\n' : line.front();
    }
    if (line.empty()) return std::nullopt;
    line.remove_prefix(1);
  }
  line.remove_prefix(std::min(line.find(' ') == std::string_view::npos ? line.size() : line.find(' ') + 1, line.size()));
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), sample.value);
  return error == std::errc() ? std::optional(std::move(sample)) : std::nullopt;
}

using Totals = std::vector<Total*>;

ServerTimes::Names NamesOf(const Sample& sample, std::string_view first, std::string_view second) {
  const auto value = [&](std::string_view label) {
    const auto found = sample.labels.find(label);
    return found == sample.labels.end() ? std::string() : found->second;
  };
  return {value(first), value(second)};
}

Totals TotalsOf(std::string_view family, const Sample& sample, ServerTimes& times) {
  if (family == "wf_request_duration_seconds") return {&times.request, &times.workflows[NamesOf(sample, "service", "workflow")]};
  if (family == "wf_batch_size") return {&times.batch};
  if (family == "wf_stage_duration_seconds") return {&times.stages[NamesOf(sample, "workflow", "stage")]};
  if (family == "wf_node_compute_seconds") return {&times.nodes[NamesOf(sample, "workflow", "node")].compute};
  if (family == "wf_queue_wait_seconds") return {&times.nodes[NamesOf(sample, "workflow", "node")].wait};
  return {};
}

Total operator-(const Total& after, const Total& before) { return {after.sum - before.sum, after.count - before.count}; }
ServerTimes::Node operator-(const ServerTimes::Node& after, const ServerTimes::Node& before) {
  return {after.compute - before.compute, after.wait - before.wait};
}

template <typename T>
void Subtract(const std::map<ServerTimes::Names, T>& before, std::map<ServerTimes::Names, T>& after) {
  for (auto& [names, value] : after) {
    if (const auto old = before.find(names); old != before.end()) value = value - old->second;
  }
}

}  // namespace

ServerTimes ReadServerTimes(std::string_view metrics) {
  constexpr std::string_view kSum = "_sum", kCount = "_count";
  ServerTimes times;
  while (!metrics.empty()) {
    const std::string_view line = metrics.substr(0, metrics.find('\n'));
    metrics.remove_prefix(std::min(line.size() + 1, metrics.size()));
    const auto sample = line.starts_with("wf_") ? ReadSample(line) : std::nullopt;
    if (!sample) continue;
    if (sample->name == "wf_node_setting") {
      times.settings[NamesOf(*sample, "workflow", "node")][NamesOf(*sample, "setting", "").first] = sample->value;
      continue;
    }
    for (const std::string_view suffix : {kSum, kCount}) {
      if (!sample->name.ends_with(suffix)) continue;
      for (Total* total : TotalsOf(sample->name.substr(0, sample->name.size() - suffix.size()), *sample, times))
        (suffix == kSum ? total->sum : total->count) += sample->value;
    }
  }
  return times;
}

base::Result<ServerTimes> AskServer(std::string_view url) {
  constexpr int64_t kWithinNs = 5 * base::kNsPerSecond;
  auto target = ParseUrl(url);
  if (!target.ok()) return target.status();
  target->path = "/metrics";
  const auto metrics = Fetch(*target, kWithinNs);
  if (metrics.ok()) return ReadServerTimes(*metrics);
  return base::Status(metrics.status().code(),
                      fmt::format("no metrics of a server at {}, where its admin address is wanted: {}", url, metrics.status().message()));
}

ServerTimes Since(const ServerTimes& before, ServerTimes after) {
  after.request = after.request - before.request;
  after.batch = after.batch - before.batch;
  Subtract(before.workflows, after.workflows);
  Subtract(before.stages, after.stages);
  Subtract(before.nodes, after.nodes);
  std::erase_if(after.nodes, [](const auto& at) { return at.second.compute.count <= 0 && at.second.wait.count <= 0; });
  return after;
}

}  // namespace wf::load
