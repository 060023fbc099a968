// Regions are entered and left: SELECT, ENTER with timeout, retry and fallback, EACH.

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/abi/bounds.h"
#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/sched/core.h"

namespace wf::sched {
namespace {

constexpr uint32_t kDefaultWindow = 64;
constexpr int64_t kElementNs = 200;            // to begin an element and to end it, whatever it does meanwhile: 100 to 250 as measured
constexpr uint64_t kFallbackElement = 0xffff;  // of a fallback's instance; attempts count from 0
constexpr int64_t kBackOffNs = 1'000'000;

void OnTimeout(base::TimerNode& node) noexcept {
  bus::Entry& entry = *static_cast<bus::EntryTimer&>(node).entry;
  static_cast<LiveBus&>(*entry.parent->bus).engine->FireTimeout(entry);
}

void OnBackOff(base::TimerNode& node) noexcept {
  bus::Entry& entry = *static_cast<bus::EntryTimer&>(node).entry;
  static_cast<LiveBus&>(*entry.parent->bus).engine->BeginAttempt(entry);
}

void LinkChild(bus::Entry& entry, bus::Instance& child) {
  child.previous_sibling = nullptr;
  child.next_sibling = entry.children;
  if (entry.children != nullptr) entry.children->previous_sibling = &child;
  entry.children = &child;
}

void UnlinkChild(bus::Entry& entry, bus::Instance& child) {
  (child.previous_sibling == nullptr ? entry.children : child.previous_sibling->next_sibling) = child.next_sibling;
  if (child.next_sibling != nullptr) child.next_sibling->previous_sibling = child.previous_sibling;
  child.previous_sibling = child.next_sibling = nullptr;
}

}  // namespace

bus::Context& EngineCore::ContextAt(bus::Instance& instance, uint16_t task) {
  bus::Context& context = LiveOf(instance).main;
  context.task = task;
  context.instance = &instance;
  context.failure = nullptr;
  return context;
}

const bus::Failure& EngineCore::FailAt(bus::Instance& instance, uint16_t task, wf_code code, std::string_view text) {
  bus::Context& context = ContextAt(instance, task);
  context.Fail(code, 0, text);
  return context.TakeFailure(code);
}

const bus::Failure& EngineCore::NoMemoryAt(bus::Instance& instance, uint16_t task) {
  bus::Context& context = ContextAt(instance, task);
  context.NoMemory();
  return context.TakeFailure(WF_FAILED);
}

bus::Instance* EngineCore::NewInstance(LiveBus& bus, uint16_t region, bus::Instance* parent, bus::Entry* entry, uint64_t element) {
  const bus::RegionInfo& info = index_.region(region);
  auto* const block = static_cast<std::byte*>(bus.arena.Allocate(info.instance_bytes, 64));
  if (block == nullptr) return nullptr;
  auto* const instance = new (block) bus::Instance;
  instance->bus = &bus;
  instance->parent = parent;
  instance->entered = entry;
  instance->element = element;
  instance->region = region;
  instance->frame = block + info.frame_at;
  instance->channels = reinterpret_cast<bus::Channel*>(block + info.channels_at);
  instance->spent_ns = reinterpret_cast<int64_t*>(block + info.spent_at);
  instance->frames[0] = instance->frame;
  for (uint16_t i = 0; i < info.depth; ++i) instance->frames[i + 1] = parent->frames[i];
  InitInstance(*instance);
  if (entry != nullptr) LinkChild(*entry, *instance);
  return instance;
}

void EngineCore::InitInstance(bus::Instance& instance) {
  const wf_region& region = plan_.regions[instance.region];
  if (region.n_tasks != 0) std::memcpy(instance.frame, region.waits, region.n_tasks * sizeof(uint16_t));
  std::uninitialized_value_construct_n(instance.channels, region.n_slots);
  for (const uint16_t slot : index_.region(instance.region).given) instance.channels[slot - region.first_slot].SetReady();
  std::fill_n(instance.spent_ns, index_.region(instance.region).n_shared, 0);
  instance.unsettled = region.n_tasks;
  instance.done = false;
}

void EngineCore::Begin(bus::Instance& instance) {
  if (instance.unsettled == 0) return EndRegion(instance, nullptr);
  const bus::RegionInfo& info = index_.region(instance.region);
  for (const uint16_t task : info.starts) PushReady(instance, task, nullptr);
  if (!info.outer.empty()) CountSettled(instance);
}

// What stands in the regions around and has settled already.
void EngineCore::CountSettled(bus::Instance& instance) {
  const bus::RegionInfo& info = index_.region(instance.region);
  uint16_t* const countdowns = instance.countdowns();
  const uint16_t first = plan_.regions[instance.region].first_task;
  for (const auto& [task, slot] : info.outer)
    if (!ChannelOf(instance, slot).pending() && --countdowns[task - first] == 0) PushReady(instance, task, nullptr);
  if (!LiveOf(instance).has_failures) return;
  for (const auto& [task, slot] : info.outer)
    if (ChannelOf(instance, slot).failed()) SkipIfCertain(instance, task);
}

bus::Entry* EngineCore::OpenEntry(bus::Instance& parent, uint16_t task) {
  auto* const entry = parent.bus->arena.New<bus::Entry>();
  if (entry == nullptr) return nullptr;
  entry->parent = &parent;
  entry->task = task;
  entry->next = parent.entries;
  if (parent.entries != nullptr) parent.entries->previous = entry;
  parent.entries = entry;
  entry->timer.entry = entry->back_off.entry = entry;
  entry->timer.on_time = OnTimeout;
  entry->back_off.on_time = OnBackOff;
  return entry;
}

// Takes the entry off its parent; what is still under way inside is abandoned.
void EngineCore::CloseEntry(bus::Entry& entry) {
  WF_CHECK(!entry.closed);
  entry.closed = true;
  wheel.Cancel(entry.timer);
  wheel.Cancel(entry.back_off);
  turn_.Remove(entry);
  (entry.previous == nullptr ? entry.parent->entries : entry.previous->next) = entry.next;
  if (entry.next != nullptr) entry.next->previous = entry.previous;
  while (entry.children != nullptr) {
    bus::Instance& child = *entry.children;
    UnlinkChild(entry, child);
    Abandon(child);
  }
}

void EngineCore::LeaveEntry(bus::Entry& entry, const bus::Failure* failure) {
  CloseEntry(entry);
  Settle(*entry.parent, entry.task, failure);
}

void EngineCore::EntryEnded(bus::Instance& instance, const bus::Failure* failure) {
  bus::Entry& entry = *instance.entered;
  const bus::EnteredBy how = index_.region(instance.region).how;
  if (how == bus::EnteredBy::kEach) return ElementEnded(instance, failure);
  if (how == bus::EnteredBy::kEnter && failure != nullptr) {
    UnlinkChild(entry, instance);
    return AttemptEnded(entry, *failure);
  }
  // Late is late, also where this loop was too busy to notice in time.
  if (how == bus::EnteredBy::kEnter && entry.timer.armed() && parts_.clock.Now() >= entry.timer.at) {
    UnlinkChild(entry, instance);
    wheel.Cancel(entry.timer);
    return FireTimeout(entry);
  }
  LiveBus& bus = LiveOf(instance);
  if (how == bus::EnteredBy::kFailure && bus.state() == bus::BusState::kRunning) {
    if (failure == nullptr)
      bus.client_->OnCaught(*entry.cause);
    else
      bus.client_->OnHidden(bus, *entry.cause, failure);
  }
  const uint16_t out = plan_.tasks[entry.task].out, result = plan_.regions[instance.region].result;
  if (failure == nullptr && out != WF_NONE)
    std::memcpy(entry.parent->frame + plan_.slots[out].offset, instance.frame + plan_.slots[result].offset, plan_.slots[out].size);
  LeaveEntry(entry, failure);
}

void EngineCore::StartSelect(bus::Instance& instance, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  bus::Context& context = ContextAt(instance, id);
  const int64_t arm = task.fn.pick(&context.head, instance.frames);
  if (arm < 0) return Settle(instance, id, &context.TakeFailure(WF_FAILED));
  if (arm >= task.n_targets) return Settle(instance, id, nullptr);  // no arm is taken; such a task writes no slot
  bus::Entry* const entry = OpenEntry(instance, id);
  bus::Instance* const child =
      entry == nullptr ? nullptr : NewInstance(LiveOf(instance), static_cast<uint16_t>(task.target + arm), &instance, entry, 0);
  if (child != nullptr) return Begin(*child);
  if (entry != nullptr) CloseEntry(*entry);
  Settle(instance, id, &NoMemoryAt(instance, id));
}

// `inherited`: an input has failed; then only the fallback is entered.
void EngineCore::StartEnter(bus::Instance& instance, uint16_t id, const bus::Failure* inherited) {
  const wf_task& task = plan_.tasks[id];
  if (inherited != nullptr && plan_.regions[task.target].on_error == WF_NONE) return Settle(instance, id, inherited);
  bus::Entry* const entry = OpenEntry(instance, id);
  if (entry == nullptr) return Settle(instance, id, &NoMemoryAt(instance, id));
  if (inherited != nullptr) return BeginFallback(*entry, *inherited);
  if (const wf_policy* const policy = PolicyOf(*instance.bus, id); policy != nullptr) {
    entry->attempts_left = policy->retry;
    if (policy->timeout_ns > 0) {
      EnsureDeadline(LiveOf(instance));
      wheel.Arm(entry->timer, parts_.clock.Now() + policy->timeout_ns);
    }
  }
  BeginAttempt(*entry);
}

void EngineCore::BeginAttempt(bus::Entry& entry) {
  const wf_task& task = plan_.tasks[entry.task];
  bus::Instance* const child = NewInstance(LiveOf(*entry.parent), task.target, entry.parent, &entry, entry.attempt++);
  if (child == nullptr) return AttemptEnded(entry, NoMemoryAt(*entry.parent, entry.task));
  Begin(*child);
}

void EngineCore::FireTimeout(bus::Entry& entry) {
  const int attempt = entry.back_off.armed() ? entry.attempt : entry.attempt - 1;  // under way, or about to begin
  wheel.Cancel(entry.back_off);
  while (entry.children != nullptr) {
    bus::Instance& child = *entry.children;
    UnlinkChild(entry, child);
    Abandon(child);
  }
  entry.timed_out = true;
  if (parts_.observer != nullptr) parts_.observer->OnTimedOut(*entry.parent, entry.task, attempt);
  AttemptEnded(entry, FailAt(*entry.parent, entry.task, code::kTimeout, "the node's timeout has passed"));
}

// Those of the node, or of nodes and elements in it: what comes in their place is looked at alone.
void EngineCore::TakeFailures(bus::Entry& entry, const bus::Failure& failure) {
  const uint16_t node = plan_.tasks[entry.task].node;
  const std::string_view own = node == WF_NONE ? std::string_view() : abi::View(plan_.nodes[node].path);
  LiveOf(*entry.parent).failures.Take([&](const bus::Failure& one) {
    if (&one == &failure) return true;
    if (own.empty() || one.node == WF_NONE) return false;
    const std::string_view path = abi::View(plan_.nodes[one.node].path);
    return path.starts_with(own) && (path.size() == own.size() || path[own.size()] == '/');
  });
}

void EngineCore::AttemptEnded(bus::Entry& entry, const bus::Failure& failure) {
  const bool again = !entry.timed_out && entry.attempts_left > 0 && code::IsRetried(failure.code);
  if (again) {
    TakeFailures(entry, failure);
    --entry.attempts_left;
    jitter_ ^= jitter_ << 13;
    jitter_ ^= jitter_ >> 7;
    jitter_ ^= jitter_ << 17;
    const int64_t whole = kBackOffNs << std::min<int>(entry.attempt - 1, 12);
    EnsureDeadline(LiveOf(*entry.parent));
    return wheel.Arm(entry.back_off, parts_.clock.Now() + whole / 2 + static_cast<int64_t>(jitter_ % static_cast<uint64_t>(whole)));
  }
  wheel.Cancel(entry.timer);
  if (plan_.regions[plan_.tasks[entry.task].target].on_error == WF_NONE) return LeaveEntry(entry, &failure);
  BeginFallback(entry, failure);
}

void EngineCore::BeginFallback(bus::Entry& entry, const bus::Failure& failure) {
  const uint16_t region = plan_.regions[plan_.tasks[entry.task].target].on_error;
  entry.cause = &failure;
  TakeFailures(entry, failure);
  bus::Instance* const child = NewInstance(LiveOf(*entry.parent), region, entry.parent, &entry, kFallbackElement);
  if (child == nullptr) return LeaveEntry(entry, &NoMemoryAt(*entry.parent, entry.task));
  const std::string_view node = entry.parent->bus->PathOf(failure);
  const auto bytes_of = [](std::string_view text) { return wf_bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()}; };
  const wf_error error{failure.code, bytes_of(failure.message), bytes_of(node)};
  std::memcpy(child->frame + plan_.slots[plan_.regions[region].first_slot].offset, &error, sizeof(error));
  Begin(*child);
}

