#pragma once

#include <cstddef>

#include "runtime/abi/values.h"

namespace wf::model {

// What a warm-up feeds, as nobody knows what a model is made for: numbers that differ in what they are good for. A mask of zeros leaves
// nothing to divide by, Log takes no 0, a spread of equal numbers is 0, an index of 2 may be outside.
inline constexpr size_t kSamples = 5;
inline constexpr const char* kSamplesText =  // for messages
    "floats 0.5, 1, 2, these in turn, 0, integers 0, 1, 2, these in turn, 1, and bools true, but in turn in the fourth and false in the "
    "last";

void FillWithSample(size_t sample, const wf_tensor& tensor);  // REQUIRES: sample < kSamples, a dense tensor
bool AllFinite(const wf_tensor& tensor);                      // REQUIRES: a dense tensor

}  // namespace wf::model
