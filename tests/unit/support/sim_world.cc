#include "tests/unit/support/sim_world.h"

#include <algorithm>

namespace wf::test {

struct SimWorld::InFlight {
  bus::Bus* bus = nullptr;
  Loop* loop = nullptr;
  std::vector<std::vector<int64_t>> inputs;  // by sample
  int64_t version = 0;
  bool answered = false, cancelled = false, released = false, drained = false;
};

struct SimWorld::Loop final : bus::Client {
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
};

SimWorld::SimWorld(const SimOptions& options) : SimProcess(options) {
  to_arrive_ = options.requests;
  const size_t loops = 1 + Below(3);
  const auto schedule = static_cast<sched::Schedule>(Below(3));
  for (size_t i = 0; i < loops; ++i) {
    loops_.push_back(std::make_unique<Loop>(*this));
    Loop& loop = *loops_.back();
    sched::EngineOptions engine;
    engine.schedule = schedule;
    engine.loop = static_cast<int>(i);
    engine.kept_buses = static_cast<uint32_t>(Below(3));
    if (Chance(50)) engine.between_turns_ns = sched::kBetweenTurnsNs;
    if (Chance(30)) engine.inline_turn_ns = static_cast<int64_t>(Below(3'000));
    loop.engine =
        std::make_unique<sched::Engine>(*plan_, *index_, sched::EngineParts{clock_, loop.mailbox, queue_, memory_, &loop.recorder}, engine);
    Hold(*loop.engine);
  }
}

SimWorld::~SimWorld() = default;

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
  Note(11, loop.engine->OnIdle() ? 1 : 0);
}

sched::Engine& SimWorld::engine(size_t loop) { return *loops_[loop]->engine; }

base::TimePoint SimWorld::NextTimerAt() {
  base::TimePoint next = INT64_MAX;
  for (const auto& loop : loops_) next = std::min(next, loop->engine->NextTimerAt());
  return next;
}

void SimWorld::DropLoops() { loops_.clear(); }

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
  } else {
    ProcessStep(Below(100));
  }
}

bool SimWorld::AtRest() const {
  if (to_arrive_ > 0) return false;
  return std::all_of(loops_.begin(), loops_.end(), [](const auto& loop) { return loop->engine->live_buses() == 0; });
}

void SimWorld::CheckInvariants() {
  for (const auto& loop : loops_)
    if (loop->engine->running_buses() > loop->engine->live_buses()) Broken("more buses run than live");
}

void SimWorld::CheckAtRest() {
  for (const auto& request : requests_) {
    if (!request->drained) Broken("a request was never drained");
    if (!request->answered && !request->cancelled) Broken("a request was never answered");
  }
}

void SimWorld::CheckAnswer(InFlight& request) {
  ++answered_;
  const bus::Failure* const failure = request.bus->failure();
  Note(10, failure == nullptr ? 0 : static_cast<uint64_t>(failure->code));
  if (memory_.refused > 0) return;  // a refusal may have been caught by any fallback
  if (failure != nullptr && failure->code == code::kTimeout && failure->task == WF_NONE) {
    if (clock_.Now() < request.bus->deadline()) Broken("a deadline passed too early");
    return;
  }
  if (failure != nullptr && failure->code == code::kRefused && failure->task == WF_NONE) {
    if (WaitingRows() == 0) Broken("a request was refused for those that wait, and nobody did");
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
    if (outcome.failure.code == 0)
      Broken("answered with " + std::to_string(failure->code) + ", the interpreter succeeds");
    else if (!outcome.MayReport(failure->code))
      Broken("answered with " + std::to_string(failure->code) + ", the interpreter with " + std::to_string(outcome.failure.code) +
             " at task " + std::to_string(outcome.failure.task) + ", here at " + std::to_string(failure->task));
    return;
  }
  if (outcome.failure.code != 0) return Broken("answered well, the interpreter fails with " + std::to_string(outcome.failure.code));
  for (size_t i = 0; i < expected.size(); ++i)
    if (ReadValue(*plan_, plan_->workflows->out[i].slot, request.bus->frame(sample)) != expected[i])
      Broken("a value differs from the interpreter's");
}

void SimWorld::TearDown() {
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
}

}  // namespace wf::test
