#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/sema/build_body.h"
#include "compiler/sema/build_tasks.h"

// Internal to BuildIr.
namespace wf::sema {

// Where the bodies of one workflow find what they read, and the tasks whose bodies read it.
// Thread: loop-confined.   Borrows: all constructor references.
class Values : public Outer {
 public:
  using WriteBody = std::function<ir::ValueId(BodyWriter&)>;

  Values(BuildContext& context, const Workflow& workflow, TaskWriter& tasks, bool is_inlined)
      : c_(context), out_(context.out), workflow_(workflow), tasks_(tasks), is_inlined_(is_inlined) {}

  // ---- what there is to read ----
  void SetSlot(LocalId local, ir::SlotId slot) { slots_[local] = slot; }
  void SetLet(LocalId local, const Expr& value) { lets_[local] = &value; }  // written where it is read
  // A local of a `for`: an element of the list in `source`; kNone: the position.
  void SetElement(LocalId local, ir::RegionId region, ir::SlotId source) { elements_[local] = {region, source}; }
  void SetCut(const Expr& expr, ir::SlotId slot) { cut_[&expr] = slot; }
  void TakeCut(const Expr& expr) { cut_.erase(&expr); }
  void SetFlattened(const Expr& block) { flattened_.insert(&block); }
  // Symbols of `type`, whose value is in a local or a slot, and those that it brought into being.
  struct Source {
    std::optional<LocalId> local = {};  // or:
    ir::SlotId slot = ir::SlotId::kNone;
    bool is_part = false;  // of a node
  };
  void AddSymbols(TypeRef type, const Source& source, const std::vector<FreshSymbol>& fresh);
  void AddSymbolsOf(const Stmt& stmt);  // a let or node
  void AddSymbolsOfParameters();

  // What a `let` that is written where it is read means; null: the local is none.
  const Expr* LetOf(LocalId local) const {
    const auto let = lets_.find(local);
    return let == lets_.end() ? nullptr : let->second;
  }
  // The slot of a local, where the expression is nothing but that local.
  std::optional<ir::SlotId> PlainSlot(const Expr& expr) const;

  // ---- tasks ----
  ir::Body Write(ir::Task& task, const WriteBody& write);
  // The body of a task that picks. A loop runs such a body itself, whatever it takes; so what is not sure to be short goes into a RUN
  // before it, whose slot it reads. That RUN, where there is one.
  std::optional<ir::TaskId> WritePick(ir::Task& task, const WriteBody& write);
  // A RUN task; its slot has the type of what the body yields, or `type` when it only fails.
  ir::SlotId AddRun(const std::string& name, const WriteBody& write, ir::TypeId type = ir::TypeId::kNone,
                    ir::Store store = ir::Store::kDynamic);
  // A slot of `type` that never gets a value: its task fails, with the failure of what `expr` reads if that has one.
  ir::SlotId AddFailing(const std::string& name, ir::TypeId type, const Expr* expr);
  ir::TypeId TypeOf(TypeRef type);        // extents that are known of what there is to read are static
  ir::TypeId DeclaredType(TypeRef type);  // kNone: of what never yields

  // ---- Outer ----
  bool Has(LocalId local) const override { return slots_.contains(local) || elements_.contains(local) || lets_.contains(local); }
  ir::ValueId Read(BodyWriter& writer, LocalId local) override;
  std::optional<ir::ValueId> Symbol(BodyWriter& writer, const std::string& symbol) override;
  bool IsAtHand(const ir::Builder& body, const std::string& symbol) const override;
  std::optional<ir::SlotId> CutSlot(const Expr& expr) const override;
  bool IsFlattened(const Expr& block) const override { return flattened_.contains(&block); }

 private:
  struct Element {
    ir::RegionId region;
    ir::SlotId source;
  };
  ir::ValueId ReadElement(BodyWriter& writer, LocalId local, const Element& element);
  struct SymbolSource {
    Source source;
    TypeRef type = nullptr;
    FreshSymbol fresh;
  };

  BuildContext& c_;
  ir::Program& out_;
  const Workflow& workflow_;
  TaskWriter& tasks_;
  const bool is_inlined_;
  std::unordered_map<LocalId, ir::SlotId> slots_;
  std::unordered_map<LocalId, const Expr*> lets_;
  std::unordered_map<LocalId, Element> elements_;
  std::map<std::string, SymbolSource> symbols_;
  std::vector<LocalId> being_written_;  // of which no extent is known yet
  std::unordered_map<const Expr*, ir::SlotId> cut_;
  std::unordered_set<const Expr*> flattened_;
};

}  // namespace wf::sema
