#include <set>

#include "compiler/ir/interpret.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/node_path.h"

// Workflows, task by task in textual order, which is an order of their data flow: sequential, no timing, no retries, no queues.
namespace wf::ir {

class WorkflowRun {
 public:
  WorkflowRun(Interpreter& owner, const Workflow& workflow)
      : owner_(owner),
        program_(owner.program_),
        workflow_(workflow),
        values_(program_.slots.size()),
        failures_(program_.slots.size()),
        behind_slots_(program_.slots.size()),
        behind_tasks_(program_.tasks.size()) {}

  Interpreter::Reply Run(std::vector<Value> inputs) {
    WF_CHECK(inputs.size() == workflow_.in.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) values_[Index(workflow_.in[i].slot)] = std::move(inputs[i]);
    std::optional<Failure> failure = RunRegion(workflow_.root, 0);
    if (returned_) {
      for (const size_t number : behind_region_) owner_.annotations_[number].is_certain = true;
      return {.outputs = std::move(returned_), .failure = {}};
    }
    if (failure) return {.outputs = {}, .failure = std::move(failure)};
    return {.outputs = {}, .failure = Failure{.code = code::kUnknown, .message = "no reply"}};
  }

 private:
  using Made = std::set<size_t>;  // annotations by number: those that stand for certain, because what is known waited for them

  static size_t Index(SlotId slot) { return static_cast<size_t>(slot); }

  // The failure of the region: of a control point, or of its result.
  std::optional<Failure> RunRegion(RegionId id, uint64_t element) {
    const Region& region = program_[id];
    for (const SlotId slot : region.slots) {
      const bool is_given = id == workflow_.root || slot == error_slot_;
      if (!is_given) failures_[Index(slot)].reset();
    }
    Made behind;
    for (const TaskId task_id : region.tasks) {
      const Task& task = program_[task_id];
      behind_region_.clear();
      std::optional<Failure> failure = InputFailure(task);
      const size_t annotated = owner_.annotations_.size();
      if (!failure) failure = RunTask(task, element);
      if (failure && failure->node == NodeId::kNone) Name(*failure, task.node);
      if (task.out != SlotId::kNone) failures_[Index(task.out)] = failure;
      if (returned_ && task.kind != TaskKind::kReturn) return {};
      const Made& made = behind_tasks_[static_cast<size_t>(task_id)] = failure ? Made() : Behind(task, annotated);
      if (task.out != SlotId::kNone) behind_slots_[Index(task.out)] = made;
      behind.insert(made.begin(), made.end());
      if (returned_) {
        behind_region_ = made;
        return {};
      }
      if (failure && (task.control || task.kind == TaskKind::kReturn)) return failure;
    }
    behind_region_ = region.result == SlotId::kNone ? behind : behind_slots_[Index(region.result)];
    return region.result == SlotId::kNone ? std::nullopt : failures_[Index(region.result)];
  }

  // Of a task that has ended well: what it waited for, what it made itself, and what the region waited for that it entered.
  Made Behind(const Task& task, size_t annotated) const {
    Made made = behind_region_;
    if (task.place != 0 && annotated < owner_.annotations_.size()) made.insert(annotated);
    if (task.kind == TaskKind::kEnter && fell_back_) return made;  // a failure does not wait for what stands beside it
    const auto add = [&made](const Made& more) { made.insert(more.begin(), more.end()); };
    for (const SlotId slot : task.in) add(behind_slots_[Index(slot)]);
    for (const SlotId slot : task.settled) add(behind_slots_[Index(slot)]);
    for (const TaskId before : task.after) add(behind_tasks_[static_cast<size_t>(before)]);
    return made;
  }

  void Name(Failure& failure, NodeId node) const {
    failure.node = node;
    if (node == NodeId::kNone) return;
    std::vector<base::FanOutElement> around;
    for (const auto& [loop, element] : elements_) around.push_back({program_[loop].path, element});
    failure.path = base::NodePath(program_[node].path, around);
  }

  std::optional<Failure> InputFailure(const Task& task) const {
    if (task.kind == TaskKind::kEnter && program_[task.targets[0]].on_error != RegionId::kNone) return {};  // the fallback catches it
    for (const SlotId slot : task.in) {
      if (failures_[Index(slot)]) return failures_[Index(slot)];
    }
    return {};
  }

