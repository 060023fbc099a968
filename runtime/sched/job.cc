#include "runtime/sched/job.h"

#include <cstring>

#include "runtime/base/slices.h"
#include "runtime/base/working.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

std::byte* AddressOf(const bus::PlanIndex& index, const bus::Instance& instance, uint16_t slot) {
  return static_cast<std::byte*>(instance.frames[index.HopsTo(instance.region, slot)]) + index.plan().slots[slot].offset;
}

// Calls `take` with the number, the type and the place of each output of a model whose slot holds `value`.
template <typename Take>
void ForEachOutput(const wf_plan& plan, const wf_type& type, std::byte* value, Take&& take) {
  if (type.kind != WF_T_RECORD) return take(0, type, value);
  for (int i = 0; i < type.n_fields; ++i) take(i, plan.types[type.fields[i].type], value + type.fields[i].offset);
}

}  // namespace

bool Job::Step(const base::Clock& clock) noexcept {
  if (stopped()) {
    Finish();
    return false;
  }
  const uint16_t id = tasks[n_done];
  const wf_task& task = engine_.plan().tasks[id];
  context.task = id;
  context.failure = nullptr;
  if (task.kind == WF_MODEL) {
    if (!PrepareRow(task, id)) {
      failed = &context.TakeFailure(WF_FAILED);
      started_at[n_done] = clock.Now();
      Finish();
      return false;
    }
    submitted = true;
    if (batcher->Submit(*this)) return false;
    submitted = false;  // withdrawn meanwhile
    Finish();
    return false;
  }
  const base::WorkingOn now(instance->bus->data_id(), task.node == WF_NONE ? nullptr : &engine_.plan().nodes[task.node].path);
  const base::SliceScope slice(base::SliceKind::kTask, engine_.NameOf(*instance, task), instance->bus->data_id());
  const base::TimePoint started = clock.Now();
  started_at[n_done] = started;
  const wf_code code = task.fn.run(&context.head, instance->frames);
  measured_ns[n_done] = clock.Now() - started;
  if (code != 0) {
    failed = &context.TakeFailure(code);
    Finish();
    return false;
  }
  if (++n_done < n_tasks) return true;
  Finish();
  return false;
}

void Job::Finish() noexcept { home->Post(*this); }

void* Job::Allocate(uint64_t bytes) noexcept {
  void* const memory = arena.Allocate(bytes, WF_ALIGN);
  if (memory == nullptr) context.NoMemory();
  return memory;
}

int64_t Job::memory_left() const noexcept { return context.bus->budget.left.load(std::memory_order_relaxed); }

void Job::Fail(wf_code code, std::string_view text) noexcept {
  context.task = tasks[n_tasks - 1];
  context.Fail(code, 0, text, /*for_memory=*/code == code::kRefused);  // a full queue refuses before there is a run
}

void Job::Deliver() noexcept { engine_.Land(*this); }

bool Job::PrepareRow(const wf_task& task, uint16_t id) noexcept {
  const bus::PlanIndex& index = engine_.index();
  const wf_model& model = index.plan().models[task.target];
  const wf_tensor** in = few_inputs_;
  wf_tensor** out = few_outputs_;
  if (model.n_in > kFewPorts) in = static_cast<const wf_tensor**>(arena.Allocate(model.n_in * sizeof(*in), alignof(void*)));
  if (model.n_out > kFewPorts) out = static_cast<wf_tensor**>(arena.Allocate(model.n_out * sizeof(*out), alignof(void*)));
  context.task = id;
  if (in == nullptr || out == nullptr) {
    context.NoMemory();
    return false;
  }
  const wf_plan& plan = index.plan();
  bool sound = true;
  for (int i = 0; i < model.n_in; ++i) {
    const std::byte* const value = AddressOf(index, *instance, task.in[i]);
    const wf_type& type = plan.types[plan.slots[task.in[i]].type];
    in[i] = type.kind == WF_T_SCALAR ? NewScalar(type, value) : reinterpret_cast<const wf_tensor*>(value);
    sound = sound && in[i] != nullptr;
  }
  const wf_type& result = plan.types[plan.slots[task.out].type];
  ForEachOutput(plan, result, AddressOf(index, *instance, task.out), [&](int i, const wf_type& type, std::byte* value) {
    out[i] = type.kind == WF_T_SCALAR ? NewScalar(type, nullptr) : reinterpret_cast<wf_tensor*>(value);
    sound = sound && out[i] != nullptr;
  });
  if (!sound) context.NoMemory();
  inputs = in;
  outputs = out;
  return sound;
}

// A tensor without axes; of an input with a copy of the value, of an output without data until the run.
wf_tensor* Job::NewScalar(const wf_type& type, const std::byte* value) noexcept {
  auto* const tensor = static_cast<wf_tensor*>(arena.Allocate(sizeof(wf_tensor), alignof(wf_tensor)));
  if (tensor == nullptr) return nullptr;
  *tensor = {};
  tensor->dtype = type.dtype;
  if (value == nullptr) return tensor;
  tensor->data = arena.Allocate(WF_ALIGN, WF_ALIGN);  // tensors are readable up to the next multiple
  if (tensor->data == nullptr) return nullptr;
  std::memset(tensor->data, 0, WF_ALIGN);
  std::memcpy(tensor->data, value, type.size);
  return tensor;
}

void Job::KeepScalars() noexcept {
  const bus::PlanIndex& index = engine_.index();
  const wf_plan& plan = index.plan();
  const wf_task& task = plan.tasks[tasks[n_tasks - 1]];
  const wf_type& result = plan.types[plan.slots[task.out].type];
  ForEachOutput(plan, result, AddressOf(index, *instance, task.out), [&](int i, const wf_type& type, std::byte* value) {
    if (type.kind == WF_T_SCALAR) std::memcpy(value, outputs[i]->data, type.size);
  });
}

}  // namespace wf::sched
