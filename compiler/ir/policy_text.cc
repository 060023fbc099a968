#include "compiler/ir/policy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/abi/defaults.h"
#include "runtime/base/units.h"

namespace wf::ir {
namespace {

// As SettingsOf writes them.
size_t RankOf(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kOrder = {"batch",    "queue", "instances", "threads", "precision",
                                                              "priority", "pad",   "timeout",   "retry",   "limit"};
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), word) - kOrder.begin());
}

std::string PriorityName(uint8_t priority) { return priority == 0 ? "high" : priority == 1 ? "normal" : "low"; }

}  // namespace

Settings SettingsOf(const Policy& policy, std::optional<bool> batched, uint32_t limit) {
  Settings settings;
  if (batched) {
    std::string batch = !*batched ? "1" : policy.batch_max == 0 ? "auto" : std::to_string(policy.batch_max);
    if (policy.delay_ns > 0) batch += " within " + base::DurationText(policy.delay_ns);
    settings.emplace_back("batch", batch);
    const uint32_t queue = abi::QueueRows(policy.queue_max, abi::BatchRows(policy.batch_max, *batched));
    settings.emplace_back("queue", std::to_string(queue));
    settings.emplace_back("instances", std::to_string(policy.instances));
    if (policy.threads > 1) settings.emplace_back("threads", std::to_string(policy.threads));
    settings.emplace_back("precision", policy.precision == DType::kNone ? "auto" : std::string(NameOf(policy.precision)));
    settings.emplace_back("priority", PriorityName(policy.priority));
    if (!policy.buckets.empty()) settings.emplace_back("pad", fmt::format("{} to [{}]", policy.padded, fmt::join(policy.buckets, ", ")));
  } else if (policy.priority != Policy().priority) {
    settings.emplace_back("priority", PriorityName(policy.priority));  // in the pool
  }
  if (policy.timeout_ns > 0) settings.emplace_back("timeout", base::DurationText(policy.timeout_ns));
  if (policy.retry > 0) settings.emplace_back("retry", std::to_string(policy.retry));
  if (limit > 0) settings.emplace_back("limit", std::to_string(limit));
  return settings;
}

void Merge(Settings& into, const Settings& from) {
  for (const auto& setting : from) {
    const auto same = [&](const auto& row) { return row.first == setting.first; };
    if (std::any_of(into.begin(), into.end(), same)) continue;
    const auto comes_later = [&](const auto& row) { return RankOf(row.first) > RankOf(setting.first); };
    into.insert(std::find_if(into.begin(), into.end(), comes_later), setting);
  }
}

std::string Joined(const Settings& settings) {
  std::string text;
  for (const auto& [word, value] : settings) text += fmt::format("{}{} {}", text.empty() ? "" : " · ", word, value);
  return text;
}

}  // namespace wf::ir
