// Work away from the loop: launched, stopped, landed.

#include <algorithm>
#include <new>

#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/slices.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

constexpr uint32_t kMostIdleJobs = 1024;

// A row has left its queue, to run or for good.
void NoteWait(EngineCore& engine, const Job& job) {
  const bus::Instance& instance = *job.instance;
  const wf_task& task = engine.plan().tasks[job.tasks[job.n_tasks - 1]];
  instance.bus->spent_.Wait(job.arrived_at, job.taken_at);
  if (task.node == WF_NONE) return;
  engine.stats.queue_wait[task.node].Add(job.taken_at - job.arrived_at);
  if (base::SlicesOn()) [[unlikely]]
    base::NoteSlice({base::SliceKind::kWait, 0, engine.NameOf(instance, task), job.arrived_at, job.taken_at, instance.bus->data_id()});
}

// Of the nodes around whose timeout has passed, the first to pass; null: there is none.
bus::Entry* LateEntry(const bus::Instance& instance, base::TimePoint now) {
  bus::Entry* late = nullptr;
  for (const bus::Instance* at = &instance; at->entered != nullptr; at = at->parent) {
    const base::TimerNode& timer = at->entered->timer;
    if (timer.armed() && timer.at <= now && (late == nullptr || timer.at < late->timer.at)) late = at->entered;
  }
  return late;
}

}  // namespace

Job* EngineCore::NewJob(bus::Instance& instance, uint16_t id) {
  Job* job = idle_jobs_;
  if (job != nullptr) {
    idle_jobs_ = job->next_job;
    --n_idle_jobs_;
  } else if (job = new (std::nothrow) Job(*this); job == nullptr) {
    return nullptr;
  }
  LiveBus& bus = LiveOf(instance);
  job->instance = &instance;
  job->home = &parts_.mailbox;
  job->context.bus = &bus;
  job->context.arena = &job->arena;
  job->context.instance = &instance;
  job->context.head.stop = &job->stop_word;
  job->context.failure = nullptr;
  job->context.annotations = nullptr;
  job->arena.Open(parts_.memory, bus.budget, bus::ChunkMemory::kSmallest - 64);
  job->batcher = nullptr;
  job->failed = nullptr;
  job->tasks[0] = id;
  job->n_tasks = 1;
  job->n_done = 0;
  job->submitted = job->dropped = job->withdrawn = false;
  job->state = batch::RowState::kIdle;
  job->abandoned.store(false, std::memory_order_relaxed);
  job->stop_word = 0;
  job->measured_ns[0] = 0;
  job->taken_at = job->run_ns = job->ran_at = job->batch_rows = 0;
  return job;
}

void EngineCore::FreeJob(Job& job) {
  job.arena.FreeAll();
  if (n_idle_jobs_ == kMostIdleJobs) {
    delete &job;
    return;
  }
  ++n_idle_jobs_;
  job.next_job = idle_jobs_;
  idle_jobs_ = &job;
}

// Null: there is none.
const wf_policy* EngineCore::PolicyOf(const Catalogue& of, uint16_t id) const {
  const wf_plan& plan = of.tuned == nullptr ? plan_ : *of.tuned;
  const uint16_t policy = plan.tasks[id].policy;
  return policy == WF_NONE ? nullptr : &plan.policies[policy];
}

uint8_t EngineCore::PriorityOf(const Catalogue& of, uint16_t id) const {
  const wf_policy* const policy = PolicyOf(of, id);
  return policy == nullptr ? uint8_t{WF_NORMAL} : policy->priority;
}

int64_t EngineCore::DelayOf(const bus::Instance& instance, uint16_t id) const {
  const wf_policy* const policy = PolicyOf(*instance.bus, id);
  return policy == nullptr ? 0 : policy->delay_ns;
}

// The request's deadline, or that of the innermost node around with a timeout.
base::TimePoint EngineCore::DeadlineOf(const bus::Instance& instance) const {
  base::TimePoint deadline = instance.bus->deadline();
  for (const bus::Instance* at = &instance; at->entered != nullptr; at = at->parent)
    if (at->entered->timer.armed()) deadline = std::min(deadline, at->entered->timer.at);
  return deadline;
}

void EngineCore::AddFlight(Job& job) {
  bus::Instance& instance = *job.instance;
  LiveBus& bus = LiveOf(instance);
  job.previous_flight = nullptr;
  job.next_flight = instance.flights;
  if (instance.flights != nullptr) instance.flights->previous_flight = &job;
  instance.flights = &job;
  for (bus::Instance* at = &instance; at != nullptr; at = at->parent) ++at->out_flights;
  ++bus.pins;
  if (job.has_credit) {
    ++bus.rows_out;
    bus.rows_of.Add(job.batcher);
  }
  EnsureDeadline(bus);
}

