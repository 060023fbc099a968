// The flow of values: tasks become ready, run, settle their slots; regions end.

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/slices.h"
#include "runtime/base/working.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

constexpr uint16_t kSkipped = 0x8000;  // added to a countdown that must not reach zero any more
constexpr int64_t kTimedFromNs =
    2'000;  // estimates below are run without reading the clock: what is so short teaches nothing of what is long
constexpr int64_t kUntimed = -1;

const bus::Instance& RootOf(const bus::Instance& instance) {
  const bus::Instance* at = &instance;
  while (at->parent != nullptr) at = at->parent;
  return *at;
}

}  // namespace

bus::Channel& EngineCore::ChannelOf(const bus::Instance& instance, uint16_t slot) const {
  const bus::Instance* at = &instance;
  for (uint16_t hops = index_.HopsTo(instance.region, slot); hops > 0; --hops) at = at->parent;
  return at->channels[slot - plan_.regions[at->region].first_slot];
}

void EngineCore::Pump() {
  if (pumping_) return;
  pumping_ = true;
  for (;;) {
    while (ready_at_ < ready_.size()) {
      const Ready ready = ready_[ready_at_++];
      bus::Instance& instance = *ready.instance;
      if (instance.done || instance.generation != ready.generation) continue;
      if (ready.skip != nullptr)
        Settle(instance, ready.task, ready.skip);
      else
        StartTask(instance, ready.task);
    }
    ready_.clear();
    ready_at_ = 0;
    if (!held_.empty()) {
      TellFirst();
    } else if (LiveBus* const bus = deciding_; bus != nullptr) {
      deciding_ = bus->next_bus;
      Answer(*bus);
    } else if (LiveBus* const free = drained_; free != nullptr) {
      drained_ = free->next_bus;
      FreeBus(*free);
    } else {
      break;
    }
  }
  pumping_ = false;
}

const bus::Failure* EngineCore::FailedInput(const bus::Instance& instance, const wf_task& task) const {
  for (int i = 0; i < task.n_in; ++i)
    if (const bus::Failure* failure = ChannelOf(instance, task.in[i]).failure(); failure != nullptr) return failure;
  return nullptr;
}

// The failure that `reader` is bound to end with although it still waits: its first failed input, when all earlier ones have settled and
// nothing but later inputs is outstanding (no control point, nothing that a fallback reads). Where it can only end the request, earlier
// inputs do not matter, and neither do annotations.
const bus::Failure* EngineCore::CertainFailure(bus::Instance& instance, uint16_t reader) const {
  const wf_task& task = plan_.tasks[reader];
  if (task.kind == WF_ENTER && plan_.regions[task.target].on_error != WF_NONE) return nullptr;
  const bus::TaskInfo& info = index_.task(reader);
  const bus::Failure* first = nullptr;
  for (int i = 0; i < task.n_in && first == nullptr; ++i) {
    const bus::Channel& channel = ChannelOf(instance, task.in[i]);
    if (channel.pending() && !info.is_outcome) return nullptr;
    first = channel.failure();
  }
  if (first == nullptr) return nullptr;
  const uint16_t left = instance.countdowns()[reader - plan_.regions[instance.region].first_task];
  int pending = 0;
  for (int i = 0; i < task.n_in; ++i) {
    if (!ChannelOf(instance, task.in[i]).pending()) continue;
    const bool counted = info.reads_twice && std::find(task.in, task.in + i, task.in[i]) != task.in + i;
    pending += counted ? 0 : 1;
  }
  for (const uint16_t slot : info.beside) pending += ChannelOf(instance, slot).pending() ? 1 : 0;
  return left == pending ? first : nullptr;
}

void EngineCore::NoteStage(const bus::Instance& instance, const wf_task& task, base::TimePoint begun, base::TimePoint ended) {
  if (task.node == WF_NONE || plan_.nodes[task.node].stage == WF_NONE) return;
  StageTime& stage = LiveOf(instance).stages[plan_.nodes[task.node].stage];
  if (begun != 0 && (stage.first == 0 || begun < stage.first)) stage.first = begun;
  stage.last = std::max(stage.last, ended);
}

