#include "tests/bench/loop/recorder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/abi/dtype.h"
#include "runtime/abi/version.h"
#include "runtime/base/check.h"

// This program stands in for the archive that a plan names.
extern "C" const char WF_ABI_SYMBOL = 1;

namespace wf::bench {
namespace {

Recorder* current = nullptr;
constexpr size_t kMaxTasks = 512;

// A body does not know its task: one function per task does.
template <size_t kTask>
wf_code Thunk(wf_ctx* ctx, void* const* frame) {
  return current->RunTask(kTask, ctx, frame);
}
template <size_t... kTasks>
constexpr std::array<wf_run_fn, sizeof...(kTasks)> MakeThunks(std::index_sequence<kTasks...>) {
  return {Thunk<kTasks>...};
}
constexpr auto kThunks = MakeThunks(std::make_index_sequence<kMaxTasks>());

size_t DepthOf(const wf_plan& plan, uint16_t region) {
  size_t depth = 1;
  for (; plan.regions[region].parent != WF_NONE; region = plan.regions[region].parent) ++depth;
  return depth;
}

}  // namespace

Scratch::Scratch() : memory_(static_cast<uint8_t*>(std::aligned_alloc(WF_ALIGN, kBytes)), std::free) {}

void* Scratch::Allocate(uint64_t bytes) {
  const uint64_t size = (bytes + WF_ALIGN) / WF_ALIGN * WF_ALIGN;
  WF_CHECK(size <= kBytes - used_, bytes);
  used_ += size;
  return memory_.get() + used_ - size;
}

void* Scratch::Grow(const void* block, uint64_t used, uint64_t bytes) {
  constexpr uint64_t kBehind = 64;
  const bool again = static_cast<const uint8_t*>(block) + used == grown_end_;
  if (again && bytes - used <= grown_room_) {
    grown_end_ += bytes - used;
    grown_room_ -= bytes - used;
    return const_cast<void*>(block);
  }
  grown_room_ = again ? bytes : 0;
  auto* const copy = static_cast<uint8_t*>(Allocate(bytes + grown_room_ + kBehind));
  std::memcpy(copy, block, used);
  grown_end_ = copy + bytes;
  return copy;
}

Recorder::Recorder(const wf_plan& plan, std::vector<std::unique_ptr<model::Version>> models)
    : plan_(plan), tasks_(plan.tasks, plan.tasks + plan.n_tasks), original_(tasks_), models_(std::move(models)) {
  WF_CHECK(tasks_.size() <= kMaxTasks, tasks_.size());
  WF_CHECK(current == nullptr);
  current = this;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].kind == WF_RUN) tasks_[i].fn.run = kThunks[i];
  }
  plan_.tasks = tasks_.data();
}

Recorder::~Recorder() { current = nullptr; }

void Recorder::MakeFrame(const wf_workflow& workflow) {
  const uint32_t bytes = plan_.regions[workflow.root].frame_bytes;
  frame_ = static_cast<uint8_t*>(scratch_.Allocate(bytes));
  std::memset(frame_, 0, bytes);
}

std::string Recorder::FillParameters(const wf_workflow& workflow, const std::string& input, bool is_json) {
  auto* const body = static_cast<uint8_t*>(scratch_.Allocate(input.size() + WF_ALIGN));  // codecs may read 64 bytes past the end
  std::copy(input.begin(), input.end(), body);
  const wf_bytes bytes{body, input.size()};
  if (is_json) return workflow.read_json(&ctx_, bytes, frame_) == 0 ? "" : failure_;
  for (uint16_t i = 0; i < workflow.n_in; ++i) {
    const wf_port& port = workflow.in[i];
    uint8_t* const value = frame_ + plan_.slots[port.slot].offset;
    if (plan_.types[port.type].kind == WF_T_BYTES) {
      std::memcpy(value, &bytes, sizeof bytes);
    } else if (port.if_missing != nullptr) {
      std::memcpy(value, port.if_missing, plan_.types[port.type].size);
    } else {
      return "a parameter besides the `bytes` one has no default";
    }
  }
  return "";
}

