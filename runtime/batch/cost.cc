#include "runtime/batch/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/base/check.h"

namespace wf::batch {
namespace {

constexpr int64_t kInlineNs = 100'000, kInlineGainNs = 20'000;

// Beyond what is measured, a quarter is guessed to be fixed and the rest by row: optimistic enough that bigger sizes get tried, and then
// measured.
int64_t Guess(int64_t known_ns, int64_t known_size, int64_t size) {
  return known_ns / 4 +
         static_cast<int64_t>(static_cast<double>(known_ns) * 0.75 * static_cast<double>(size) / static_cast<double>(known_size));
}

// Between two that are, no hope is left that the larger one has not had: it grows evenly.
int64_t Between(int64_t low_ns, int64_t high_ns, double part) {
  return low_ns + static_cast<int64_t>(static_cast<double>(high_ns - low_ns) * part);
}

}  // namespace

CostCurve::CostCurve(int64_t max_rows, bool by_steps)
    : max_rows_(std::clamp<int64_t>(max_rows, 1, int64_t{1} << (kMaxSizes - 2))), by_steps_(by_steps) {
  for (int64_t size = 1; size < max_rows_; size *= 2) sizes_[n_sizes_++] = size;
  sizes_[n_sizes_++] = max_rows_;
}

int CostCurve::IndexOf(int64_t size) const {
  return size <= 1 ? 0 : std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1))), n_sizes_ - 1);
}

void CostCurve::Learn(int64_t size, int64_t ns) {
  std::atomic<int64_t>& cell = ns_[IndexOf(size)];
  const int64_t old = cell.load(std::memory_order_relaxed);
  cell.store(std::max<int64_t>(1, old == 0 ? ns : old + (ns - old) / 8), std::memory_order_relaxed);
}

void CostCurve::LearnFrom(const CostCurve& other) {
  for (int i = 0; i < n_sizes_; ++i) {
    const int64_t size = sizes_[i];
    if (size <= other.max_rows_ && other.SizeFor(size) == size && other.known(size) && !known(size)) Learn(size, other.RunNs(size));
  }
}

bool CostCurve::known(int64_t size) const { return ns_[IndexOf(size)].load(std::memory_order_relaxed) != 0; }

int64_t CostCurve::RunNs(int64_t size) const {
  const auto ns_at = [this](int at) { return ns_[at].load(std::memory_order_relaxed); };
  const int index = IndexOf(size);
  if (const int64_t ns = ns_at(index); ns != 0) return ns;
  int low = index, high = index;
  while (low >= 0 && ns_at(low) == 0) --low;
  while (high < n_sizes_ && ns_at(high) == 0) ++high;
  if (low < 0 && high == n_sizes_) return 0;
  if (low < 0) return Guess(ns_at(high), sizes_[high], sizes_[index]);
  if (high == n_sizes_) return Guess(ns_at(low), sizes_[low], sizes_[index]);
  return Between(ns_at(low), ns_at(high),
                 static_cast<double>(sizes_[index] - sizes_[low]) / static_cast<double>(sizes_[high] - sizes_[low]));
}

int CostCurve::LargestKnown() const {
  int at = n_sizes_ - 1;
  while (at >= 0 && ns_[at].load(std::memory_order_relaxed) == 0) --at;
  return at;
}

void CostCurve::set_ready(int64_t size, bool is_ready) {
  const int at = IndexOf(size);
  WF_CHECK(at > 0, size);
  const uint32_t bit = UINT32_C(1) << at;
  if (is_ready)
    unready_.fetch_and(~bit, std::memory_order_relaxed);
  else
    unready_.fetch_or(bit, std::memory_order_relaxed);
}

int CostCurve::LargestReady() const {
  int at = n_sizes_ - 1;
  while (!ready(at)) --at;
  return at;
}

int64_t CostCurve::SizeFor(int64_t rows) const { return sizes_[IndexOf(rows)]; }

int64_t CostCurve::RunSizeFor(int64_t rows) const {
  int at = IndexOf(rows);
  while (at < n_sizes_ && !ready(at)) ++at;
  return at < n_sizes_ ? sizes_[at] : SizeFor(rows);  // more rows than a run may have just now: they were taken before that
}

int64_t CostCurve::BestRows() const {
  if (alone_.load(std::memory_order_relaxed)) return 1;
  const int largest = LargestKnown();
  if (largest < 0) return by_steps_ ? 1 : sizes_[LargestReady()];
  const int most = by_steps_ ? std::min(largest + 2, n_sizes_) : n_sizes_;
  // Those that are measured, and larger ones.
  const auto each = [&](auto&& take) {
    for (int i = 0; i < most; ++i)
      if (ready(i) && (i > largest || known(sizes_[i])))
        take(sizes_[i], static_cast<double>(RunNs(sizes_[i])) / static_cast<double>(sizes_[i]));
  };
  double best = INFINITY;
  each([&](int64_t, double per_row) { best = std::min(best, per_row); });
  int64_t smallest = sizes_[LargestReady()];
  each([&](int64_t size, double per_row) {
    if (per_row <= 1.05 * best) smallest = std::min(smallest, size);
  });
  return smallest;
}

int64_t CostCurve::CheapestNs(int64_t rows) const {
  int64_t split_ns = 0, best_ns = INT64_MAX;
  for (int i = n_sizes_ - 1; i >= 0 && rows > 0; --i) {
    if (sizes_[i] > rows || !ready(i)) continue;
    const int64_t padded = RunSizeFor(rows);
    best_ns = std::min(best_ns, split_ns + RunNs(padded));
    split_ns += rows / sizes_[i] * RunNs(sizes_[i]);
    rows %= sizes_[i];
  }
  return rows == 0 ? std::min(best_ns, split_ns) : best_ns;
}

int64_t CostCurve::RowsToRun(int64_t waiting) const {
  const int64_t rows = std::min(waiting, sizes_[LargestReady()]);
  const int64_t padded = RunSizeFor(rows);
  if (padded == rows || RunNs(padded) == 0) return rows;
  int at = IndexOf(padded) - 1;
  while (!ready(at)) --at;
  const int64_t below = sizes_[at];
  return RunNs(below) + CheapestNs(rows - below) < RunNs(padded) ? below : rows;
}

bool CostCurve::InlinePays() const {
  if (!known(1)) return false;
  const int64_t alone = RunNs(1), best = BestRows();
  return alone <= kInlineNs && alone - RunNs(best) / best <= kInlineGainNs;
}

}  // namespace wf::batch
