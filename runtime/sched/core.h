#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/batch/staging.h"
#include "runtime/bus/instance.h"
#include "runtime/bus/plan_index.h"
#include "runtime/sched/engine.h"
#include "runtime/sched/estimate.h"
#include "runtime/sched/job.h"
#include "runtime/sched/live_bus.h"
#include "runtime/sched/long_run.h"
#include "runtime/sched/observer.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/turn_work.h"
#include "runtime/sched/wheel.h"

namespace wf::sched {

// The engine's inside, shared by the files of this folder only.
// Thread: loop-confined.   Owns: buses (kept_buses idle ones), jobs (1,024 idle ones), timers, staging.   Borrows: plan, index, parts; a
// catalogue until its last bus is gone.   Errors: Create gives null without memory; all else ends in a bus's code.
class EngineCore {
 public:
  EngineCore(const wf_plan& plan, const bus::PlanIndex& index, const EngineParts& parts, const EngineOptions& options);
  ~EngineCore();
  const wf_plan& plan() const { return plan_; }
  const bus::PlanIndex& index() const { return index_; }
  std::string_view NameOf(const bus::Instance& instance, const wf_task& task) const;
  void Land(Job& job) noexcept;  // job.Deliver

  // ---- engine.cc: the life of a bus ----
  uint64_t NextDataId() noexcept;
  bus::Bus* Create(const Request& request);
  void Start(LiveBus& bus);
  void Reject(LiveBus& bus, wf_code code);
  struct Asked {
    const wf_workflow& workflow;
    const Catalogue& catalogue;
    const std::vector<ModelBinding>& bindings;
    base::TimePoint now, deadline;
  };
  int64_t HopelessNs(const Asked& asked) const;
  void Cancel(LiveBus& bus);
  void Release(LiveBus& bus);
  void SetCatalogue(const Catalogue& catalogue);
  void PassDeadline(LiveBus& bus);
  void OnTime();
  void OnPoll();
  bool OnIdle();

  // ---- settle.cc: the flow of values ----
  void Pump();
  void Settle(bus::Instance& instance, uint16_t id, const bus::Failure* failure);
  void EndRegion(bus::Instance& instance, const bus::Failure* failure);
  void Abandon(bus::Instance& instance);

  // ---- regions.cc ----
  void FireTimeout(bus::Entry& entry);
  void BeginAttempt(bus::Entry& entry);

  LongRun long_run;
  Wheel wheel;
  EngineStats stats;
  const Catalogue* catalogue = nullptr;
  Engine::CatalogueUser* catalogue_user = nullptr;
  uint32_t live_buses = 0, running_buses = 0;

 private:
  struct Epoch {
    const Catalogue* catalogue;
    uint64_t buses;
  };

  static const Catalogue& CatalogueOf(const bus::Bus& bus) { return static_cast<const Catalogue&>(bus.catalogue()); }
  static LiveBus& LiveOf(const bus::Instance& instance) { return static_cast<LiveBus&>(*instance.bus); }

  // engine.cc
  bool MakeRoots(LiveBus& bus, uint32_t samples);
  void Decide(LiveBus& bus, const bus::Failure* failure);
  void Answer(LiveBus& bus);
  void CloseWork(LiveBus& bus);
  void Unpin(LiveBus& bus);
  void FreeBus(LiveBus& bus);
  void RecordStages(LiveBus& bus);
  void RefuseLate(LiveBus& bus);
  void EnsureDeadline(LiveBus& bus);
  size_t FirstChunkBytes(uint16_t root) const;

  // settle.cc
  void PushReady(bus::Instance& instance, uint16_t task, const bus::Failure* skip) {
    ready_.push_back({&instance, skip, instance.generation, task});
  }
  void StartTask(bus::Instance& instance, uint16_t id);
  void RunTask(bus::Instance& instance, uint16_t id);
  Placement PlaceOf(uint16_t id, int64_t estimate_ns);
  void MoveToPool(bus::Instance& instance, uint16_t id, int64_t prior_ns);
  const bus::Failure* FailedInput(const bus::Instance& instance, const wf_task& task) const;
  const bus::Failure* CertainFailure(bus::Instance& instance, uint16_t reader) const;
  void NoteCompute(bus::Instance& instance, uint16_t id, int64_t ns, bool failed);
  void SkipIfCertain(bus::Instance& instance, uint16_t reader);
  void CountDown(bus::Instance& instance, uint16_t reader);
  bus::Channel& ChannelOf(const bus::Instance& instance, uint16_t slot) const;
  bus::Instance* LiveInside(bus::Instance& outer, uint16_t region) const;
  void NoteStage(const bus::Instance& instance, const wf_task& task, base::TimePoint begun, base::TimePoint ended);  // 0: not now
  void NoteStages(const Job& job, const bus::Instance& instance);
  void Hold(bus::Instance& instance, uint16_t id, const bus::Failure& failure);
  void TellFirst();
  bool IsEnding(const bus::Instance& instance) const;
  void SettleNow(bus::Instance& instance, uint16_t id, const bus::Failure* failure);
  void SampleEnded(bus::Instance& root, const bus::Failure* failure);
  void ReturnFrom(bus::Instance& instance, uint16_t id);

