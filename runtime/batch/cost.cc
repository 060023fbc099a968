#include "runtime/batch/cost.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace wf::batch {
namespace {

constexpr int64_t kInlineNs = 100'000, kInlineGainNs = 20'000;

// What is not measured is guessed as a quarter fixed and the rest by row: optimistic enough that bigger sizes get tried, and then measured.
int64_t Guess(int64_t known_ns, int64_t known_size, int64_t size) {
  return known_ns / 4 +
         static_cast<int64_t>(static_cast<double>(known_ns) * 0.75 * static_cast<double>(size) / static_cast<double>(known_size));
}

}  // namespace

CostCurve::CostCurve(int64_t max_rows) : max_rows_(std::clamp<int64_t>(max_rows, 1, int64_t{1} << (kMaxSizes - 2))) {
  for (int64_t size = 1; size < max_rows_; size *= 2) sizes_[n_sizes_++] = size;
  sizes_[n_sizes_++] = max_rows_;
}

int CostCurve::IndexOf(int64_t size) const {
  const auto* const end = sizes_.data() + n_sizes_;
  const auto* const at = std::lower_bound(sizes_.data(), end, size);
  return static_cast<int>(at == end ? n_sizes_ - 1 : at - sizes_.data());
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
  const int index = IndexOf(size);
  for (int distance = 0; distance < n_sizes_; ++distance) {
    for (const int at : {index - distance, index + distance}) {
      if (at < 0 || at >= n_sizes_) continue;
      const int64_t ns = ns_[at].load(std::memory_order_relaxed);
      if (ns != 0) return distance == 0 ? ns : Guess(ns, sizes_[at], sizes_[index]);
    }
  }
  return 0;
}

int64_t CostCurve::SizeFor(int64_t rows) const { return sizes_[IndexOf(rows)]; }

int64_t CostCurve::BestRows() const {
  if (alone_.load(std::memory_order_relaxed)) return 1;
  double best = 0;
  for (int i = 0; i < n_sizes_; ++i) {
    const double per_row = static_cast<double>(RunNs(sizes_[i])) / static_cast<double>(sizes_[i]);
    if (per_row == 0) return max_rows_;
    if (i == 0 || per_row < best) best = per_row;
  }
  for (int i = 0; i < n_sizes_; ++i)
    if (static_cast<double>(RunNs(sizes_[i])) <= 1.05 * best * static_cast<double>(sizes_[i])) return sizes_[i];
  return max_rows_;
}

int64_t CostCurve::CheapestNs(int64_t rows) const {
  int64_t split_ns = 0, best_ns = INT64_MAX;
  for (int i = n_sizes_ - 1; i >= 0 && rows > 0; --i) {
    if (sizes_[i] > rows) continue;
    const int64_t padded = SizeFor(rows);
    best_ns = std::min(best_ns, split_ns + RunNs(padded));
    split_ns += rows / sizes_[i] * RunNs(sizes_[i]);
    rows %= sizes_[i];
  }
  return rows == 0 ? std::min(best_ns, split_ns) : best_ns;
}

int64_t CostCurve::RowsToRun(int64_t waiting) const {
  const int64_t rows = std::min(waiting, max_rows_);
  const int64_t padded = SizeFor(rows);
  if (padded == rows || RunNs(padded) == 0) return rows;
  const int64_t below = sizes_[IndexOf(padded) - 1];
  return RunNs(below) + CheapestNs(rows - below) < RunNs(padded) ? below : rows;
}

bool CostCurve::InlinePays() const {
  if (!known(1)) return false;
  const int64_t alone = RunNs(1), best = BestRows();
  return alone <= kInlineNs && alone - RunNs(best) / best <= kInlineGainNs;
}

}  // namespace wf::batch
