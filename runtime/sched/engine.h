#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/mailbox.h"
#include "runtime/base/timer.h"
#include "runtime/bus/bus.h"
#include "runtime/bus/memory.h"
#include "runtime/sched/job_queue.h"
#include "runtime/sched/stats.h"

namespace wf::bus {
class PlanIndex;
}

namespace wf::sched {

class Catalogue;
struct ModelVersion;
class Observer;
class EngineCore;
class SharedFactors;

inline constexpr std::string_view kDeadlinePassed = "the request's deadline has passed";
inline constexpr std::string_view kWouldBeLate = "the deadline would pass while the request waits for others";

enum class Schedule : uint8_t { kAuto, kInline, kPool };

struct EngineOptions {
  Schedule schedule = Schedule::kAuto;
  int loop = 0;                               // which of the process's loops this is
  int64_t inline_task_ns = 100'000;           // a task estimated above goes to the pool
  int64_t inline_turn_ns = 300'000;           // and so does any once this much has run since the last poll,
  int64_t hand_over_ns = 5'000;               // unless it is done sooner than handed over
  uint32_t time_every = 64;                   // one request in this many is timed task by task, which takes it twice as long a task
  uint32_t kept_buses = 256;                  // idle buses kept for reuse, the last one with its first chunk
  std::atomic<uint64_t>* data_ids = nullptr;  // shared by the loops; null: own count
  SharedFactors* factors = nullptr;           // the same; null: the loop keeps to what it has seen itself
};

// What the engine stands on: production and simulation differ only here.
struct EngineParts {
  const base::Clock& clock;
  base::Mailbox& mailbox;  // of this loop: jobs and rows come back through it
  JobQueue& queue;
  bus::Memory& memory;
  Observer* observer = nullptr;  // null in production
};

struct Request {
  const wf_workflow* workflow = nullptr;
  bus::Client* client = nullptr;
  uint32_t samples = 1;                   // root frames; more than one only for protocols that send N samples per call
  base::TimePoint received_at = 0;        // end of the headers
  base::TimePoint whole_at = 0;           // end of the body
  int64_t timeout_ns = 0;                 // the client's; 0 none. The workflow's and the catalogue's deadlines also hold
  bool traced = false;                    // its nodes' executions are kept, until it is drained
  const ModelVersion* version = nullptr;  // of the current catalogue; null: the newest of every model
  std::string_view log_id;                // outlives the bus
  int64_t held_bytes = 0;                 // that the request has claimed, beside what its work will take
  void* user = nullptr;
  const bus::Failure** why = nullptr;  // told when Create answers null: it is for others, or for what the request itself is
};

// Runs the requests of one loop: regions, strands, models, deadlines, failures.
// Thread: loop-confined (rule: every call but Watch on the loop's thread; other threads reach it through the mailbox).
// Owns: buses, jobs, timers.   Borrows: plan, index, parts, catalogues.
// Errors: Create answers null when memory is refused; everything later is told by Client::OnAnswered.
// Bounds: the caller admits; each bus at most its budget.   Cost: a trivial inline request allocates nothing, arms no timer, takes no lock.
class Engine {
 public:
  Engine(const wf_plan& plan, const bus::PlanIndex& index, const EngineParts& parts, const EngineOptions& options = {});
  ~Engine();  // REQUIRES: live_buses() == 0
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // New buses take this one. CatalogueUser::OnReleased is told on this loop when the last bus of an older one is drained.
  void SetCatalogue(const Catalogue& catalogue);
  const Catalogue& catalogue() const;  // the current one. REQUIRES: there is one
  class CatalogueUser {
   public:
    virtual ~CatalogueUser() = default;
    virtual void OnReleased(const Catalogue&) noexcept = 0;
  };
  void set_catalogue_user(CatalogueUser* user);

  // How long a request of this deadline would wait at least, if that is why it would be late: it could be in time were nobody before it.
  // 0: it may well be in time, or waiting is not what stands in its way.
  int64_t HopelessNs(const wf_workflow& workflow, const ModelVersion* version, base::TimePoint now, base::TimePoint deadline) const;

  uint64_t NextDataId() noexcept;            // of a request that never gets a bus
  bus::Bus* Create(const Request& request);  // state kDecoding; root frames exist, parameters are to be filled
  void Start(bus::Bus& bus);                 // every parameter of every sample is filled
  void Reject(bus::Bus& bus, wf_code code);  // instead of Start: the decoder failed; `code` as it returned it
  void Cancel(bus::Bus& bus);                // the client is gone: no OnAnswered; also gives up the client's pin
  void Release(bus::Bus& bus);               // after OnAnswered: the reply no longer needs the bus

  // ---- the loop's turn ----
  void OnPoll() noexcept;                        // a new turn begins: inline time starts from zero
  bool OnIdle() noexcept;                        // begins elements that wait for a turn. True: there are more
  base::TimePoint NextTimerAt() const noexcept;  // INT64_MAX: none
  void OnTime() noexcept;                        // fires what is due; harmless when early
  // Timers of others on this loop fire with the engine's, and are not armed when it dies.
  void Arm(base::TimerNode& node, base::TimePoint at) noexcept;
  void Disarm(base::TimerNode& node) noexcept;

  // From one other thread, every so often: a task that is found to run long on the loop is stopped and begun anew on the pool (long_run.h).
  // False: there was none since the last time.
  bool Watch(base::TimePoint now, int64_t cpu_ns) noexcept;

  uint32_t live_buses() const noexcept;     // created and not drained
  uint32_t running_buses() const noexcept;  // not answered yet
  const EngineStats& stats() const noexcept;

 private:
  std::unique_ptr<EngineCore> core_;
};

}  // namespace wf::sched