  // spans.cc: of requests that are traced
  struct Execution {
    base::TimePoint begin, end;
    wf_code code;
    const Job* row = nullptr;  // of a batch
  };
  void NoteSpan(bus::Instance& instance, uint16_t id, const Execution& execution);
  bus::NodeSpan* SpanOf(const bus::Instance& instance, uint16_t node);

  // regions.cc
  bus::Instance* NewInstance(LiveBus& bus, uint16_t region, bus::Instance* parent, bus::Entry* entry, uint64_t element);
  void InitInstance(bus::Instance& instance);
  void Begin(bus::Instance& instance);
  void CountSettled(bus::Instance& instance);
  bus::Entry* OpenEntry(bus::Instance& parent, uint16_t task);
  void CloseEntry(bus::Entry& entry);
  void LeaveEntry(bus::Entry& entry, const bus::Failure* failure);
  void EntryEnded(bus::Instance& instance, const bus::Failure* failure);
  void StartSelect(bus::Instance& instance, uint16_t id);
  void StartEnter(bus::Instance& instance, uint16_t id, const bus::Failure* inherited);
  void TakeFailures(bus::Entry& entry, const bus::Failure& failure);
  void AttemptEnded(bus::Entry& entry, const bus::Failure& failure);
  void BeginFallback(bus::Entry& entry, const bus::Failure& failure);
  void StartEach(bus::Instance& instance, uint16_t id);
  void LaunchElements(bus::Entry& entry);
  bool ResumeElements();  // of those that waited for this turn. True: there are more
  void ElementEnded(bus::Instance& instance, const bus::Failure* failure);
  void Reuse(bus::Instance& instance);
  bus::Context& ContextAt(bus::Instance& instance, uint16_t task);
  const bus::Failure& FailAt(bus::Instance& instance, uint16_t task, wf_code code, std::string_view text);
  const bus::Failure& NoMemoryAt(bus::Instance& instance, uint16_t task);

  // flights.cc: work away from the loop
  Job* NewJob(bus::Instance& instance, uint16_t id);
  void FreeJob(Job& job);
  void Launch(bus::Instance& instance, uint16_t id, int64_t prior_ns);
  void AddFlight(Job& job);
  void RemoveFlight(Job& job);
  void StopFlight(Job& job);
  void TakeBack(Job& job, bool delivered_here);
  void NoteRuns(const Job& job, bus::Instance& instance);
  void Publish(Job& job, bus::Instance& instance);
  base::TimePoint DeadlineOf(const bus::Instance& instance) const;
  const wf_policy* PolicyOf(const bus::Bus& bus, uint16_t id) const { return PolicyOf(CatalogueOf(bus), id); }
  const wf_policy* PolicyOf(const Catalogue& of, uint16_t id) const;
  uint8_t PriorityOf(const Catalogue& of, uint16_t id) const;
  int64_t DelayOf(const bus::Instance& instance, uint16_t id) const;

  // model_call.cc
  const ModelBinding& BindingOf(const bus::Instance& instance, uint16_t id) const;
  bool FitsLoop(const ModelBinding& binding) const;  // where it may choose, not asking what else the loop has run
  bool RunsOnLoop(const ModelBinding& binding) const;
  void StartModel(bus::Instance& instance, uint16_t id);
  void PlaceModel(uint16_t id, Placement where, const ModelBinding& binding);
  void RunModelHere(bus::Instance& instance, uint16_t id, const ModelBinding& binding);
  bool RunBatch();  // between two turns. True: there may be more
  void QueueRow(bus::Instance& instance, uint16_t id, const ModelBinding& binding, bool or_here);
  // A credit for the row. False: the task is parked, or has failed, or, where `full` is given, there is no credit, as it then says.
  bool ReserveRow(bus::Instance& instance, uint16_t start, uint16_t model_task, Job& job, bool* full);
  bool RefuseRow(bus::Instance& instance, uint16_t start, Counter& requests, const bus::Failure& refused);
  void Unpark(LiveBus& bus);

  const wf_plan& plan_;
  const bus::PlanIndex& index_;
  const EngineParts parts_;
  const EngineOptions options_;
  Estimates estimates_;
  std::vector<std::vector<uint16_t>> certain_;  // by workflow: CertainTasks
  std::vector<Ready> ready_;
  size_t ready_at_ = 0;
  std::vector<Ready> held_;  // failures that end their requests once nothing is ready; a heap, the textually first first
  bool pumping_ = false;
  LiveBus *deciding_ = nullptr, *last_deciding_ = nullptr, *drained_ = nullptr;
  IdleBuses idle_buses_;
  Job* idle_jobs_ = nullptr;
  uint32_t n_idle_jobs_ = 0;
  std::vector<Epoch> epochs_;
  std::vector<size_t> learned_bytes_;  // by region: arena of recent requests
  std::unordered_map<const batch::Runnable*, std::unique_ptr<batch::Staging>> staging_;
  TurnWork turn_;
  base::TimePoint last_lift_ = 0, last_merge_ = 0;
  uint64_t created_ = 0, own_data_ids_ = 0, data_id_ = 0, data_id_end_ = 0, jitter_;
};

}  // namespace wf::sched
