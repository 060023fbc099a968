#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/mixing_numbers.h"

// What single nodes compute across samples, for the search of a graph in mixing.cc.
namespace wf::onnx {

// Symbols of extents along which samples lie. The one for their number stands only there: no operator makes an axis of it out of anything
// else. `found`: how many elements a node found in the data of all samples, with that node.
// `by_samples`: what a node computes from their number, where that is no sum or product of it.
struct Counted {
  std::string samples;
  std::map<std::string, const Node*> found = {};
  std::map<std::string, const Node*> by_samples = {};
};

// The extent depends on the symbol: all that is computed along the axis is computed from elements of all samples.
bool HasSymbol(const Dim& dim, const std::string& symbol);
bool AnyHasSymbol(std::span<const Dim> dims, const std::string& symbol);

constexpr size_t Index(int value) { return static_cast<size_t>(value); }

// What is followed of the elements of a graph's values, by value.
struct Elements {
  explicit Elements(size_t values)
      : of_data(values, false), of_places(values, false), counts(values, nullptr), rows(values, nullptr), numbers(values), ahead(values) {}
  std::vector<bool> of_data;        // they depend on elements of the model's inputs
  std::vector<bool> of_places;      // they may be places of rows among the samples, or are chosen by such
  std::vector<const Node*> counts;  // they depend on how many elements this node found in all samples; null: not known to
  std::vector<const Node*> rows;    // they depend on how many samples there are, or where among them one stands, as this node gives it
  std::vector<ByElement> numbers;   // which elements do so, of few
  // Along this axis lie all samples, and others that were joined to them, so many in front.
  struct Joined {
    size_t axis;
    int64_t count;
  };
  std::vector<std::optional<Joined>> ahead;
};

// The node is certain to compute with elements of several samples. REQUIRES: inference took it.
bool ComputesAcross(NodeContext& node, const Counted& counted, const Elements& elements);

}  // namespace wf::onnx
