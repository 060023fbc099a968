#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/sema/build_usage.h"
#include "compiler/sema/build_values.h"

// Internal to BuildIr.
namespace wf::sema {

// Statements to tasks: writes the tasks and regions of one workflow. What a statement waits for is the flow's, what it reads the values';
// a node is cut by a NodeCutter, which writes the workflows that it calls by builders of their own.
// Thread: loop-confined.   Borrows: all constructor references.
class WorkflowBuilder {
 public:
  // `parent`: the region that it is called in; kNone: a workflow of its own.
  WorkflowBuilder(BuildContext& context, const Workflow& workflow, const std::string& path, ir::RegionId parent = ir::RegionId::kNone);
  // Fills the ports, root and nothing else of `result`.
  void Build(ir::Workflow& result);
  // Writes a call: a region whose result is the tuple that the workflow returns.
  ir::RegionId BuildCall(const std::vector<ir::SlotId>& args);

 private:
  void AddNodes(const std::string& path);
  void AddPorts(ir::Workflow& result);
  void AddParamChecks();

  // ---- statements ----
  size_t BuildBlock(size_t index, uint32_t block);
  void BuildStmt(size_t index);
  void BuildLet(const Stmt& stmt, bool is_shared);
  void BuildAnnotate(const Stmt& stmt);
  void BuildNode(const Stmt& stmt);
  size_t BuildIf(size_t index);
  size_t BuildArms(size_t index, size_t first, size_t next);
  void BuildRequire(size_t index);
  void AddControlPoint(const Values::WriteBody& pick, size_t n_arms, const std::function<void(size_t)>& build_arm);
  void BuildReturn(const Stmt& stmt);
  bool OnlyFail(const std::vector<ir::RegionId>& arms) const;
  ir::SlotId ReturnedTuple(const Stmt& stmt);
  ir::SlotId ReturnedValue(const Stmt& stmt, size_t index);
  void AddNoReturn(ir::Workflow& result);

  ir::TaskId AddEffect(const Values::WriteBody& write, bool is_control);
  void AddGate(ir::TaskId id, bool after_all, bool may_return);

  BuildContext& c_;
  ir::Program& out_;
  const Workflow& workflow_;
  const Usage usage_;
  const bool is_called_, has_branches_;
  ControlFlow flow_;
  TaskWriter tasks_;
  Values values_;
  const ir::RegionId root_;
  ir::NodeId own_node_ = ir::NodeId::kNone;  // of the workflow itself
  std::vector<ir::NodeId> nodes_;            // per statement
  std::vector<ir::TypeId> result_types_;
  std::vector<ir::Port>* ports_ = nullptr;  // of the results; null when called
  size_t n_returns_ = 0;
};

}  // namespace wf::sema
