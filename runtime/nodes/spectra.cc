#include <kissfft/kissfft.hh>

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// Of a length that is a product of small primes a transform takes time in the sum of these for each number.
constexpr int64_t kMostFactor = 127;

constexpr int64_t kColumns = 16;  // that fill a line of the cache

int64_t LargestFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return std::max(largest, n);
}

// The squares of the magnitudes of a real signal's Fourier transform. In f64, as librosa's.
// Thread: confined to the call.   Bounds: 48 bytes for each number.
class Fourier {
 public:
  explicit Fourier(int64_t n)
      : half_(n / 2), is_even_(n % 2 == 0), transform_(static_cast<size_t>(is_even_ ? half_ : n), false), found_(static_cast<size_t>(n)) {}

  // `power` has place for n / 2 + 1 of n numbers.
  void Run(std::span<const double> signal, float* power) {
    if (!is_even_) return RunOdd(signal, power);
    transform_.transform_real(signal.data(), found_.data());
    power[0] = Square({found_[0].real(), 0});  // the imaginary part there is the last one's real one
    for (int64_t k = 1; k < half_; ++k) power[k] = Square(found_[static_cast<size_t>(k)]);
    power[half_] = Square({found_[0].imag(), 0});
  }

 private:
  using Number = std::complex<double>;

  static float Square(const Number& x) { return static_cast<float>(x.real() * x.real() + x.imag() * x.imag()); }

  void RunOdd(std::span<const double> signal, float* power) {
    complex_.assign(signal.begin(), signal.end());
    transform_.transform(complex_.data(), found_.data());
    for (int64_t k = 0; k <= half_; ++k) power[k] = Square(found_[static_cast<size_t>(k)]);
  }

  int64_t half_;
  bool is_even_;
  kissfft<double> transform_;
  std::vector<Number> found_, complex_;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_spectra(wf_ctx* ctx, const wf_tensor* x, const wf_tensor* window, const int64_t* hop, wf_tensor* power) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0], size = window->dim[0];
  if (*hop < 1) return Fail(ctx, wf::code::kType, "a hop of %lld samples", static_cast<long long>(*hop));
  if (size < 1 || size > WF_MAX_WINDOW || LargestFactor(size) > kMostFactor) {
    return Fail(ctx, wf::code::kType, "a window of %lld samples: 1 to %d, with no prime factor above %lld, are transformed",
                static_cast<long long>(size), WF_MAX_WINDOW, static_cast<long long>(kMostFactor));
  }
  const int64_t frames = n < size ? 0 : 1 + (n - size) / *hop, bins = size / 2 + 1, dims[] = {bins, frames};
  if (!AllocateTensor(ctx, WF_F32, dims, power)) return WF_FAILED;
  const auto* const samples = static_cast<const float*>(x->data);
  const auto* const weights = static_cast<const double*>(window->data);
  Fourier fourier(size);
  std::vector<double> frame(static_cast<size_t>(size));
  std::vector<float> columns(static_cast<size_t>(kColumns * bins));
  for (int64_t at = 0; at < frames; at += kColumns) {
    const int64_t count = std::min(kColumns, frames - at);
    for (int64_t column = 0; column < count; ++column) {
      if (Stopped(ctx)) return WF_FAILED;
      const float* const from = samples + (at + column) * *hop;
      for (int64_t i = 0; i < size; ++i) frame[static_cast<size_t>(i)] = static_cast<double>(from[i]) * weights[i];
      fourier.Run(frame, columns.data() + column * bins);
    }
    auto* const to = static_cast<float*>(power->data) + at;
    for (int64_t k = 0; k < bins; ++k) {
      for (int64_t column = 0; column < count; ++column) to[k * frames + column] = columns[static_cast<size_t>(column * bins + k)];
    }
  }
  return 0;
}
