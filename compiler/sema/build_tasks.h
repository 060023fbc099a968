#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/sema/build_flow.h"

// Internal to BuildIr.
namespace wf::sema {

inline constexpr int kMaxRegionDepth = 64;  // as abi::Verify wants
inline constexpr const char* kDepthLimit = "64 levels of `if`, `for` and called workflows";

// Makes regions, slots and tasks, and knows where the next ones go; ids are final after Renumber.
// Thread: loop-confined.   Borrows: program, flow.
class TaskWriter {
 public:
  TaskWriter(ir::Program& program, const ControlFlow& flow) : out_(program), flow_(flow) {}

  ir::RegionId region() const { return region_; }
  ir::NodeId node() const { return node_; }
  void set_node(ir::NodeId node) { node_ = node; }
  void Begin(ir::RegionId root) { region_ = root; }
  // Tasks go into another region while this lives; the gates of the one around do not hold there.
  class Inside {
   public:
    Inside(TaskWriter& tasks, ir::RegionId region)
        : tasks_(tasks), region_(std::exchange(tasks.region_, region)), gates_(std::exchange(tasks.gates_, {})) {}
    ~Inside() {
      tasks_.region_ = region_;
      tasks_.gates_ = std::move(gates_);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    TaskWriter& tasks_;
    const ir::RegionId region_;
    std::vector<ir::SlotId> gates_;
  };
  void AddGate(ir::SlotId slot) { gates_.push_back(slot); }
  // Of a statement in a block, in their order: of several that failed, a reader takes the failure of the first. A node has its own behind
  // those around it, which tasks of the workflow that a block calls wait for, too.
  void AddStep(ir::SlotId slot) { steps_.try_emplace(slot, steps_.size()); }
  size_t steps() const { return steps_.size(); }
  void DropStepsFrom(size_t first) {
    std::erase_if(steps_, [first](const auto& step) { return step.second >= first; });
  }
  bool has_gates() const { return !gates_.empty(); }

  ir::RegionId OpenRegion(ir::RegionId parent);
  ir::SlotId AddSlot(ir::RegionId region, const std::string& name, ir::TypeId type, ir::Store store = ir::Store::kDynamic);
  ir::Task NewTask(ir::TaskKind kind) const { return {.kind = kind, .region = region_, .node = node_}; }
  ir::TaskId AddTask(ir::Task task);
  // The slot that it writes.
  ir::SlotId AddTask(ir::Task task, const std::string& name, ir::TypeId type, ir::Store store = ir::Store::kDynamic);
  ir::PolicyId Intern(const ir::Policy& policy);

  bool IsInside(ir::RegionId inner, ir::RegionId outer) const;
  int DepthOf(ir::RegionId region) const;
  // Slots of enclosing regions that its tasks read.
  struct Reads {
    std::vector<ir::SlotId> in, settled;  // settled: by fallbacks alone, which may not run
  };
  Reads OuterReads(ir::RegionId region) const;
  void AddInputs(ir::Task& task, ir::RegionId region) const;      // what the region reads from outside
  void AddFallback(ir::Task& task, ir::RegionId fallback) const;  // what it reads has settled, and may have failed

 private:
  void SortSteps(std::vector<ir::SlotId>& slots) const;  // before all others

  ir::Program& out_;
  const ControlFlow& flow_;
  ir::RegionId region_ = ir::RegionId::kNone;
  ir::NodeId node_ = ir::NodeId::kNone;
  std::vector<ir::SlotId> gates_;  // inside the region, of `require`s and lets that nobody may read: what follows there waits for them
  std::unordered_map<ir::SlotId, size_t> steps_;  // each with its place
};

// Puts the tasks and slots of each region next to each other.
void Renumber(ir::Program& program);

}  // namespace wf::sema