std::string Recorder::Record(const wf_workflow& workflow, const std::string& input, bool is_json) {
  MakeFrame(workflow);
  std::string failed = FillParameters(workflow, input, is_json);
  return failed.empty() ? RecordFrame(workflow) : failed;
}

std::string Recorder::Record(const wf_workflow& workflow, std::span<const wf_tensor> inputs) {
  WF_CHECK(inputs.size() == workflow.n_in, inputs.size());
  MakeFrame(workflow);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const wf_type& type = plan_.types[workflow.in[i].type];
    const bool is_tensor = type.kind == WF_T_TENSOR;
    WF_CHECK(type.dtype == inputs[i].dtype && (is_tensor ? type.rank : 0) == inputs[i].rank, i);
    std::memcpy(frame_ + plan_.slots[workflow.in[i].slot].offset, is_tensor ? &inputs[i] : inputs[i].data, type.size);
  }
  return RecordFrame(workflow);
}

const wf_tensor& Recorder::Result(const wf_workflow& workflow, size_t port) const {
  WF_CHECK(port < workflow.n_out && plan_.types[workflow.out[port].type].kind == WF_T_TENSOR, port);
  return *reinterpret_cast<const wf_tensor*>(frame_ + plan_.slots[workflow.out[port].slot].offset);
}

std::string Recorder::RecordFrame(const wf_workflow& workflow) {
  abi::Hooks hooks;
  hooks.ctx = &ctx_;
  hooks.allocate = [this](uint64_t bytes) { return scratch_.Allocate(bytes); };
  hooks.take_failure = [this](wf_code returned) {
    return abi::PlanFailure{returned == WF_FAILED ? 10000 : returned, std::exchange(failure_, "")};
  };
  hooks.model = [this](uint64_t, uint16_t task, const wf_tensor* const* inputs, wf_tensor* const* outputs) {
    return CallModel(task, inputs, outputs);
  };
  const abi::Outcome outcome = abi::Interpret(plan_, workflow, frame_, 0, hooks);
  scratch_.SetMark();
  return outcome.failure.code == 0 ? "" : outcome.failure.message + " (code " + std::to_string(outcome.failure.code) + ")";
}

wf_code Recorder::RunTask(uint16_t task, wf_ctx* ctx, void* const* frame) {
  Step step;
  step.run = original_[task].fn.run;
  step.frames.assign(frame, frame + DepthOf(plan_, original_[task].region));
  const wf_code code = step.run(ctx, frame);
  steps_.push_back(std::move(step));
  return code;
}

abi::PlanFailure Recorder::CallModel(uint16_t task, const wf_tensor* const* inputs, wf_tensor* const* outputs) {
  const wf_task& row = original_[task];
  Step step;
  step.row = &plan_.models[row.target];
  step.model = models_[row.target].get();
  step.inputs.assign(inputs, inputs + plan_.models[row.target].n_in);
  step.outputs.assign(outputs, outputs + plan_.models[row.target].n_out);
  const wf_code code = RunModel(step);
  steps_.push_back(std::move(step));
  return {code, failure_};
}

