#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/build_elements.h"

// Internal to BuildIr.
namespace wf::sema {

// Cuts a node into tasks where it waits: models, externs, remotes, called workflows and loops have tasks of their own.
// Thread: loop-confined.   Borrows: all constructor references.
class NodeCutter {
 public:
  NodeCutter(BuildContext& context, const Workflow& workflow, const Stmt& node, TaskWriter& tasks, Values& values)
      : c_(context), out_(context.out), workflow_(workflow), node_(node), tasks_(tasks), values_(values) {}

  ir::SlotId Write();  // with the node's value

 private:
  ir::SlotId WriteValue();
  void Prioritise(size_t first);
  // A slot with the value of `expr`; `is_own`: of the current region, written by a task of its own.
  ir::SlotId Cut(const Expr& expr, const std::string& name, ir::TypeId type_if_fails, bool is_own);
  ir::SlotId CutIn(ir::RegionId region, const Expr& expr, const std::string& name, ir::TypeId type_if_fails);
  // Gives every waiting call in `expr` its tasks and its slot; what is left can be written into one body.
  void CutInside(const Expr& expr);
  void SetCut(const Expr& expr, ir::SlotId slot);  // and what it brought into being

  void CutModel(const Expr& expr);
  bool CutFailing(const Expr& expr);                        // false: every argument is a value
  bool CutStub(const Expr& expr, const std::string& name);  // false: there is no stub
  void CutExtern(const Expr& expr);
  ir::SlotId EnterCall(const Expr& expr);
  ir::SlotId AddCall(const Expr& expr);
  void CutRemote(const Expr& expr);
  std::vector<ir::SlotId> CutArguments(const Expr& expr, ir::Store store, const Workflow* callee = nullptr);
  ir::SlotId CutArgument(const Expr& expr, const Expr* checks_of, ir::Store store, TypeRef param);

  void CutIf(const Expr& expr, size_t first);
  void CutLazy(const Expr& expr);
  void CutBlock(const Expr& expr);
  ir::SlotId AddSelect(const Values::WriteBody& pick, const std::vector<std::function<ir::SlotId(ir::TypeId)>>& arms);

  // ---- build_nested.cc ----
  void CutWorkflow(const Expr& expr);
  void CutEach(const Expr& expr);
  ir::SlotId CutElement(const Expr& each, ir::RegionId body);
  ir::ValueId WriteCount(BodyWriter& writer, const Expr& each, const std::vector<ir::SlotId>& sources);
  struct Attempt {
    const Expr& value;
    const Expr* fallback;
    LocalId err_local;
    ir::PolicyId policy;
    bool is_node;  // not an element of one
  };
  ir::SlotId Enter(const std::string& name, const Attempt& attempt);
  ir::SlotId CutFallback(const std::string& name, const Attempt& attempt, ir::RegionId region, ir::TypeId type_if_fails);

  BuildContext& c_;
  ir::Program& out_;
  const Workflow& workflow_;
  const Stmt& node_;
  TaskWriter& tasks_;
  Values& values_;
  std::optional<ElementCount> elements_;          // of the outermost loop
  std::vector<ir::SlotId> counts_;                // numbers of elements of the loops around
  bool in_fallback_ = false;                      // of the node
  size_t fallback_first_ = 0, fallback_end_ = 0;  // its tasks
};

}  // namespace wf::sema
