#include "runtime/model/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/model/numbers.h"
#include "runtime/model/samples.h"

namespace wf::model {
namespace {

using base::Status;

// Numbers from -1 to 1, as models are mostly fed, come first: of larger ones activations are full, and roundings grow.
constexpr size_t kOrder[kSamples] = {0, 2, 1, 3, 4, 5, 6, 7}, kCompared = 2;
constexpr int kMostComparisons = 20;
constexpr int64_t kComparingNs = 50'000'000;

bool SameExtents(const wf_tensor& a, const wf_tensor& b) { return a.rank == b.rank && std::equal(a.dim, a.dim + a.rank, b.dim); }

// Infinite where the one is all 0 and the other is not.
double ErrorOf(const wf_tensor& exact, const wf_tensor& near) {
  double apart = 0, all = 0;
  for (int64_t i = 0, count = CountOf(exact); i < count; ++i) {
    const double number = NumberAt(exact.dtype, exact.data, i), difference = NumberAt(near.dtype, near.data, i) - number;
    apart += difference * difference;
    all += number * number;
  }
  return apart == 0 ? 0 : std::sqrt(apart / all);
}

class Comparison {
 public:
  Comparison(Version& f32, Version& bf16, int instance, const base::Clock& clock)
      : f32_(f32), bf16_(bf16), instance_(instance), clock_(clock) {}

  PrecisionFound Find() {
    found_.reason = Compare();
    if (found_.reason.empty()) Measure();
    return found_;
  }

 private:
  Status Run(Version& version, std::vector<wf_tensor>& outputs) {
    outputs.resize(version.signature().outputs.size());
    return version.Run(instance_, 1, inputs_.tensors, outputs);
  }
  static bool AllFinite(const std::vector<wf_tensor>& outputs) {
    return std::all_of(outputs.begin(), outputs.end(),
                       [](const wf_tensor& each) { return KindsOf(each.dtype, each.data, CountOf(each)).all_finite(); });
  }

  // Why the results of bf16 will not do; empty: they are near.
  std::string Compare() {
    if (f32_.depends_on_data()) return "what it does, and whether it ends, depends on its inputs";
    const std::vector<onnx::Port>& shapes = f32_.sample_shapes();
    if (shapes.size() != f32_.signature().inputs.size()) return "no extents of its open axes are known that its nodes take";
    if (const Status made = MakeInputs(shapes, f32_.axes().axis, 1, inputs_); !made.ok()) return made.message();
    size_t compared = 0;
    for (size_t at = 0; at < kSamples && compared < kCompared; ++at) {
      for (size_t i = 0; i < shapes.size(); ++i) FillWithSample({kOrder[at], i}, f32_.sample_texts(), inputs_.tensors[i]);
      if (!Run(f32_, exact_).ok() || !AllFinite(exact_)) continue;
      if (const Status ran = Run(bf16_, near_); !ran.ok()) return ran.message();
      ++compared;
      last_ = kOrder[at];
      for (size_t i = 0; i < exact_.size(); ++i) {
        if (std::string far = CompareOutput(i); !far.empty()) return far;
      }
    }
    return compared == 0 ? "none of its runs with made-up numbers is finite" : "";
  }

  std::string CompareOutput(size_t i) {
    const wf_tensor &exact = exact_[i], &near = near_[i];
    const std::string& name = f32_.signature().outputs[i].name;
    if (!SameExtents(exact, near)) return fmt::format("output `{}` has other extents", name);
    if (exact.dtype == WF_TEXTS) {
      const auto* const a = static_cast<const wf_bytes*>(exact.data);
      const bool same = std::equal(a, a + CountOf(exact), static_cast<const wf_bytes*>(near.data),
                                   [](wf_bytes x, wf_bytes y) { return abi::View(x) == abi::View(y); });
      return same ? "" : fmt::format("output `{}`, of strings, is another one", name);
    }
    if (!base::IsFloat(exact.dtype)) {
      const bool same = std::memcmp(exact.data, near.data, abi::DenseBytes(exact.dtype, exact.rank, exact.dim)) == 0;
      return same ? "" : fmt::format("output `{}`, of integers, is another one", name);
    }
    const double error = ErrorOf(exact, near);
    found_.error = std::max(found_.error, error);
    return error <= kNearEnough ? "" : fmt::format("output `{}` differs by {:.2g} of it, more than {}", name, error, kNearEnough);
  }

  int64_t SpentNs() const { return kernels::StayOnOneThread() ? clock_.WorkedNs() : clock_.Now(); }
  int64_t Took(Version& version, std::vector<wf_tensor>& outputs) {
    const int64_t start = SpentNs();
    return Run(version, outputs).ok() ? std::max<int64_t>(1, SpentNs() - start) : INT64_MAX;
  }

  // In turns, on the last sample that was compared, of which each had a run.
  void Measure() {
    for (size_t i = 0; i < inputs_.tensors.size(); ++i) FillWithSample({last_, i}, f32_.sample_texts(), inputs_.tensors[i]);
    int64_t f32_ns = INT64_MAX, bf16_ns = INT64_MAX;
    const int64_t begin = SpentNs();
    for (int run = 0; run < kMostComparisons && (run == 0 || SpentNs() - begin < 2 * kComparingNs); ++run) {
      f32_ns = std::min(f32_ns, Took(f32_, exact_));
      bf16_ns = std::min(bf16_ns, Took(bf16_, near_));
    }
    const double times = static_cast<double>(f32_ns) / static_cast<double>(bf16_ns);
    found_.bf16 = times >= kFasterBy;
    found_.reason = fmt::format("bf16 is {:.2f} times as fast, and its results are off by {:.2g} of them", times, found_.error);
  }

  Version &f32_, &bf16_;
  const int instance_;
  const base::Clock& clock_;
  PrecisionFound found_;
  SampleInputs inputs_;
  std::vector<wf_tensor> exact_, near_;
  size_t last_ = 0;
};

}  // namespace

PrecisionFound FindPrecision(Version& f32, Version& bf16, int instance, const base::Clock& clock) {
  return Comparison(f32, bf16, instance, clock).Find();
}

}  // namespace wf::model
