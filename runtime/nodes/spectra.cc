#include <kissfft/kissfft.hh>

#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/scratch.h"
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

// A number of each of two frames, for KissFFT's templates: they compute with both at once, and with one, where they want a plain number, as
// for angles, which are those of both.
class Two {
 public:
  Two() = default;
  Two(double both) : lanes_{both, both} {}  // NOLINT: as numbers become others
  Two(double first, double second) : lanes_{first, second} {}
  operator double() const { return lanes_[0]; }  // NOLINT: likewise
  double second() const { return lanes_[1]; }

  Two operator-() const { return Two(-lanes_); }
  Two& operator+=(const Two& y) { return *this = *this + y; }
  Two& operator-=(const Two& y) { return *this = *this - y; }
  Two& operator*=(const Two& y) { return *this = *this * y; }
  friend Two operator+(const Two& x, const Two& y) { return Two(x.lanes_ + y.lanes_); }
  friend Two operator-(const Two& x, const Two& y) { return Two(x.lanes_ - y.lanes_); }
  friend Two operator*(const Two& x, const Two& y) { return Two(x.lanes_ * y.lanes_); }
  friend Two operator*(size_t x, const Two& y) { return Two(static_cast<double>(x)) * y; }
  friend Two operator/(const Two& x, size_t y) { return Two(x.lanes_ / static_cast<double>(y)); }
  friend Two cos(const Two& angle) { return Two(std::cos(static_cast<double>(angle))); }
  friend Two sin(const Two& angle) { return Two(std::sin(static_cast<double>(angle))); }

 private:
  using Lanes [[gnu::vector_size(16)]] = double;
  explicit Two(Lanes lanes) : lanes_(lanes) {}

  Lanes lanes_;
};

// The squares of the magnitudes of the Fourier transforms of two real signals. In f64, as librosa's.
// Thread: confined to the call.   Bounds: of the job's memory 48 bytes for each number, 80 where they are odd; besides, KissFFT has a table
// of 16, or 32.
class Fourier {
 public:
  Fourier(wf_ctx* ctx, int64_t n)
      : size_(static_cast<size_t>(n)),
        half_(n / 2),
        is_even_(n % 2 == 0),
        transform_(static_cast<size_t>(is_even_ ? half_ : n), false),
        signals_(ctx),
        found_(ctx),
        complex_(ctx) {}
  bool Reserve() { return signals_.Reserve(size_) && found_.Reserve(size_) && (is_even_ || complex_.Reserve(size_)); }

  Two* signals() { return signals_.data(); }  // n numbers
  // Each has place for n / 2 + 1 numbers.
  void Run(float* first, float* second) {
    if (is_even_) {
      transform_.transform_real(signals_.data(), found_.data());
      const Two last = found_[0].imag();  // its real part: the imaginary ones of both ends are 0
      found_[0] = found_[0].real();
      Square(half_, last, first, second);
    } else {
      std::copy_n(signals_.data(), size_, complex_.data());
      transform_.transform(complex_.data(), found_.data());
      Square(half_, found_[static_cast<uint64_t>(half_)], first, second);
    }
    for (int64_t k = 0; k < half_; ++k) Square(k, found_[static_cast<uint64_t>(k)], first, second);
  }

 private:
  using Number = std::complex<Two>;

  static void Square(int64_t k, const Number& x, float* first, float* second) {
    const Two square = x.real() * x.real() + x.imag() * x.imag();
    first[k] = static_cast<float>(static_cast<double>(square));
    second[k] = static_cast<float>(square.second());
  }

  size_t size_;
  int64_t half_;
  bool is_even_;
  kissfft<Two> transform_;
  Scratch<Two> signals_;
  Scratch<Number> found_, complex_;
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
  Fourier fourier(ctx, size);
  Scratch<float> columns(ctx);
  if (!fourier.Reserve() || !columns.Reserve(static_cast<uint64_t>(kColumns * bins))) return WF_FAILED;
  for (int64_t at = 0; at < frames; at += kColumns) {
    const int64_t count = std::min(kColumns, frames - at);
    for (int64_t column = 0; column < count; column += 2) {
      if (Stopped(ctx)) return WF_FAILED;
      const float* const first = samples + (at + column) * *hop;
      const float* const second = column + 1 < count ? first + *hop : first;
      for (int64_t i = 0; i < size; ++i) fourier.signals()[i] = Two(first[i], second[i]) * Two(weights[i]);
      fourier.Run(columns.data() + column * bins, columns.data() + (column + 1) * bins);
    }
    auto* const to = static_cast<float*>(power->data) + at;
    for (int64_t k = 0; k < bins; ++k) {
      for (int64_t column = 0; column < count; ++column) to[k * frames + column] = columns[static_cast<uint64_t>(column * bins + k)];
    }
  }
  return 0;
}