void EngineCore::RemoveFlight(Job& job) {
  bus::Instance& instance = *job.instance;
  (job.previous_flight == nullptr ? instance.flights : job.previous_flight->next_flight) = job.next_flight;
  if (job.next_flight != nullptr) job.next_flight->previous_flight = job.previous_flight;
  for (bus::Instance* at = &instance; at != nullptr; at = at->parent) --at->out_flights;
}

// Sends the strand that starts with the task to the pool. If a row ends it, the row's credit comes first.
void EngineCore::Launch(bus::Instance& instance, uint16_t id, int64_t prior_ns) {
  Job* const job = NewJob(instance, id);
  if (job == nullptr) return Settle(instance, id, &NoMemoryAt(instance, id));
  job->prior_ns[0] = prior_ns;
  job->placed = stats.task[id].last.load(std::memory_order_relaxed);
  const wf_task* last = &plan_.tasks[id];
  while (last->chain != WF_NONE && job->n_tasks < Job::kMaxTasks) {
    const uint16_t following = last->chain;
    last = &plan_.tasks[following];
    if (LiveOf(instance).has_failures && FailedInput(instance, *last) != nullptr) break;  // it reads a failed slot of a region around
    if (last->kind == WF_MODEL) {
      const ModelBinding& binding = BindingOf(instance, following);
      if (binding.batcher == nullptr || RunsOnLoop(binding)) break;
      job->batcher = binding.batcher;
      bool full = false;
      if (!ReserveRow(instance, id, following, *job, FitsLoop(binding) ? &full : nullptr) && !full) return FreeJob(*job);
      if (full) break;  // on the loop, once its inputs are there
      job->delay_ns = DelayOf(instance, following);
    }
    stats.task[following].Place(Placement::kFollows, stats.task[following].estimate_ns.load(std::memory_order_relaxed));
    job->prior_ns[job->n_tasks] = 0;
    job->measured_ns[job->n_tasks] = 0;
    job->tasks[job->n_tasks++] = following;
    if (last->kind == WF_MODEL) break;
  }
  job->deadline = DeadlineOf(instance);
  job->pool_priority = PriorityOf(CatalogueOf(*instance.bus), id);
  job->queued_at = parts_.clock.Now();
  job->estimate_ns = std::clamp<int64_t>(job->deadline - job->queued_at, 1, estimates_.LeastOf(id, prior_ns) + 1);  // it is stopped then
  AddFlight(*job);
  parts_.queue.Push(*job);
}

// The instance has ended: the job comes back at once when its row still waits, else when it is over.
void EngineCore::StopFlight(Job& job) {
  if (job.dropped) return;
  job.dropped = true;
  job.Stop();
  if (job.batcher == nullptr) return;
  if (job.batcher->Withdraw(job) == batch::Withdrawal::kUnlinked) TakeBack(job, false);
}

// What a job's tasks have taken, whether or not somebody still wants what they made. A node whose row left the queue unrun was not
// executed.
void EngineCore::NoteRuns(const Job& job, bus::Instance& instance) {
  const bool queued = job.taken_at != 0, left_unrun = queued && job.batch_rows == 0;
  const int row = queued ? job.n_tasks - 1 : job.n_tasks;
  const int ended = job.failed != nullptr && job.n_done < job.n_tasks ? job.n_done + 1 : job.n_done;
  for (int i = 0; i < ended; ++i) {
    const bool is_row = i == row, cut_off = i >= job.n_done || (job.dropped && i + 1 == ended);
    if (is_row) NoteWait(*this, job);
    const base::TimePoint begin = is_row ? std::max(job.taken_at, job.ran_at) : job.started_at[i];
    const base::TimePoint end = begin + (is_row ? job.run_ns : job.measured_ns[i]);
    if (!is_row || !left_unrun) {
      stats.task[job.tasks[i]].CountRun(i == 0 ? job.placed : Placement::kFollows);
      NoteCompute(instance, job.tasks[i], end - begin, cut_off && !left_unrun);
    }
    instance.bus->spent_.Run(begin, end);
    if (is_row && !left_unrun) instance.bus->spent_.TakePart(job.batch_rows, job.run_ns);
    if (instance.bus->spans_ == nullptr) continue;
    const wf_code code = i >= job.n_done && job.failed != nullptr ? job.failed->code : 0;
    NoteSpan(instance, job.tasks[i], {is_row ? job.arrived_at : begin, end, code, is_row ? &job : nullptr});
  }
  if (queued && ended <= row) NoteWait(*this, job);  // nobody waits for it any more
}

