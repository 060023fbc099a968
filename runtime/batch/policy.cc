#include "runtime/batch/policy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/xxh64.h"

namespace wf::batch {
namespace {

constexpr int64_t kAgeNs = 100'000'000;  // waited: one priority up
constexpr int64_t kLeastBetweenAges = kAgeNs / 100;
constexpr int kLevels = WF_LOW + 1;
constexpr uint64_t kAlone = 0;  // key of rows that share with nobody

bool SameShape(const wf_tensor& a, const wf_tensor& b) {
  return a.dtype == b.dtype && a.rank == b.rank && std::equal(a.dim, a.dim + a.rank, b.dim);
}

// REQUIRES: of equal shapes.
bool SameContent(const wf_tensor& a, const wf_tensor& b) {
  const uint64_t bytes = abi::DenseBytes(a.dtype, a.rank, a.dim);
  if (a.data == b.data || bytes == UINT64_MAX) return a.data == b.data;
  if (a.dtype != WF_TEXTS) return std::memcmp(a.data, b.data, bytes) == 0;
  const auto* const texts = static_cast<const wf_bytes*>(a.data);
  return std::equal(texts, texts + bytes / sizeof(wf_bytes), static_cast<const wf_bytes*>(b.data),
                    [](const wf_bytes& one, const wf_bytes& other) { return abi::View(one) == abi::View(other); });
}

uint64_t HashOf(const wf_tensor& tensor, uint64_t bytes, uint64_t key) {
  if (tensor.dtype != WF_TEXTS) return base::Xxh64::Of(tensor.data, bytes, key);
  const auto* const texts = static_cast<const wf_bytes*>(tensor.data);
  for (uint64_t i = 0; i < bytes / sizeof(wf_bytes); ++i) key = base::Xxh64::Of(texts[i].ptr, texts[i].len, key);
  return key;
}

uint64_t HashOnce(const wf_tensor& tensor, uint64_t bytes, uint32_t port, SharedHashes* hashes) {
  if (hashes == nullptr || bytes < SharedHashes::kLeastBytes) return HashOf(tensor, bytes, 0);
  SharedHashes::Slot& slot = hashes->slots[port % SharedHashes::kSlots];
  if (slot.data == tensor.data && slot.bytes == bytes) return slot.hash;
  hashes->read_bytes += bytes;
  slot = {tensor.data, bytes, HashOf(tensor, bytes, 0)};
  return slot.hash;
}

}  // namespace

const char* CloseReasonName(CloseReason reason) {
  switch (reason) {
    case CloseReason::kFull:
      return "full";
    case CloseReason::kDelay:
      return "delay";
    case CloseReason::kIdle:
      return "idle";
    case CloseReason::kDeadline:
      return "deadline";
    case CloseReason::kDrain:
      return "drain";
  }
  return "";
}

void RowList::Append(Row& row) {
  row.previous = last;
  row.next = nullptr;
  (last == nullptr ? first : last->next) = &row;
  last = &row;
  ++count;
}

void RowList::Remove(Row& row) {
  (row.previous == nullptr ? first : row.previous->next) = row.next;
  (row.next == nullptr ? last : row.next->previous) = row.previous;
  row.previous = row.next = nullptr;
  --count;
}

// Waiting rows that may share a run, by level; inside a level the earliest deadline first.
struct Group {
  size_t place = 0;  // in groups_
  RowList level[kLevels];
  int count = 0;
  mutable base::TimePoint closes_at = INT64_MAX;  // the earliest of its rows; INT64_MAX while stale
  mutable bool stale = false;                     // a row has left: work closes_at out again

  Row* Head() const {
    for (const RowList& list : level)
      if (list.first != nullptr) return list.first;
    return nullptr;
  }

  void Insert(Row& row) {
    RowList& list = level[row.level];
    Row* after = list.last;
    while (after != nullptr && after->deadline > row.deadline) after = after->previous;
    if (after == list.last) {
      list.Append(row);
    } else {
      row.previous = after;
      row.next = after == nullptr ? list.first : after->next;
      row.next->previous = &row;
      (after == nullptr ? list.first : after->next) = &row;
      ++list.count;
    }
    ++count;
  }