void EngineCore::StartEach(bus::Instance& instance, uint16_t id) {
  const wf_task& task = plan_.tasks[id];
  LiveBus& bus = LiveOf(instance);
  bus.main.task = id;
  bus.main.instance = &instance;
  bus.main.failure = nullptr;
  const int64_t count = task.fn.pick(&bus.main.head, instance.frames);
  if (count < 0) return Settle(instance, id, &bus.main.TakeFailure(WF_FAILED));
  if (count > abi::kMostElements)
    return Settle(instance, id,
                  &FailAt(instance, id, code::kInputParams, "a fan-out takes at most " + std::to_string(abi::kMostElements) + " elements"));
  const uint16_t result = plan_.regions[task.target].result;
  const uint64_t bytes = result == WF_NONE ? 0 : plan_.slots[result].size * static_cast<uint64_t>(count);
  auto* const results = static_cast<std::byte*>(bus.arena.Allocate(bytes, 64));
  bus::Entry* const entry = OpenEntry(instance, id);
  if (entry == nullptr || results == nullptr) {
    if (entry != nullptr) CloseEntry(*entry);
    return Settle(instance, id, &NoMemoryAt(instance, id));
  }
  entry->results = result == WF_NONE ? nullptr : results;
  entry->count = static_cast<uint64_t>(count);
  if (task.out != WF_NONE) {
    const wf_list list{results, entry->count};
    std::memcpy(instance.frame + plan_.slots[task.out].offset, &list, sizeof(list));
  }
  if (count == 0) return LeaveEntry(*entry, nullptr);
  LaunchElements(*entry);
}

