#include "runtime/model/sample_texts.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using onnx::Node;
using onnx::Op;

constexpr int64_t kMostColumns = 256;  // that are followed one by one

// Where elements of a value come from: the places in `known` of the inputs' columns, by column of the value; of one column, all.
using Origins = std::vector<std::set<size_t>>;

// What only moves strings from its first input, or from all of them, to its outputs.
bool Moves(const Node& node) {
  switch (node.op) {
    case Op::kIdentity:
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
    case Op::kTranspose:
    case Op::kConcat:
    case Op::kGather:
    case Op::kSplit:
    case Op::kSlice:
    case Op::kExpand:
    case Op::kTile:
    case Op::kWhere:
    case Op::kMlArrayFeatureExtractor:
      return true;
    default:
      return false;
  }
}

std::set<size_t> AllOf(const Origins& origins) {
  std::set<size_t> all;
  for (const std::set<size_t>& column : origins) all.insert(column.begin(), column.end());
  return all;
}

class Follower {
 public:
  explicit Follower(const onnx::Graph& graph) : graph_(graph) {}

  // The columns of an input: the places of what is known of them.
  std::vector<size_t> Add(int value, int64_t columns) {
    std::vector<size_t> places;
    Origins& origins = origins_[value];
    for (int64_t column = 0; column < columns; ++column) {
      places.push_back(known_.size());
      origins.push_back({known_.size()});
      known_.emplace_back();
    }
    return places;
  }

  void Follow() {
    for (const Node& node : graph_.nodes) {
      if (std::none_of(node.in.begin(), node.in.end(), [this](int value) { return origins_.contains(value); })) continue;
      Learn(node);
      if (!Moves(node)) continue;
      const Origins moved = Moved(node);
      for (const int out : node.out) {
        if (out >= 0) origins_.emplace(out, moved);
      }
    }
  }
  const std::set<int64_t>& known(size_t place) const { return known_[place]; }

 private:
  void Learn(const Node& node) {
    std::set<int64_t> texts;
    for (const onnx::Attribute& attribute : node.attributes) texts.insert(attribute.texts.begin(), attribute.texts.end());
    for (const int value : node.in) {
      const onnx::Weight* const weight = WeightOf(value);
      if (weight == nullptr || weight->dtype != onnx::kStringType) continue;
      for (int64_t i = 0; i < weight->count(); ++i) texts.insert(IntegerAt(*weight, i));
    }
    for (const int value : node.in) {
      const auto found = origins_.find(value);
      if (texts.empty() || found == origins_.end()) continue;
      for (const size_t place : AllOf(found->second)) known_[place].insert(texts.begin(), texts.end());
    }
  }

  // Null: it is none, or its elements are not here.
  const onnx::Weight* WeightOf(int value) const {
    const int weight = value < 0 ? -1 : graph_.values[static_cast<size_t>(value)].weight;
    return weight < 0 || !graph_.weight(weight).held ? nullptr : &graph_.weight(weight);
  }
  static int64_t IntegerAt(const onnx::Weight& weight, int64_t at) {
    int64_t number = 0;
    std::memcpy(&number, weight.bytes.data() + at * int64_t{sizeof number}, sizeof number);
    return number;
  }

  Origins Moved(const Node& node) const {
    if (node.op == Op::kConcat && IsOfColumns(node)) return Joined(node);
    if (node.op == Op::kMlArrayFeatureExtractor || (node.op == Op::kGather && IsOfColumns(node))) {
      if (auto picked = Picked(node)) return *std::move(picked);
    }
    if (node.op == Op::kIdentity) return OriginsOf(node.in[0]);
    std::set<size_t> all;
    for (const int value : node.in) all.merge(AllOf(OriginsOf(value)));
    return {all};
  }
  // Inputs of strings have two axes, or less; what is followed wrongly is tried in vain.
  static bool IsOfColumns(const Node& node) {
    const int64_t axis = node.Int("axis", 0);
    return axis == 1 || axis == -1;
  }
  Origins OriginsOf(int value) const {
    const auto found = origins_.find(value);
    return found == origins_.end() ? Origins() : found->second;
  }
  Origins Joined(const Node& node) const {
    Origins joined;
    for (const int value : node.in) {
      const Origins own = OriginsOf(value);
      joined.insert(joined.end(), own.begin(), own.end());
    }
    return joined.size() <= kMostColumns ? joined : Origins{AllOf(joined)};
  }
  std::optional<Origins> Picked(const Node& node) const {
    const onnx::Weight* const index = node.has_in(1) ? WeightOf(node.in[1]) : nullptr;
    const Origins from = OriginsOf(node.in[0]);
    if (index == nullptr || index->dtype != WF_I64 || index->count() > kMostColumns) return std::nullopt;
    Origins picked;
    for (int64_t i = 0; i < index->count(); ++i) {
      const int64_t column = IntegerAt(*index, i);
      if (column < 0 || static_cast<size_t>(column) >= from.size()) return std::nullopt;
      picked.push_back(from[static_cast<size_t>(column)]);
    }
    return picked;
  }

  const onnx::Graph& graph_;
  std::unordered_map<int, Origins> origins_;  // by value
  std::vector<std::set<int64_t>> known_;      // numbers of texts, by column of an input
};

}  // namespace

SampleTexts::SampleTexts(const onnx::Graph& graph, const std::vector<onnx::Port>& inputs) : inputs_(inputs.size()) {
  Follower follower(graph);
  std::vector<std::vector<size_t>> places(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != onnx::kStringType) continue;
    const auto columns = inputs[i].dim.empty() ? std::optional<int64_t>(1) : inputs[i].dim.back().constant();
    places[i] = follower.Add(graph.inputs[i], columns && *columns > 0 && *columns <= kMostColumns ? *columns : 1);
  }
  follower.Follow();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const size_t place : places[i]) {
      std::vector<std::string>& texts = inputs_[i].emplace_back();
      for (const int64_t number : follower.known(place)) texts.push_back(graph.texts[static_cast<size_t>(number)]);
    }
  }
}

std::string_view SampleTexts::At(size_t input, int64_t at, int64_t columns, uint32_t bits) const {
  static constexpr std::string_view kDigits = "0123456789";
  const auto& by_column = inputs_[input];
  const size_t column = static_cast<size_t>(columns) == by_column.size() ? static_cast<size_t>(at % columns) : 0;
  const std::vector<std::string>& texts = by_column[column];
  return texts.empty() ? kDigits.substr(bits % kDigits.size(), 1) : std::string_view(texts[bits % texts.size()]);
}

}  // namespace wf::model
