#include "compiler/ir/verify.h"

#include <algorithm>

#include "compiler/ir/waits.h"

namespace wf::ir {
namespace {

template <typename Id>
size_t Index(Id id) {
  return static_cast<size_t>(id);
}
template <typename Id, typename T>
bool In(Id id, const std::vector<T>& table) {
  return Index(id) < table.size();
}

class ProgramVerifier {
 public:
  explicit ProgramVerifier(const Program& program) : program_(program), writer_(program.slots.size(), TaskId::kNone) {}

  std::optional<std::string> Run() {
    for (const Task& task : program_.tasks) {
      for (const RegionId target : task.targets) {
        if (!In(target, program_.regions)) return "a task enters a region that is not there";
      }
    }
    entered_by_ = EnteredBy(program_);
    for (size_t i = 0; i < program_.regions.size(); ++i) Check(CheckRegion(RegionId{static_cast<uint32_t>(i)}), "region r", i);
    for (size_t i = 0; i < program_.tasks.size(); ++i) Check(CheckTask(TaskId{static_cast<uint32_t>(i)}), "task t", i);
    for (size_t i = 0; i < program_.workflows.size(); ++i) Check(CheckWorkflow(program_.workflows[i]), "workflow ", i);
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      bool holds = node.stage == StageId::kNone || In(node.stage, program_.stages);
      for (const NodeId read : node.reads) holds = holds && In(read, program_.nodes);
      Check(holds ? "" : "a stage or node that is not there", "node n", i);
    }
    return error_;
  }

 private:
  void Check(const std::string& text, const char* what, size_t index) {
    if (!text.empty() && !error_) error_ = what + std::to_string(index) + ": " + text;
  }

  bool IsInside(RegionId inner, RegionId outer) const {  // inner is outer or nested in it
    for (RegionId at = inner; at != RegionId::kNone; at = program_[at].parent) {
      if (at == outer) return true;
    }
    return false;
  }

  std::string CheckRegion(RegionId id) {
    const Region& region = program_[id];
    if (region.parent != RegionId::kNone && (!In(region.parent, program_.regions) || region.parent >= id)) {
      return "the parent does not come before it";
    }
    for (size_t i = 0; i < region.tasks.size(); ++i) {
      if (!In(region.tasks[i], program_.tasks) || program_[region.tasks[i]].region != id) return "a task of another region";
      if (i > 0 && Index(region.tasks[i]) != Index(region.tasks[i - 1]) + 1) return "its tasks are not consecutive";
    }
    for (size_t i = 0; i < region.slots.size(); ++i) {
      if (!In(region.slots[i], program_.slots) || program_[region.slots[i]].region != id) return "a slot of another region";
      if (i > 0 && Index(region.slots[i]) != Index(region.slots[i - 1]) + 1) return "its slots are not consecutive";
    }
    if (region.result != SlotId::kNone && (!In(region.result, program_.slots) || program_[region.result].region != id)) {
      return "its result is not a slot of its own";
    }
    if (region.on_error != RegionId::kNone) {
      if (!In(region.on_error, program_.regions) || program_[region.on_error].parent != region.parent)
        return "a fallback of another parent";
      if (program_[region.on_error].slots.empty()) return "a fallback without its `err` slot";
    }
    return "";
  }

  std::string CheckTask(TaskId id) {
    const Task& task = program_[id];
    if (!In(task.region, program_.regions)) return "no region";
    const auto& siblings = program_[task.region].tasks;  // consecutive
    const size_t place = siblings.empty() ? 0 : Index(id) - Index(siblings.front());
    if (place >= siblings.size() || siblings[place] != id) return "its region does not list it";
    if (task.out != SlotId::kNone) {
      if (!In(task.out, program_.slots) || program_[task.out].region != task.region) return "its out slot is of another region";
      if (writer_[Index(task.out)] != TaskId::kNone) return "its out slot has another writer";
      writer_[Index(task.out)] = id;
    }
    for (const SlotId slot : task.in) {
      if (!IsReadable(slot, id)) return "reads a slot that is not written before it";
    }
    for (const SlotId slot : task.settled) {
      if (!IsReadable(slot, id)) return "waits for a slot that is not written before it";
    }
    for (const TaskId before : task.after) {
      if (!In(before, program_.tasks) || program_[before].region != task.region || before >= id)
        return "comes after a task that is not before it";
    }
    if (task.policy != PolicyId::kNone && !In(task.policy, program_.policies)) return "no such policy";
    if (task.node != NodeId::kNone && !In(task.node, program_.nodes)) return "no such node";
    if (task.chain != TaskId::kNone && (!In(task.chain, program_.tasks) || Index(task.chain) != Index(id) + 1)) {
      return "its chain is not the next task";
    }
    if (std::optional<std::string> text = VerifyBody(program_, task.body)) return *text;
    std::string text = CheckKind(id, task);
    return text.empty() ? CheckReads(task) : text;
  }

