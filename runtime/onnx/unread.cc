#include "runtime/onnx/unread.h"

#include <algorithm>
#include <vector>

#include "runtime/onnx/op.h"

namespace wf::onnx {
namespace {

bool NeedsAll(const Node& node) {
  switch (node.op) {
    case Op::kBatchNormalization:
    case Op::kTrainAdagrad:
    case Op::kTrainAdam:
    case Op::kTrainMomentum:
      return true;
    default:
      return std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& each) { return each.body >= 0; });
  }
}

}  // namespace

std::vector<bool> ReadValues(const Graph& graph) {
  std::vector<bool> is_read(graph.values.size());
  const auto read = [&](const std::vector<int>& values) {
    for (const int value : values) {
      if (value >= 0) is_read[static_cast<size_t>(value)] = true;
    }
  };
  read(graph.outputs);
  for (const Node& node : graph.nodes) read(node.in);
  return is_read;
}

void LeaveOutUnread(Graph& graph) {
  const std::vector<bool> is_read = ReadValues(graph);
  for (Node& node : graph.nodes) {
    if (node.out.size() < 2 || NeedsAll(node)) continue;
    for (size_t i = 1; i < node.out.size(); ++i) {
      if (node.out[i] >= 0 && !is_read[static_cast<size_t>(node.out[i])]) node.out[i] = -1;
    }
  }
}

}  // namespace wf::onnx
