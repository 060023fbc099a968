#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::bus {

enum class EnteredBy : uint8_t { kRequest, kSelect, kEnter, kFailure, kEach };

struct RegionInfo {
  uint32_t instance_bytes = 0;  // header, frame pointers, channels and frame in one block
  uint32_t channels_at = 0, spent_at = 0, frame_at = 0;
  uint16_t n_shared = 0;          // nodes that are several tasks of it
  uint16_t depth = 0;             // roots: 0
  uint16_t entered_by = WF_NONE;  // task of the parent; of a fallback region the WF_ENTER whose attempts it catches
  EnteredBy how = EnteredBy::kRequest;
  bool ended_by_return = false;  // a WF_RETURN ends it, not its result
  bool reusable = false;         // inside a fan-out, and no value that leaves it points into its frame
  std::vector<uint16_t> given;   // slots that have their value when the region is entered: parameters, err
  std::vector<uint16_t> starts;  // tasks that wait for nothing
  struct OuterWait {
    uint16_t task, slot;
  };
  std::vector<OuterWait> outer;  // tasks that wait for slots of regions around, which may settle before the region is entered or after
};

struct TaskInfo {
  uint16_t return_hops = 0;      // WF_RETURN: instances between its own and the one that it ends
  uint16_t share = WF_NONE;      // which of its region's nodes of several tasks it is a part of
  bool ends_node = true;         // no later task of its region is of the same node
  bool starts_strand = false;    // chain != WF_NONE
  bool wakes_inside = false;     // its `next` reaches into regions inside its own
  bool is_outcome = false;       // abi::OutcomeTasks
  bool decides = false;          // of these, a control point or a return
  uint16_t place = 0;            // of these, in the order of the text: those in an arm come before what follows its `if`
  bool reads_twice = false;      // one slot stands in `in` more than once
  std::vector<uint16_t> beside;  // WF_RETURN: slots that it waits for and does not read, those of annotations
};

// What the scheduler asks of a plan again and again, worked out once at load.
// Thread: immutable.   Borrows: plan.   REQUIRES: abi::Verify(plan) is ok.
class PlanIndex {
 public:
  explicit PlanIndex(const wf_plan& plan);

  const wf_plan& plan() const { return plan_; }
  const RegionInfo& region(uint16_t id) const { return regions_[id]; }
  const TaskInfo& task(uint16_t id) const { return tasks_[id]; }
  // Enclosing regions between a task and a slot that it reads: 0 own.
  uint16_t HopsTo(uint16_t region, uint16_t slot) const {
    return static_cast<uint16_t>(regions_[region].depth - regions_[plan_.slots[slot].region].depth);
  }

 private:
  void LinkRegions();
  void FindReturns();
  void FindShares(uint16_t region);
  void FindOutcome();
  void FindPlaces(uint16_t region, uint16_t* next);
  void FindReusable();
  bool PointsIntoFrame(uint16_t type, int depth) const;
  bool HasInFrameData(uint16_t region) const;

  const wf_plan& plan_;
  std::vector<RegionInfo> regions_;
  std::vector<TaskInfo> tasks_;
};

}  // namespace wf::bus
