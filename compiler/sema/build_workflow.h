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

inline constexpr int kMaxRegionDepth = 64;  // as abi::Verify wants
inline constexpr const char* kDepthLimit = "64 levels of `if`, `for` and called workflows";

// What a statement reads and whether it is left in the program; found before tasks are made.
struct Usage {
  std::vector<std::set<LocalId>> reads;        // per statement: locals of the workflow, those of its fallback too
  std::vector<bool> is_needed;                 // per statement: a node or let that nobody reads is removed
  std::vector<bool> is_shared;                 // per statement: a let that several bodies read, so it is a task of its own
  std::vector<std::optional<size_t>> charged;  // per statement: the first node that reads this let
};
Usage FindUsage(const Workflow& workflow);
bool MayWait(const Expr& expr);  // holds a call that waits or a `for`: needs tasks of its own
size_t CountModelCalls(const Expr& expr);

// Writes the tasks and regions of one workflow; ids are final after Renumber.
// Thread: loop-confined.   Borrows: all constructor references.
class WorkflowBuilder : public Outer {
 public:
  WorkflowBuilder(BuildContext& context, const Workflow& workflow, const std::string& path)
      : c_(context), out_(context.out), workflow_(workflow), path_(path) {}
  // Fills the ports, root and nothing else of `result`.
  void Build(ir::Workflow& result);
  // Writes a call of the workflow: into a region of `parent` whose result is the tuple that it returns.
  ir::RegionId Inline(ir::RegionId parent, const std::vector<ir::SlotId>& args);

  // ---- Outer ----
  ir::ValueId Read(BodyWriter& writer, LocalId local) override;
  std::optional<ir::ValueId> Symbol(BodyWriter& writer, const std::string& symbol) override;
  bool IsParameter(ir::SlotId slot) const override;
  std::optional<ir::SlotId> CutSlot(const Expr& expr) const override;
  bool IsFlattened(const Expr& block) const override { return flattened_.contains(&block); }

 private:
  struct Element {  // a local of a `for`
    ir::RegionId region;
    ir::SlotId source;  // kNone: the local is the position
  };
  ir::ValueId ReadElement(BodyWriter& writer, LocalId local, const Element& element);
  struct SymbolSource {
    std::optional<LocalId> local;  // or:
    ir::SlotId slot = ir::SlotId::kNone;
    TypeRef type = nullptr;
    FreshSymbol fresh;
    bool is_part = false;  // of the node that was built then
  };
  using WriteBody = std::function<ir::ValueId(BodyWriter&)>;

  // ---- statements ----
  void AddPorts(ir::Workflow& result);
  void AddParamSymbols();
  void AddParamChecks();
  void AddNodes();
  std::string PathOf(const std::string& name);
  void BuildStmt(size_t index);
  void BuildNode(size_t index);
  void AddNoReturn(ir::Workflow& result);

  // ---- build_flow.cc: control flow of statements ----
  void Start(ir::RegionId parent);
  size_t BuildBlock(size_t index, uint32_t block);
  size_t BuildIf(size_t index);
  void BuildReturn(const Stmt& stmt);
  ir::SlotId ReturnedTuple(const Stmt& stmt);
  ir::SlotId ReturnedValue(const Stmt& stmt, size_t index);
  void PruneAfter(ir::RegionId flow);
  void AddGate(ir::TaskId id, bool after_all, bool may_return);
  void JoinGates();

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
  int DepthOf(ir::RegionId region) const;
  std::vector<ir::SlotId> OuterReads(ir::RegionId region) const;  // slots of enclosing regions that its tasks read
  void AddSymbols(TypeRef type, std::optional<LocalId> local, ir::SlotId slot, const std::vector<FreshSymbol>& fresh);
  void SetSlot(LocalId local, ir::SlotId slot);

  // ---- build_cut.cc: expressions that wait, in the current region ----
  ir::SlotId Cut(const Expr& expr, const std::string& name, ir::TypeId type_if_fails, bool is_own);
  void CutInside(const Expr& expr);
  void CutModel(const Expr& expr);
  bool CutFailing(const Expr& expr);                                        // false: every argument is a value
  bool CutStub(const Expr& expr, bool is_remote, const std::string& name);  // false: there is no stub
  void CutExtern(const Expr& expr);
  ir::SlotId EnterCall(const Expr& expr);
  ir::SlotId AddCall(const Expr& expr);
  void CutRemote(const Expr& expr);
  std::vector<ir::SlotId> CutArguments(const Expr& expr, ir::Store store);
  ir::SlotId CutArgument(const Expr& expr, const Expr* checks_of, ir::Store store);
  void CutIf(const Expr& expr, size_t first);
  void CutLazy(const Expr& expr);
  void CutBlock(const Expr& expr);
  void CutWorkflow(const Expr& expr);
  void CutEach(const Expr& expr);
  ir::ValueId WriteCount(BodyWriter& writer, const std::vector<ir::SlotId>& sources) const;
  ir::SlotId AddSelect(const std::string& name, const WriteBody& pick, const std::vector<std::function<ir::SlotId(ir::TypeId)>>& arms);
  struct Attempt {
    const Expr& value;
    const Expr* fallback;
    LocalId err_local;
    ir::PolicyId policy;
    bool is_node;  // not an element of one
  };
  ir::SlotId EnterRegion(const std::string& name, const Attempt& attempt);
  void AddInputs(ir::Task& task, ir::RegionId region) const;  // what the region reads from outside
  std::optional<ir::SlotId> PlainSlot(const Expr& expr) const;

  BuildContext& c_;
  ir::Program& out_;
  const Workflow& workflow_;
  std::string path_;
  Usage usage_;
  std::unordered_map<LocalId, ir::SlotId> slots_;
  std::unordered_map<LocalId, const Expr*> lets_;  // written where they are read
  std::map<std::string, SymbolSource> symbols_;
  std::unordered_map<LocalId, Element> elements_;
  std::vector<ir::SlotId> counts_;  // numbers of elements of the loops around
  std::unordered_map<const Expr*, ir::SlotId> cut_;
  std::unordered_set<const Expr*> flattened_;
  std::vector<ir::SlotId> gates_;        // slots of `require`s inside the region: what follows there reads them
  std::vector<ir::NodeId> nodes_;        // per statement
  std::vector<ir::TaskId> controls_;     // of this flow, so far, without those that a later one stands for
  std::vector<ir::TaskId> exits_;        // of those, the ones behind which nothing may decide before them
  std::set<ir::TaskId> early_returns_;   // control points that may end the workflow well
  std::vector<ir::TaskId> annotations_;  // of this flow and those around
  std::vector<ir::RegionId> flows_;      // regions that hold statements
  std::vector<ir::TypeId> result_types_;
  std::vector<ir::Port>* ports_ = nullptr;  // of the results; null when inlined
  bool is_inlined_ = false, has_branches_ = false;
  size_t n_returns_ = 0;
  ir::RegionId root_ = ir::RegionId::kNone, region_ = ir::RegionId::kNone;  // region_: where tasks go now
  ir::RegionId flow_ = ir::RegionId::kNone;                                 // where statements go now
  ir::NodeId node_ = ir::NodeId::kNone, own_node_ = ir::NodeId::kNone;      // own_node_: of the workflow itself
  const Stmt* stmt_ = nullptr;                                              // the node being built
  bool in_fallback_ = false;
  uint16_t first_stage_ = 0;
};

// Puts the tasks and slots of each region next to each other.
void Renumber(ir::Program& program);

}  // namespace wf::sema
