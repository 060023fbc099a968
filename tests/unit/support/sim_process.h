#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/random_plan.h"
#include "tests/unit/support/rig.h"
#include "tests/unit/support/served_plan.h"

namespace wf::test {

struct SimOptions {
  uint64_t seed = 1;
  int requests = 24;
  bool with_faults = false;  // memory is refused now and then
  int most_steps = 200'000;  // more: the world hangs
};

// What the loops of a simulated process share, on one thread: plan, clock, memory, workers, an executor, versions of the models. The seed
// picks what happens next.
// Errors: the first broken invariant, as text; empty when all hold.
class SimProcess {
 public:
  explicit SimProcess(const SimOptions& options);
  virtual ~SimProcess();

  std::string Run();
  uint64_t trace_hash() const { return trace_; }
  uint64_t answered() const { return answered_; }
  uint64_t succeeded() const { return succeeded_; }
  uint64_t inferred() const { return inferred_; }
  uint64_t batches_of_several() const { return batches_of_several_; }

 protected:
  // Models of one version with their batchers, and the catalogue that names them.
  struct Version {
    Version(uint64_t epoch, const wf_plan& plan) : catalogue(epoch, plan.n_tasks) {}
    sched::Catalogue catalogue;
    std::vector<std::unique_ptr<FakeModel>> models;
    std::vector<batch::Batcher*> batchers;
    wf_plan tuned{};
    std::vector<wf_policy> policies;  // of `tuned`
    size_t holders = 0;               // loops that have not released it
  };
  struct CountHolders;  // tells versions that a loop has released them

  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  void Note(uint64_t what, uint64_t value);
  void Broken(const std::string& what);
  void Hold(sched::Engine& engine);  // gives the newest version to a loop
  sched::Catalogue& newest() { return versions_.back()->catalogue; }

  void ProcessStep(uint64_t kind);  // kind: below 100
  void Work();
  void TakeBatch();
  void FinishBatch();
  void PassTime();
  void Swap();
  void CheckBatchers();
  int WaitingRows() const;  // in all queues, those included whose strands still run

  // ---- of the world above ----
  virtual void Step() = 0;
  virtual bool AtRest() const = 0;
  virtual void TearDown() = 0;  // leaves the world in the middle: everything under way comes home
  virtual void CheckInvariants() = 0;
  virtual void CheckAtRest() = 0;
  virtual void DropLoops() = 0;
  virtual size_t loops() const = 0;
  virtual sched::Engine& engine(size_t loop) = 0;
  virtual base::TimePoint NextTimerAt() = 0;

  const SimOptions options_;
  std::mt19937_64 random_;
  FakeClock clock_;
  PlanBuilder builder_;
  std::unique_ptr<ServedPlan> served_;
  const wf_plan* plan_ = nullptr;
  std::unique_ptr<bus::PlanIndex> index_;
  std::unique_ptr<Oracle> oracle_;
  TestMemory memory_;
  ListQueue queue_;
  std::vector<std::unique_ptr<Version>> versions_;
  std::unique_ptr<CountHolders> count_holders_;
  std::string broken_;
  uint64_t answered_ = 0, succeeded_ = 0;
  uint64_t inferred_ = 0;  // of these, by the Open Inference Protocol

 private:
  struct Running {
    batch::Work work;
    base::TimePoint ends_at;
  };
  std::unique_ptr<Version> MakeVersion();
  void Retune(Version* version);

  std::optional<Workers> workers_;
  std::unique_ptr<batch::Executor> executor_;
  std::vector<Running> running_;
  uint64_t trace_ = 0, batches_of_several_ = 0;
};

}  // namespace wf::test
