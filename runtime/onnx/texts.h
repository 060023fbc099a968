#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// Inside the reader: numbers the strings of a file, each once, into Graph::texts.
// Thread: that of the reader.   Borrows: the texts of the graph (outlive this).   Bounds: what the file holds.
class Texts {
 public:
  explicit Texts(std::vector<std::string>& texts) : texts_(texts) {}

  int64_t Number(const std::string& text) {
    const auto [at, is_new] = numbers_.emplace(text, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  std::vector<int64_t> Numbers(const std::vector<std::string>& texts) {
    std::vector<int64_t> numbers;
    for (const std::string& text : texts) numbers.push_back(Number(text));
    return numbers;
  }

  // Whether elements of a result may be what the attribute of this name has.
  static bool Holds(std::string_view attribute) {
    return attribute.ends_with("_strings") || attribute == "default_string" || attribute == "value_string";
  }
  // What the standard gives LabelEncoder and CategoryMapper for keys that they do not have.
  void AddDefault(Node& node) {
    if (node.Find("default_string") != nullptr) return;
    Attribute attribute;
    attribute.name = "default_string";
    attribute.kind = Attribute::Kind::kString;
    attribute.s = "_Unused";
    attribute.texts = {Number(attribute.s)};
    node.attributes.push_back(std::move(attribute));
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, int64_t> numbers_;
};

}  // namespace wf::onnx