// One observation for a node's work in an instance, however many tasks do it.
void EngineCore::NoteCompute(bus::Instance& instance, uint16_t id, int64_t ns, bool failed) {
  const uint16_t node = plan_.tasks[id].node;
  if (node == WF_NONE) return;
  const bus::TaskInfo& info = index_.task(id);
  int64_t spent = ns == kUntimed ? 0 : ns;
  if (info.share != WF_NONE) {
    int64_t& so_far = instance.spent_ns[info.share];
    so_far += spent;
    if (!info.ends_node && !failed) return;
    spent = std::exchange(so_far, 0);
  }
  if (ns != kUntimed || spent != 0) stats.node_compute[node].Add(spent);
}

void EngineCore::StartTask(bus::Instance& instance, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  if (LiveOf(instance).stages != nullptr) NoteStage(instance, task, parts_.clock.Now(), 0);
  if (LiveOf(instance).has_failures) [[unlikely]] {
    if (const bus::Failure* failure = FailedInput(instance, task); failure != nullptr) {
      if (task.kind == WF_ENTER) return StartEnter(instance, id, failure);
      return Settle(instance, id, failure);
    }
  }
  switch (task.kind) {
    case WF_RUN:
      return RunTask(instance, id);
    case WF_MODEL:
      return StartModel(instance, id);
    case WF_ENTER:
      return StartEnter(instance, id, nullptr);
    case WF_SELECT:
      return StartSelect(instance, id);
    case WF_EACH:
      return StartEach(instance, id);
    case WF_RETURN:
      return ReturnFrom(instance, id);
    default:
      return Settle(instance, id, &FailAt(instance, id, code::kNotImplemented, "remote calls are not built yet"));
  }
}

// The node, or the workflow where it is none's.
std::string_view EngineCore::NameOf(const bus::Instance& instance, const wf_task& task) const {
  return abi::View(task.node == WF_NONE ? instance.bus->workflow().name : plan_.nodes[task.node].path);
}

Placement EngineCore::PlaceOf(uint16_t id, int64_t estimate_ns) {
  if ((plan_.tasks[id].flags & WF_BLOCKING) != 0) return Placement::kBlocks;
  if (options_.schedule != Schedule::kAuto) return options_.schedule == Schedule::kInline ? Placement::kToldLoop : Placement::kToldPool;
  if (!estimates_.FitsLoop(id, estimate_ns, options_.inline_task_ns))
    return estimates_.barred(id) ? Placement::kBarred : Placement::kTooLong;
  const bool in_turn = turn_.spent_ns <= options_.inline_turn_ns || estimate_ns < options_.hand_over_ns;
  return in_turn ? Placement::kFits : Placement::kTurn;
}

void EngineCore::RunTask(bus::Instance& instance, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  const int64_t prior = estimates_.Prior(task, instance.frames);
  const int64_t estimate = estimates_.Of(id, prior);
  const Placement where = PlaceOf(id, estimate);
  if (LiveOf(instance).has_failures && (where > Placement::kOnLoop || estimate >= options_.hand_over_ns)) [[unlikely]] {
    if (where != Placement::kToldLoop && IsEnding(instance)) return;
  }
  const bool traced = instance.bus->spans_ != nullptr;
  const bool timed = where > Placement::kOnLoop || estimate >= kTimedFromNs || LiveOf(instance).stages != nullptr || traced;
  TaskStats& told = stats.task[id];
  if (timed || told.last.load(std::memory_order_relaxed) != where) told.Place(where, estimates_.Shown(id, prior));
  if (where > Placement::kOnLoop) return Launch(instance, id, prior);
  told.CountRun(where);

  bus::Context& context = ContextAt(instance, id);
  const base::WorkingOn now(instance.bus->data_id(), task.node == WF_NONE ? nullptr : &plan_.nodes[task.node].path);
  const base::SliceScope slice(base::SliceKind::kTask, NameOf(instance, task), instance.bus->data_id());
  wf_code code;
  base::TimePoint started = 0, ended = 0;
  long_run.Begin();
  if (!timed) {
    code = task.fn.run(&context.head, instance.frames);
    turn_.spent_ns += estimate;
  } else {
    started = parts_.clock.Now();
    code = task.fn.run(&context.head, instance.frames);
    ended = parts_.clock.Now();
    turn_.spent_ns += ended - started;
    instance.bus->spent_.Run(started, ended);
    estimates_.NoteOnLoop(id, estimate, ended - started, ended);
    estimates_.Learn(id, prior, ended - started, code != 0);
  }
  if (long_run.End() && code != 0) [[unlikely]]
    return MoveToPool(instance, id, prior);
  NoteCompute(instance, id, ended == 0 ? kUntimed : ended - started, code != 0);
  const bus::Failure* const failure = code == 0 ? nullptr : &context.TakeFailure(code);
  if (traced) NoteSpan(instance, id, {started, ended, failure == nullptr ? 0 : failure->code});
  Settle(instance, id, failure);
}

