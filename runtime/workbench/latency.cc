#include "runtime/workbench/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wf::workbench {

// Times below 2^kBits have a cell each; of longer ones the first bit chooses a row, and the kBits behind it the cell.
size_t Latency::CellOf(int64_t ns) {
  const auto time = static_cast<uint64_t>(ns);
  if (time < uint64_t{1} << kBits) return time;
  const int shift = std::bit_width(time) - 1 - kBits;
  return (static_cast<size_t>(shift) << kBits) + (time >> shift);
}

int64_t Latency::MostOf(size_t cell) {
  if (cell < size_t{1} << kBits) return static_cast<int64_t>(cell);
  const size_t shift = (cell >> kBits) - 1;
  const uint64_t first = (cell & ((size_t{1} << kBits) - 1)) + (uint64_t{1} << kBits);
  return static_cast<int64_t>(((first + 1) << shift) - 1);
}

void Latency::Add(int64_t ns) {
  ns = std::max<int64_t>(ns, 0);  // of a clock that went back
  ++cells_[CellOf(ns)];
  ++count_;
  sum_ns_ += std::min<int64_t>(ns, INT64_MAX - sum_ns_);
  max_ns_ = std::max(max_ns_, ns);
}

void Latency::Add(const Latency& other) {
  for (size_t i = 0; i < kCells; ++i) cells_[i] += other.cells_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

int64_t Latency::Quantile(double share) const {
  const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(count_)));
  int64_t seen = 0;
  for (size_t i = 0; i < kCells && count_ > 0; ++i) {
    seen += cells_[i];
    if (seen >= wanted && cells_[i] > 0) return std::min(MostOf(i), max_ns_);
  }
  return max_ns_;
}

}  // namespace wf::workbench
