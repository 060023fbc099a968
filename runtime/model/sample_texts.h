#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::model {

// Strings that a model is tried with. Encoders refuse what they do not know, so each column of an input has those that the file holds it
// against: attributes and constants of the nodes that its elements come to. Of a column that the file holds against nothing, digits.
// Thread: immutable.   Owns: the strings.
class SampleTexts {
 public:
  SampleTexts() = default;
  explicit SampleTexts(const onnx::Graph& graph, const std::vector<onnx::Port>& inputs);

  // Element `at` of an input, whose last axis has so many columns. bits: which of those that it may be.
  std::string_view At(size_t input, int64_t at, int64_t columns, uint32_t bits) const;

 private:
  std::vector<std::vector<std::vector<std::string>>> inputs_;  // by column; of one: all have the same
};

}  // namespace wf::model
