#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/random_plan.h"
#include "tests/unit/support/rig.h"

namespace wf::test {

struct SimOptions {
  uint64_t seed = 1;
  int requests = 24;
  bool with_faults = false;  // memory is refused now and then
  int most_steps = 200'000;  // more: the world hangs
};

// A whole process on one thread: loops, workers, an executor, clients, clock and memory. The seed picks the next step: a request arrives, a
// client leaves, a loop takes a turn, a worker runs one task, a batch is taken, runs, or is delivered, time passes, the catalogue is
// swapped. After each step the invariants are checked; every answer is compared with the interpreter, which is told what timing decided.
// Errors: the first broken invariant, as text; empty when all hold.
class SimWorld final {
 public:
  explicit SimWorld(const SimOptions& options);
  ~SimWorld();

  std::string Run();
  uint64_t trace_hash() const { return trace_; }
  uint64_t answered() const { return answered_; }
  uint64_t succeeded() const { return succeeded_; }
  uint64_t batches_of_several() const { return batches_of_several_; }

 private:
  struct Version;
  struct Loop;
  struct InFlight;
  struct Running {
    batch::Work work;
    base::TimePoint ends_at;
  };

  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  void Note(uint64_t what, uint64_t value);
  void Broken(const std::string& what);

  void Step();
  void Arrive();
  void Leave();
  void Turn(Loop& loop);
  void Work();
  void TakeBatch();
  void FinishBatch();
  void PassTime();
  void ReleaseOne();
  void Swap();
  bool AtRest() const;
  void TearDown();
  void CheckInvariants();
  void CheckAtRest();
  void CheckAnswer(InFlight& request);
  void CheckSample(InFlight& request, uint32_t sample);
  std::unique_ptr<Version> MakeVersion();

  const SimOptions options_;
  std::mt19937_64 random_;
  FakeClock clock_;
  PlanBuilder builder_;
  const wf_plan* plan_ = nullptr;
  std::unique_ptr<bus::PlanIndex> index_;
  std::unique_ptr<Oracle> oracle_;
  TestMemory memory_;
  ListQueue queue_;
  std::vector<sched::Job*> workers_;  // what each runs, or null
  std::unique_ptr<batch::Executor> executor_;
  std::vector<Running> running_;
  std::vector<std::unique_ptr<Version>> versions_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::unique_ptr<InFlight>> requests_;
  int to_arrive_ = 0;
  uint64_t trace_ = 0, answered_ = 0, succeeded_ = 0, batches_of_several_ = 0;
  std::string broken_;
};

}  // namespace wf::test
