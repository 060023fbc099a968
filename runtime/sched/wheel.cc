#include "runtime/sched/wheel.h"

#include <algorithm>

namespace wf::sched {
namespace {

constexpr int64_t kTickNs = 1'000'000;

void MakeEmpty(base::TimerNode& head) { head.previous = head.next = &head; }
bool IsEmpty(const base::TimerNode& head) { return head.next == &head; }

void Unlink(base::TimerNode& node) {
  node.previous->next = node.next;
  node.next->previous = node.previous;
  node.previous = node.next = nullptr;
}

void LinkLast(base::TimerNode& head, base::TimerNode& node) {
  node.previous = head.previous;
  node.next = &head;
  head.previous->next = &node;
  head.previous = &node;
}

int64_t TickOf(base::TimePoint at) { return at / kTickNs + (at % kTickNs > 0 ? 1 : 0); }

}  // namespace

Wheel::Wheel(base::TimePoint now) : tick_(now / kTickNs) {
  for (base::TimerNode& head : near_) MakeEmpty(head);
  for (base::TimerNode& head : far_) MakeEmpty(head);
}

void Wheel::Place(base::TimerNode& node) noexcept {
  const int64_t tick = std::max(TickOf(node.at), tick_ + 1);
  if (tick - tick_ < kNear) {
    next_ = std::min(next_, tick);
    return LinkLast(near_[static_cast<size_t>(tick % kNear)], node);
  }
  const int64_t block = std::min(tick >> kNearBits, (tick_ >> kNearBits) + kFar - 1);
  next_ = std::min(next_, block << kNearBits);
  LinkLast(far_[static_cast<size_t>(block % kFar)], node);
}

void Wheel::Arm(base::TimerNode& node, base::TimePoint at) noexcept {
  node.at = at;
  ++count_;
  Place(node);
}

void Wheel::Cancel(base::TimerNode& node) noexcept {
  if (!node.armed()) return;
  Unlink(node);
  --count_;
}

// The next tick at which a slot fires or is put back in; INT64_MAX: none. A far block may hold a timer due before a near one only after the
// boundary at which it is put back, and that boundary is a tick of its own.
int64_t Wheel::NextTick() const noexcept {
  if (count_ == 0) return INT64_MAX;
  int64_t next = INT64_MAX;
  for (int64_t tick = tick_ + 1; tick < tick_ + kNear; ++tick) {
    if (IsEmpty(near_[static_cast<size_t>(tick % kNear)])) continue;
    next = tick;
    break;
  }
  const int64_t block = tick_ >> kNearBits;
  for (int64_t ahead = block + 1; ahead < block + kFar && (ahead << kNearBits) < next; ++ahead) {
    if (IsEmpty(far_[static_cast<size_t>(ahead % kFar)])) continue;
    return ahead << kNearBits;
  }
  return next;
}

base::TimePoint Wheel::NextAt() const noexcept { return count_ == 0 ? INT64_MAX : next_ * kTickNs; }

void Wheel::Cascade() noexcept {
  base::TimerNode& head = far_[static_cast<size_t>((tick_ >> kNearBits) % kFar)];
  base::TimerNode taken;
  MakeEmpty(taken);
  while (!IsEmpty(head)) {
    base::TimerNode& node = *head.next;
    Unlink(node);
    LinkLast(taken, node);
  }
  while (!IsEmpty(taken)) {
    base::TimerNode& node = *taken.next;
    Unlink(node);
    if (TickOf(node.at) <= tick_)
      LinkLast(near_[static_cast<size_t>(tick_ % kNear)], node);  // due at this very tick, which fires next
    else
      Place(node);
  }
}

void Wheel::Fire() noexcept {
  base::TimerNode& head = near_[static_cast<size_t>(tick_ % kNear)];
  base::TimerNode due;  // a callback may arm a timer for this slot's next turn
  MakeEmpty(due);
  while (!IsEmpty(head)) {
    base::TimerNode& node = *head.next;
    Unlink(node);
    LinkLast(due, node);
  }
  while (!IsEmpty(due)) {
    base::TimerNode& node = *due.next;
    Unlink(node);
    --count_;
    node.on_time(node);
  }
}

void Wheel::Advance(base::TimePoint now) noexcept {
  const int64_t target = now / kTickNs;
  while (next_ <= target) {
    next_ = NextTick();  // what it was of may have been cancelled, or has fired
    if (next_ > target) break;
    tick_ = next_;
    if (tick_ % kNear == 0) Cascade();
    Fire();
  }
  tick_ = std::max(tick_, target);
}

}  // namespace wf::sched
