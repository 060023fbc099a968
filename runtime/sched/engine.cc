// The life of a bus: created, started, answered, drained.

#include "runtime/sched/engine.h"

#include <algorithm>
#include <new>

#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/sched/certain.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

constexpr uint64_t kDataIdBlock = 65536;
constexpr size_t kMostFirstChunk = size_t{64} << 10;
constexpr int64_t kLiftEveryNs = 100'000'000, kMergeEveryNs = 1'000'000'000;

void OnDeadline(base::TimerNode& node) noexcept {
  LiveBus& bus = *static_cast<DeadlineTimer&>(node).bus;
  bus.engine->PassDeadline(bus);
}

}  // namespace

EngineCore::EngineCore(const wf_plan& plan, const bus::PlanIndex& index, const EngineParts& parts, const EngineOptions& options)
    : wheel(parts.clock.Now()),
      stats(plan),
      plan_(plan),
      index_(index),
      parts_(parts),
      options_(options),
      estimates_(plan),
      learned_bytes_(plan.n_regions, 0),
      jitter_(UINT64_C(0x9e3779b97f4a7c15) + static_cast<uint64_t>(options.loop)) {
  ready_.reserve(256);
  for (uint32_t w = 0; w < plan.n_workflows; ++w) certain_.push_back(CertainTasks(index, plan.workflows[w]));
}

EngineCore::~EngineCore() {
  WF_CHECK(live_buses == 0, live_buses);
  while (idle_jobs_ != nullptr) {
    Job* const following = idle_jobs_->next_job;
    delete idle_jobs_;
    idle_jobs_ = following;
  }
}

void EngineCore::SetCatalogue(const Catalogue& next) {
  const Catalogue* const old = catalogue;
  catalogue = &next;
  epochs_.push_back({&next, 0});
  if (old == nullptr) return;
  const auto at = std::find_if(epochs_.begin(), epochs_.end(), [old](const Epoch& epoch) { return epoch.catalogue == old; });
  if (at->buses != 0) return;
  epochs_.erase(at);
  if (catalogue_user != nullptr) catalogue_user->OnReleased(*old);
}

size_t EngineCore::FirstChunkBytes(uint16_t root) const {
  return std::clamp(std::max<size_t>(learned_bytes_[root], index_.region(root).instance_bytes + size_t{1024}), size_t{4096},
                    kMostFirstChunk) -
         64;
}

bool EngineCore::MakeRoots(LiveBus& bus, uint32_t samples) {
  bus.roots = static_cast<bus::Instance**>(bus.arena.Allocate(samples * sizeof(bus::Instance*), alignof(void*)));
  if (bus.roots == nullptr) return false;
  for (uint32_t i = 0; i < samples; ++i) {
    bus.roots[i] = NewInstance(bus, bus.workflow_->root, nullptr, nullptr, i);
    if (bus.roots[i] == nullptr) return false;
  }
  bus.n_samples = bus.samples_left = samples;
  bus.sample_failure = nullptr;
  bus.stages = nullptr;
  const bool timed = plan_.n_stages != 0 && (created_ < 1024 || created_ % options_.time_every == 0);
  if (!timed) return true;
  bus.stages = static_cast<StageTime*>(bus.arena.Allocate(plan_.n_stages * sizeof(StageTime), alignof(StageTime)));
  if (bus.stages != nullptr) std::uninitialized_value_construct_n(bus.stages, plan_.n_stages);
  return bus.stages != nullptr;
}

uint64_t EngineCore::NextDataId() noexcept {
  if (data_id_ == data_id_end_) {
    data_id_ = options_.data_ids == nullptr ? own_data_ids_ : options_.data_ids->fetch_add(kDataIdBlock, std::memory_order_relaxed);
    own_data_ids_ += kDataIdBlock;
    data_id_end_ = data_id_ + kDataIdBlock;
  }
  return data_id_++;
}

