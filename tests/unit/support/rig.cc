#include "tests/unit/support/rig.h"

#include <cstdlib>
#include <cstring>

#include "runtime/base/check.h"
#include "tests/unit/support/plan_builder.h"

namespace wf::test {

Workers::Did Workers::Step(ListQueue& queue, const base::Clock& clock, std::mt19937_64& random) {
  sched::Job*& at = jobs_[random() % jobs_.size()];
  if (at != nullptr) {
    if (at->Step(clock)) return Did::kStepped;
    at = nullptr;
    return Did::kEnded;
  }
  if (queue.jobs.empty()) return Did::kNothing;
  const auto pick = queue.jobs.begin() + static_cast<ptrdiff_t>(random() % queue.jobs.size());
  at = *pick;
  queue.jobs.erase(pick);
  return Did::kTook;
}

void* TestMemory::Take(size_t bytes) noexcept {
  ++takes;
  if (refuses && refuses()) {
    ++refused;
    return nullptr;
  }
  void* const chunk = std::aligned_alloc(64, bytes);
  held_bytes += static_cast<int64_t>(bytes);
  return chunk;
}

void TestMemory::Give(void* chunk, size_t bytes) noexcept {
  held_bytes -= static_cast<int64_t>(bytes);
  std::free(chunk);
}

bool TestMemory::Claim(int64_t bytes) noexcept {
  if (bytes > claimable_bytes - claimed_bytes) return false;
  claimed_bytes += bytes;
  return true;
}

bool TestMemory::ClaimLast(int64_t bytes) noexcept {
  if (bytes > claimable_bytes + kLast - claimed_bytes) return false;
  claimed_bytes += bytes;
  return true;
}

base::Status FakeModel::Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                            const base::Wanted* /*wanted*/) {
  WF_CHECK(instance >= 0 && instance < instance_count() && rows <= max_rows_, instance, rows);
  run_rows.push_back(rows);
  if (fails && fails()) return base::Status(base::kInternal, "the fake model failed");
  const wf_tensor& x = inputs[0];
  std::vector<int64_t>& buffer = buffers_[static_cast<size_t>(instance)];
  int64_t count = 1;
  for (int i = 0; i < x.rank; ++i) count *= x.dim[i];
  buffer.assign(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < count; ++i) buffer[static_cast<size_t>(i)] = Value(static_cast<const int64_t*>(x.data)[i], version_);
  outputs[0] = x;
  outputs[0].data = buffer.data();
  return {};
}

uint64_t PathOfInstance(const bus::Instance& instance) {
  if (instance.entered == nullptr) return instance.element;
  return abi::ChildPath(PathOfInstance(*instance.parent), instance.entered->task, instance.element);
}

void Recorder::OnTimedOut(const bus::Instance& where, uint16_t task, int attempt) {
  by_bus[where.bus].timeouts[{PathOfInstance(where), task, attempt}] = code::kTimeout;
}

void Recorder::OnModelFailed(const bus::Instance& where, uint16_t task, const bus::Failure& why) {
  by_bus[where.bus].models[{PathOfInstance(where), task}] = why.code;
}

Oracle::Oracle(const wf_plan& plan) : plan_(plan) {}

abi::Outcome Oracle::Run(const std::vector<int64_t>& inputs, uint64_t sample, const Recorder::Decisions& decisions, int64_t version,
                         std::vector<int64_t>* out) {
  bus::Bus scratch;
  scratch.plan_ = &plan_;
  scratch.workflow_ = plan_.workflows;
  scratch.arena.Open(memory_, scratch.budget, 65536 - 64);
  scratch.main.bus = &scratch;
  scratch.main.arena = &scratch.arena;
  scratch.main.head.stop = &scratch.stop_word;

  const wf_workflow& workflow = *plan_.workflows;
  void* const frame = scratch.arena.Allocate(plan_.regions[workflow.root].frame_bytes, 64);
  for (size_t i = 0; i < inputs.size(); ++i) WriteInt(plan_, workflow.in[i].slot, frame, inputs[i]);

  abi::Hooks hooks;
  hooks.ctx = scratch.ctx();
  hooks.allocate = [&](uint64_t bytes) { return scratch.arena.Allocate(bytes, 64); };
  hooks.take_failure = [&](wf_code returned) {
    const bus::Failure& failure = scratch.main.TakeFailure(returned);
    return abi::PlanFailure{failure.code, std::string(failure.message), WF_NONE, WF_NONE};
  };
  hooks.enter = [&](uint64_t path, uint16_t task, int attempt) {
    const auto at = decisions.timeouts.find({path, task, attempt});
    return abi::PlanFailure{at == decisions.timeouts.end() ? 0 : at->second, {}, WF_NONE, WF_NONE};
  };
  hooks.start = [&](uint64_t path, uint16_t task) {
    const auto at = decisions.models.find({path, task});
    return abi::PlanFailure{at == decisions.models.end() ? 0 : at->second, {}, WF_NONE, WF_NONE};
  };
  hooks.model = [&](uint64_t path, uint16_t task, const wf_tensor* const* in, wf_tensor* const* result) {
    const auto at = decisions.models.find({path, task});
    if (at != decisions.models.end()) return abi::PlanFailure{at->second, {}, WF_NONE, WF_NONE};
    *result[0] = *in[0];
    auto* const data = static_cast<int64_t*>(scratch.arena.Allocate(static_cast<uint64_t>(in[0]->dim[0]) * 8, 64));
    for (int64_t i = 0; i < in[0]->dim[0]; ++i) data[i] = FakeModel::Value(static_cast<const int64_t*>(in[0]->data)[i], version);
    result[0]->data = data;
    return abi::PlanFailure{};
  };
  abi::Outcome outcome = abi::Interpret(plan_, workflow, frame, sample, hooks);
  for (int i = 0; out != nullptr && outcome.failure.code == 0 && i < workflow.n_out; ++i)
    out->push_back(ReadValue(plan_, workflow.out[i].slot, frame));
  return outcome;
}

