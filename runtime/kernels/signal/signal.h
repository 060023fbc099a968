#pragma once

#include <cstddef>
#include <cstdint>

// Contracts of signal processing.
namespace wf::kernels {

// The discrete Fourier transform of `length` elements along an axis; x [.., 1 or 2], the last axis real and imaginary part; what x lacks is
// 0. The output has as many values of the axis as its extent says, the first ones, and both parts. inverse: divided by the length.
struct Dft {
  size_t axis = 0;
  int64_t length = 0;
  bool inverse = false;
};

// The same for frames of x [batch, n] or [batch, n, 1 or 2], each `step` behind the one before, times the window [length], input 1 or
// absent -> [batch, frames, bins, 2].
struct ShortDft {
  int64_t length = 0, step = 1;
};

// first - second cos(2 pi i / n) + third cos(4 pi i / n) for each element of the output, n being its count, or one less if not periodic.
struct SignalWindow {
  double first = 0.5, second = 0.5, third = 0;
  bool periodic = true;
};

// The weights by which a spectrum becomes one of bands that lie evenly on the mel scale -> [length / 2 + 1, bands]. Inputs 0 and 1: the
// lowest and the highest frequency, one element each.
struct MelWeights {
  int64_t length = 0, sample_rate = 0;
};

}  // namespace wf::kernels