bus::Bus* EngineCore::Create(const Request& request) {
  WF_CHECK(catalogue != nullptr && request.client != nullptr && request.workflow != nullptr && request.samples > 0);
  LiveBus* bus = idle_buses_.Take();
  if (bus == nullptr) {
    bus = new (std::nothrow) LiveBus;
    if (bus == nullptr) {
      if (request.why != nullptr) *request.why = &bus::kNoRoom;
      return nullptr;
    }
    bus->engine = this;
    bus->plan_ = &plan_;
    bus->deadline_timer.bus = bus;
    bus->deadline_timer.on_time = OnDeadline;
    bus->main.bus = bus;
    bus->main.arena = &bus->arena;
    bus->main.head.stop = long_run.stop_word();
  }
  bus->budget.StartWith(parts_.memory, request.held_bytes, static_cast<int64_t>(bus->arena.held_bytes()));
  bus->workflow_ = request.workflow;
  bus->arena.Open(parts_.memory, bus->budget, FirstChunkBytes(request.workflow->root));
  if (!MakeRoots(*bus, request.samples)) {
    if (request.why != nullptr) *request.why = &bus::WhyRefused(bus->budget);
    bus->arena.FreeAll();
    idle_buses_.Put(*bus);
    return nullptr;
  }
  if (request.traced) bus->spans_ = bus->arena.New<bus::SpanList>();
  ++created_;
  bus->data_id_ = NextDataId();
  bus->log_id_ = request.log_id;
  bus->client_ = request.client;
  bus->user = request.user;
  bus->received_at_ = request.received_at;
  bus->spent_ = bus::Spent(std::max(request.received_at, request.whole_at));
  const int64_t timeout_ns = catalogue->deadlines.Of(*request.workflow);
  bus->deadline_ = request.received_at + (request.timeout_ns > 0 ? std::min(timeout_ns, request.timeout_ns) : timeout_ns);
  bus->catalogue_ = catalogue;
  bus->bindings = request.version == nullptr ? &catalogue->by_task : &request.version->by_task;
  ++epochs_.back().buses;
  bus->state_ = bus::BusState::kDecoding;
  bus->pins = 1;
  ++live_buses;
  ++running_buses;
  stats.created.Add();
  return bus;
}

void EngineCore::Start(LiveBus& bus) {
  WF_CHECK(bus.state_ == bus::BusState::kDecoding);
  bus.state_ = bus::BusState::kRunning;
  const base::TimePoint now = parts_.clock.Now();
  bus.spent_.Read(now);
  if (now >= bus.deadline())
    PassDeadline(bus);  // while the body came, or was read
  else if (HopelessNs({*bus.workflow_, CatalogueOf(bus), *bus.bindings, now, bus.deadline()}) > 0)
    RefuseLate(bus);
  for (uint32_t i = 0; i < bus.n_samples && !bus.decided; ++i) {
    if (!bus.roots[i]->done) Begin(*bus.roots[i]);
  }
  Pump();
}

void EngineCore::Reject(LiveBus& bus, wf_code code) {
  WF_CHECK(bus.state_ == bus::BusState::kDecoding);
  bus.state_ = bus::BusState::kRunning;
  bus.main.task = WF_NONE;
  bus.main.instance = nullptr;
  Decide(bus, &bus.main.TakeFailure(code));
  Pump();
}

// The outcome is known: nothing new starts, and the answer leaves once what is already in line has been passed over.
void EngineCore::Decide(LiveBus& bus, const bus::Failure* failure) {
  if (bus.decided) return;
  bus.decided = true;
  bus.failure_ = failure;
  CloseWork(bus);
  bus.next_bus = nullptr;
  (deciding_ == nullptr ? deciding_ : last_deciding_->next_bus) = &bus;
  last_deciding_ = &bus;
}

void EngineCore::CloseWork(LiveBus& bus) {
  wheel.Cancel(bus.deadline_timer);
  for (uint32_t i = 0; i < bus.n_samples; ++i) Abandon(*bus.roots[i]);
}

