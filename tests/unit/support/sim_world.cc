#include "tests/unit/support/sim_world.h"

#include <algorithm>

#include "runtime/abi/verify.h"

namespace wf::test {

// Models of one version with their batchers, and the catalogue that names them.
struct SimWorld::Version {
  Version(uint64_t epoch, const wf_plan& plan) : catalogue(epoch, plan.n_tasks) {}
  sched::Catalogue catalogue;
  std::vector<std::unique_ptr<FakeModel>> models;
  std::vector<batch::Batcher*> batchers;
  size_t holders = 0;  // loops that have not released it
};

struct SimWorld::InFlight {
  bus::Bus* bus = nullptr;
  Loop* loop = nullptr;
  std::vector<std::vector<int64_t>> inputs;  // by sample
  int64_t version = 0;
  bool answered = false, cancelled = false, released = false, drained = false;
};

struct SimWorld::Loop final : bus::Client, sched::Engine::CatalogueUser {
  explicit Loop(SimWorld& owner) : world(owner) {}
  SimWorld& world;
  CountingWaker waker;
  base::Mailbox mailbox{waker};
  Recorder recorder;
  std::unique_ptr<sched::Engine> engine;

  void OnAnswered(bus::Bus& bus) noexcept override {
    auto& request = *static_cast<InFlight*>(bus.user);
    if (request.answered || request.cancelled) world.Broken("a request was answered twice, or after its client left");
    request.answered = true;
    world.CheckAnswer(request);
    if (!world.Chance(50)) return;  // the rest is released later, as if buffers were being written
    request.released = true;
    engine->Release(bus);
  }
  void OnDrained(bus::Bus& bus) noexcept override {
    auto& request = *static_cast<InFlight*>(bus.user);
    if (request.drained || (!request.released && !request.cancelled)) world.Broken("a bus was drained twice, or while its client held it");
    if (bus.pins != 0) world.Broken("a bus was drained with pins");
    request.drained = true;
    request.bus = nullptr;
    recorder.by_bus.erase(&bus);
  }
  void OnReleased(const sched::Catalogue& catalogue) noexcept override {
    for (const auto& version : world.versions_)
      if (&version->catalogue == &catalogue && version->holders-- == 0) world.Broken("a catalogue was released more often than held");
  }
};

SimWorld::SimWorld(const SimOptions& options) : options_(options), random_(options.seed * UINT64_C(0x9e3779b97f4a7c15) + 1) {
  RandomPlanOptions shape;
  shape.with_models = !Chance(15);
  shape.with_timeouts = !Chance(30);
  plan_ = &MakeRandomPlan(builder_, random_, shape);
  if (const base::Status status = abi::Verify(*plan_); !status.ok()) Broken("the generated plan: " + status.message());
  if (!broken_.empty()) return;
  index_ = std::make_unique<bus::PlanIndex>(*plan_);
  oracle_ = std::make_unique<Oracle>(*plan_, *index_);
  executor_ = std::make_unique<batch::Executor>(batch::ExecutorOptions{.threads = 0}, clock_);
  workers_.resize(1 + Below(3), nullptr);
  to_arrive_ = options.requests;
  if (options_.with_faults) memory_.refuses = [this] { return Chance(3); };
  versions_.push_back(MakeVersion());
  const size_t loops = 1 + Below(3);
  const auto schedule = static_cast<sched::Schedule>(Below(3));
  for (size_t i = 0; i < loops; ++i) {
    loops_.push_back(std::make_unique<Loop>(*this));
    Loop& loop = *loops_.back();
    sched::EngineOptions engine;
    engine.schedule = schedule;
    engine.loop = static_cast<int>(i);
    engine.kept_buses = static_cast<uint32_t>(Below(3));
    loop.engine =
        std::make_unique<sched::Engine>(*plan_, *index_, sched::EngineParts{clock_, loop.mailbox, queue_, memory_, &loop.recorder}, engine);
    loop.engine->set_catalogue_user(&loop);
    loop.engine->SetCatalogue(versions_.back()->catalogue);
    ++versions_.back()->holders;
  }
}

SimWorld::~SimWorld() = default;

std::unique_ptr<SimWorld::Version> SimWorld::MakeVersion() {
  auto version = std::make_unique<Version>(versions_.size() + 1, *plan_);
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
  const bool on_loop = Chance(70);
  for (uint32_t i = 0; i < plan_->n_tasks; ++i) {
    const wf_task& task = plan_->tasks[i];
    if (task.kind != WF_MODEL) continue;
    batch::Batcher* const batcher = version->batchers[task.target];
    version->catalogue.by_task[i] = {batcher, version->models[task.target].get(), on_loop ? batcher->options().instances : -1};
  }
  return version;
}

void SimWorld::Note(uint64_t what, uint64_t value) {
  trace_ = (trace_ ^ (what * 1000003 + value)) * UINT64_C(0x9e3779b97f4a7c15);
  trace_ ^= trace_ >> 29;
}

void SimWorld::Broken(const std::string& what) {
  if (broken_.empty()) broken_ = "seed " + std::to_string(options_.seed) + ": " + what;
}

void SimWorld::Arrive() {
  --to_arrive_;
  auto request = std::make_unique<InFlight>();
  request->loop = loops_[Below(loops_.size())].get();
  request->version = static_cast<int64_t>(versions_.size());
  const auto samples = static_cast<uint32_t>(Chance(20) ? 1 + Below(3) : 1);
  sched::Request asked;
  asked.workflow = plan_->workflows;
  asked.client = request->loop;
  asked.samples = samples;
  asked.received_at = clock_.Now();
  asked.timeout_ns = Chance(25) ? static_cast<int64_t>(1 + Below(6)) * 1'000'000 : 0;
  asked.user = request.get();
  bus::Bus* const bus = request->loop->engine->Create(asked);
  Note(1, bus == nullptr);
  if (bus == nullptr) {
    if (!options_.with_faults) Broken("a bus was refused although there was memory");
    return;
  }
  request->bus = bus;
  for (uint32_t sample = 0; sample < samples; ++sample) {
    request->inputs.push_back({static_cast<int64_t>(Below(50)), static_cast<int64_t>(Below(50))});
    for (size_t i = 0; i < 2; ++i) WriteInt(*plan_, plan_->workflows->in[i].slot, bus->frame(sample), request->inputs.back()[i]);
  }
  requests_.push_back(std::move(request));
  InFlight& in_flight = *requests_.back();
  if (Chance(3)) {
    in_flight.cancelled = true;
    in_flight.loop->engine->Cancel(*bus);
  } else {
    in_flight.loop->engine->Start(*bus);
  }
}

void SimWorld::Leave() {
  for (const auto& request : requests_) {
    if (request->answered || request->cancelled || !Chance(40)) continue;
    request->cancelled = true;
    Note(2, request->bus->data_id());
    return request->loop->engine->Cancel(*request->bus);
  }
}

void SimWorld::ReleaseOne() {
  for (const auto& request : requests_) {
    if (!request->answered || request->released || !Chance(50)) continue;
    request->released = true;
    Note(3, request->bus->data_id());
    return request->loop->engine->Release(*request->bus);
  }
}

void SimWorld::Turn(Loop& loop) {
  loop.engine->OnPoll();
  Note(4, loop.mailbox.Drain() ? 1 : 0);
  if (loop.engine->NextTimerAt() <= clock_.Now()) loop.engine->OnTime();
}

void SimWorld::Work() {
  sched::Job*& at = workers_[Below(workers_.size())];
  if (at == nullptr) {
    if (queue_.jobs.empty()) return;
    const size_t pick = Below(queue_.jobs.size());
    at = queue_.jobs[pick];
    queue_.jobs.erase(queue_.jobs.begin() + static_cast<ptrdiff_t>(pick));
    return Note(5, pick);
  }
  const bool more = at->Step(clock_);
  Note(6, more);
  if (!more) at = nullptr;
}

void SimWorld::TakeBatch() {
  auto work = executor_->Take();
  if (!work) return;
  Note(7, static_cast<uint64_t>(work->closed.rows.count));
  if (work->closed.rows.count > 1) ++batches_of_several_;
  if (work->closed.rows.count > work->batcher->options().policy.max_rows) Broken("a batch is larger than its limit");
  executor_->Run(*work);
  const auto took = static_cast<int64_t>(20'000 + Below(1'500'000)) + work->size * 10'000;
  running_.push_back({std::move(*work), clock_.Now() + took});
}

void SimWorld::FinishBatch() {
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    if (at->ends_at > clock_.Now()) continue;
    Note(8, static_cast<uint64_t>(at->work.size));
    executor_->Finish(at->work);
    running_.erase(at);
    return;
  }
}

void SimWorld::PassTime() {
  if (Chance(60)) return clock_.AdvanceNs(static_cast<int64_t>(Below(100'000)));
  base::TimePoint next = INT64_MAX;  // to the next thing that waits for time
  for (const auto& loop : loops_) next = std::min(next, loop->engine->NextTimerAt());
  for (const Running& running : running_) next = std::min(next, running.ends_at);
  if (const auto at = executor_->NextDecisionAt(); at) next = std::min(next, *at);
  if (next != INT64_MAX) clock_.AdvanceTo(next);
}

void SimWorld::Swap() {
  if (versions_.size() >= 4) return;
  versions_.push_back(MakeVersion());
  Note(9, versions_.size());
  for (const auto& loop : loops_) {
    ++versions_.back()->holders;
    loop->engine->SetCatalogue(versions_.back()->catalogue);
  }
}

void SimWorld::Step() {
  const uint64_t kind = Below(100);
  if (kind < 8) {
    if (to_arrive_ > 0) Arrive();
  } else if (kind < 10) {
    Leave();
  } else if (kind < 14) {
    ReleaseOne();
  } else if (kind < 34) {
    Turn(*loops_[Below(loops_.size())]);
  } else if (kind < 60) {
    Work();
  } else if (kind < 72) {
    TakeBatch();
  } else if (kind < 84) {
    FinishBatch();
  } else if (kind < 99 || !Chance(30)) {
    PassTime();
  } else {
    Swap();
  }
}

bool SimWorld::AtRest() const {
  if (to_arrive_ > 0) return false;
  return std::all_of(loops_.begin(), loops_.end(), [](const auto& loop) { return loop->engine->live_buses() == 0; });
}

void SimWorld::CheckInvariants() {
  for (const auto& version : versions_)
    for (const batch::Batcher* batcher : version->batchers)
      if (batcher->queued_rows() < 0 || batcher->queued_rows() > batcher->options().policy.max_queued_rows)
        Broken("a queue is above its limit");
  for (const auto& loop : loops_)
    if (loop->engine->running_buses() > loop->engine->live_buses()) Broken("more buses run than live");
}

void SimWorld::CheckAtRest() {
  for (size_t i = 0; i < versions_.size(); ++i) {
    for (const batch::Batcher* batcher : versions_[i]->batchers)
      if (batcher->queued_rows() != 0) Broken("credits are left at rest");
    const size_t holders = i + 1 == versions_.size() ? loops_.size() : 0;
    if (versions_[i]->holders != holders) Broken("an old catalogue is still held at rest");
  }
  for (const auto& request : requests_) {
    if (!request->drained) Broken("a request was never drained");
    if (!request->answered && !request->cancelled) Broken("a request was never answered");
  }
  if (!running_.empty() || !queue_.jobs.empty()) Broken("work is left at rest");
}

void SimWorld::CheckAnswer(InFlight& request) {
  ++answered_;
  const bus::Failure* const failure = request.bus->failure();
  Note(10, failure == nullptr ? 0 : static_cast<uint64_t>(failure->code));
  if (memory_.refused > 0) return;  // a refusal may have been caught by any fallback
  if (failure != nullptr && failure->code == bus::kTimeout && failure->task == WF_NONE) {
    if (clock_.Now() < request.bus->deadline()) Broken("a deadline passed too early");
    return;
  }
  if (failure == nullptr) {
    ++succeeded_;
    for (uint32_t sample = 0; sample < request.inputs.size(); ++sample) CheckSample(request, sample);
    return;
  }
  CheckSample(request, failure->sample);
}

void SimWorld::CheckSample(InFlight& request, uint32_t sample) {
  const bus::Failure* const failure = request.bus->failure();
  const Recorder::Decisions& decisions = request.loop->recorder.by_bus[request.bus];
  std::vector<int64_t> expected;
  const abi::Outcome outcome = oracle_->Run(request.inputs[sample], sample, decisions, request.version, &expected);
  if (failure != nullptr) {
    const bool known = std::find(outcome.known.begin(), outcome.known.end(), failure->code) != outcome.known.end();
    if (outcome.failure.code == 0)
      Broken("answered with " + std::to_string(failure->code) + ", the interpreter succeeds");
    else if (!known && failure->code != outcome.failure.code)
      Broken("answered with " + std::to_string(failure->code) + ", the interpreter with " + std::to_string(outcome.failure.code) +
             " at task " + std::to_string(outcome.failure.task) + ", here at " + std::to_string(failure->task));
    return;
  }
  if (outcome.failure.code != 0) return Broken("answered well, the interpreter fails with " + std::to_string(outcome.failure.code));
  for (size_t i = 0; i < expected.size(); ++i)
    if (ReadValue(*plan_, plan_->workflows->out[i].slot, request.bus->frame(sample)) != expected[i])
      Broken("a value differs from the interpreter's");
}

// Leaves the world in the middle: every client goes, everything under way comes home.
void SimWorld::TearDown() {
  memory_.refuses = nullptr;
  to_arrive_ = 0;
  for (const auto& request : requests_) {
    if (request->drained) continue;
    if (!request->answered && !request->cancelled) {
      request->cancelled = true;
      request->loop->engine->Cancel(*request->bus);
    } else if (request->answered && !request->released) {
      request->released = true;
      request->loop->engine->Release(*request->bus);
    }
  }
  for (int step = 0; step < options_.most_steps && !AtRest(); ++step) Step();
}

std::string SimWorld::Run() {
  for (int step = 0; broken_.empty() && !AtRest(); ++step) {
    if (step == options_.most_steps) Broken("nothing comes to rest");
    Step();
    CheckInvariants();
  }
  if (!broken_.empty()) TearDown();
  if (broken_.empty()) CheckAtRest();
  if (broken_.empty()) {
    loops_.clear();
    if (memory_.held_bytes != 0) Broken("memory is left when all loops are gone");
  }
  return broken_;
}

}  // namespace wf::test
