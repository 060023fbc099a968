#include "runtime/abi/interpret.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <optional>
#include <set>

#include "runtime/abi/outcome.h"
#include "runtime/abi/verify.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/node_path.h"

namespace wf::abi {
namespace {

enum class SlotState : uint8_t { kPending, kReady, kFailed };

struct Cell {
  SlotState state = SlotState::kPending;
  PlanFailure failure;
};

// One region entered once.
struct Scope {
  const Scope* outer = nullptr;
  uint16_t region = 0, entered_by = WF_NONE;  // entered_by: a task
  uint64_t element = 0;
  bool is_flow = false;  // the root, or an arm of a statement `if` in the flow: its control points do not wait for each other
  uint64_t path = 0;
  std::vector<void*> frames;  // own first
  std::vector<Cell> cells;    // by slot - first_slot
  std::vector<uint8_t> done;  // by task - first_task: what waits for it may go on

  std::byte* frame() const { return static_cast<std::byte*>(frames[0]); }
};

// How a region ended. `returned`: by a WF_RETURN, which also ends the SELECT arms around it.
struct Ended {
  PlanFailure failure;
  bool returned = false;
  bool is_held = false;  // an arm of the flow: it waits for what will never come, because a control point beside it has failed
  std::vector<std::pair<const std::byte*, uint32_t>> values;  // of the return, in order
  std::vector<PlanFailure> known;                             // of a flow: failures of its control points
};

class Interpreter {
 public:
  Interpreter(const wf_plan& plan, const Hooks& hooks)
      : plan_(plan),
        hooks_(hooks),
        before_(plan.n_tasks),
        before_inside_(plan.n_tasks),
        is_outcome_(OutcomeTasks(plan)),
        writer_(plan.n_slots, WF_NONE) {
    for (uint16_t id = 0; id < plan.n_tasks; ++id) {
      if (plan.tasks[id].out != WF_NONE) writer_[plan.tasks[id].out] = id;
      for (int i = 0; i < plan.tasks[id].n_next; ++i) before_[plan.tasks[id].next[i]].push_back(id);
      for (const uint16_t next : NextInRegion(plan, id)) before_inside_[next].push_back(id);
    }
  }

  Ended RunRegion(Scope& scope);
  Scope Enter(const Scope& outer, uint16_t task, uint16_t region, uint64_t element, void* frame);

 private:
  struct Step {
    PlanFailure failure;
    std::optional<Ended> returned;
    std::vector<PlanFailure> known = {};  // of an arm of the flow
    bool is_held = false;                 // so is its arm
  };

  const std::byte* ValueOf(const Scope& scope, uint16_t slot) const;
  const Cell& CellOf(const Scope& scope, uint16_t slot) const;
  PlanFailure FailedInput(const Scope& scope, const wf_task& task) const;
  void AddKnown(const Scope& scope, const wf_task& task, const PlanFailure& failure, std::vector<PlanFailure>* known) const;
  void AddFailedInputs(const Scope& scope, const wf_task& task, std::vector<PlanFailure>* known) const;
  bool IsBoundToFail(const Scope& scope, uint16_t id) const;
  bool HaveEnded(const Scope& scope, const std::vector<uint16_t>& tasks) const;
  std::optional<uint16_t> NextTask(const Scope& scope, const std::vector<uint8_t>& begun) const;
  Step RunTask(Scope& scope, uint16_t id);
  Step RunSelect(Scope& scope, uint16_t id);
  Step RunEnter(Scope& scope, uint16_t id, PlanFailure inherited);
  Step RunEach(Scope& scope, uint16_t id);
  PlanFailure RunModel(Scope& scope, uint16_t id);
  Step RunReturn(Scope& scope, uint16_t id);
  PlanFailure Named(const Scope& scope, PlanFailure failure, uint16_t task) const;
  // Ends the task with what its region ended with: copies the result to where `to` points.
  Step Leave(const Scope& inner, Ended ended, std::byte* to);
  void* NewFrame(uint16_t region) { return hooks_.allocate(plan_.regions[region].frame_bytes); }