// One row: the batch axis, which the call's tensors do not have, is put in with extent 1.
wf_code Recorder::RunModel(const Step& step) {
  const wf_model& row = *step.row;
  std::array<wf_tensor, 16> inputs, outputs;
  WF_CHECK(row.n_in <= inputs.size() && row.n_out <= outputs.size());
  const auto add_axis = [](const wf_tensor& from, int axis, wf_tensor& to) {
    to = from;
    if (axis < 0) return;
    to.rank = static_cast<uint8_t>(from.rank + 1);
    for (int i = axis; i < from.rank; ++i) to.dim[i + 1] = from.dim[i], to.stride[i + 1] = from.stride[i];
    to.dim[axis] = 1;
    to.stride[axis] = axis < from.rank ? from.dim[axis] * from.stride[axis] : 1;
  };
  for (uint16_t i = 0; i < row.n_in; ++i) add_axis(*step.inputs[i], row.batch_axis[i], inputs[i]);
  const base::Status status = step.model->Run(0, 1, {inputs.data(), row.n_in}, {outputs.data(), row.n_out});
  if (!status.ok()) {
    failure_ = status.message();
    return 9000;
  }
  for (uint16_t i = 0; i < row.n_out; ++i) {
    wf_tensor& to = *step.outputs[i];
    const int axis = row.batch_axis[row.n_in + i];
    const wf_tensor& from = outputs[i];
    to.dtype = from.dtype;
    to.rank = 0;
    for (int at = 0; at < from.rank; ++at) {
      if (at != axis) to.dim[to.rank++] = from.dim[at];
    }
    int64_t count = 1;
    for (int at = to.rank - 1; at >= 0; --at) to.stride[at] = count, count *= to.dim[at];
    const uint64_t bytes = abi::DenseBytes(to.dtype, to.rank, to.dim);
    to.data = scratch_.Allocate(bytes);
    std::memcpy(to.data, from.data, bytes);
  }
  return 0;
}

size_t Recorder::Repeat() {
  scratch_.Rewind();
  for (const Step& step : steps_) {
    const wf_code code = step.model == nullptr ? step.run(&ctx_, step.frames.data()) : RunModel(step);
    WF_CHECK(code == 0, failure_);
  }
  return steps_.size();
}

}  // namespace wf::bench

// What generated code and natives call. Defined here, so that the linker takes none of the server's.
extern "C" {

void* wf_alloc(wf_ctx*, uint64_t bytes, uint64_t) noexcept { return wf::bench::current->scratch().Allocate(bytes); }
void* wf_grow(wf_ctx*, const void* block, uint64_t used, uint64_t bytes) noexcept {
  return wf::bench::current->scratch().Grow(block, used, bytes);
}

int32_t wf_claim(wf_ctx*, uint64_t) noexcept { return 1; }
void wf_unclaim(wf_ctx*, uint64_t) noexcept {}

// The scratch memory is as large as what it records needs.
wf_code wf_fold_begin(wf_ctx*, wf_fold*) noexcept { return 0; }
int32_t wf_fold_is_full(wf_ctx*, const wf_fold*, uint32_t) noexcept { return 0; }
int32_t wf_fold_keep(wf_ctx*, wf_fold*, const wf_type*, uint32_t, void*) noexcept { return 0; }

wf_code wf_fail(wf_ctx*, wf_code, uint32_t, wf_bytes text) noexcept {
  wf::bench::current->failure().assign(reinterpret_cast<const char*>(text.ptr), text.len);
  return WF_FAILED;
}

int32_t wf_meta(const wf_ctx*, wf_bytes, wf_bytes*) noexcept { return 0; }

wf_code wf_annotate(wf_ctx*, wf_bytes, wf_bytes) noexcept { return 0; }

wf_code wf_out(wf_ctx* ctx, void* const* frame, uint16_t slot) noexcept {
  const wf_slot& row = wf::bench::current->plan().slots[slot];
  auto* const own = static_cast<char*>(frame[0]);
  auto* const tensor = reinterpret_cast<wf_tensor*>(own + row.offset);
  int64_t stride = 1;
  for (int i = tensor->rank - 1; i >= 0; --i) {
    tensor->stride[i] = stride;
    stride *= tensor->dim[i];
  }
  tensor->space = tensor->flags = 0;
  tensor->device = 0;
  tensor->data =
      row.store == WF_IN_FRAME ? own + row.data : wf_alloc(ctx, wf::abi::DenseBytes(tensor->dtype, tensor->rank, tensor->dim), WF_ALIGN);
  return 0;
}

}  // extern "C"
