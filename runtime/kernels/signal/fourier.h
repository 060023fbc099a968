#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace wf::kernels {

// A transform of a fixed length, of any number of elements: a power of two by halves, others as a convolution of such (Bluestein's way).
// Thread: immutable; each call works in memory of its caller.
class Fourier {
 public:
  using Complex = std::complex<double>;

  Fourier(int64_t length, bool inverse);
  static int64_t WorkCount(int64_t length);  // the same before it is made
  // Transforms `length` elements in place; the inverse is not divided.
  void Run(Complex* x, Complex* work) const;

 private:
  static void Halves(Complex* x, int64_t n, const std::vector<Complex>& turns, bool inverse);

  const int64_t length_;
  const bool inverse_;
  int64_t convolved_ = 0;       // the power of two in which others are convolved
  std::vector<Complex> turns_;  // exp(-2 pi i k / n) for the power of two
  std::vector<Complex> chirp_, kernel_;
};

}  // namespace wf::kernels