  const wf_plan& plan_;
  const Hooks& hooks_;
  // By task: those that list it, and those of its region that list it or what is entered through it.
  std::vector<std::vector<uint16_t>> before_, before_inside_;
  std::vector<uint8_t> is_outcome_;
  std::vector<uint16_t> writer_;  // by slot
};

const Scope& ScopeOf(const Scope& scope, uint16_t region) {
  const Scope* at = &scope;
  while (at->region != region) at = at->outer;
  return *at;
}

const std::byte* Interpreter::ValueOf(const Scope& scope, uint16_t slot) const {
  return ScopeOf(scope, plan_.slots[slot].region).frame() + plan_.slots[slot].offset;
}

const Cell& Interpreter::CellOf(const Scope& scope, uint16_t slot) const {
  const Scope& home = ScopeOf(scope, plan_.slots[slot].region);
  return home.cells[slot - plan_.regions[home.region].first_slot];
}

PlanFailure Interpreter::FailedInput(const Scope& scope, const wf_task& task) const {
  for (int i = 0; i < task.n_in; ++i)
    if (const Cell& cell = CellOf(scope, task.in[i]); cell.state == SlotState::kFailed) return cell.failure;
  return {};
}

// All that timing may have the task fail with: it waits for no earlier input, and neither does what wrote that, if nothing catches it.
void Interpreter::AddFailedInputs(const Scope& scope, const wf_task& task, std::vector<PlanFailure>* known) const {
  const auto failed = [&](const wf_task& reader) {
    std::vector<uint16_t> slots;
    std::copy_if(reader.in, reader.in + reader.n_in, std::back_inserter(slots),
                 [&](uint16_t slot) { return CellOf(scope, slot).state == SlotState::kFailed; });
    return slots;
  };
  std::vector<uint16_t> open = failed(task);
  std::set<uint16_t> seen;
  while (!open.empty()) {
    const uint16_t slot = open.back(), writer = writer_[slot];
    open.pop_back();
    if (!seen.insert(slot).second) continue;
    const std::vector<uint16_t> behind =
        writer != WF_NONE && is_outcome_[writer] != 0 ? failed(plan_.tasks[writer]) : std::vector<uint16_t>();
    open.insert(open.end(), behind.begin(), behind.end());
    if (behind.empty()) known->push_back(CellOf(scope, slot).failure);
  }
}

// What the deciding task may have failed with.
void Interpreter::AddKnown(const Scope& scope, const wf_task& task, const PlanFailure& failure, std::vector<PlanFailure>* known) const {
  const size_t before = known->size();
  if (scope.is_flow) AddFailedInputs(scope, task, known);
  if (known->size() == before) known->push_back(failure);
}

PlanFailure Interpreter::Named(const Scope& scope, PlanFailure failure, uint16_t task) const {
  if (failure.task == WF_NONE) failure.task = task;
  if (failure.node == WF_NONE) failure.node = plan_.tasks[task].node;
  if (!failure.path.empty() || failure.node == WF_NONE) return failure;
  const auto text_of = [this](uint16_t node) {
    const wf_bytes& path = plan_.nodes[node].path;
    return std::string_view(reinterpret_cast<const char*>(path.ptr), path.len);
  };
  std::vector<base::FanOutElement> around;
  for (const Scope* at = &scope; at->outer != nullptr; at = at->outer) {
    const wf_task& entering = plan_.tasks[at->entered_by];
    if (entering.kind == WF_EACH && entering.node != WF_NONE) around.push_back({text_of(entering.node), at->element});
  }
  std::reverse(around.begin(), around.end());
  failure.path = base::NodePath(text_of(failure.node), around);
  return failure;
}

Scope Interpreter::Enter(const Scope& outer, uint16_t task, uint16_t region, uint64_t element, void* frame) {
  Scope scope;
  scope.outer = &outer;
  scope.region = region;
  scope.entered_by = task;
  scope.element = element;
  scope.path = ChildPath(outer.path, task, element);
  scope.frames.push_back(frame);
  scope.frames.insert(scope.frames.end(), outer.frames.begin(), outer.frames.end());
  scope.cells.resize(plan_.regions[region].n_slots);
  return scope;
}

Interpreter::Step Interpreter::Leave(const Scope& inner, Ended ended, std::byte* to) {
  if (ended.failure.code != 0) return {ended.failure, {}};
  const uint16_t result = plan_.regions[inner.region].result;
  if (to == nullptr || result == WF_NONE) return {};
  if (ended.returned && !ended.values.empty())
    std::memcpy(to, ended.values[0].first, ended.values[0].second);
  else
    std::memcpy(to, inner.frame() + plan_.slots[result].offset, plan_.slots[result].size);
  return {};
}

Interpreter::Step Interpreter::RunSelect(Scope& scope, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  const int64_t arm = task.fn.pick(hooks_.ctx, scope.frames.data());
  if (arm < 0) return {Named(scope, hooks_.take_failure(WF_FAILED), id), {}};
  if (arm >= task.n_targets) return {};
  const auto region = static_cast<uint16_t>(task.target + arm);
  void* const frame = NewFrame(region);
  if (frame == nullptr) return {Named(scope, {code::kMemoryCap, {}}, id), {}};
  Scope inner = Enter(scope, id, region, 0, frame);
  inner.is_flow = scope.is_flow && task.out == WF_NONE;
  Ended ended = RunRegion(inner);
  if (ended.returned && ended.failure.code == 0) return {{}, std::move(ended)};
  std::vector<PlanFailure> known = std::move(ended.known);
  const bool is_held = ended.is_held && ended.failure.code == 0;
  Step step = Leave(inner, std::move(ended), task.out == WF_NONE ? nullptr : scope.frame() + plan_.slots[task.out].offset);
  if (inner.is_flow) step.known = std::move(known);
  step.is_held = is_held;
  return step;
}

Interpreter::Step Interpreter::RunEnter(Scope& scope, uint16_t id, PlanFailure inherited) {
  const wf_task& task = plan_.tasks[id];
  std::byte* const to = task.out == WF_NONE ? nullptr : scope.frame() + plan_.slots[task.out].offset;
  const int attempts = 1 + (task.policy == WF_NONE ? 0 : plan_.policies[task.policy].retry);
  PlanFailure failure = inherited;
  for (int attempt = 0; inherited.code == 0 && attempt < attempts; ++attempt) {
    if (attempt > 0 && !code::IsRetried(failure.code)) break;
    failure = hooks_.enter ? Named(scope, hooks_.enter(scope.path, id, attempt), id) : PlanFailure();
    if (failure.code != 0) continue;
    Scope inner = Enter(scope, id, task.target, static_cast<uint64_t>(attempt), NewFrame(task.target));
    Step step = inner.frames[0] == nullptr ? Step{Named(scope, {code::kMemoryCap, {}}, id), {}} : Leave(inner, RunRegion(inner), to);
    if (step.failure.code == 0) return step;
    failure = step.failure;
  }
  const uint16_t fallback = plan_.regions[task.target].on_error;
  if (fallback == WF_NONE) return {failure, {}};
  Scope inner = Enter(scope, id, fallback, 0xffff, NewFrame(fallback));
  if (inner.frames[0] == nullptr) return {Named(scope, {code::kMemoryCap, {}}, id), {}};
  const std::string texts = failure.message + failure.path;
  auto* const kept = static_cast<uint8_t*>(hooks_.allocate(texts.size()));  // a value may carry them out of the fallback
  if (kept == nullptr) return {Named(scope, {code::kMemoryCap, {}}, id), {}};
  std::memcpy(kept, texts.data(), texts.size());
  const wf_error error{failure.code, {kept, failure.message.size()}, {kept + failure.message.size(), failure.path.size()}};
  std::memcpy(inner.frame() + plan_.slots[plan_.regions[fallback].first_slot].offset, &error, sizeof(error));
  return Leave(inner, RunRegion(inner), to);
}

Interpreter::Step Interpreter::RunEach(Scope& scope, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  const int64_t count = task.fn.pick(hooks_.ctx, scope.frames.data());
  if (count < 0) return {Named(scope, hooks_.take_failure(WF_FAILED), id), {}};
  if (count > 65536) return {Named(scope, {code::kInputParams, {}}, id), {}};
  const wf_region& body = plan_.regions[task.target];
  const uint32_t size = body.result == WF_NONE ? 0 : plan_.slots[body.result].size;
  auto* const results = static_cast<std::byte*>(hooks_.allocate(static_cast<uint64_t>(count) * size));
  if (results == nullptr && count * size != 0) return {Named(scope, {code::kMemoryCap, {}}, id), {}};
  for (int64_t i = 0; i < count; ++i) {
    Scope inner = Enter(scope, id, task.target, static_cast<uint64_t>(i), NewFrame(task.target));
    if (inner.frames[0] == nullptr) return {Named(scope, {code::kMemoryCap, {}}, id), {}};
    std::memcpy(inner.frame() + body.element_offset, &i, sizeof(i));
    Step step = Leave(inner, RunRegion(inner), size == 0 ? nullptr : results + static_cast<uint64_t>(i) * size);
    if (step.failure.code != 0) return step;
  }
  if (task.out == WF_NONE) return {};
  const wf_list list{results, static_cast<uint64_t>(count)};
  std::memcpy(scope.frame() + plan_.slots[task.out].offset, &list, sizeof(list));
  return {};
}

// A model knows a scalar and a string as a tensor without axes, and a list of strings as one with an axis.
PlanFailure Interpreter::RunModel(Scope& scope, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  const auto is_tensor = [](const wf_type& type) { return type.kind == WF_T_TENSOR; };
  std::deque<wf_tensor> others;
  const auto tensor_of = [&](const wf_type& type, const void* value) {
    wf_tensor tensor{};
    tensor.data = const_cast<void*>(value);
    tensor.dtype = type.kind == WF_T_SCALAR ? type.dtype : uint8_t{WF_TEXTS};
    if (type.kind == WF_T_LIST && value != nullptr) {
      const auto& texts = *static_cast<const wf_list*>(value);
      tensor.data = texts.ptr;
      tensor.rank = 1;
      tensor.dim[0] = static_cast<int64_t>(texts.len);
      tensor.stride[0] = 1;
    }
    return &others.emplace_back(tensor);
  };
  std::vector<const wf_tensor*> inputs;
  for (int i = 0; i < task.n_in; ++i) {
    const wf_type& type = plan_.types[plan_.slots[task.in[i]].type];
    const std::byte* const value = ValueOf(scope, task.in[i]);
    inputs.push_back(is_tensor(type) ? reinterpret_cast<const wf_tensor*>(value) : tensor_of(type, value));
  }
  struct Output {
    const wf_type* type;
    std::byte* place;
  };
  std::byte* const out = scope.frame() + plan_.slots[task.out].offset;
  const wf_type& result = plan_.types[plan_.slots[task.out].type];
  std::vector<Output> places;
  if (result.kind != WF_T_RECORD) places.push_back({&result, out});
  for (int i = 0; result.kind == WF_T_RECORD && i < result.n_fields; ++i)
    places.push_back({&plan_.types[result.fields[i].type], out + result.fields[i].offset});
  std::vector<wf_tensor*> outputs;
  for (const Output& output : places)
    outputs.push_back(is_tensor(*output.type) ? reinterpret_cast<wf_tensor*>(output.place) : tensor_of(*output.type, nullptr));
  PlanFailure failure = hooks_.model(scope.path, id, inputs.data(), outputs.data());
  for (size_t i = 0; failure.code == 0 && i < places.size(); ++i) {
    const wf_type& type = *places[i].type;
    const wf_list list{outputs[i]->data, static_cast<uint64_t>(outputs[i]->dim[0])};
    if (!is_tensor(type)) std::memcpy(places[i].place, type.kind == WF_T_LIST ? &list : outputs[i]->data, type.size);
  }
  return failure;
}

Interpreter::Step Interpreter::RunReturn(Scope& scope, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  Ended ended;
  ended.returned = true;
  for (int i = 0; i < task.n_in; ++i) ended.values.emplace_back(ValueOf(scope, task.in[i]), plan_.slots[task.in[i]].size);
  return {{}, std::move(ended)};
}

Interpreter::Step Interpreter::RunTask(Scope& scope, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  const PlanFailure inherited = FailedInput(scope, task);
  if (task.kind == WF_ENTER) return RunEnter(scope, id, inherited);
  if (inherited.code != 0) return {inherited, {}};
  switch (task.kind) {
    case WF_RUN: {
      if (hooks_.start)
        if (PlanFailure refused = hooks_.start(scope.path, id); refused.code != 0) return {Named(scope, refused, id), {}};
      const wf_code code = task.fn.run(hooks_.ctx, scope.frames.data());
      return {code == 0 ? PlanFailure() : Named(scope, hooks_.take_failure(code), id), {}};
    }
    case WF_MODEL:
      return {Named(scope, RunModel(scope, id), id), {}};
    case WF_SELECT:
      return RunSelect(scope, id);
    case WF_EACH:
      return RunEach(scope, id);
    case WF_RETURN:
      return RunReturn(scope, id);
    default:
      return {Named(scope, {code::kNotImplemented, "remote calls are not built"}, id), {}};
  }
}

bool Interpreter::HaveEnded(const Scope& scope, const std::vector<uint16_t>& tasks) const {
  return std::all_of(tasks.begin(), tasks.end(), [&](uint16_t id) {
    const uint16_t region = plan_.tasks[id].region;
    return ScopeOf(scope, region).done[id - plan_.regions[region].first_task] != 0;
  });
}

// Although it still waits: an input has failed, those before it have settled, and nothing but later inputs is outstanding. What can only
// end the request waits for no input once one has failed, nor for annotations.
bool Interpreter::IsBoundToFail(const Scope& scope, uint16_t id) const {
  const wf_task& task = plan_.tasks[id];
  if (task.kind == WF_ENTER && plan_.regions[task.target].on_error != WF_NONE) return false;
  const bool in_order = is_outcome_[id] == 0;
  int first = 0;
  const auto passes = [&](SlotState state) { return state == SlotState::kReady || (state == SlotState::kPending && !in_order); };
  for (; first < task.n_in && passes(CellOf(scope, task.in[first]).state);) ++first;
  if (first == task.n_in || CellOf(scope, task.in[first]).state != SlotState::kFailed) return false;
  if (!in_order) first = 0;
  return std::all_of(before_[id].begin(), before_[id].end(), [&](uint16_t before) {
    const bool annotates = task.kind == WF_RETURN && (plan_.tasks[before].flags & WF_CONTROL) == 0;
    return HaveEnded(scope, {before}) || annotates ||
           std::find(task.in + first, task.in + task.n_in, plan_.tasks[before].out) != task.in + task.n_in;
  });
}

// The first that is ready, when what is read inside the regions that it enters is there, too. In the flow, when nothing else is left to
// run, one that does not wait for that may be the one that fails first: an `if` whose arms only fail, or what is bound to fail.
std::optional<uint16_t> Interpreter::NextTask(const Scope& scope, const std::vector<uint8_t>& begun) const {
  const wf_region& region = plan_.regions[scope.region];
  std::optional<uint16_t> hasty;
  for (uint16_t i = 0; i < region.n_tasks; ++i) {
    const auto id = static_cast<uint16_t>(region.first_task + i);
    if (begun[i] || !HaveEnded(scope, before_[id])) continue;
    if (HaveEnded(scope, before_inside_[id])) return id;
    const wf_task& task = plan_.tasks[id];
    if (scope.is_flow && task.kind == WF_SELECT && task.out == WF_NONE && !hasty) hasty = id;
  }
  for (uint16_t i = 0; i < region.n_tasks && scope.is_flow && !hasty; ++i)
    if (!begun[i] && IsBoundToFail(scope, static_cast<uint16_t>(region.first_task + i)))
      hasty = static_cast<uint16_t>(region.first_task + i);
  return hasty;
}

Ended Interpreter::RunRegion(Scope& scope) {
  const wf_region& region = plan_.regions[scope.region];
  std::vector<uint8_t> written(region.n_slots, 0);
  for (int i = 0; i < region.n_tasks; ++i)
    if (const uint16_t out = plan_.tasks[region.first_task + i].out; out != WF_NONE) written[out - region.first_slot] = 1;
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i]) scope.cells[i].state = SlotState::kReady;