void EngineCore::Answer(LiveBus& bus) {
  if (bus.state_ != bus::BusState::kRunning) return;  // cancelled between decision and answer
  bus.state_ = bus::BusState::kAnswered;
  --running_buses;
  (bus.failure_ == nullptr ? stats.answered : stats.failed).Add();
  if (bus.stages != nullptr) RecordStages(bus);
  bus.ClearMain();
  for (const bus::Failure* failure : bus.failures.all()) {
    if (failure != bus.failure_) bus.client_->OnHidden(bus, *failure, nullptr);
  }
  bus.client_->OnAnswered(bus);
}

void EngineCore::RecordStages(LiveBus& bus) {
  for (uint32_t i = 0; i < plan_.n_stages; ++i)
    if (bus.stages[i].first != 0 && bus.stages[i].last >= bus.stages[i].first) stats.stage[i].Add(bus.stages[i].last - bus.stages[i].first);
}

void EngineCore::Cancel(LiveBus& bus) {
  WF_CHECK(bus.state_ == bus::BusState::kDecoding || bus.state_ == bus::BusState::kRunning);
  bus.state_ = bus::BusState::kAnswered;
  bus.failure_ = &bus::kWithdrawn;
  --running_buses;
  stats.cancelled.Add();
  if (!bus.decided) CloseWork(bus);
  Unpin(bus);
  Pump();
}

void EngineCore::Release(LiveBus& bus) {
  WF_CHECK(bus.state_ == bus::BusState::kAnswered);
  Unpin(bus);
  Pump();
}

void EngineCore::Unpin(LiveBus& bus) {
  WF_CHECK(bus.pins > 0);
  if (--bus.pins != 0 || bus.listed_as_drained) return;
  bus.listed_as_drained = true;
  if (bus.decided && bus.state_ == bus::BusState::kAnswered) {
    // Cancelled while its answer was in line: take it out, Answer must not see a freed bus.
    LiveBus *previous = nullptr, *at = deciding_;
    while (at != nullptr && at != &bus) {
      previous = at;
      at = at->next_bus;
    }
    if (at != nullptr) {
      (previous == nullptr ? deciding_ : previous->next_bus) = bus.next_bus;
      if (last_deciding_ == &bus) last_deciding_ = previous;
    }
  }
  bus.next_bus = drained_;
  drained_ = &bus;
}

void EngineCore::FreeBus(LiveBus& bus) {
  bus.client_->OnDrained(bus);
  const auto epoch = std::find_if(epochs_.begin(), epochs_.end(), [&bus](const Epoch& at) { return at.catalogue == bus.catalogue_; });
  if (--epoch->buses == 0 && epoch->catalogue != catalogue) {
    const Catalogue* const released = epoch->catalogue;
    epochs_.erase(epoch);
    if (catalogue_user != nullptr) catalogue_user->OnReleased(*released);
  }
  // A high quantile of what requests take, without keeping a histogram: quickly up, slowly down.
  size_t& learned = learned_bytes_[bus.workflow_->root];
  const size_t held = bus.arena.held_bytes();
  learned = held > learned ? learned + (held - learned + 3) / 4 : learned - (learned - held) / 256;
  bus.arena.Reset(idle_buses_.count() < options_.kept_buses);
  bus.state_ = bus::BusState::kFree;
  bus.ClearMain();
  bus.main.annotations = nullptr;
  bus.metadata = {};
  bus.failure_ = nullptr;
  bus.spans_ = nullptr;
  bus.roots = nullptr;
  bus.n_samples = 0;
  bus.parked = bus.last_parked = bus.idle_parked = nullptr;
  bus.failures.Clear();
  bus.hashes = {};
  bus.has_failures = bus.refused = bus.decided = bus.listed_as_drained = false;
  WF_CHECK(bus.rows_out == 0, bus.rows_out);
  --live_buses;
  stats.drained.Add();
  if (idle_buses_.count() < options_.kept_buses) {
    idle_buses_.Put(bus);
  } else {
    delete &bus;
  }
}

