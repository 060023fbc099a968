#pragma once

#include <cstdint>

namespace wf::kernels {

// Numbers that are random but the same in each run: the generator (Mersenne Twister, as numpy.random.RandomState seeds it) starts with
// `seed` each time. Floats; kBernoulli to any type, kMultinomial to i32 and i64.
struct RandomNumbers {
  enum class Kind : uint8_t {
    kUniform,      // from a to below b
    kNormal,       // of mean a and deviation b
    kBernoulli,    // input 0 [..]: 1 as often as it says, else 0
    kMultinomial,  // input 0 [n, classes], logarithms of weights: [n, samples] classes
    kDropout,      // inputs x, ratio and whether this is training, the last two may be absent (0.5, no): x with elements left out and the
                   // others scaled up; output 1: which are there
  };
  Kind kind = Kind::kUniform;
  uint32_t seed = 0;
  float a = 0, b = 1;
};

}  // namespace wf::kernels
