// Model calls: on the loop when a batch would not pay, else by a row in a batcher.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/slices.h"
#include "runtime/base/working.h"
#include "runtime/batch/executor.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

constexpr int64_t kMostLoopActivationBytes = int64_t{1} << 20;

// Late for those that are before it, and for nothing else: what waiting does not cure is not refused.
bool IsHopeless(const batch::Batcher::Outlook& outlook, int64_t left_ns) {
  return outlook.wait_ns > 0 && outlook.run_ns <= left_ns && outlook.wait_ns + outlook.run_ns > left_ns;
}

// The path of a failure names the node, in which several models may be called.
std::string OfModel(const wf_plan& plan, uint16_t task, std::string_view text) {
  return "model `" + std::string(abi::View(plan.models[plan.tasks[task].target].name)) + "`: " + std::string(text);
}

}  // namespace

const ModelBinding& EngineCore::BindingOf(const bus::Instance& instance, uint16_t id) const { return (*LiveOf(instance).bindings)[id]; }

bool EngineCore::FitsLoop(const ModelBinding& binding) const {
  if (binding.first_loop_instance < 0 || options_.schedule != Schedule::kAuto || binding.batcher == nullptr) return false;
  return binding.batcher->inline_pays() && binding.model->activation_bytes() <= kMostLoopActivationBytes;
}

bool EngineCore::RunsOnLoop(const ModelBinding& binding) const {
  if (binding.first_loop_instance < 0 || options_.schedule == Schedule::kPool) return false;
  if (options_.schedule == Schedule::kInline || binding.batcher == nullptr) return true;
  return turn_.spent_ns <= options_.inline_turn_ns && FitsLoop(binding);
}

bool EngineCore::ReserveRow(bus::Instance& instance, uint16_t start, uint16_t model_task, Job& job, bool* full) {
  LiveBus& bus = LiveOf(instance);
  job.priority = PriorityOf(CatalogueOf(bus), model_task);
  job.deadline = DeadlineOf(instance);
  // The request's own rows are no load: another time they would be there, too.
  if (IsHopeless(job.batcher->OutlookOf(job.priority, job.deadline, bus.rows_out), bus.deadline() - parts_.clock.Now())) {
    job.batcher = nullptr;
    return RefuseRow(instance, start, stats.refused_late,
                     FailAt(instance, model_task, code::kRefused, OfModel(plan_, model_task, "the deadline would pass in its queue")));
  }
  if (job.batcher->Reserve(job)) return true;
  const bool after_own = bus.rows_of.Has(job.batcher);
  job.batcher = nullptr;
  if (full != nullptr) {
    *full = true;
    return false;
  }
  bool in_fan_out = bus.n_samples > 1;  // samples are elements too
  for (const bus::Instance* at = &instance; at != nullptr; at = at->parent)
    in_fan_out = in_fan_out || index_.region(at->region).how == bus::EnteredBy::kEach;
  // An element waits for this request's earlier ones, a node for others that have the same queue: alone, the request would meet it full,
  // too.
  if ((in_fan_out && bus.rows_out > 0) || after_own) {
    Parked* parked = bus.idle_parked;
    if (parked != nullptr)
      bus.idle_parked = parked->next;
    else
      parked = bus.arena.New<Parked>();
    if (parked != nullptr) {
      *parked = {&instance, instance.generation, start, nullptr};
      (bus.parked == nullptr ? bus.parked : bus.last_parked->next) = parked;
      bus.last_parked = parked;
      return false;
    }
  }
  return RefuseRow(instance, start, stats.refused_full,
                   FailAt(instance, model_task, code::kRefused, OfModel(plan_, model_task, "its queue is full")));
}

bool EngineCore::RefuseRow(bus::Instance& instance, uint16_t start, Counter& requests, const bus::Failure& refused) {
  if (!std::exchange(LiveOf(instance).refused, true)) requests.Add();
  if (parts_.observer != nullptr) parts_.observer->OnModelFailed(instance, start, refused);
  Settle(instance, start, &refused);
  return false;
}

// By the task of it that waits longest. What the pool has at most is asked first, since that is next to nothing as a rule.
int64_t EngineCore::HopelessNs(const Asked& asked) const {
  const int64_t left_ns = asked.deadline - asked.now;
  const bool pool_is_full = parts_.queue.WaitNs(WF_LOW, INT64_MAX) > left_ns;
  int64_t wait_ns = 0;
  for (const uint16_t id : certain_[static_cast<size_t>(&asked.workflow - plan_.workflows)]) {
    const bool is_model = plan_.tasks[id].kind == WF_MODEL;
    if (is_model ? asked.bindings[id].batcher == nullptr : !pool_is_full || !stats.task[id].runs_on_pool()) continue;
    const uint8_t priority = PriorityOf(asked.catalogue, id);
    const batch::Batcher::Outlook outlook = is_model ? asked.bindings[id].batcher->OutlookOf(priority, asked.deadline)
                                                     : batch::Batcher::Outlook{parts_.queue.WaitNs(priority, asked.deadline), 0};
    if (IsHopeless(outlook, left_ns)) wait_ns = std::max(wait_ns, outlook.wait_ns);
  }
  return wait_ns;
}

void EngineCore::Unpark(LiveBus& bus) {
  Parked* parked = bus.parked;
  bus.parked = bus.last_parked = nullptr;
  while (parked != nullptr) {
    Parked* const following = parked->next;
    if (!parked->instance->done && parked->generation == parked->instance->generation) PushReady(*parked->instance, parked->task, nullptr);
    parked->next = bus.idle_parked;
    bus.idle_parked = parked;
    parked = following;
  }
}

