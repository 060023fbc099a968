#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/base/status.h"
#include "runtime/model/sample_texts.h"
#include "runtime/onnx/signature.h"

namespace wf::model {

// What a warm-up feeds, as nobody knows what a model is made for: numbers that differ in what they are good for. A mask of zeros leaves
// nothing to divide by, Log takes no 0, a spread of equal numbers is 0, an index of 2 may be outside. Numbers of a range differ from
// element to element and from input to input, and no window of them repeats; they are the same at every start.
inline constexpr size_t kSamples = 8;
inline constexpr const char* kSamplesText =  // for messages
    "floats from 0.25 to 1, all 1, from -1 to 1, 1 to 8, 8 to 100, 100 to 10000, -100 to -1 and all 0, integers that are all 0, all 1, "
    "from "
    "0 to 2, all 2, from 2 to 9, 10 to 99, 100 to 127 and all 1, and bools true, but mixed in the third and fifth and false in the last, "
    "strings that the file holds them against";

// Behind those are samples of floats from -10^7 to 10^7, with integers from 1000 to 100000 and with zeros: what other rows must not feel.
inline constexpr size_t kLargeSamples = 2;

// input: the tensor's place among those of the model; shift: any number, for other elements of the same sample. REQUIRES: sample <
// kSamples + kLargeSamples, a dense tensor
struct SamplePlace {
  size_t sample, input, shift = 0;
};
void FillWithSample(const SamplePlace& place, const SampleTexts& texts, const wf_tensor& tensor);

// Dense tensors, and what they lie in.
struct SampleInputs {
  std::vector<wf_tensor> tensors;
  std::vector<std::shared_ptr<uint8_t>> memory;
};
// Adds an input for each shape, not filled. axis: of rows, of each; below 0: none. REQUIRES: all other extents are constant. Errors: no
// memory for so many.
base::Status MakeInputs(std::span<const onnx::Port> shapes, std::span<const int8_t> axis, int64_t rows, SampleInputs& made);

}  // namespace wf::model