// It was stopped. What it has written so far is written again, and what it has taken from the arena stays there until the request ends.
void EngineCore::MoveToPool(bus::Instance& instance, uint16_t id, int64_t prior_ns) {
  estimates_.Bar(id, parts_.clock.Now());
  stats.task[id].Place(Placement::kMoved, estimates_.Shown(id, prior_ns));
  Launch(instance, id, prior_ns);
}

void EngineCore::SkipIfCertain(bus::Instance& instance, uint16_t reader) {
  uint16_t& left = instance.countdowns()[reader - plan_.regions[instance.region].first_task];
  if (left == 0 || left >= kSkipped) return;
  const bus::Failure* const certain = CertainFailure(instance, reader);
  if (certain == nullptr) return;
  left = static_cast<uint16_t>(left + kSkipped);
  if (index_.task(reader).is_outcome)
    Hold(instance, reader, *certain);
  else
    PushReady(instance, reader, certain);
}

// What can do nothing but end the request fails once all that is ready has been run: earlier failures may come of that.
void EngineCore::Hold(bus::Instance& instance, uint16_t id, const bus::Failure& failure) {
  LiveOf(instance).has_failures = true;
  LiveOf(instance).failures.Add(failure);
  held_.push_back({&instance, &failure, instance.generation, id});
  std::push_heap(held_.begin(), held_.end(), IsLater{index_});
}

// The textually first, with what is now known to be its first failed input.
void EngineCore::TellFirst() {
  std::pop_heap(held_.begin(), held_.end(), IsLater{index_});
  const Ready held = held_.back();
  held_.pop_back();
  bus::Instance& instance = *held.instance;
  if (instance.done || instance.generation != held.generation) return;
  const bus::Failure* const input = FailedInput(instance, plan_.tasks[held.task]);
  SettleNow(instance, held.task, input == nullptr ? held.skip : input);
}

// A failure is held that ends the request whatever else happens: nothing is started for it any more that takes long.
bool EngineCore::IsEnding(const bus::Instance& instance) const {
  const bus::Instance& root = RootOf(instance);
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Ready& held) { return index_.task(held.task).decides && &RootOf(*held.instance) == &root; });
}

// One of those that `reader` waits for has settled. When it has not failed, it may be what a failure has waited for.
void EngineCore::CountDown(bus::Instance& instance, uint16_t reader) {
  uint16_t& left = instance.countdowns()[reader - plan_.regions[instance.region].first_task];
  if (--left == 0)
    PushReady(instance, reader, nullptr);
  else if (LiveOf(instance).has_failures) [[unlikely]]
    SkipIfCertain(instance, reader);
}

// The instance of `region` under way in `outer`, entered by SELECTs alone; null when it has not been entered.
bus::Instance* EngineCore::LiveInside(bus::Instance& outer, uint16_t region) const {
  if (region == outer.region) return &outer;
  bus::Instance* const around = LiveInside(outer, plan_.regions[region].parent);
  if (around == nullptr) return nullptr;
  const uint16_t entered_by = index_.region(region).entered_by;
  const bus::Entry* entry = around->entries;
  while (entry != nullptr && entry->task != entered_by) entry = entry->next;
  return entry != nullptr && entry->children != nullptr && entry->children->region == region ? entry->children : nullptr;
}