void EngineCore::StartModel(bus::Instance& instance, uint16_t id) {
  if (LiveOf(instance).has_failures && IsEnding(instance)) [[unlikely]]
    return;
  const ModelBinding& binding = BindingOf(instance, id);
  if (RunsOnLoop(binding)) return RunModelHere(instance, id, binding);
  QueueRow(instance, id, binding, FitsLoop(binding));
}

void EngineCore::PlaceModel(uint16_t id, Placement where, const ModelBinding& binding) {
  stats.task[id].Place(where, binding.batcher == nullptr ? 0 : binding.batcher->recent_cost().RunNs(1));
}

// or_here: a loop that has run enough since its last poll rather runs one more than that a full queue refuses it.
void EngineCore::QueueRow(bus::Instance& instance, uint16_t id, const ModelBinding& binding, bool or_here) {
  const wf_task& task = plan_.tasks[id];
  if (binding.batcher == nullptr)
    return Settle(instance, id, &FailAt(instance, id, code::kInference, OfModel(plan_, id, "it is not loaded")));
  Job* const job = NewJob(instance, id);
  if (job == nullptr) return Settle(instance, id, &NoMemoryAt(instance, id));
  job->batcher = binding.batcher;
  bool full = false;
  if (!ReserveRow(instance, id, id, *job, or_here ? &full : nullptr)) {
    FreeJob(*job);
    if (full) RunModelHere(instance, id, binding);
    return;
  }
  if (!job->PrepareRow(task, id)) {
    binding.batcher->Unreserve(*job);
    FreeJob(*job);
    return Settle(instance, id, &NoMemoryAt(instance, id));
  }
  job->delay_ns = DelayOf(instance, id);
  PlaceModel(id, Placement::kRow, binding);
  job->placed = Placement::kRow;
  AddFlight(*job);
  job->submitted = true;
  batch::SharedHashes& hashes = LiveOf(instance).hashes;
  job->hashes = &hashes;
  const bool accepted = binding.batcher->Submit(*job);
  WF_CHECK(accepted);                   // nobody else knows the job yet
  constexpr uint64_t kHashedPerNs = 8;  // from memory
  turn_.spent_ns += static_cast<int64_t>(std::exchange(hashes.read_bytes, 0) / kHashedPerNs);
}

void EngineCore::RunModelHere(bus::Instance& instance, uint16_t id, const ModelBinding& binding) {
  const wf_task& task = plan_.tasks[id];
  Job* const job = NewJob(instance, id);
  if (job == nullptr || !job->PrepareRow(task, id)) {
    if (job != nullptr) FreeJob(*job);
    return Settle(instance, id, &NoMemoryAt(instance, id));
  }
  static const batch::Padding kNoPadding;
  const batch::Padding& padding = binding.batcher == nullptr ? kNoPadding : binding.batcher->padding();
  job->kind = static_cast<uint16_t>(padding.KindOf(job->inputs));
  const bool known = job->kind < padding.kinds();
  if (!known && options_.schedule == Schedule::kAuto) {  // longer than every bucket: nobody knows what it takes
    FreeJob(*job);
    return QueueRow(instance, id, binding, false);
  }
  const Placement where = options_.schedule == Schedule::kInline ? Placement::kToldLoop : Placement::kFits;
  PlaceModel(id, where, binding);
  stats.task[id].CountRun(where);
  std::unique_ptr<batch::Staging>& staging = staging_[binding.model];
  if (staging == nullptr) staging = std::make_unique<batch::Staging>(*binding.model);
  batch::RowList alone;
  alone.Append(*job);
  const base::WorkingOn now(instance.bus->data_id(), task.node == WF_NONE ? nullptr : &plan_.nodes[task.node].path,
                            &binding.model->model().name);
  const base::SliceScope slice(base::SliceKind::kModel, NameOf(instance, task), instance.bus->data_id());
  const base::TimePoint started = parts_.clock.Now();
  base::Status status = staging->Gather(alone, 1, padding);
  const int own = binding.first_loop_instance + options_.loop;
  if (status.ok()) status = staging->CheckSize(alone, own, 1);
  if (status.ok()) status = staging->Run(alone, own, 1);
  const int64_t spent = parts_.clock.Now() - started;
  if (status.ok()) status = staging->Scatter(alone, 1, padding);
  if (!status.ok()) job->Fail(batch::CodeOf(status), status.message());
  staging->Trim(own);
  turn_.spent_ns += spent;
  instance.bus->spent_.Run(started, started + spent);
  instance.bus->spent_.TakePart(1, spent);
  if (known && binding.batcher != nullptr) binding.batcher->LearnRunOnLoop(binding.batcher->sorts().Of(job->kind, job->inputs), spent);
  LiveOf(instance).arena.Splice(job->arena);
  const bus::Failure* const failure = job->context.failure;
  if (failure == nullptr) job->KeepOutputs();
  NoteCompute(instance, id, spent, failure != nullptr);
  if (instance.bus->spans_ != nullptr) NoteSpan(instance, id, {started, started + spent, failure == nullptr ? 0 : failure->code});
  if (failure != nullptr && parts_.observer != nullptr) parts_.observer->OnModelFailed(instance, id, *failure);
  FreeJob(*job);
  Settle(instance, id, failure);
}

}  // namespace wf::sched