  // Parameters have no writer; every other slot is written by an earlier task of its region.
  bool IsReadable(SlotId slot, TaskId reader) const {
    if (!In(slot, program_.slots) || !IsInside(program_[reader].region, program_[slot].region)) return false;
    const TaskId writer = writer_[Index(slot)];
    return writer == TaskId::kNone || writer < reader || program_[writer].region != program_[reader].region;
  }

  std::string CheckKind(TaskId id, const Task& task) const {
    for (size_t i = 0; i < task.targets.size(); ++i) {
      if (!In(task.targets[i], program_.regions) || program_[task.targets[i]].parent != task.region)
        return "enters a region of another parent";
      if (i > 0 && Index(task.targets[i]) != Index(task.targets[i - 1]) + 1) return "its targets are not consecutive";
      const SlotId result = program_[task.targets[i]].result;
      if (task.kind == TaskKind::kEach || task.out == SlotId::kNone) continue;
      if (result == SlotId::kNone || !Fits(program_.types, program_[result].type, program_[task.out].type))
        return "a region's result does not fit";
    }
    const TypeId yielded =
        task.body.empty() || task.body.blocks[0].result == ValueId::kNone ? TypeId::kNone : task.body[task.body.blocks[0].result].type;
    switch (task.kind) {
      case TaskKind::kRun:
        if (task.body.empty()) return "no body";
        if (task.out != SlotId::kNone && yielded != TypeId::kNone && !Fits(program_.types, yielded, program_[task.out].type)) {
          return "its body yields " + program_.types.ToString(yielded) + " for " + program_.types.ToString(program_[task.out].type);
        }
        return "";
      case TaskKind::kModel:
        if (!In(task.model, program_.models) || task.policy == PolicyId::kNone) return "no model or policy";
        return task.in.size() == program_.models[Index(task.model)].in.size() ? "" : "a slot for each input of the model wanted";
      case TaskKind::kEnter:
        return task.targets.size() == 1 && task.body.empty() ? "" : "one region and no body wanted";
      case TaskKind::kSelect:
      case TaskKind::kEach:
        if (task.targets.empty() || yielded == TypeId::kNone) return "regions, and a body that picks wanted";
        return program_.types[yielded].dtype == DType::kI64 ? "" : "its body must yield i64";
      case TaskKind::kReturn:
        return id == program_[task.region].tasks.back() ? CheckReturn(task) : "a return that does not stand last in its region";
      case TaskKind::kRemote:
        return task.remote < program_.remotes.size() && task.out != SlotId::kNone ? "" : "no remote or no slot";
    }
    return "";
  }

  // It ends the nearest region around it that no SELECT enters: a root, or one that is entered for its result.
  std::string CheckReturn(const Task& task) const {
    RegionId ended = task.region;
    while (entered_by_[Index(ended)] != TaskId::kNone && program_[entered_by_[Index(ended)]].kind == TaskKind::kSelect) {
      if (program_[entered_by_[Index(ended)]].out != SlotId::kNone) return "a return inside an arm that yields a value";
      ended = program_[ended].parent;
    }
    if (program_[ended].parent == RegionId::kNone) return "";
    const SlotId result = program_[ended].result;
    const bool fits =
        task.in.size() == 1 && result != SlotId::kNone && Fits(program_.types, program_[task.in[0]].type, program_[result].type);
    return fits ? "" : "returns what is not the result of the region that it ends";
  }

  // What a body reads is among its task's inputs.
  std::string CheckReads(const Task& task) const {
    for (const Block& block : task.body.blocks) {
      for (const ValueId id : block.ops) {
        if (task.body[id].kind != OpKind::kSlot) continue;
        const SlotId slot{static_cast<uint32_t>(task.body[id].imm)};
        if (std::find(task.in.begin(), task.in.end(), slot) == task.in.end()) return "its body reads a slot that is not among its inputs";
      }
    }
    return "";
  }

  std::string CheckWorkflow(const Workflow& workflow) const {
    if (!In(workflow.root, program_.regions) || program_[workflow.root].parent != RegionId::kNone) return "its root is not a root region";
    for (const auto* ports : {&workflow.in, &workflow.out}) {
      for (const Port& port : *ports) {
        if (!In(port.slot, program_.slots) || program_[port.slot].region != workflow.root)
          return "port " + port.name + " has no slot in its root";
        const bool is_in = ports == &workflow.in;
        if (is_in ? program_[port.slot].type != port.type : !Fits(program_.types, program_[port.slot].type, port.type)) {
          return "port " + port.name + " is not of its slot's type";
        }
      }
    }
    return "";
  }

  const Program& program_;
  std::vector<TaskId> writer_, entered_by_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> Verify(const Program& program) { return ProgramVerifier(program).Run(); }

}  // namespace wf::ir
