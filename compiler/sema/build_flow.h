#pragma once

#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

// Control flow of statements: a workflow's own statements are tasks of one region, those of each arm of an `if` of a region inside it.
// Internal to BuildIr.
namespace wf::sema {

// The flow that statements go into now, and its control points: tasks that let control pass or not.
// Thread: loop-confined.   Borrows: program.
class ControlFlow {
 public:
  explicit ControlFlow(ir::Program& program) : out_(program) {}

  void Begin(ir::RegionId root);
  // Statements go into an arm while this lives; what follows it waits for nothing in it.
  class Arm {
   public:
    Arm(ControlFlow& flow, ir::RegionId region);
    ~Arm();
    Arm(const Arm&) = delete;
    Arm& operator=(const Arm&) = delete;

   private:
    ControlFlow& flow_;
    const ir::RegionId region_;
    std::vector<ir::TaskId> controls_, exits_;
    const size_t n_annotations_;
  };

  ir::RegionId region() const { return region_; }
  const std::vector<ir::TaskId>& controls() const { return controls_; }  // what a task of the flow waits for
  const std::vector<ir::TaskId>& annotations() const { return annotations_; }

  void AddAnnotation(ir::TaskId id) { annotations_.push_back(id); }
  // What follows waits for `id`. When it comes after all control points above, it stands for them: it has waited.
  void AddGate(ir::TaskId id, bool after_all, bool may_return);
  // All that follows waits for this gate, whatever stands for it.
  void KeepGate(ir::TaskId id) { exits_.push_back(id); }
  bool is_long() const;  // more gates than a task should list
  // Takes away what need not be waited for, when all tasks are there.
  void Prune();

 private:
  void PruneRegion(ir::RegionId region);

  ir::Program& out_;
  ir::RegionId region_ = ir::RegionId::kNone;
  std::vector<ir::TaskId> controls_;     // of this flow, so far, without those that a later one stands for
  std::vector<ir::TaskId> exits_;        // of those, the ones behind which nothing may decide before them
  std::set<ir::TaskId> early_returns_;   // control points that may end the workflow well
  std::vector<ir::TaskId> annotations_;  // of this flow and those around
  std::vector<ir::RegionId> regions_;    // all that hold statements
};

}  // namespace wf::sema
