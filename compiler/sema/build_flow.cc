#include "compiler/sema/build_flow.h"

#include <algorithm>
#include <unordered_map>

namespace wf::sema {

using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;

namespace {

constexpr size_t kMostGates = 64;  // that a task lists

}  // namespace

void ControlFlow::Begin(RegionId root) {
  region_ = root;
  regions_.push_back(root);
}

ControlFlow::Arm::Arm(ControlFlow& flow, RegionId region)
    : flow_(flow),
      region_(std::exchange(flow.region_, region)),
      controls_(std::exchange(flow.controls_, {})),
      exits_(std::exchange(flow.exits_, {})),
      n_annotations_(flow.annotations_.size()) {
  flow.regions_.push_back(region);
}

ControlFlow::Arm::~Arm() {
  flow_.region_ = region_;
  flow_.controls_ = std::move(controls_);
  flow_.exits_ = std::move(exits_);
  flow_.annotations_.resize(n_annotations_);
}

// Early returns stay beside a gate that stands for them until the next one, since Prune may take it away.
void ControlFlow::AddGate(TaskId id, bool after_all, bool may_return) {
  out_[id].after = after_all ? controls_ : exits_;
  if (may_return) {
    early_returns_.insert(id);
    exits_.clear();
  }
  if (after_all) controls_ = exits_;
  controls_.push_back(id);
  if (may_return) exits_.push_back(id);
}

bool ControlFlow::is_long() const { return controls_.size() > kMostGates; }

void ControlFlow::Prune() {
  for (const RegionId region : regions_) PruneRegion(region);
}

// A control point need not be waited for by what waits for a task that waited for it. What has passed when a task ends are the first
// control points of the flow, however many: their number says which. A task that has failed says nothing: its failure may have overtaken
// what it waits for. So what decides (a control point, a return) and what may start although an input failed waits itself.
void ControlFlow::PruneRegion(RegionId region) {
  std::unordered_map<TaskId, size_t> passed;  // per task: control points that have passed when it ends
  std::unordered_map<TaskId, size_t> places;  // of control points
  std::unordered_map<SlotId, TaskId> writer;
  for (const TaskId id : out_.regions[static_cast<size_t>(region)].tasks) {
    ir::Task& task = out_[id];
    size_t by_inputs = 0, by_control = 0, waited = 0;
    for (const SlotId slot : task.in) {
      if (const auto at = writer.find(slot); at != writer.end()) by_inputs = std::max(by_inputs, passed[at->second]);
    }
    for (const TaskId before : task.after) {
      const auto at = places.find(before);
      if (at == places.end()) continue;
      by_control = std::max(by_control, passed[before]);
      waited = std::max(waited, at->second + 1);
    }
    passed[id] = std::max({by_inputs, by_control, waited});
    if (task.control) places.emplace(id, places.size());
    const bool decides = task.control || task.kind == TaskKind::kReturn;
    const size_t implied = decides ? by_control : std::max(by_inputs, by_control);
    const auto is_implied = [&](TaskId before) {
      const auto at = places.find(before);
      return at != places.end() && at->second < implied && !early_returns_.contains(before);
    };
    if (task.kind != TaskKind::kEnter) std::erase_if(task.after, is_implied);
    if (task.out != SlotId::kNone) writer[task.out] = id;
  }
}

}  // namespace wf::sema