  std::optional<Failure> RunTask(const Task& task, uint64_t element) {
    switch (task.kind) {
      case TaskKind::kRun:
        return Keep(task, owner_.RunBody(task.body, values_, element));
      case TaskKind::kModel:
        return RunModel(task);
      case TaskKind::kEnter:
        return Enter(task, element);
      case TaskKind::kSelect: {
        Outcome arm = owner_.RunBody(task.body, values_, element);
        if (arm.failure) return arm.failure;
        if (arm.value->bits >= task.targets.size()) {
          WF_CHECK(task.out == SlotId::kNone, arm.value->bits);
          return {};
        }
        return RunInto(task, task.targets[arm.value->bits], element);
      }
      case TaskKind::kEach:
        return Each(task, element);
      case TaskKind::kReturn: {
        returned_.emplace();
        for (const SlotId slot : task.in) returned_->push_back(values_[Index(slot)]);
        return {};
      }
      case TaskKind::kRemote:
        return Failure{.code = code::kRpc, .message = "no remote here"};
    }
    return {};
  }

  std::optional<Failure> Keep(const Task& task, Outcome outcome) {
    if (outcome.failure) return outcome.failure;
    if (task.out != SlotId::kNone) {
      WF_CHECK(outcome.value.has_value(), "a body without a result must fail");
      values_[Index(task.out)] = std::move(*outcome.value);
    }
    return {};
  }

  std::optional<Failure> RunModel(const Task& task) {
    if (!owner_.hooks_.model) return Failure{.code = code::kInference, .message = "no models here"};
    std::vector<Value> args;
    for (const SlotId slot : task.in) args.push_back(values_[Index(slot)]);
    return Keep(task, owner_.hooks_.model(task.model, args, program_[task.out].type));
  }

  std::optional<Failure> RunInto(const Task& task, RegionId target, uint64_t element) {
    std::optional<Failure> failure = RunRegion(target, element);
    const SlotId result = program_[target].result;
    if (returned_ && task.kind == TaskKind::kEnter) {
      values_[Index(result)] = std::move((*returned_)[0]);
      returned_.reset();
    }
    if (failure || returned_) return failure;
    if (task.out != SlotId::kNone) values_[Index(task.out)] = values_[Index(result)];
    return {};
  }

  std::optional<Failure> Enter(const Task& task, uint64_t element) {
    const RegionId main = task.targets[0], fallback = program_[main].on_error;
    std::optional<Failure> failure;
    for (const SlotId slot : task.in) {
      if (!failure) failure = failures_[Index(slot)];
    }
    if (!failure) failure = RunInto(task, main, element);
    fell_back_ = failure.has_value();
    if (!failure || fallback == RegionId::kNone) return failure;
    error_slot_ = program_[fallback].slots[0];
    values_[Index(error_slot_)] =
        Value::Items({Value::Scalar(static_cast<uint32_t>(failure->code)), Value::Text(failure->message), Value::Text(failure->path)});
    failure = RunInto(task, fallback, element);
    fell_back_ = true;
    return failure;
  }

  std::optional<Failure> Each(const Task& task, uint64_t element) {
    Outcome count = owner_.RunBody(task.body, values_, element);
    if (count.failure) return count.failure;
    std::vector<Value> items;
    for (uint64_t i = 0; i < count.value->bits; ++i) {
      elements_.emplace_back(task.node, i);
      std::optional<Failure> failure = RunRegion(task.targets[0], i);
      elements_.pop_back();
      if (failure) return failure;
      items.push_back(values_[Index(program_[task.targets[0]].result)]);
    }
    values_[Index(task.out)] = Value::Items(std::move(items));
    behind_region_.clear();
    return {};
  }

  Interpreter& owner_;
  const Program& program_;
  const Workflow& workflow_;
  std::vector<Value> values_;
  std::vector<std::optional<Failure>> failures_;
  std::vector<Made> behind_slots_, behind_tasks_;
  Made behind_region_;      // of the region that has just ended
  bool fell_back_ = false;  // the kEnter that has just ended
  SlotId error_slot_ = SlotId::kNone;
  std::vector<std::pair<NodeId, uint64_t>> elements_;  // of the loops around what runs
  std::optional<std::vector<Value>> returned_;         // by a return that has not yet left the region that it ends
};

Interpreter::Reply Interpreter::RunWorkflow(size_t workflow, std::vector<Value> inputs) {
  return WorkflowRun(*this, program_.workflows[workflow]).Run(std::move(inputs));
}

}  // namespace wf::ir