// The first task of a strand begins its stage on the loop, and the last ends its own there: what is between was not seen.
void EngineCore::NoteStages(const Job& job, const bus::Instance& instance) {
  const int begun = job.failed != nullptr && job.n_done < job.n_tasks ? job.n_done + 1 : job.n_done;
  for (int i = 0; i < begun; ++i) {
    const base::TimePoint begin = job.submitted && i + 1 == job.n_tasks ? job.arrived_at : job.started_at[i];
    NoteStage(instance, plan_.tasks[job.tasks[i]], begin, i < job.n_done && i + 1 < job.n_tasks ? begin + job.measured_ns[i] : 0);
  }
}

// What a finished job has made becomes part of the request.
void EngineCore::Publish(Job& job, bus::Instance& instance) {
  LiveBus& bus = LiveOf(instance);
  bus.arena.Splice(job.arena);
  while (job.context.annotations != nullptr) {
    bus::Annotation* const taken = job.context.annotations;
    job.context.annotations = taken->next;
    taken->next = bus.main.annotations;
    bus.main.annotations = taken;
  }
  for (int i = 0; i < job.n_done; ++i) {
    const wf_task& task = plan_.tasks[job.tasks[i]];
    if (task.kind == WF_MODEL) {
      job.KeepOutputs();
      continue;
    }
    if (job.prior_ns[i] == 0) job.prior_ns[i] = estimates_.Prior(task, instance.frames);
    estimates_.Learn(job.tasks[i], job.prior_ns[i], job.measured_ns[i], false);
    stats.task[job.tasks[i]].estimate_ns.store(estimates_.Shown(job.tasks[i], job.prior_ns[i]), std::memory_order_relaxed);
  }
  if (bus.stages != nullptr) NoteStages(job, instance);
  const uint16_t first_slot = plan_.regions[instance.region].first_slot, first_task = plan_.regions[instance.region].first_task;
  const uint8_t last = job.failed != nullptr || job.n_done == 0 ? job.n_done : static_cast<uint8_t>(job.n_done - 1);
  for (uint8_t i = 0; i < last; ++i) {  // inside a strand each task has one reader, the next one, which has run or fails now
    const wf_task& task = plan_.tasks[job.tasks[i]];
    if (task.out != WF_NONE) instance.channels[task.out - first_slot].SetReady();
    --instance.countdowns()[task.chain - first_task];
    --instance.unsettled;
  }
  if (last < job.n_tasks) Settle(instance, job.tasks[last], job.failed);
}

void EngineCore::Land(Job& job) noexcept {
  TakeBack(job, true);
  Pump();
}

// `delivered_here`: from the mailbox; else in the middle of an abandonment, whose caller goes on to use the instance.
void EngineCore::TakeBack(Job& job, bool delivered_here) {
  bus::Instance& instance = *job.instance;
  LiveBus& bus = LiveOf(instance);
  const bool holds_row = job.batcher != nullptr;
  RemoveFlight(job);
  if (holds_row) {
    job.batcher->Unreserve(job);  // the strand failed before it submitted, or was stopped
    --bus.rows_out;
    bus.rows_of.Remove(job.batcher);
  }
  const bool delivered = job.submitted && job.state == batch::RowState::kDelivered;
  const bool late = delivered && job.batch_rows == 0;  // the executor saw it before the wheel did
  if (delivered) {
    const uint16_t id = job.tasks[job.n_tasks - 1];
    job.failed = job.context.failure;
    if (job.failed == nullptr) ++job.n_done;
    if (job.failed != nullptr && parts_.observer != nullptr && !job.dropped && !late)
      parts_.observer->OnModelFailed(instance, id, *job.failed);
  }
  NoteRuns(job, instance);
  if (job.dropped) {
    job.arena.FreeAll();
    if (delivered_here && instance.entered != nullptr && index_.region(instance.region).how == bus::EnteredBy::kEach) Reuse(instance);
  } else if (const base::TimePoint now = late ? parts_.clock.Now() : 0; late && now >= bus.deadline()) {
    PassDeadline(bus);  // no fallback catches it
  } else if (bus::Entry* const entry = late ? LateEntry(instance, now) : nullptr; entry != nullptr) {
    wheel.Cancel(entry->timer);
    FireTimeout(*entry);
  } else {
    Publish(job, instance);
  }
  FreeJob(job);
  if (bus.parked != nullptr) Unpark(bus);
  Unpin(bus);
}

}  // namespace wf::sched