  std::vector<uint8_t> begun(region.n_tasks, 0);
  scope.done.assign(region.n_tasks, 0);
  Ended ended;
  while (const std::optional<uint16_t> next = NextTask(scope, begun)) {
    const uint16_t id = *next;
    begun[id - region.first_task] = 1;
    const wf_task& task = plan_.tasks[id];
    Step step = RunTask(scope, id);
    if (step.returned && ended.failure.code == 0) {
      step.returned->known = std::move(ended.known);
      return std::move(*step.returned);
    }
    const bool decides = (task.flags & WF_CONTROL) != 0 || task.kind == WF_RETURN;
    if (!step.known.empty())
      ended.known.insert(ended.known.end(), step.known.begin(), step.known.end());
    else if (step.failure.code != 0 && decides)
      AddKnown(scope, task, step.failure, &ended.known);
    if (step.failure.code != 0 && decides) {
      if (ended.failure.code == 0) ended.failure = step.failure;
      if (!scope.is_flow) return ended;
      continue;  // what does not wait for it may have failed before it did
    }
    if (step.is_held) continue;
    if (task.out != WF_NONE) {
      Cell& cell = scope.cells[task.out - region.first_slot];
      cell.state = step.failure.code == 0 ? SlotState::kReady : SlotState::kFailed;
      cell.failure = step.failure;
    }
    scope.done[id - region.first_task] = 1;
  }
  ended.is_held = std::find(scope.done.begin(), scope.done.end(), 0) != scope.done.end();
  if (region.result != WF_NONE && ended.failure.code == 0) ended.failure = scope.cells[region.result - region.first_slot].failure;
  return ended;
}

}  // namespace

bool Outcome::MayReport(wf_code code) const {
  return code == failure.code || std::any_of(known.begin(), known.end(), [&](const PlanFailure& one) { return one.code == code; });
}

Outcome Interpret(const wf_plan& plan, const wf_workflow& workflow, void* frame, uint64_t sample, const Hooks& hooks) {
  Interpreter interpreter(plan, hooks);
  Scope root;
  root.is_flow = true;
  root.region = workflow.root;
  root.path = sample;
  root.frames.push_back(frame);
  root.cells.resize(plan.regions[workflow.root].n_slots);
  Ended ended = interpreter.RunRegion(root);
  Outcome outcome;
  outcome.failure = ended.failure;
  outcome.known = std::move(ended.known);
  if (ended.failure.code != 0) return outcome;
  for (size_t i = 0; i < ended.values.size(); ++i) {
    std::byte* const to = root.frame() + plan.slots[workflow.out[i].slot].offset;
    if (to != ended.values[i].first) std::memmove(to, ended.values[i].first, ended.values[i].second);
  }
  return outcome;
}

}  // namespace wf::abi