// Elements that are too cheap to be handed over would keep the loop from its sockets until the last of them: once it has worked for as long
// as a turn may take, the rest begin in later ones.
void EngineCore::LaunchElements(bus::Entry& entry) {
  const wf_task& task = plan_.tasks[entry.task];
  const wf_region& body = plan_.regions[task.target];
  const uint32_t window = task.window == 0 ? kDefaultWindow : task.window;
  while (entry.cause == nullptr && entry.next_element < entry.count && entry.running < window) {
    if (turn_.is_spent(options_.inline_turn_ns)) {
      if (!entry.waits_for_turn) turn_.Add(entry);
      return EnsureDeadline(LiveOf(*entry.parent));
    }
    bus::Instance* child = entry.idle;
    if (child != nullptr) {
      entry.idle = child->next_sibling;
      child->element = entry.next_element;
      InitInstance(*child);
      LinkChild(entry, *child);
    } else {
      child = NewInstance(LiveOf(*entry.parent), task.target, entry.parent, &entry, entry.next_element);
    }
    if (child == nullptr) {
      entry.cause = &NoMemoryAt(*entry.parent, entry.task);
      entry.failed_at = entry.next_element;
      if (entry.running == 0) return LeaveEntry(entry, entry.cause);
      return;
    }
    std::memcpy(child->frame + body.element_offset, &entry.next_element, sizeof(uint64_t));
    ++entry.next_element;
    ++entry.running;
    turn_.spent_ns += kElementNs;
    Begin(*child);  // an element has a task, so it does not end before this returns
  }
}

