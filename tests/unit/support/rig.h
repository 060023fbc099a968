#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/abi/interpret.h"
#include "runtime/base/mailbox.h"
#include "runtime/batch/executor.h"
#include "runtime/batch/runnable.h"
#include "runtime/bus/memory.h"
#include "runtime/bus/plan_index.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "runtime/sched/job.h"
#include "runtime/sched/observer.h"
#include "tests/unit/support/fake_clock.h"

namespace wf::test {

class CountingWaker final : public base::Waker {
 public:
  void Wake() noexcept override { ++count; }
  int count = 0;
};

// Strands wait here until the test runs them.
class ListQueue final : public sched::JobQueue {
 public:
  void Push(sched::Job& job) noexcept override {
    jobs.push_back(&job);
    ++pushed;
  }
  std::deque<sched::Job*> jobs;
  size_t pushed = 0;
};

// Threads that run strands, as a test lets them.
class Workers {
 public:
  explicit Workers(size_t count) : jobs_(count, nullptr) {}
  enum class Did : uint8_t { kNothing, kTook, kStepped, kEnded };
  // One of them, at random, takes any job of the queue, or makes a step of its own.
  Did Step(ListQueue& queue, const base::Clock& clock, std::mt19937_64& random);

 private:
  std::vector<sched::Job*> jobs_;  // what each runs, or null
};

// Memory that counts, and fails when told to.
class TestMemory final : public bus::Memory {
 public:
  void* Take(size_t bytes) noexcept override;
  void Give(void* chunk, size_t bytes) noexcept override;
  bool Claim(int64_t bytes) noexcept override;
  bool ClaimLast(int64_t bytes) noexcept override;
  bool HasRoom(int64_t bytes) const noexcept override { return bytes <= claimable_bytes - claimed_bytes; }
  void Unclaim(int64_t bytes) noexcept override { claimed_bytes -= bytes; }
  std::function<bool()> refuses;             // null: never; claims have a limit of their own
  static constexpr int64_t kLast = 1 << 20;  // beside those
  int64_t claimable_bytes = INT64_MAX - kLast, claimed_bytes = 0;
  int64_t takes = 0, held_bytes = 0, refused = 0;
};

// A model over i64[w]: y = 31 * x + version. Perhaps fails.
class FakeModel final : public batch::Runnable {
 public:
  FakeModel(const wf_model& row, int64_t version, int64_t max_rows, int instances)
      : row_(row), version_(version), max_rows_(max_rows), buffers_(static_cast<size_t>(instances)) {}
  const wf_model& model() const override { return row_; }
  int64_t version() const override { return version_; }
  int64_t max_rows() const override { return max_rows_; }
  int instance_count() const override { return static_cast<int>(buffers_.size()); }
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                   const base::Wanted* wanted) override;

  static int64_t Value(int64_t x, int64_t version) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * 31 + static_cast<uint64_t>(version));
  }
  bool has_open_extents() const override { return open; }
  std::function<bool()> fails;    // null: never
  bool open = false;              // set before a batcher is made
  std::vector<int64_t> run_rows;  // of each run; not with several threads

 private:
  const wf_model& row_;
  const int64_t version_, max_rows_;
  std::vector<std::vector<int64_t>> buffers_;
};

// Names an instance as the interpreter does.
uint64_t PathOfInstance(const bus::Instance& instance);

// What timing decided in one request, told to the oracle.
class Recorder final : public sched::Observer {
 public:
  struct Decisions {
    std::map<std::tuple<uint64_t, uint16_t, int>, wf_code> timeouts;  // path, task, attempt
    std::map<std::pair<uint64_t, uint16_t>, wf_code> models;          // path, task
  };
  void OnTimedOut(const bus::Instance& where, uint16_t task, int attempt) override;
  void OnModelFailed(const bus::Instance& where, uint16_t task, const bus::Failure& why) override;
  std::map<const bus::Bus*, Decisions> by_bus;
};

// Runs one sample in the interpreter: the same inputs, the same decisions.
class Oracle {
 public:
  explicit Oracle(const wf_plan& plan);
  // `inputs`: of the in slots, which are ints; `out` receives the mix of each out slot.
  abi::Outcome Run(const std::vector<int64_t>& inputs, uint64_t sample, const Recorder::Decisions& decisions, int64_t version,
                   std::vector<int64_t>* out);

 private:
  const wf_plan& plan_;
  bus::ChunkMemory memory_;
};

// One loop with a client that keeps what it is told. Nothing runs unless the test says so.
class Rig final : public bus::Client {
 public:
  // threads: of the executor; 0: RunBatch is what runs rows.
  explicit Rig(const wf_plan& plan, const sched::EngineOptions& options = {}, const batch::BatcherOptions& batching = {}, int threads = 0);
  ~Rig() override;

  bus::Bus* Start(const std::vector<int64_t>& inputs, int64_t timeout_ns = 0);
  void RunJobs();              // every strand that waits, to its end
  bool RunBatch();             // one batch, if one is due
  void Turn();                 // mailbox and timers
  void Settle();               // all of these until nothing moves
  void AdvanceNs(int64_t ns);  // the clock, then a turn

  void OnHidden(bus::Bus& bus, const bus::Failure& cause, const bus::Failure* by) noexcept override;
  void OnAnswered(bus::Bus& bus) noexcept override;
  void OnDrained(bus::Bus& bus) noexcept override;

  const wf_plan& plan;
  FakeClock clock;
  bus::PlanIndex index;
  CountingWaker waker;
  base::Mailbox mailbox{waker};
  ListQueue queue;
  TestMemory memory;
  Recorder recorder;
  std::vector<std::unique_ptr<FakeModel>> models;
  std::vector<batch::Batcher*> batchers;
  std::unique_ptr<batch::Executor> executor;
  sched::Catalogue catalogue;
  std::unique_ptr<sched::Engine> engine;
  bool keeps = false;  // answered buses are not released until the test does

  struct Answer {
    wf_code code;
    std::string message, path;
    std::vector<int64_t> values;
  };
  std::vector<Answer> answers;
  std::vector<wf_code> hidden;  // failures that were told beside answers
  int drained = 0;
};

}  // namespace wf::test
