#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/counter.h"

namespace wf::observe {

using base::Counter;

// Durations in log-linear buckets: four equal ones per power of two from 1.024 us to 137 s, so that a quantile is off by at most 12.5 %.
// Thread: one writer, many readers.   Cost: Add a few ns, no lock.
class Histogram {
 public:
  static constexpr int kFirstBits = 10, kOctaves = 27, kParts = 4;
  static constexpr int kBuckets = 1 + kOctaves * kParts + 1;  // below, the parts, above

  void Add(int64_t ns) noexcept {
    bucket_[IndexOf(ns)].Add();
    sum_ns_.Add(ns < 0 ? 0 : static_cast<uint64_t>(ns));
  }
  static int IndexOf(int64_t ns) noexcept {
    const uint64_t span = ns < 0 ? 0 : static_cast<uint64_t>(ns);
    const int width = std::bit_width(span);
    if (width <= kFirstBits) return 0;
    const int octave = width - 1 - kFirstBits;
    if (octave >= kOctaves) return kBuckets - 1;
    return 1 + octave * kParts + static_cast<int>(span >> (width - 3) & 3);
  }
  // The exclusive upper end of a bucket in ns; INT64_MAX for the last.
  static int64_t EndOf(int index) noexcept;
  uint64_t count(int index) const noexcept { return bucket_[index].value(); }
  uint64_t sum_ns() const noexcept { return sum_ns_.value(); }

 private:
  Counter bucket_[kBuckets];
  Counter sum_ns_;
};

struct Label {
  std::string_view name, value;
};

// The text format of Prometheus, grown line by line.
// Thread: loop-confined.
class MetricsText {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Sample(std::string_view suffix, std::span<const Label> labels, double value);
  void Sample(std::initializer_list<Label> labels, double value) { Sample("", {labels.begin(), labels.size()}, value); }
  // Counts by bucket, their exclusive upper ends in seconds (ascending; the rest is +Inf), and the sum: a whole histogram.
  void Buckets(std::initializer_list<Label> labels, std::span<const double> ends, std::span<const uint64_t> counts, double sum);
  // The sum of several threads' histograms, one line per power of two.
  void Durations(std::initializer_list<Label> labels, std::span<const Histogram* const> parts);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string family_;
};

}  // namespace wf::observe
