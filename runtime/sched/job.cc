#include "runtime/sched/job.h"

#include "runtime/base/working.h"

#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

std::byte* AddressOf(const bus::PlanIndex& index, const bus::Instance& instance, uint16_t slot) {
  return static_cast<std::byte*>(instance.frames[index.HopsTo(instance.region, slot)]) + index.plan().slots[slot].offset;
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
  const base::TimePoint started = clock.Now();
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
  if (memory == nullptr) Fail(bus::kMemoryCap, bus::kOutOfMemory.message);
  return memory;
}

void Job::Fail(wf_code code, std::string_view text) noexcept {
  context.task = tasks[n_tasks - 1];
  context.Fail(code, 0, text);
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
    context.failure = &bus::kOutOfMemory;
    return false;
  }
  for (int i = 0; i < model.n_in; ++i) in[i] = reinterpret_cast<const wf_tensor*>(AddressOf(index, *instance, task.in[i]));
  std::byte* const value = AddressOf(index, *instance, task.out);
  const wf_type& type = index.plan().types[index.plan().slots[task.out].type];
  if (type.kind == WF_T_TENSOR) out[0] = reinterpret_cast<wf_tensor*>(value);
  for (int i = 0; type.kind == WF_T_RECORD && i < type.n_fields; ++i) out[i] = reinterpret_cast<wf_tensor*>(value + type.fields[i].offset);
  inputs = in;
  outputs = out;
  return true;
}

}  // namespace wf::sched
