#include "runtime/onnx/order.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using Writers = std::unordered_map<std::string_view, int>;

Writers WritersOf(const pb::GraphProto& graph) {
  Writers writers;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).output()) {
      if (!name.empty()) writers.emplace(name, i);
    }
  }
  return writers;
}

bool Needs(const pb::GraphProto& graph, const Writers& writers, int node, int wanted) {
  std::vector<bool> seen(static_cast<size_t>(graph.node_size()));
  std::vector<int> open{node};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at == wanted) return true;
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    for (const std::string& name : graph.node(at).input()) {
      if (const auto writer = writers.find(name); writer != writers.end()) open.push_back(writer->second);
    }
  }
  return false;
}

}  // namespace

std::string WhyAbsent(const pb::GraphProto& graph, int reader, const std::string& value) {
  const Writers writers = WritersOf(graph);
  const auto writer = writers.find(value);
  const std::string reads = fmt::format("it reads `{}`, which ", Printable(value));
  if (writer == writers.end()) return reads + "neither an input, an initialiser nor an earlier node provides";
  const std::string name = Printable(graph.node(writer->second).name());
  const std::string where = name.empty() ? fmt::format("node {}", writer->second) : fmt::format("node `{}`", name);
  if (writer->second == reader) return reads + "it writes itself";
  if (Needs(graph, writers, writer->second, reader))
    return reads + where + " computes from what this node writes: the graph runs in a circle";
  return reads + where + " below writes: the nodes are not in the order of their data";
}

}  // namespace wf::onnx
