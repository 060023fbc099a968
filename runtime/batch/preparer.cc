#include "runtime/batch/preparer.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/dtype.h"
#include "runtime/base/pages.h"
#include "runtime/batch/executor.h"
#include "runtime/batch/shape.h"

namespace wf::batch {
namespace {

constexpr int kNice = 10, kMostRuns = 20;
constexpr int64_t kMeasuringNs = 20'000'000;
constexpr int64_t kShortestPauseNs = 1'000'000, kLongestPauseNs = 100'000'000;

// Zeros behind every input; the system has their memory back with the list, as malloc would not give it.
class Zeros {
 public:
  explicit Zeros(std::vector<wf_tensor>& inputs) {
    for (wf_tensor& input : inputs) {
      const uint64_t bytes = abi::DenseBytes(input.dtype, input.rank, input.dim), whole = bytes + 64;
      void* const block = bytes >= INT64_MAX ? nullptr : base::MapPages(whole);
      complete_ = complete_ && block != nullptr;
      if (block == nullptr) continue;
      std::memset(block, 0, whole);  // pages that nobody has written are one page, and sooner read
      input.data = block;
      blocks_.push_back({block, whole});
    }
  }
  ~Zeros() {
    for (const auto& [block, bytes] : blocks_) munmap(block, bytes);
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  bool complete() const { return complete_; }

 private:
  std::vector<std::pair<void*, size_t>> blocks_;
  bool complete_ = true;
};

}  // namespace

Preparer::Preparer(Executor& executor, const base::Clock& clock) : executor_(executor), clock_(clock) {
  for (Batcher* batcher : executor.Batchers()) AddTo(&pieces_, *batcher);
}

// The largest first: smaller runs then live in the same memory. Plans of all before any is measured: until then requests run in smaller
// sizes than they could.
void Preparer::AddTo(std::deque<Piece>* pieces, Batcher& batcher) {
  const BatcherOptions& options = batcher.options();
  const size_t first = pieces->size();
  std::vector<Piece> others;
  for (size_t kind = batcher.padding().kinds(); kind-- > 0;) {
    std::vector<int64_t> sizes;
    for (int64_t rows = 1; sizes.empty() || sizes.back() < options.policy.max_rows; rows = sizes.back() + 1)
      sizes.push_back(batcher.cost(kind).SizeFor(rows));
    for (size_t at = sizes.size(); at-- > 0;) {
      if (batcher.InputsOf(kind, sizes[at]).empty()) continue;
      const bool measures = options.measuring_instance >= 0 && !batcher.cost(kind).known(sizes[at]);
      if (measures && sizes[at] > 1) {
        batcher.cost(kind).set_ready(sizes[at], false);
        pieces->push_back({&batcher, What::kPlan, kind, sizes[at]});
      }
      if (measures) others.push_back({&batcher, What::kMeasure, kind, sizes[at]});
      for (int i = 0; i < options.instances; ++i) others.push_back({&batcher, What::kBind, kind, sizes[at], i});
    }
  }
  pieces->insert(pieces->end(), others.begin(), others.end());
  const bool checks =
      options.measuring_instance >= 0 && options.policy.max_rows > 1 && batcher.model().rows(options.policy.max_rows) == Rows::kUnknown;
  const bool checks_alone = pieces->size() == first;
  if (!checks_alone) pieces->back().last = true;
  if (checks) pieces->push_front({.batcher = &batcher, .what = What::kCheckRows, .last = checks_alone});
}

void Preparer::Add(Batcher& batcher) {
  {
    const base::MutexLock lock(mutex_);
    AddTo(&pieces_, batcher);
  }
  news_.NotifyOne();
}

// The instance for measurements keeps the memory of a batcher that goes in the middle of them, until the next one is measured.
bool Preparer::Forget(const Batcher& batcher) {
  const base::MutexLock lock(mutex_);
  if (under_way_ == &batcher) return false;
  std::erase_if(pieces_, [&](const Piece& piece) { return piece.batcher == &batcher; });
  return true;
}

Preparer::Progress Preparer::Step() {
  base::MutexLock lock(mutex_);
  for (size_t tried = pieces_.size(); tried > 0 && !pieces_.empty(); --tried) {
    const Piece piece = pieces_.front();
    pieces_.pop_front();
    under_way_ = piece.batcher;
    lock.Unlock();
    const bool made = Make(piece);
    lock.Lock();
    under_way_ = nullptr;
    if (made) return Progress::kMade;
    pieces_.push_back(piece);
  }
  return pieces_.empty() ? Progress::kDone : Progress::kBusy;
}

bool Preparer::Make(const Piece& piece) {
  Batcher& batcher = *piece.batcher;
  Runnable& model = batcher.model();
  const BatcherOptions& options = batcher.options();
  std::vector<wf_tensor> inputs = batcher.InputsOf(piece.kind, piece.size);
  if (piece.what == What::kCheckRows) {
    model.CheckRows(options.measuring_instance, options.policy.max_rows, stopping_);
    batcher.HeedRows();
    batcher.UpdateCosts();
  } else if (piece.what == What::kPlan) {
    MakePlan(piece, inputs);
  } else if (piece.what == What::kMeasure) {
    Measure(piece, inputs);
  } else {
    if (!executor_.Borrow(batcher, piece.instance)) return false;
    // A failure is the next request's to report.
    static_cast<void>(model.Prepare(options.first_instance + piece.instance, piece.size, inputs));
    executor_.GiveBack(batcher, piece.instance);
  }
  if (piece.last && options.measuring_instance >= 0) model.Release(options.measuring_instance);
  return true;
}

void Preparer::MakePlan(const Piece& piece, std::span<const wf_tensor> inputs) {
  Batcher& batcher = *piece.batcher;
  // A failure is the next request's to report.
  static_cast<void>(batcher.model().Prepare(batcher.options().measuring_instance, piece.size, inputs));
  batcher.cost(piece.kind).set_ready(piece.size, true);
  batcher.UpdateCosts();
}

void Preparer::Measure(const Piece& piece, std::vector<wf_tensor>& inputs) {
  Batcher& batcher = *piece.batcher;
  Runnable& model = batcher.model();
  const int instance = batcher.options().measuring_instance;
  if (model.Prepare(instance, piece.size, inputs).ok()) {  // before there is memory for what may be too large
    const Zeros memory(inputs);
    if (memory.complete()) model.FillTexts(inputs);
    const int64_t best = memory.complete() ? BestRunNs(piece, inputs) : 0;
    if (best > 0 && !batcher.cost(piece.kind).known(piece.size)) batcher.cost(piece.kind).Learn(piece.size, best);
  }
  batcher.UpdateCosts();
}

// The first run is not counted: it finds its memory cold.
int64_t Preparer::BestRunNs(const Piece& piece, std::span<const wf_tensor> inputs) {
  const Batcher& batcher = *piece.batcher;
  Runnable& model = batcher.model();
  std::vector<wf_tensor> outputs(model.model().n_out);
  const base::UntilStopped wanted(stopping_);
  const auto runs = [&] {
    return !stopping_ && model.Run(batcher.options().measuring_instance, piece.size, inputs, outputs, &wanted).ok();
  };
  if (!runs()) return 0;
  int64_t best = 0;
  const base::TimePoint begin = clock_.Now();
  for (int i = 0; i < kMostRuns && (i == 0 || clock_.Now() - begin < kMeasuringNs); ++i) {
    const int64_t start = SpentNs(model, clock_);
    if (!runs()) return 0;
    const int64_t took = std::max<int64_t>(1, SpentNs(model, clock_) - start);
    best = best == 0 ? took : std::min(best, took);
  }
  return best;
}

void Preparer::Start() {
  thread_.Start("wf-preparer", [this] {
    RunThread();
    const base::MutexLock lock(mutex_);
    ended_ = true;
    news_.NotifyOne();
  });
}

void Preparer::Stop() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  news_.NotifyOne();
}

bool Preparer::EndsBy(base::TimePoint at) {
  const base::MutexLock lock(mutex_);
  while (!ended_ && clock_.Now() < at) news_.WaitUntil(mutex_, at);
  return ended_;
}

Preparer::~Preparer() {
  Stop();
  thread_.Join();
}

bool Preparer::ChecksNext() {
  const base::MutexLock lock(mutex_);
  return !pieces_.empty() && pieces_.front().what == What::kCheckRows;
}

void Preparer::RunThread() {
  while (!stopping_ && ChecksNext()) Step();                      // requests wait for what batches save
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);  // of this thread alone
  int64_t pause_ns = kShortestPauseNs;
  while (!stopping_) {
    const Progress progress = Step();
    pause_ns = progress == Progress::kBusy ? std::min(2 * pause_ns, kLongestPauseNs) : kShortestPauseNs;
    const base::MutexLock lock(mutex_);
    if (!stopping_ && progress == Progress::kBusy) news_.WaitUntil(mutex_, clock_.Now() + pause_ns);
    while (!stopping_ && pieces_.empty()) news_.Wait(mutex_);
  }
}

}  // namespace wf::batch