Rig::Rig(const wf_plan& the_plan, const sched::EngineOptions& options, const batch::BatcherOptions& batching, int threads)
    : plan(the_plan), index(the_plan), catalogue(1, the_plan.n_tasks) {
  executor = std::make_unique<batch::Executor>(batch::ExecutorOptions{.threads = threads}, clock);
  for (uint32_t i = 0; i < plan.n_models; ++i) {
    models.push_back(std::make_unique<FakeModel>(plan.models[i], 7, 8, batching.instances + 1));
    batch::BatcherOptions own = batching;
    own.model = models.back().get();
    batchers.push_back(&executor->AddBatcher(own));
  }
  for (uint32_t i = 0; i < plan.n_tasks; ++i) {
    const wf_task& task = plan.tasks[i];
    if (task.kind == WF_MODEL) catalogue.by_task[i] = {batchers[task.target], models[task.target].get(), batching.instances};
  }
  engine = std::make_unique<sched::Engine>(plan, index, sched::EngineParts{clock, mailbox, queue, memory, &recorder}, options);
  engine->SetCatalogue(catalogue);
}

Rig::~Rig() { engine.reset(); }

bus::Bus* Rig::Start(const std::vector<int64_t>& inputs, int64_t timeout_ns) {
  bus::Bus* const bus = engine->Create({.workflow = plan.workflows, .client = this, .received_at = clock.Now(), .timeout_ns = timeout_ns});
  if (bus == nullptr) return nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) WriteInt(plan, plan.workflows->in[i].slot, bus->frame(), inputs[i]);
  engine->Start(*bus);
  return bus;
}

void Rig::RunJobs() {
  while (!queue.jobs.empty()) {
    sched::Job* const job = queue.jobs.front();
    queue.jobs.pop_front();
    while (job->Step(clock)) {
    }
  }
}

bool Rig::RunBatch() {
  auto work = executor->Take();
  if (!work) return false;
  executor->Run(*work);
  executor->Finish(*work);
  return true;
}

void Rig::Turn() {
  engine->OnPoll();
  mailbox.Drain();
  engine->OnTime();
}

void Rig::Settle() {
  bool ran = false;
  do {
    RunJobs();
    for (ran = false; RunBatch();) ran = true;
    Turn();
    ran = engine->OnIdle() || ran;
  } while (ran || !queue.jobs.empty() || !mailbox.empty());
}

void Rig::AdvanceNs(int64_t ns) {
  clock.AdvanceNs(ns);
  Turn();
}

void Rig::OnHidden(bus::Bus& /*bus*/, const bus::Failure& cause, const bus::Failure* /*by*/) noexcept { hidden.push_back(cause.code); }

void Rig::OnAnswered(bus::Bus& bus) noexcept {
  Answer answer{0, {}, {}, {}};
  if (bus.failure() != nullptr)
    answer = {bus.failure()->code, std::string(bus.failure()->message), bus::PathOf(plan, *bus.failure()), {}};
  else
    for (int i = 0; i < plan.workflows->n_out; ++i) answer.values.push_back(ReadValue(plan, plan.workflows->out[i].slot, bus.frame()));
  answers.push_back(answer);
  if (!keeps) engine->Release(bus);
}

void Rig::OnDrained(bus::Bus& bus) noexcept {
  recorder.by_bus.erase(&bus);
  ++drained;
}

}  // namespace wf::test
