#include "runtime/kernels/signal/fourier.h"

#include <bit>
#include <numbers>
#include <utility>

namespace wf::kernels {
namespace {

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

std::complex<double> Turn(double part) { return std::polar(1.0, -2 * std::numbers::pi * part); }

}  // namespace

int64_t Fourier::WorkCount(int64_t length) {
  return IsPowerOfTwo(length) ? 0 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
}

Fourier::Fourier(int64_t length, bool inverse) : length_(length), inverse_(inverse), convolved_(WorkCount(length)) {
  const int64_t n = convolved_ == 0 ? length : convolved_;
  for (int64_t k = 0; k < n / 2; ++k) turns_.push_back(Turn(static_cast<double>(k) / static_cast<double>(n)));
  if (convolved_ == 0) return;
  for (int64_t k = 0; k < length; ++k) {
    // k * k modulo 2 length keeps the angle exact.
    const auto square = static_cast<uint64_t>(k) * static_cast<uint64_t>(k) % static_cast<uint64_t>(2 * length);
    const Complex turn = Turn(static_cast<double>(square) / static_cast<double>(2 * length));
    chirp_.push_back(inverse ? std::conj(turn) : turn);
  }
  kernel_.assign(static_cast<size_t>(n), 0);
  for (int64_t k = 0; k < length; ++k) {
    const Complex value = std::conj(chirp_[static_cast<size_t>(k)]);
    kernel_[static_cast<size_t>(k)] = value;
    if (k > 0) kernel_[static_cast<size_t>(n - k)] = value;
  }
  Halves(kernel_.data(), n, turns_, false);
}

void Fourier::Run(Complex* x, Complex* work) const {
  if (convolved_ == 0) return Halves(x, length_, turns_, inverse_);
  for (int64_t k = 0; k < convolved_; ++k) work[k] = k < length_ ? x[k] * chirp_[static_cast<size_t>(k)] : Complex(0);
  Halves(work, convolved_, turns_, false);
  for (int64_t k = 0; k < convolved_; ++k) work[k] *= kernel_[static_cast<size_t>(k)];
  Halves(work, convolved_, turns_, true);
  const double scale = 1 / static_cast<double>(convolved_);
  for (int64_t k = 0; k < length_; ++k) x[k] = work[k] * chirp_[static_cast<size_t>(k)] * scale;
}

void Fourier::Halves(Complex* x, int64_t n, const std::vector<Complex>& turns, bool inverse) {
  for (int64_t i = 1, j = 0; i < n; ++i) {  // to the order of reversed bits
    int64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (int64_t size = 2; size <= n; size *= 2) {
    const int64_t half = size / 2, stride = n / size;
    for (int64_t begin = 0; begin < n; begin += size) {
      for (int64_t k = 0; k < half; ++k) {
        const Complex turn = turns[static_cast<size_t>(k * stride)], odd = x[begin + half + k];
        const double im = inverse ? -turn.imag() : turn.imag();  // written out: the library's product looks for NaN
        const Complex turned(odd.real() * turn.real() - odd.imag() * im, odd.real() * im + odd.imag() * turn.real());
        x[begin + half + k] = x[begin + k] - turned;
        x[begin + k] += turned;
      }
    }
  }
}

}  // namespace wf::kernels
