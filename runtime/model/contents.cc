#include "runtime/model/contents.h"

namespace wf::model {

Contents::Contents(const onnx::Graph& graph) : nodes(static_cast<int64_t>(graph.nodes.size())) {
  for (const onnx::Node& node : graph.nodes) ++operators[std::string(onnx::OpName(node.op))];
  for (const auto& weight : graph.weights) {
    for (Weights* each : {&weights, &weights_by_type[onnx::TypeName(weight->dtype)]}) {
      ++each->count;
      each->bytes += weight->size_bytes();
    }
  }
}

}  // namespace wf::model
