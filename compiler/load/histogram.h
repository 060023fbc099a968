#pragma once

#include <cstdint>
#include <vector>

namespace wf::load {

// Durations in ns, counted in buckets that are at most 0.8 % wide, so that what is kept does not grow with what is measured.
// Thread: confined.   Bounds: 57 KiB.   Source: the log-linear buckets of HdrHistogram.
class Histogram {
 public:
  Histogram();
  void Add(int64_t ns);  // below 0 counts as 0

  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  int64_t Quantile(double q) const;  // the end of the bucket that holds it, never above max(); 0 when nothing was added. q in [0, 1]

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace wf::load
