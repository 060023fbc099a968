#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/sema/build_body.h"

// Statements to tasks. Internal to BuildIr.
namespace wf::sema {

// What a statement reads and whether it is left in the program; found before tasks are made.
struct Usage {
  std::vector<std::set<LocalId>> reads;        // per statement: locals of the workflow, those of its fallback too
  std::vector<bool> is_needed;                 // per statement: a node or let that nobody reads is removed
  std::vector<bool> is_shared;                 // per statement: a let that several bodies read, so it is a task of its own
  std::vector<std::optional<size_t>> charged;  // per statement: the first node that reads this let
};
Usage FindUsage(const Workflow& workflow);
bool MayWait(const Expr& expr);  // holds a model call
void CollectReads(const Expr& expr, std::set<LocalId>& locals);
size_t CountModelCalls(const Expr& expr);

// Writes the tasks and regions of one workflow; ids are final after Renumber.
// Thread: loop-confined.   Borrows: all constructor references.
class WorkflowBuilder : public Outer {
 public:
  WorkflowBuilder(BuildContext& context, const Workflow& workflow, const std::string& path)
      : c_(context), out_(context.out), workflow_(workflow), path_(path) {}
  // Fills the ports, root and nothing else of `result`.
  void Build(ir::Workflow& result);

  // ---- Outer ----
  ir::ValueId Read(BodyWriter& writer, LocalId local) override;
  std::optional<ir::ValueId> Symbol(BodyWriter& writer, const std::string& symbol) override;
  std::optional<ir::SlotId> CutSlot(const Expr& expr) const override;
  bool IsFlattened(const Expr& block) const override { return flattened_.contains(&block); }

 private:
  struct SymbolSource {
    std::optional<LocalId> local;  // or:
    ir::SlotId slot = ir::SlotId::kNone;
    TypeRef type = nullptr;
    FreshSymbol fresh;
  };
  using WriteBody = std::function<ir::ValueId(BodyWriter&)>;

  // ---- statements ----
  void AddPorts(ir::Workflow& result);
  void AddParamChecks();
  void AddNodes();
  void BuildStmt(size_t index);
  void BuildNode(size_t index);
  void BuildReturn(const Stmt& stmt, ir::Workflow& result);
  void AddNoReturn(ir::Workflow& result);
  void PruneAfter();

  // ---- parts ----
  ir::RegionId OpenRegion(ir::RegionId parent, ir::NodeId node);
  ir::SlotId AddSlot(ir::RegionId region, const std::string& name, ir::TypeId type, ir::Store store = ir::Store::kDynamic);
  ir::TaskId AddTask(ir::Task task);
  // A RUN task; its slot has the type of what the body yields, or `type` when it only fails.
  ir::SlotId AddRun(const std::string& name, const WriteBody& write, ir::TypeId type = ir::TypeId::kNone,
                    ir::Store store = ir::Store::kDynamic);
  ir::SlotId AddFailing(const std::string& name, ir::TypeId type, const Expr* expr);
  ir::TypeId DeclaredType(TypeRef type);  // kNone: of what never yields
  ir::TaskId AddControl(const WriteBody& write, bool is_control);
  ir::Body WriteTaskBody(ir::Task& task, const WriteBody& write);
  ir::PolicyId Intern(const ir::Policy& policy);
  bool IsInside(ir::RegionId inner, ir::RegionId outer) const;
  std::vector<ir::SlotId> OuterReads(ir::RegionId region) const;  // slots of enclosing regions that its tasks read
  void AddSymbols(TypeRef type, std::optional<LocalId> local, ir::SlotId slot, const std::vector<FreshSymbol>& fresh);
  void SetSlot(LocalId local, ir::SlotId slot);

  // ---- build_cut.cc: expressions that wait, in the current region ----
  ir::SlotId Cut(const Expr& expr, const std::string& name, ir::TypeId type_if_fails, bool is_own);
  void CutInside(const Expr& expr);
  void CutModel(const Expr& expr);
  ir::SlotId CutArgument(const Expr& expr, const Expr* checks_of);
  void CutIf(const Expr& expr, size_t first);
  void CutLazy(const Expr& expr);
  void CutBlock(const Expr& expr);
  ir::SlotId AddSelect(const std::string& name, const WriteBody& pick, const std::vector<std::function<ir::SlotId(ir::TypeId)>>& arms);
  ir::SlotId EnterRegion(const Stmt& stmt);
  std::optional<ir::SlotId> PlainSlot(const Expr& expr) const;

  BuildContext& c_;
  ir::Program& out_;
  const Workflow& workflow_;
  std::string path_;
  Usage usage_;
  std::unordered_map<LocalId, ir::SlotId> slots_;
  std::unordered_map<LocalId, const Expr*> lets_;  // written where they are read
  std::map<std::string, SymbolSource> symbols_;
  std::unordered_map<const Expr*, ir::SlotId> cut_;
  std::unordered_set<const Expr*> flattened_;
  std::vector<ir::SlotId> gates_;  // slots of `require`s inside the region: what follows there reads them
  std::vector<ir::NodeId> nodes_;  // per statement
  std::vector<ir::TaskId> controls_, annotations_;
  ir::RegionId root_ = ir::RegionId::kNone, region_ = ir::RegionId::kNone;  // region_: where tasks go now
  ir::NodeId node_ = ir::NodeId::kNone, own_node_ = ir::NodeId::kNone;      // own_node_: of the workflow itself
  const Stmt* stmt_ = nullptr;                                              // the node being built
  bool in_fallback_ = false;
  uint16_t first_stage_ = 0;
};

// Puts the tasks and slots of each region next to each other.
void Renumber(ir::Program& program);

}  // namespace wf::sema
