#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/batch/batcher.h"
#include "runtime/bus/arena.h"
#include "runtime/bus/context.h"
#include "runtime/bus/instance.h"
#include "runtime/sched/stats.h"

namespace wf::sched {

class EngineCore;

// Work of one request away from its loop: a strand for the pool, a row for a batcher, or a strand that ends in a row.
// Thread: the loop's until launched; then a worker's, then perhaps an executor's; the loop's again when it is delivered. The handing over
// is done by the queue, the executor's mutex and the mailbox.   Owns: its arena and failure until the loop takes them over.   Borrows:
// instance (pinned).
class Job final : public batch::Row, public bus::Flight {
 public:
  static constexpr int kMaxTasks = 8;  // of one strand; a longer one goes on from the loop
  static constexpr int kFewPorts = 8;  // more take memory from the arena

  explicit Job(EngineCore& engine) : engine_(engine) {}

  // ---- a worker's ----
  // Runs the next task of the strand. False: the job is out of the worker's hands.
  bool Step(const base::Clock& clock) noexcept;

  // ---- the executor's ----
  void* Allocate(uint64_t bytes) noexcept override;
  int64_t memory_left() const noexcept override;
  void Fail(wf_code code, std::string_view text) noexcept override;

  // ---- the loop's ----
  void Deliver() noexcept override;
  // Lays out inputs and outputs of the model task for the row. False: no memory.
  bool PrepareRow(const wf_task& task, uint16_t id) noexcept;
  // Copies outputs that are no tensors of the program to their places, when the row has come back sound.
  void KeepOutputs() noexcept;
  void Stop() noexcept { std::atomic_ref<uint32_t>(stop_word).store(1, std::memory_order_relaxed); }
  bool stopped() noexcept { return std::atomic_ref<uint32_t>(stop_word).load(std::memory_order_relaxed) != 0; }

  bus::Context context;
  bus::Arena arena;
  batch::Batcher* batcher = nullptr;     // of the model that ends the strand
  const bus::Failure* failed = nullptr;  // of the task that follows the n_done finished ones
  Job* next_job = nullptr;               // in the pool's or the engine's lists
  base::TimePoint queued_at = 0;
  int64_t estimate_ns = 0;  // at least, of the strand's first task, for those who wait behind it
  int64_t prior_ns[kMaxTasks] = {}, measured_ns[kMaxTasks] = {};
  base::TimePoint started_at[kMaxTasks] = {};
  uint16_t tasks[kMaxTasks] = {};  // the strand, the model included
  uint8_t n_tasks = 0, n_done = 0;
  Placement placed = Placement::kRow;                         // of the first task; others follow
  uint8_t pool_priority = WF_NORMAL, pool_level = WF_NORMAL;  // as pushed, and as the pool has aged it
  bool submitted = false;                                     // to the batcher: it comes back from there
  bool dropped = false;                                       // its instance has ended: nothing of it is wanted
  uint32_t stop_word = 0;

 private:
  void Finish() noexcept;
  wf_tensor* TensorFor(const wf_type& type) noexcept;
  const wf_tensor* InputFor(const wf_type& type, std::byte* value) noexcept;

  EngineCore& engine_;
  const wf_tensor* few_inputs_[kFewPorts];
  wf_tensor* few_outputs_[kFewPorts];
};

}  // namespace wf::sched
