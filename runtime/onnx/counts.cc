#include "runtime/onnx/counts.h"

#include <algorithm>
#include <vector>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

bool Finds(Op op) { return op == Op::kCompress || op == Op::kNonMaxSuppression || op == Op::kNonZero || op == Op::kUnique; }

bool IsOfInput(const std::string& symbol, const Node& node, std::span<const Known> known) {
  return std::any_of(node.in.begin(), node.in.end(), [&](int in) {
    if (in < 0) return false;
    const Shape& dims = known[static_cast<size_t>(in)].dim;
    return std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) { return dim.symbol() == symbol; });
  });
}

}  // namespace

Counts FindCounts(const Graph& graph, std::span<const Known> known) {
  Counts counts;
  std::vector<bool> of_data(graph.values.size(), false);
  for (const int input : graph.inputs) of_data[static_cast<size_t>(input)] = true;
  for (const Node& node : graph.nodes) {
    const auto reads_data = [&](int in) { return in >= 0 && of_data[static_cast<size_t>(in)]; };
    if (IsOfShapes(node.op) || std::none_of(node.in.begin(), node.in.end(), reads_data)) continue;
    for (const int out : node.out) {
      if (out >= 0) of_data[static_cast<size_t>(out)] = true;
    }
    if (!Finds(node.op)) continue;
    for (const int out : node.out) {
      if (out < 0) continue;
      for (const Dim& dim : known[static_cast<size_t>(out)].dim) {
        if (const auto symbol = dim.symbol(); symbol && !IsOfInput(*symbol, node, known)) counts.emplace(*symbol, &node);
      }
    }
  }
  return counts;
}

}  // namespace wf::onnx
