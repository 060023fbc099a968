#include "compiler/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wf::load {
namespace {

constexpr int kSubBits = 7;  // 128 buckets for each power of two
constexpr uint64_t kSub = uint64_t{1} << kSubBits;
constexpr size_t kBuckets = (64 - kSubBits) * kSub;

// Values below 128 have a bucket each; of greater ones the first eight bits are told apart.
size_t BucketOf(uint64_t value) {
  if (value < kSub) return value;
  const int shift = std::bit_width(value) - kSubBits - 1;
  return static_cast<size_t>(shift) * kSub + (value >> shift);
}

uint64_t EndOf(size_t bucket) {
  if (bucket < 2 * kSub) return bucket;
  const size_t shift = bucket / kSub - 1;
  return ((bucket % kSub + kSub + 1) << shift) - 1;
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

void Histogram::Add(int64_t ns) {
  const int64_t value = std::max<int64_t>(ns, 0);
  ++buckets_[BucketOf(static_cast<uint64_t>(value))];
  ++count_;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

int64_t Histogram::Quantile(double q) const {
  const auto rank = std::max<uint64_t>(static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_))), 1);
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(max_, static_cast<int64_t>(EndOf(bucket)));
  }
  return max_;
}

}  // namespace wf::load
