#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/status.h"
#include "runtime/server/config_file.h"

namespace wf::server {

// What `nodes: {Classify/logits: {..}}` of the file says about one node. Unset: as the program says.
struct NodeSetting {
  std::string path;    // as in wf_node
  std::string source;  // "server.yml:7"
  std::optional<int64_t> batch, instances, threads, queue;
  std::optional<int64_t> within_ns, timeout_ns;
  std::optional<uint8_t> priority;
  std::vector<int64_t> pad;                                             // buckets, ascending
  friend bool operator==(const NodeSetting& a, const NodeSetting& b) {  // wherever they are written
    return a.path == b.path && a.batch == b.batch && a.instances == b.instances && a.threads == b.threads && a.queue == b.queue &&
           a.within_ns == b.within_ns && a.timeout_ns == b.timeout_ns && a.priority == b.priority && a.pad == b.pad;
  }
};

inline constexpr std::array<std::string_view, 8> kNodeMembers = {"batch",   "within", "timeout", "instances",
                                                                 "threads", "queue",  "pad",     "priority"};

std::string_view PriorityName(uint8_t priority);  // "high"
bool HasNode(const wf_plan& plan, std::string_view path);
// Takes one entry below `nodes`: entry.path is {"nodes", node, member}. An empty answer, or what is wrong with it, without the place.
std::string AddNodeSetting(const wf_plan& plan, const ConfigEntry& entry, const std::string& source, std::vector<NodeSetting>* nodes);
// What is wrong with one node's members together, once all are there; empty: nothing.
std::string CheckNodeSetting(const wf_plan& plan, const NodeSetting& setting);

// What is in force for a node that has settings: how many, ns of `within` and `timeout`, WF_HIGH and so on.
struct SettingInForce {
  std::string_view name;
  int64_t value = 0;
  bool is_ns = false;
};
// Of a plan that is retuned by it. Of a model's node all that can be changed, for one may follow from another; else what was.
std::vector<SettingInForce> SettingsInForce(const wf_plan& retuned, const NodeSetting& setting);

// That work at one run of a model: as many as the node that asks for most, since its nodes share its plans.
int ThreadsOf(const wf_plan& plan, uint32_t model);

// A plan with other values for some nodes: everything else is shared with the original.
// Thread: immutable.   Owns: tasks and policies.   Borrows: the original and the settings (must outlive it).
// REQUIRES: the settings passed CheckNodeSetting.
class RetunedPlan {
 public:
  RetunedPlan(const wf_plan& original, const std::vector<NodeSetting>& nodes);
  RetunedPlan(const RetunedPlan&) = delete;
  RetunedPlan& operator=(const RetunedPlan&) = delete;

  const wf_plan& plan() const { return plan_; }

 private:
  void Apply(const NodeSetting& setting);

  wf_plan plan_;
  std::vector<wf_task> tasks_;
  std::vector<wf_policy> policies_;
};

}  // namespace wf::server
