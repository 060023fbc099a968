#include "runtime/batch/executor.h"

#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/slices.h"
#include "runtime/base/working.h"

namespace wf::batch {

Executor::Executor(const ExecutorOptions& options, const base::Clock& clock) : options_(options), clock_(clock) {
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back("wf-executor", [this] { RunThread(); });
}

Executor::~Executor() {
  preparer_.reset();
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  BeginDrain();
  for (base::Thread& thread : threads_) thread.Join();
}

Batcher& Executor::AddBatcher(const BatcherOptions& options) {
  auto batcher = std::make_unique<Batcher>(*this, options, clock_);
  std::vector<std::unique_ptr<Staging>> staging;
  for (int i = 0; i < options.instances; ++i) staging.push_back(std::make_unique<Staging>(*options.model));
  const base::MutexLock lock(mutex_);
  batchers_.push_back(std::move(batcher));
  staging_.push_back(std::move(staging));
  return *batchers_.back();
}

bool Executor::RemoveBatcher(Batcher& batcher) {
  if (preparer_ != nullptr && !preparer_->Forget(batcher)) return false;
  std::unique_ptr<Batcher> removed;
  {
    const base::MutexLock lock(mutex_);
    const auto at = std::find_if(batchers_.begin(), batchers_.end(), [&](const auto& each) { return each.get() == &batcher; });
    WF_CHECK(at != batchers_.end() && batcher.policy_.waiting() == 0);
    removed = std::move(*at);
    staging_.erase(staging_.begin() + (at - batchers_.begin()));
    batchers_.erase(at);
  }
  const BatcherOptions& options = removed->options();
  for (int i = 0; i < options.instances; ++i) options.model->Release(options.first_instance + i);
  return true;
}

void Executor::BeginDrain() {
  if (preparer_ != nullptr) preparer_->Stop();
  {
    const base::MutexLock lock(mutex_);
    for (const auto& batcher : batchers_) batcher->policy_.Drain();
  }
  work_.NotifyAll();
}

void Executor::StartPreparing() {
  preparer_ = std::make_unique<Preparer>(*this, clock_);
  preparer_->Start();
}

void Executor::Prepare(Batcher& batcher) {
  if (preparer_ != nullptr) preparer_->Add(batcher);
}

bool Executor::StopPreparing(base::TimePoint by) {
  if (preparer_ == nullptr) return true;
  preparer_->Stop();
  return preparer_->EndsBy(by);
}

std::vector<Batcher*> Executor::Batchers() {
  const base::MutexLock lock(mutex_);
  std::vector<Batcher*> all;
  for (const auto& batcher : batchers_) all.push_back(batcher.get());
  return all;
}

bool Executor::Borrow(Batcher& batcher, int instance) {
  const base::MutexLock lock(mutex_);
  const uint64_t bit = UINT64_C(1) << instance;
  if ((batcher.idle_instances_ & bit) == 0) return false;
  batcher.idle_instances_ &= ~bit;
  return true;
}

void Executor::GiveBack(Batcher& batcher, int instance) {
  {
    const base::MutexLock lock(mutex_);
    batcher.idle_instances_ |= UINT64_C(1) << instance;
  }
  work_.NotifyOne();  // rows may have come meanwhile
}

bool Executor::SubmitRow(Batcher& batcher, Row& row) noexcept {
  bool wakes = false;
  batcher.policy_.Prepare(row);
  {
    const base::MutexLock lock(mutex_);
    if (row.withdrawn) return false;
    row.state = RowState::kWaiting;
    row.arrived_at = clock_.Now();
    const auto before = batcher.policy_.NextDecisionAt();
    batcher.policy_.Add(row);
    batcher.Meet(row.sort);
    const auto after = batcher.policy_.NextDecisionAt();
    wakes = idle_threads_ > 0 && batcher.idle_instances_ != 0 && (!before || *after < *before || *after <= row.arrived_at);
  }
  if (wakes) work_.NotifyOne();
  return true;
}

Withdrawal Executor::WithdrawRow(Batcher& batcher, Row& row) noexcept {
  const base::MutexLock lock(mutex_);
  switch (row.state) {
    case RowState::kIdle:
      row.withdrawn = true;
      return Withdrawal::kNotSubmitted;
    case RowState::kTaken:
      row.abandoned.store(true, std::memory_order_relaxed);
      return Withdrawal::kTaken;
    case RowState::kDelivered:
      return Withdrawal::kTaken;
    case RowState::kWaiting:
      break;
  }
  batcher.policy_.Withdraw(row);
  row.taken_at = clock_.Now();
  row.state = RowState::kIdle;
  batcher.Unreserve(row);
  return Withdrawal::kUnlinked;
}

// Of the batches that are due, that of the most urgent row: rows of one model age, too, while others' keep the threads.
std::optional<Work> Executor::TakeLocked() {
  const Row* first = nullptr;
  size_t at = 0;
  for (size_t i = 0; i < batchers_.size(); ++i) {
    Batcher& batcher = *batchers_[i];
    batcher.policy_.Age();
    if (batcher.idle_instances_ == 0) continue;
    const Row* const head = batcher.policy_.DueHead();
    if (head == nullptr || head->level > LowestLevel(busy_threads_) || (first != nullptr && !IsBefore(*head, *first))) continue;
    first = head;
    at = i;
  }
  if (first == nullptr) return std::nullopt;
  const auto closed = batchers_[at]->policy_.Close();
  if (!closed) return std::nullopt;  // others learn meanwhile what runs take: more rows are worth waiting for now
  Work work = Begin(at, *closed);
  // This thread will be away: a colleague takes what is due, or waits for what will be.
  if (work.staging != nullptr && idle_threads_ > 0 && NextDecisionLocked(LowestLevel(busy_threads_ + 1))) work_.NotifyOne();
  return work;
}

// Rows leave the queue, for an idle instance where any of them still has time.
Work Executor::Begin(size_t at, const Closed& closed) {
  Batcher& batcher = *batchers_[at];
  for (const RowList* list : {&closed.rows, &closed.expired}) {
    for (Row* row = list->first; row != nullptr; row = row->next) {
      row->state = RowState::kTaken;
      row->taken_at = clock_.Now();
      batcher.Unreserve(*row);
    }
  }
  Work work;
  work.batcher = &batcher;
  work.closed = closed;
  if (closed.rows.count == 0) return work;
  work.instance = std::countr_zero(batcher.idle_instances_);
  batcher.idle_instances_ &= ~(UINT64_C(1) << work.instance);
  work.staging = staging_[at][static_cast<size_t>(work.instance)].get();
  work.sort = closed.rows.first->sort;
  work.size = SizeFor(batcher, closed.rows);
  return work;
}

// `low` never occupies the last free thread, unless nothing will follow. `busy`: threads that would be occupied.
uint8_t Executor::LowestLevel(int busy) const {
  const int threads = options_.threads;
  return threads > 1 && busy >= threads && !stopping_ ? WF_NORMAL : WF_LOW;
}

std::optional<base::TimePoint> Executor::NextDecisionLocked(uint8_t lowest) const {
  std::optional<base::TimePoint> earliest;
  for (const auto& batcher : batchers_) {
    if (batcher->idle_instances_ == 0) continue;
    const auto at = batcher->policy_.NextDecisionAt(lowest);
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

std::optional<base::TimePoint> Executor::NextDecisionAt() {
  const base::MutexLock lock(mutex_);
  return NextDecisionLocked(WF_LOW);
}

std::optional<Work> Executor::Take() {
  for (;;) {
    base::MutexLock lock(mutex_);
    auto work = TakeLocked();
    lock.Unlock();
    if (!work) return std::nullopt;
    for (Row* row = work->closed.expired.first; row != nullptr; row = row->next)
      row->Fail(code::kTimeout, "the deadline passed in the queue");
    Deliver(work->closed.expired);
    if (work->closed.rows.count != 0) return work;
  }
}

void Executor::Run(Work& work) {
  Batcher& batcher = *work.batcher;
  batcher.stats_.AddBatch(work.closed.rows.count, work.closed.reason);
  work.started_at = clock_.Now();
  const base::WorkingOn now(0, nullptr, &batcher.model().model().name);
  work.spent_at_start_ns = SpentNs(batcher.model(), clock_);
  work.status = RunRows(work, work.closed.rows, work.size);
}

int64_t Executor::SizeFor(const Batcher& batcher, const RowList& rows) {
  const size_t sort = rows.first->sort;
  return sort < batcher.costs_.size() ? batcher.costs_[sort].RunSizeFor(rows.count) : 1;
}

base::Status Executor::RunRows(Work& work, const RowList& rows, int64_t size) {
  const Batcher& batcher = *work.batcher;
  const std::string_view name = abi::View(batcher.model().model().name);
  const int instance = batcher.options().first_instance + work.instance;
  {
    const base::SliceScope slice(base::SliceKind::kGather, name);
    WF_RETURN_IF_ERROR(work.staging->Gather(rows, size, batcher.padding()));
    WF_RETURN_IF_ERROR(work.staging->CheckSize(rows, instance, size));
  }
  const base::SliceScope slice(base::SliceKind::kRun, name);
  return work.staging->Run(rows, instance, size);
}

// What one request sent must not fail the others that share its run: `rows` failed together, so they run again in halves, down to the rows
// that fail alone. They are back in the batch when this returns.
void Executor::RunInHalves(Work& work, RowList rows, const base::Status& failure) {
  if (rows.count == 1 || failure.code() == base::kCancelled) {
    while (rows.first != nullptr) {
      Row& row = *rows.first;
      rows.Remove(row);
      row.Fail(CodeOf(failure), failure.message());
      work.closed.rows.Append(row);
    }
    return;
  }
  RowList half;
  while (half.count < rows.count) {
    Row& row = *rows.first;
    rows.Remove(row);
    half.Append(row);
  }
  for (RowList* part : {&half, &rows}) {
    const int64_t size = SizeFor(*work.batcher, *part);
    base::Status status = RunRows(work, *part, size);
    if (status.ok()) status = work.staging->Scatter(*part, size, work.batcher->padding());
    if (!status.ok()) {
      RunInHalves(work, *part, status);
      continue;
    }
    while (part->first != nullptr) {
      Row& row = *part->first;
      part->Remove(row);
      work.closed.rows.Append(row);
    }
  }
}

void Executor::Learn(const Work& work, int64_t spent_ns) {
  Batcher& batcher = *work.batcher;
  if (work.sort == batcher.costs_.size()) return;
  batcher.recent_sort_.store(work.sort, std::memory_order_relaxed);
  // The first run of a size also makes its plan, which would teach that batches do not pay.
  uint64_t& seen = batcher.seen_sizes_[static_cast<size_t>(work.instance) * batcher.costs_.size() + work.sort];
  const uint64_t size_bit = UINT64_C(1) << std::bit_width(static_cast<uint64_t>(work.size - 1));
  if ((seen & size_bit) != 0) batcher.costs_[work.sort].Learn(work.size, spent_ns);
  seen |= size_bit;
  batcher.UpdateCosts();
}

void Executor::Finish(Work& work) {
  Batcher& batcher = *work.batcher;
  const int64_t run_ns = clock_.Now() - work.started_at;
  if (work.status.ok()) {
    Learn(work, SpentNs(batcher.model(), clock_) - work.spent_at_start_ns);
    const base::SliceScope slice(base::SliceKind::kScatter, abi::View(batcher.model().model().name));
    work.status = work.staging->Scatter(work.closed.rows, work.size, batcher.padding());
  }
  for (Row* row = work.closed.rows.first; row != nullptr; row = row->next) {
    row->ran_at = work.started_at;
    row->run_ns = run_ns;
    row->batch_rows = static_cast<uint32_t>(work.closed.rows.count);
  }
  if (!work.status.ok()) RunInHalves(work, std::exchange(work.closed.rows, RowList{}), work.status);
  work.staging->Trim(batcher.options().first_instance + work.instance);
  {
    const base::MutexLock lock(mutex_);
    batcher.idle_instances_ |= UINT64_C(1) << work.instance;
  }
  Deliver(work.closed.rows);
}

// One message per loop, its rows chained in their order.
void Executor::Deliver(RowList& rows) {
  while (rows.first != nullptr) {
    base::Mailbox* const home = rows.first->home;
    Row *first = nullptr, *last = nullptr;
    for (Row *row = rows.first, *following = nullptr; row != nullptr; row = following) {
      following = row->next;
      if (row->home != home) continue;
      rows.Remove(*row);
      if (last == nullptr)
        first = row;
      else
        last->next_message = row;
      last = row;
    }
    {
      const base::MutexLock lock(mutex_);
      for (Row* row = first;; row = static_cast<Row*>(row->next_message)) {
        row->state = RowState::kDelivered;
        if (row == last) break;
      }
    }
    home->PostChain(*first, *last);
  }
}

void Executor::RunAndFinish(Work& work) {
  base::SliceScope slice(base::SliceKind::kBatch, abi::View(work.batcher->model().model().name));
  if (slice.on()) {
    slice.slice().rows = work.closed.rows.count;
    slice.slice().detail = CloseReasonName(work.closed.reason);
  }
  Run(work);
  Finish(work);
}

void Executor::RunThread() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);  // delays of batches are short
  base::MutexLock lock(mutex_);
  for (;;) {
    ++busy_threads_;
    lock.Unlock();
    while (auto work = Take()) RunAndFinish(*work);
    lock.Lock();
    --busy_threads_;
    const auto next = NextDecisionLocked(LowestLevel(busy_threads_ + 1));
    if (stopping_) {
      const bool waiting =
          std::any_of(batchers_.begin(), batchers_.end(), [](const auto& batcher) { return batcher->policy_.waiting() != 0; });
      if (!waiting) return work_.NotifyAll();  // to those who waited for the instance that this thread held
      if (next) continue;
    }
    if (next && *next <= clock_.Now()) continue;
    ++idle_threads_;
    if (next)
      work_.WaitUntil(mutex_, *next);
    else
      work_.Wait(mutex_);
    --idle_threads_;
  }
}

}  // namespace wf::batch
