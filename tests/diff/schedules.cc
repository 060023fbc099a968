#include "tests/diff/schedules.h"

#include <memory>
#include <random>

#include "runtime/base/mailbox.h"
#include "runtime/bus/plan_index.h"
#include "runtime/protocol/json/open_axes.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "tests/diff/model_host.h"
#include "tests/unit/support/rig.h"

namespace wf::diff {
namespace {

constexpr int kMostTurns = 2'000'000;
constexpr size_t kMostRunning = 3;  // batches side by side

// For models or externs, anywhere below: in workflows that it calls too, which are regions of its own.
bool Waits(const wf_plan& plan, size_t workflow) {
  return std::any_of(plan.tasks, plan.tasks + plan.n_tasks, [&](const wf_task& task) {
    uint16_t region = task.region;
    while (plan.regions[region].parent != WF_NONE) region = plan.regions[region].parent;
    return (task.kind == WF_MODEL || (task.flags & WF_BLOCKING) != 0) && region == plan.workflows[workflow].root;
  });
}

class World {
 public:
  World(const wf_plan& plan, const std::vector<Call>& calls, uint64_t seed, ModelHost& models, const Answered& answered)
      : plan_(plan),
        calls_(calls),
        answered_(answered),
        random_(seed),
        index_(plan),
        models_(models),
        clock_(models.clock()),
        workers_(1 + Below(4)),
        schedule_(static_cast<sched::Schedule>(Below(3))) {
    for (uint64_t i = 0, count = 1 + Below(ModelHost::kLoops); i < count; ++i) {
      loops_.push_back(std::make_unique<Loop>(*this));
      sched::EngineOptions options;
      options.schedule = schedule_;
      options.loop = static_cast<int>(i);
      options.kept_buses = static_cast<uint32_t>(Below(3));
      loops_.back()->engine = std::make_unique<sched::Engine>(
          plan, index_, sched::EngineParts{clock_, loops_.back()->mailbox, queue_, memory_, nullptr}, options);
      loops_.back()->engine->SetCatalogue(models_.catalogue());
    }
  }

  std::string Run() {
    for (int step = 0; step < kMostTurns; ++step) {
      const uint64_t kind = Below(10);
      if (kind < 2 && started_ < calls_.size()) {
        Start();
      } else if (kind < 5) {
        Turn(*loops_[Below(loops_.size())]);
      } else if (kind < 7 && models_.executor() != nullptr) {
        StepModels(*models_.executor());
      } else {
        workers_.Step(queue_, clock_, random_);
      }
      if (started_ == calls_.size() && drained_ == calls_.size() && queue_.jobs.empty() && running_.empty()) return "";
    }
    return "nothing comes to rest";
  }

 private:
  struct Loop final : bus::Client {
    explicit Loop(World& owner) : world(owner) {}
    void OnAnswered(bus::Bus& bus) noexcept override {
      world.Answer(bus);
      if (world.Below(2) == 0) return kept.push_back(&bus);  // as if its answer were still being written
      engine->Release(bus);
    }
    void OnDrained(bus::Bus&) noexcept override { ++world.drained_; }

    World& world;
    test::CountingWaker waker;
    base::Mailbox mailbox{waker};
    std::unique_ptr<sched::Engine> engine;
    std::vector<bus::Bus*> kept;
  };

  uint64_t Below(uint64_t n) { return random_() % n; }

  void Start() {
    const Call& call = calls_[started_++];
    Loop& loop = *loops_[Below(loops_.size())];
    const wf_workflow& workflow = plan_.workflows[call.workflow];
    bus::Bus* const bus =
        loop.engine->Create({.workflow = &workflow, .client = &loop, .received_at = clock_.Now(), .user = const_cast<Call*>(&call)});
    const std::string& json = call.asked->json;
    requests_.push_back(std::make_unique<Request>(Request{json + std::string(64, '\0'), MetadataOf(*call.asked)}));
    bus->metadata = requests_.back()->metadata;
    const wf_bytes body{reinterpret_cast<const uint8_t*>(requests_.back()->body.data()), json.size()};
    if (const wf_code code = ReadInput(bus->ctx(), plan_, workflow, body, bus->frame()); code != 0)
      loop.engine->Reject(*bus, code);
    else
      loop.engine->Start(*bus);
  }

  void Turn(Loop& loop) {
    loop.engine->OnPoll();
    loop.mailbox.Drain();
    clock_.AdvanceNs(static_cast<int64_t>(Below(10'000)));
    loop.engine->OnTime();
    loop.engine->OnIdle();
    if (loop.kept.empty()) return;
    bus::Bus* const released = loop.kept.back();
    loop.kept.pop_back();
    loop.engine->Release(*released);
  }

  // A batch begins, or one of those under way ends.
  void StepModels(batch::Executor& executor) {
    if (running_.size() < kMostRunning && Below(2) == 0) {
      std::optional<batch::Work> work = executor.Take();
      if (!work) return;
      executor.Run(*work);
      running_.push_back(std::move(*work));
    } else if (!running_.empty()) {
      const auto ended = running_.begin() + static_cast<ptrdiff_t>(Below(running_.size()));
      executor.Finish(*ended);
      running_.erase(ended);
    }
  }

  void Answer(bus::Bus& bus) {
    Reported reported;
    if (const bus::Failure* failure = bus.failure(); failure != nullptr)
      reported = {failure->code, bus::PathOf(plan_, *failure), std::string(failure->message)};
    const Call& call = *static_cast<const Call*>(bus.user);
    answered_(call, reported, bus, schedule_ != sched::Schedule::kInline || Waits(plan_, call.workflow));
  }

  const wf_plan& plan_;
  const std::vector<Call>& calls_;
  const Answered& answered_;
  std::mt19937_64 random_;
  bus::PlanIndex index_;
  ModelHost& models_;
  test::FakeClock& clock_;
  std::vector<batch::Work> running_;
  test::TestMemory memory_;
  test::ListQueue queue_;
  test::Workers workers_;
  const sched::Schedule schedule_;
  struct Request {
    std::string body;
    std::vector<bus::Metadata> metadata;
  };
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<std::unique_ptr<Loop>> loops_;
  size_t started_ = 0, drained_ = 0;
};

}  // namespace

wf_code ReadInput(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body, void* frame) {
  const wf_code code = workflow.read_json(ctx, body, frame);
  return code != 0 ? code : json::FillOpenAxes(ctx, plan, workflow, frame, body.len);
}

std::string RunScheduled(const wf_plan& plan, const std::vector<Call>& calls, uint64_t seed, ModelHost& models, const Answered& answered) {
  return World(plan, calls, seed, models, answered).Run();
}

}  // namespace wf::diff
