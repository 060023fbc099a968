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
    in[i] = InputFor(plan.types[plan.slots[task.in[i]].type], AddressOf(index, *instance, task.in[i]));
    sound = sound && in[i] != nullptr;
  }
  const wf_type& result = plan.types[plan.slots[task.out].type];
  ForEachOutput(plan, result, AddressOf(index, *instance, task.out), [&](int i, const wf_type& type, std::byte* value) {
    out[i] = type.kind == WF_T_TENSOR ? reinterpret_cast<wf_tensor*>(value) : TensorFor(type);
    sound = sound && out[i] != nullptr;
  });
  if (!sound) context.NoMemory();
  inputs = in;
  outputs = out;
  return sound;
}

// In which models have what is none: a scalar, a string, a list of strings. Without data.
wf_tensor* Job::TensorFor(const wf_type& type) noexcept {
  auto* const tensor = static_cast<wf_tensor*>(arena.Allocate(sizeof(wf_tensor), alignof(wf_tensor)));
  if (tensor == nullptr) return nullptr;
  *tensor = {};
  tensor->dtype = type.kind == WF_T_SCALAR ? type.dtype : uint8_t{WF_TEXTS};
  return tensor;
}

const wf_tensor* Job::InputFor(const wf_type& type, std::byte* value) noexcept {
  if (type.kind == WF_T_TENSOR) return reinterpret_cast<const wf_tensor*>(value);
  wf_tensor* const tensor = TensorFor(type);
  if (tensor == nullptr) return nullptr;
  if (type.kind == WF_T_STRING) {
    tensor->data = value;
    return tensor;
  }
  if (type.kind == WF_T_LIST) {
    const auto& texts = *reinterpret_cast<const wf_list*>(value);
    tensor->data = texts.ptr;
    tensor->rank = 1;
    tensor->dim[0] = static_cast<int64_t>(texts.len);
    tensor->stride[0] = 1;
    return tensor;
  }
  tensor->data = arena.Allocate(WF_ALIGN, WF_ALIGN);  // tensors are readable up to the next multiple
  if (tensor->data == nullptr) return nullptr;
  std::memset(tensor->data, 0, WF_ALIGN);
  std::memcpy(tensor->data, value, type.size);
  return tensor;
}

void Job::KeepOutputs() noexcept {
  const bus::PlanIndex& index = engine_.index();
  const wf_plan& plan = index.plan();
  const wf_task& task = plan.tasks[tasks[n_tasks - 1]];
  const wf_type& result = plan.types[plan.slots[task.out].type];
  ForEachOutput(plan, result, AddressOf(index, *instance, task.out), [&](int i, const wf_type& type, std::byte* value) {
    if (type.kind == WF_T_LIST)
      *reinterpret_cast<wf_list*>(value) = {outputs[i]->data, static_cast<uint64_t>(outputs[i]->dim[0])};
    else if (type.kind != WF_T_TENSOR)
      std::memcpy(value, outputs[i]->data, type.size);
  });
}

}  // namespace wf::sched