void EngineCore::Settle(bus::Instance& instance, uint16_t id, const bus::Failure* failure) {
  if (instance.done) return;
  if (failure != nullptr && index_.task(id).decides) return Hold(instance, id, *failure);
  SettleNow(instance, id, failure);
}

void EngineCore::SettleNow(bus::Instance& instance, uint16_t id, const bus::Failure* failure) {
  const wf_task& task = plan_.tasks[id];
  const wf_region& region = plan_.regions[instance.region];
  if (LiveOf(instance).stages != nullptr) NoteStage(instance, task, 0, parts_.clock.Now());
  --instance.unsettled;
  if (task.out != WF_NONE) {
    bus::Channel& channel = instance.channels[task.out - region.first_slot];
    if (failure == nullptr)
      channel.SetReady();
    else
      channel.SetFailed(*failure);
  }
  if (failure != nullptr) {
    LiveOf(instance).has_failures = true;
    LiveOf(instance).failures.Add(*failure);
    if ((task.flags & WF_CONTROL) != 0 || task.kind == WF_RETURN) return EndRegion(instance, failure);
  }
  if (!index_.task(id).wakes_inside) {
    for (int i = 0; i < task.n_next; ++i) CountDown(instance, task.next[i]);
  } else {
    for (int i = 0; i < task.n_next; ++i) {
      bus::Instance* const reader = LiveInside(instance, plan_.tasks[task.next[i]].region);
      if (reader != nullptr) CountDown(*reader, task.next[i]);
    }
  }
  const bool by_result = region.result != WF_NONE && !index_.region(instance.region).ended_by_return;
  if (by_result && region.result == task.out)
    EndRegion(instance, failure);
  else if (instance.unsettled == 0)
    EndRegion(instance, nullptr);
}

void EngineCore::ReturnFrom(bus::Instance& instance, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  bus::Instance* ended = &instance;
  for (uint16_t hops = index_.task(id).return_hops; hops > 0; --hops) ended = ended->parent;
  const bool is_root = ended->parent == nullptr;
  const wf_workflow& workflow = LiveOf(instance).workflow();
  for (int i = 0; i < task.n_in; ++i) {
    const uint16_t to_slot = is_root ? workflow.out[i].slot : plan_.regions[ended->region].result;
    if (to_slot == WF_NONE || to_slot == task.in[i]) continue;
    const auto* const from =
        static_cast<std::byte*>(instance.frames[index_.HopsTo(instance.region, task.in[i])]) + plan_.slots[task.in[i]].offset;
    std::memmove(ended->frame + plan_.slots[to_slot].offset, from, plan_.slots[to_slot].size);
  }
  if (LiveOf(instance).stages != nullptr) NoteStage(instance, task, 0, parts_.clock.Now());
  EndRegion(*ended, nullptr);
}

// Starts nothing new in the instance or below; withdraws what waits, stops what runs.
void EngineCore::Abandon(bus::Instance& instance) {
  instance.done = true;
  while (instance.entries != nullptr) CloseEntry(*instance.entries);
  for (bus::Flight *flight = instance.flights, *following = nullptr; flight != nullptr; flight = following) {
    following = flight->next_flight;
    StopFlight(static_cast<Job&>(*flight));
  }
}

void EngineCore::EndRegion(bus::Instance& instance, const bus::Failure* failure) {
  if (instance.done) return;
  Abandon(instance);
  if (instance.entered == nullptr)
    SampleEnded(instance, failure);
  else
    EntryEnded(instance, failure);
}

// The lowest failed sample decides, as in a fan-out: those before it are waited for and those behind it are abandoned.
void EngineCore::SampleEnded(bus::Instance& root, const bus::Failure* failure) {
  LiveBus& bus = LiveOf(root);
  --bus.samples_left;
  if (failure != nullptr) {
    bus.sample_failure = failure;
    for (uint64_t i = root.element + 1; i < bus.n_samples; ++i) {
      if (bus.roots[i]->done) continue;
      Abandon(*bus.roots[i]);
      --bus.samples_left;
    }
  }
  if (bus.samples_left == 0) Decide(bus, bus.sample_failure);
}

}  // namespace wf::sched
