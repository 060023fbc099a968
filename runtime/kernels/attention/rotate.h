#pragma once

#include <cstdint>

namespace wf::kernels {

// The angles of one position.
template <typename T>
struct Angles {
  int64_t half;  // pairs
  bool interleaved;
  const T *cosine, *sine;
};

// Turns the first 2 * half elements of x, pair by pair; y may be x.
template <typename T>
void Rotate(const T* x, T* y, const Angles<T>& angles) {
  const int64_t apart = angles.interleaved ? 1 : angles.half, step = angles.interleaved ? 2 : 1;
  for (int64_t i = 0; i < angles.half; ++i) {
    const T re = x[i * step], im = x[i * step + apart];
    y[i * step] = re * angles.cosine[i] - im * angles.sine[i];
    y[i * step + apart] = re * angles.sine[i] + im * angles.cosine[i];
  }
}

}  // namespace wf::kernels