bool EngineCore::ResumeElements() {
  if (turn_.first() != nullptr && std::exchange(turn_.is_new, false)) {
    turn_.spent_ns = 0;
    while (turn_.first() != nullptr && !turn_.is_spent(options_.inline_turn_ns)) {
      bus::Entry& entry = *turn_.first();
      turn_.Remove(entry);
      LaunchElements(entry);
      Pump();
    }
  }
  return turn_.first() != nullptr;
}

// The lowest failed element decides, so elements before it are waited for and those behind it are abandoned.
void EngineCore::ElementEnded(bus::Instance& instance, const bus::Failure* failure) {
  bus::Entry& entry = *instance.entered;
  const uint16_t result = plan_.regions[instance.region].result;
  ++entry.settled;
  --entry.running;
  UnlinkChild(entry, instance);
  if (failure == nullptr) {
    const uint32_t size = result == WF_NONE ? 0 : plan_.slots[result].size;
    if (entry.results != nullptr) std::memcpy(entry.results + instance.element * size, instance.frame + plan_.slots[result].offset, size);
  } else {
    entry.cause = failure;
    entry.failed_at = instance.element;
    for (bus::Instance *child = entry.children, *following = nullptr; child != nullptr; child = following) {
      following = child->next_sibling;
      if (child->element < entry.failed_at) continue;
      UnlinkChild(entry, *child);
      --entry.running;
      Abandon(*child);
    }
  }
  Reuse(instance);
  if (entry.cause != nullptr) {
    if (entry.running == 0) LeaveEntry(entry, entry.cause);
    return;
  }
  if (entry.settled == entry.count) return LeaveEntry(entry, nullptr);
  LaunchElements(entry);
}

// The block of an ended element serves the next one, unless something of it is still under way or its value points into it.
void EngineCore::Reuse(bus::Instance& instance) {
  if (!index_.region(instance.region).reusable || instance.out_flights != 0 || instance.entered->closed) return;
  ++instance.generation;
  instance.next_sibling = instance.entered->idle;
  instance.entered->idle = &instance;
}

}  // namespace wf::sched
