#include "compiler/ir/print.h"

#include <unordered_map>

#include "compiler/ir/scalar.h"

namespace wf::ir {
namespace {

constexpr const char* kReduceNames[] = {"sum", "prod", "min", "max", "any", "all"};
constexpr const char* kTaskNames[] = {"run", "model", "remote", "enter", "select", "each", "return"};
constexpr const char* kStoreNames[] = {"in_frame", "dynamic", "staged", "constant"};

class BodyPrinter {
 public:
  BodyPrinter(const Program& program, const Body& body) : program_(program), body_(body) {}

  void Block(BlockId id, size_t indent) {
    const ir::Block& block = body_[id];
    for (const ValueId op : block.ops) Operation(op, indent);
    if (block.result != ValueId::kNone) text_ += std::string(indent, ' ') + "yield " + Name(block.result) + "\n";
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string Name(ValueId id) {
    if (id == ValueId::kNone) return "%none";
    const auto [at, is_new] = numbers_.try_emplace(static_cast<uint32_t>(id), numbers_.size());
    return "%" + std::to_string(at->second);
  }

  std::string Immediate(const Op& op) const {
    switch (op.kind) {
      case OpKind::kScalar:
      case OpKind::kExtent:
        return " " + ScalarText(program_.types[op.type].dtype, op.imm);
      case OpKind::kConstant: {
        const Constant& constant = program_.constants[op.imm];
        std::string text = ToString(program_.types, constant.type, constant.value);
        if (text.size() > 60) text = text.substr(0, 60) + "..";
        return " #" + std::to_string(op.imm) + " " + text;
      }
      case OpKind::kText:
        return " " + ToString(program_.types, program_.constants[op.imm].type, program_.constants[op.imm].value);
      case OpKind::kSlot:
        return " @" + std::to_string(op.imm) + " " + program_.slots[op.imm].name;
      case OpKind::kReduce:
        return std::string(" ") + kReduceNames[op.imm];
      case OpKind::kDim:
      case OpKind::kField:
      case OpKind::kStickyIf:
      case OpKind::kFailIf:
        return " " + std::to_string(op.imm);
      case OpKind::kNative:
        return " " + program_.natives[op.imm];
      default:
        return "";
    }
  }

  void Operation(ValueId id, size_t indent) {
    const Op& op = body_[id];
    text_ += std::string(indent, ' ');
    if (op.type != TypeId::kNone) text_ += Name(id) + ": " + program_.types.ToString(op.type) + " = ";
    text_ += std::string(InfoOf(op.kind).name) + Immediate(op);
    for (size_t i = 0; i < op.args.size(); ++i) text_ += (i ? ", " : " ") + Name(op.args[i]);
    for (const BlockId nested : op.blocks) {
      text_ += " {";
      const auto& params = body_[nested].params;
      for (size_t i = 0; i < params.size(); ++i) text_ += (i ? ", " : " ") + Name(params[i]);
      text_ += params.empty() ? "\n" : " =>\n";
      Block(nested, indent + 2);
      text_ += std::string(indent, ' ') + "}";
    }
    text_ += "\n";
  }

  const Program& program_;
  const Body& body_;
  std::unordered_map<uint32_t, size_t> numbers_;
  std::string text_;
};

template <typename Id>
std::string List(const char* title, const std::vector<Id>& ids, char mark) {
  if (ids.empty()) return "";
  std::string text = std::string(" ") + title + " [";
  for (size_t i = 0; i < ids.size(); ++i) text += (i ? ", " : "") + (mark + std::to_string(static_cast<uint32_t>(ids[i])));
  return text + "]";
}

void PrintTask(const Program& program, TaskId id, size_t indent, std::string& text) {
  const Task& task = program[id];
  text +=
      std::string(indent, ' ') + "task t" + std::to_string(static_cast<uint32_t>(id)) + " " + kTaskNames[static_cast<size_t>(task.kind)];
  if (task.node != NodeId::kNone) text += " `" + program[task.node].path + "`";
  if (task.model != ModelId::kNone) text += " model " + program.models[static_cast<size_t>(task.model)].name;
  if (task.kind == TaskKind::kRemote) text += " remote " + program.remotes[task.remote];
  text +=
      List("in", task.in, '@') + List("settled", task.settled, '@') + List("after", task.after, 't') + List("enters", task.targets, 'r');
  if (task.out != SlotId::kNone) text += " -> @" + std::to_string(static_cast<uint32_t>(task.out));
  if (task.policy != PolicyId::kNone) text += " policy p" + std::to_string(static_cast<uint32_t>(task.policy));
  if (task.chain != TaskId::kNone) text += " chain t" + std::to_string(static_cast<uint32_t>(task.chain));
  if (task.window != 0) text += " window " + std::to_string(task.window);
  if (task.place != 0) text += " place " + std::to_string(task.place);
  text += std::string(task.control ? " control" : "") + (task.of_parameters ? " of_parameters" : "") + (task.blocking ? " blocking" : "") +
          (task.compute ? " compute" : "") + "\n";
  if (!task.body.empty()) text += PrintBody(program, task.body, indent + 2);
}

void PrintRegion(const Program& program, size_t index, std::string& text) {
  const Region& region = program.regions[index];
  text += "region r" + std::to_string(index);
  if (region.parent != RegionId::kNone) text += " in r" + std::to_string(static_cast<uint32_t>(region.parent));
  if (region.node != NodeId::kNone) text += " `" + program[region.node].path + "`";
  if (region.on_error != RegionId::kNone) text += " on_error r" + std::to_string(static_cast<uint32_t>(region.on_error));
  if (region.result != SlotId::kNone) text += " result @" + std::to_string(static_cast<uint32_t>(region.result));
  text += "\n";
  for (const SlotId id : region.slots) {
    const Slot& slot = program[id];
    text += "  slot @" + std::to_string(static_cast<uint32_t>(id)) + " " + slot.name + ": " + program.types.ToString(slot.type) + " " +
            kStoreNames[static_cast<size_t>(slot.store)] + "\n";
  }
  for (const TaskId id : region.tasks) PrintTask(program, id, 2, text);
}

void PrintPorts(const Program& program, const std::vector<Port>& ports, std::string& text) {
  text += "(";
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    text += (i ? ", " : "") + port.name + ": " + program.types.ToString(port.type);
    if (port.slot != SlotId::kNone) text += " @" + std::to_string(static_cast<uint32_t>(port.slot));
    if (port.if_missing) text += " = " + ToString(program.types, port.type, *port.if_missing);
  }
  text += ")";
}

void PrintPolicy(const Policy& policy, size_t index, std::string& text) {
  text += "policy p" + std::to_string(index) + " timeout " + std::to_string(policy.timeout_ns) + "ns batch " +
          std::to_string(policy.batch_max) + " within " + std::to_string(policy.delay_ns) + "ns queue " + std::to_string(policy.queue_max) +
          " retry " + std::to_string(policy.retry) + " instances " + std::to_string(policy.instances) + " threads " +
          std::to_string(policy.threads) + " priority " + std::to_string(policy.priority) + " precision " +
          std::string(NameOf(policy.precision)) + "\n";
}

}  // namespace

std::string PrintBody(const Program& program, const Body& body, size_t indent) {
  BodyPrinter printer(program, body);
  if (!body.empty()) printer.Block(BlockId{0}, indent);
  return printer.Take();
}

std::string Print(const Program& program) {
  std::string text = "program \"" + program.source_name + "\"\n";
  for (const Model& model : program.models) {
    text += "model " + model.name + " \"" + model.path + "\" ";
    PrintPorts(program, model.in, text);
    text += " -> ";
    PrintPorts(program, model.out, text);
    text += std::string(model.batched ? " batched" : "") + (model.published ? " published" : "") + (model.mixing_allowed ? " mixing" : "") +
            "\n";
  }
  for (size_t i = 0; i < program.policies.size(); ++i) PrintPolicy(program.policies[i], i, text);
  for (const ErrorCode& error : program.errors) text += "error " + error.name + " " + std::to_string(error.code) + "\n";
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    text += "stage s" + std::to_string(i) + " " + stage.workflow + "." + stage.name + (stage.written ? " written" : "") + "\n";
  }
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    text += "node n" + std::to_string(i) + " `" + node.path + "` line " + std::to_string(node.line);
    if (node.stage != StageId::kNone) text += " stage s" + std::to_string(static_cast<uint32_t>(node.stage));
    text += List("reads", node.reads, 'n') + "\n";
  }
  for (const Workflow& workflow : program.workflows) {
    text += "workflow " + workflow.service + "." + workflow.name + (workflow.is_default ? " default " : " ");
    PrintPorts(program, workflow.in, text);
    text += " -> ";
    PrintPorts(program, workflow.out, text);
    text += " root r" + std::to_string(static_cast<uint32_t>(workflow.root)) + " timeout " + std::to_string(workflow.timeout_ns) + "ns\n";
  }
  for (size_t i = 0; i < program.regions.size(); ++i) PrintRegion(program, i, text);
  return text;
}

}  // namespace wf::ir
