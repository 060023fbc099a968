#include "tests/unit/support/sim_process.h"

#include <algorithm>

#include "runtime/abi/verify.h"

namespace wf::test {

struct SimProcess::CountHolders final : sched::Engine::CatalogueUser {
  explicit CountHolders(SimProcess& owner) : process(owner) {}
  void OnReleased(const sched::Catalogue& catalogue) noexcept override {
    for (const auto& version : process.versions_)
      if (&version->catalogue == &catalogue && version->holders-- == 0) process.Broken("a catalogue was released more often than held");
  }
  SimProcess& process;
};

SimProcess::SimProcess(const SimOptions& options) : options_(options), random_(options.seed * UINT64_C(0x9e3779b97f4a7c15) + 1) {
  RandomPlanOptions shape;
  shape.with_models = !Chance(15);
  shape.with_timeouts = !Chance(30);
  const wf_plan& plan = MakeRandomPlan(builder_, random_, shape);
  if (const base::Status status = abi::Verify(plan); !status.ok()) Broken("the generated plan: " + status.message());
  served_ = std::make_unique<ServedPlan>(plan, static_cast<uint32_t>(Chance(30) ? 1 + Below(8) : 0));
  plan_ = &served_->plan();
  index_ = std::make_unique<bus::PlanIndex>(*plan_);
  oracle_ = std::make_unique<Oracle>(*plan_);
  executor_ = std::make_unique<batch::Executor>(batch::ExecutorOptions{.threads = 0}, clock_);
  workers_.emplace(1 + Below(3));
  count_holders_ = std::make_unique<CountHolders>(*this);
  if (options_.with_faults) memory_.refuses = [this] { return Chance(3); };
  versions_.push_back(MakeVersion());
}

SimProcess::~SimProcess() = default;

void SimProcess::Hold(sched::Engine& engine) {
  engine.set_catalogue_user(count_holders_.get());
  engine.SetCatalogue(versions_.back()->catalogue);
  ++versions_.back()->holders;
}

std::unique_ptr<SimProcess::Version> SimProcess::MakeVersion() {
  auto version = std::make_unique<Version>(versions_.size() + 1, *plan_);
  if (!versions_.empty()) version->catalogue.deadlines = newest().deadlines;
  const auto number = static_cast<int64_t>(versions_.size()) + 1;
  for (uint32_t i = 0; i < plan_->n_models; ++i) {
    const int instances = 1 + static_cast<int>(Below(2));
    version->models.push_back(std::make_unique<FakeModel>(plan_->models[i], number, 8, instances + 3));
    version->models.back()->fails = [this] { return Chance(4); };
    batch::BatcherOptions options;
    options.model = version->models.back().get();
    options.policy.max_rows = static_cast<int64_t>(1 + Below(8));
    options.policy.max_queued_rows = static_cast<int>(1 + Below(12));
    options.instances = instances;
    version->batchers.push_back(&executor_->AddBatcher(options));
  }
  if (!versions_.empty() && Chance(60)) Retune(version.get());
  const bool on_loop = Chance(70);
  for (uint32_t i = 0; i < plan_->n_tasks; ++i) {
    const wf_task& task = plan_->tasks[i];
    if (task.kind != WF_MODEL) continue;
    batch::Batcher* const batcher = version->batchers[task.target];
    version->catalogue.by_task[i] = {batcher, version->models[task.target].get(), on_loop ? batcher->options().instances : -1};
  }
  return version;
}

// As a configuration that was read again does it: other waits, timeouts and priorities of the same nodes.
void SimProcess::Retune(Version* version) {
  version->policies.assign(plan_->policies, plan_->policies + plan_->n_policies);
  for (wf_policy& policy : version->policies) {
    if (policy.delay_ns > 0) policy.delay_ns = static_cast<int64_t>(1 + Below(3'000'000));
    if (policy.timeout_ns > 0) policy.timeout_ns = static_cast<int64_t>(1'000'000 + Below(5'000'000));
    policy.priority = static_cast<uint8_t>(Below(3));
  }
  version->tuned = *plan_;
  version->tuned.policies = version->policies.data();
  version->catalogue.tuned = &version->tuned;
}

int SimProcess::WaitingRows() const {
  int rows = 0;
  for (const auto& version : versions_)
    for (const batch::Batcher* batcher : version->batchers) rows += batcher->queued_rows();
  return rows;
}

void SimProcess::Note(uint64_t what, uint64_t value) {
  trace_ = (trace_ ^ (what * 1000003 + value)) * UINT64_C(0x9e3779b97f4a7c15);
  trace_ ^= trace_ >> 29;
}

void SimProcess::Broken(const std::string& what) {
  if (broken_.empty()) broken_ = "seed " + std::to_string(options_.seed) + ": " + what;
}

void SimProcess::Work() { Note(5, static_cast<uint64_t>(workers_->Step(queue_, clock_, random_))); }

void SimProcess::TakeBatch() {
  auto work = executor_->Take();
  if (!work) return;
  Note(7, static_cast<uint64_t>(work->closed.rows.count));
  if (work->closed.rows.count > 1) ++batches_of_several_;
  if (work->closed.rows.count > work->batcher->options().policy.max_rows) Broken("a batch is larger than its limit");
  executor_->Run(*work);
  const auto took = static_cast<int64_t>(20'000 + Below(1'500'000)) + work->size * 10'000;
  running_.push_back({std::move(*work), clock_.Now() + took});
}

void SimProcess::FinishBatch() {
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    if (at->ends_at > clock_.Now()) continue;
    Note(8, static_cast<uint64_t>(at->work.size));
    executor_->Finish(at->work);
    running_.erase(at);
    return;
  }
}

void SimProcess::PassTime() {
  if (Chance(60)) return clock_.AdvanceNs(static_cast<int64_t>(Below(100'000)));
  base::TimePoint next = NextTimerAt();  // to the next thing that waits for time
  for (const Running& running : running_) next = std::min(next, running.ends_at);
  if (const auto at = executor_->NextDecisionAt(); at) next = std::min(next, *at);
  if (next != INT64_MAX) clock_.AdvanceTo(next);
}

void SimProcess::Swap() {
  if (versions_.size() >= 4) return;
  versions_.push_back(MakeVersion());
  Note(9, versions_.size());
  for (size_t i = 0; i < loops(); ++i) Hold(engine(i));
}

void SimProcess::ProcessStep(uint64_t kind) {
  if (kind < 40) {
    Work();
  } else if (kind < 58) {
    TakeBatch();
  } else if (kind < 76) {
    FinishBatch();
  } else if (kind < 98 || !Chance(30)) {
    PassTime();
  } else {
    Swap();
  }
}

void SimProcess::CheckBatchers() {
  for (const auto& version : versions_)
    for (const batch::Batcher* batcher : version->batchers)
      if (batcher->queued_rows() < 0 || batcher->queued_rows() > batcher->options().policy.max_queued_rows)
        Broken("a queue is above its limit");
}

std::string SimProcess::Run() {
  for (int step = 0; broken_.empty() && !AtRest(); ++step) {
    if (step == options_.most_steps) Broken("nothing comes to rest");
    Step();
    CheckBatchers();
    CheckInvariants();
  }
  if (!broken_.empty()) {
    memory_.refuses = nullptr;
    TearDown();
    for (int step = 0; step < options_.most_steps && !AtRest(); ++step) Step();
  }
  if (broken_.empty()) {
    for (size_t i = 0; i < versions_.size(); ++i) {
      for (const batch::Batcher* batcher : versions_[i]->batchers)
        if (batcher->queued_rows() != 0) Broken("credits are left at rest");
      const size_t holders = i + 1 == versions_.size() ? loops() : 0;
      if (versions_[i]->holders != holders) Broken("an old catalogue is still held at rest");
    }
    if (!running_.empty() || !queue_.jobs.empty()) Broken("work is left at rest");
    CheckAtRest();
  }
  if (broken_.empty()) {
    DropLoops();
    if (memory_.held_bytes != 0) Broken("memory is left when all loops are gone");
  }
  return broken_;
}

}  // namespace wf::test