  void Remove(Row& row) {
    level[row.level].Remove(row);
    --count;
    stale = true;
  }
};

Policy::Policy(const PolicyOptions& options, const Sorts& sorts, const wf_model& model, const std::deque<CostCurve>& costs,
               const base::Clock& clock)
    : options_(options), sorts_(sorts), model_(model), costs_(costs), clock_(clock) {
  WF_CHECK(costs_.size() == sorts_.count(), costs_.size());
  keys_.reserve(kGroupsAtFirst);
  while (groups_.size() < kGroupsAtFirst) groups_.push_back(std::make_unique<Group>());
}
Policy::~Policy() = default;

// Rows that one run may hold side by side.
bool Policy::MayShare(const Row& a, const Row& b) const {
  if (a.sort != b.sort || a.sort == costs_.size()) return false;
  if (!model_.batched) return true;  // they never share a run, so they may share a list
  for (uint32_t i = 0; i < model_.n_in; ++i) {
    const bool shared = model_.batch_axis[i] < 0;
    wf_tensor first = *a.inputs[i], second = *b.inputs[i];
    if (options_.padding.pads() && !shared) {
      const int64_t bucket = options_.padding.bucket(a.kind);
      if (!options_.padding.SetInput(i, bucket, first) || !options_.padding.SetInput(i, bucket, second)) return false;
    }
    if (!SameShape(first, second) || (shared && !SameContent(first, second))) return false;
  }
  return true;
}

// A row that runs alone waits for nobody.
int64_t Policy::BestRows(const Group& group) const {
  const size_t sort = group.Head()->sort;
  return sort == costs_.size() ? 1 : std::min(options_.max_rows, costs_[sort].BestRows());
}

// Equal for rows that may share a run, and hardly ever for others: a hash of their shapes after padding, and of what has to be equal.
uint64_t Policy::KeyOf(const Row& row) const {
  if (row.sort == costs_.size()) return kAlone;
  uint64_t key = row.sort + UINT64_C(1);
  for (uint32_t i = 0; model_.batched && i < model_.n_in; ++i) {
    const bool shared = model_.batch_axis[i] < 0;
    wf_tensor input = *row.inputs[i];
    if (options_.padding.pads() && !shared && !options_.padding.SetInput(i, options_.padding.bucket(row.kind), input)) return kAlone;
    key = base::Xxh64::Of(input.dim, input.rank * sizeof *input.dim, key + input.dtype);
    if (!shared) continue;
    const uint64_t bytes = abi::DenseBytes(input.dtype, input.rank, input.dim);
    if (bytes == UINT64_MAX) return kAlone;
    const uint64_t content = HashOnce(input, bytes, i, row.hashes);
    key = base::Xxh64::Of(&content, sizeof content, key);
  }
  return key == kAlone ? key + 1 : key;
}

void Policy::Prepare(Row& row) const {
  row.kind = static_cast<uint16_t>(options_.padding.KindOf(row.inputs));
  row.sort = static_cast<uint16_t>(sorts_.Of(row.kind, row.inputs));
  row.key = KeyOf(row);
}

// Where keys are equal by chance, or by somebody's will, the later row runs alone: bytes are compared with those of one group at most,
// since others wait for the mutex meanwhile.
Group& Policy::GroupOf(const Row& row) {
  if (row.key == kAlone) return Begin(kAlone);
  const auto found = std::find(keys_.begin(), keys_.end(), row.key);
  if (found == keys_.end()) return Begin(row.key);
  Group& group = *groups_[static_cast<size_t>(found - keys_.begin())];
  return MayShare(*group.Head(), row) ? group : Begin(kAlone);
}

Group& Policy::Begin(uint64_t key) {
  if (keys_.size() == groups_.size()) groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_[keys_.size()];
  group.place = keys_.size();
  group.closes_at = INT64_MAX;
  group.stale = false;
  keys_.push_back(key);
  return group;
}

// Of its rows the last has left; the last group takes its place.
void Policy::End(Group& group) {
  const size_t last = keys_.size() - 1, place = group.place;
  std::swap(groups_[place], groups_[last]);
  groups_[place]->place = place;
  keys_[place] = keys_[last];
  keys_.pop_back();
}

// A row is worth running at the latest when its company or its deadline runs out.
base::TimePoint Policy::RowClosesAt(const Row& row) const {
  if (row.sort == costs_.size()) return row.arrived_at;
  const CostCurve& cost = costs_[row.sort];
  const base::TimePoint by_delay = row.arrived_at + row.delay_ns;
  if (row.deadline == INT64_MAX) return by_delay;
  return std::max(row.arrived_at, std::min(by_delay, row.deadline - 2 * cost.RunNs(cost.max_rows())));
}

void Policy::Add(Row& row) {
  row.level = row.priority;
  Group& group = GroupOf(row);
  row.group = &group;
  group.Insert(row);
  group.closes_at = std::min(group.closes_at, RowClosesAt(row));
  ++waiting_;
}

void Policy::Withdraw(Row& row) {
  Group& group = *std::exchange(row.group, nullptr);
  group.Remove(row);
  if (group.count == 0) End(group);
  --waiting_;
}

base::TimePoint Policy::ClosesAt(const Group& group) const {
  if (!group.stale) return group.closes_at;
  group.closes_at = RowClosesAt(*FirstToClose(group));
  group.stale = false;
  return group.closes_at;
}

// The row that will wait no longer than the others.
const Row* Policy::FirstToClose(const Group& group) const {
  const Row* first = nullptr;
  for (const RowList& list : group.level)
    for (const Row* row = list.first; row != nullptr; row = row->next)
      if (first == nullptr || RowClosesAt(*row) < RowClosesAt(*first)) first = row;
  return first;
}

CloseReason Policy::ReasonToClose(const Group& group, base::TimePoint now) const {
  if (group.count >= BestRows(group)) return CloseReason::kFull;
  const Row& first = *FirstToClose(group);
  if (RowClosesAt(first) > now) return CloseReason::kDrain;
  if (first.delay_ns == 0) return CloseReason::kIdle;
  return RowClosesAt(first) < first.arrived_at + first.delay_ns ? CloseReason::kDeadline : CloseReason::kDelay;
}

void Policy::Age() {
  const base::TimePoint now = clock_.Now();
  if (waiting_ == 0 || now - aged_at_ < kLeastBetweenAges) return;
  aged_at_ = now;
  for (const auto& group : Waiting()) {
    for (int from = 1; from < kLevels; ++from) {
      for (Row *row = group->level[from].first, *following = nullptr; row != nullptr; row = following) {
        following = row->next;
        const int64_t level = std::max<int64_t>(WF_HIGH, row->priority - (now - row->arrived_at) / kAgeNs);
        if (level >= row->level) continue;
        const bool stale = group->stale;
        group->Remove(*row);
        row->level = static_cast<uint8_t>(level);
        group->Insert(*row);
        group->stale = stale;  // the same rows wait
      }
    }
  }
}

bool Policy::IsDue(const Group& group, base::TimePoint now) const {
  return draining_ || group.count >= BestRows(group) || ClosesAt(group) <= now;
}

Group* Policy::MostUrgentDue() const {
  const base::TimePoint now = clock_.Now();
  Group* most = nullptr;
  for (const auto& group : Waiting())
    if (IsDue(*group, now) && (most == nullptr || IsBefore(*group->Head(), *most->Head()))) most = group.get();
  return most;
}

const Row* Policy::DueHead() const {
  const Group* const group = waiting_ == 0 ? nullptr : MostUrgentDue();
  return group == nullptr ? nullptr : group->Head();
}

std::optional<Closed> Policy::Close() {
  if (waiting_ == 0) return std::nullopt;
  Age();
  Group* const chosen = MostUrgentDue();
  if (chosen == nullptr) return std::nullopt;
  const base::TimePoint now = clock_.Now();

  Closed closed;
  for (RowList& list : chosen->level) {
    for (Row *row = list.first, *following = nullptr; row != nullptr; row = following) {
      following = row->next;
      if (row->deadline > now) continue;
      Withdraw(*row);
      closed.expired.Append(*row);
    }
  }
  if (chosen->count == 0 || !IsDue(*chosen, now)) return closed;  // those whose time is over may have been all that was due
  closed.reason = ReasonToClose(*chosen, now);
  const int64_t most = std::min<int64_t>(chosen->count, BestRows(*chosen));
  for (int64_t left = most == 1 ? 1 : costs_[chosen->Head()->sort].RowsToRun(most); left > 0; --left) {
    Row& row = *chosen->Head();
    Withdraw(row);
    closed.rows.Append(row);
  }
  return closed;
}

std::optional<base::TimePoint> Policy::NextDecisionAt(uint8_t lowest) const {
  if (waiting_ == 0) return std::nullopt;
  base::TimePoint earliest = INT64_MAX;
  for (const auto& group : Waiting()) {
    const base::TimePoint due = draining_ || group->count >= BestRows(*group) ? INT64_MIN : ClosesAt(*group);
    earliest = std::min(earliest, group->Head()->level <= lowest ? due : std::max(due, RisesAt(*group, lowest)));
  }
  return earliest;
}

// When Age raises the first of its rows to `level`.
base::TimePoint Policy::RisesAt(const Group& group, uint8_t level) const {
  base::TimePoint earliest = INT64_MAX;
  for (const RowList& list : group.level)
    for (const Row* row = list.first; row != nullptr; row = row->next)
      earliest = std::min(earliest, row->arrived_at + kAgeNs * std::max(0, row->priority - level));
  return std::max(earliest, aged_at_ + kLeastBetweenAges);
}

}  // namespace wf::batch