void EngineCore::PassDeadline(LiveBus& bus) {
  if (bus.decided) return;
  bus.ClearMain();
  Decide(bus, &bus.main.Fail(code::kTimeout, 0, kDeadlinePassed));
}

void EngineCore::RefuseLate(LiveBus& bus) {
  stats.refused_late.Add();
  bus.ClearMain();
  Decide(bus, &bus.main.Fail(code::kRefused, 0, kWouldBeLate));
}

void EngineCore::EnsureDeadline(LiveBus& bus) {
  if (!bus.deadline_timer.armed() && !bus.decided) wheel.Arm(bus.deadline_timer, bus.deadline_);
}

void EngineCore::OnTime() {
  wheel.Advance(parts_.clock.Now());
  Pump();
}

bool EngineCore::OnIdle() { return ResumeElements(); }

void EngineCore::OnPoll() {
  turn_.spent_ns = 0;
  turn_.is_new = true;
  if (stats.created.value() == 0) return;
  const base::TimePoint now = parts_.clock.Now();
  if (now - last_lift_ < kLiftEveryNs) return;
  last_lift_ = now;
  estimates_.LiftBars(now);
  if (options_.factors == nullptr || now - last_merge_ < kMergeEveryNs) return;
  last_merge_ = now;
  estimates_.Merge(*options_.factors);
}

Engine::Engine(const wf_plan& plan, const bus::PlanIndex& index, const EngineParts& parts, const EngineOptions& options)
    : core_(std::make_unique<EngineCore>(plan, index, parts, options)) {}
Engine::~Engine() = default;

void Engine::SetCatalogue(const Catalogue& catalogue) { core_->SetCatalogue(catalogue); }
const Catalogue& Engine::catalogue() const { return *core_->catalogue; }
void Engine::set_catalogue_user(CatalogueUser* user) { core_->catalogue_user = user; }
int64_t Engine::HopelessNs(const wf_workflow& workflow, const ModelVersion* version, base::TimePoint now, base::TimePoint deadline) const {
  const Catalogue& catalogue = *core_->catalogue;
  return core_->HopelessNs({workflow, catalogue, version == nullptr ? catalogue.by_task : version->by_task, now, deadline});
}
uint64_t Engine::NextDataId() noexcept { return core_->NextDataId(); }
bus::Bus* Engine::Create(const Request& request) { return core_->Create(request); }
void Engine::Start(bus::Bus& bus) { core_->Start(static_cast<LiveBus&>(bus)); }
void Engine::Reject(bus::Bus& bus, wf_code code) { core_->Reject(static_cast<LiveBus&>(bus), code); }
void Engine::Cancel(bus::Bus& bus) { core_->Cancel(static_cast<LiveBus&>(bus)); }
void Engine::Release(bus::Bus& bus) { core_->Release(static_cast<LiveBus&>(bus)); }
void Engine::OnPoll() noexcept { core_->OnPoll(); }
bool Engine::OnIdle() noexcept { return core_->OnIdle(); }
bool Engine::Watch(base::TimePoint now, int64_t cpu_ns) noexcept { return core_->long_run.Look(now, cpu_ns); }
base::TimePoint Engine::NextTimerAt() const noexcept { return core_->wheel.NextAt(); }
void Engine::OnTime() noexcept { core_->OnTime(); }
void Engine::Arm(base::TimerNode& node, base::TimePoint at) noexcept { core_->wheel.Arm(node, at); }
void Engine::Disarm(base::TimerNode& node) noexcept { core_->wheel.Cancel(node); }
uint32_t Engine::live_buses() const noexcept { return core_->live_buses; }
uint32_t Engine::running_buses() const noexcept { return core_->running_buses; }
const EngineStats& Engine::stats() const noexcept { return core_->stats; }

}  // namespace wf::sched
