#include <cstdint>
#include <vector>

#include "runtime/onnx/reader.h"
#include "runtime/onnx/signature.h"

int OneInput(const uint8_t* data, size_t size) {
  wf::onnx::ReadOptions options{.max_graph_bytes = 1 << 20, .max_weight_bytes = 1 << 20, .narrow = true};
  options.given = wf::onnx::Given{{{"x[0]", WF_F32, {wf::onnx::Dim(2)}}, {"x[1]", WF_F32, {wf::onnx::Dim(3)}}}, {"absent"}};
  const auto model = wf::onnx::ReadModelBytes({data, size}, "fuzz.onnx", options);
  if (!model.ok()) {
    WF_CHECK(!model.status().message().empty());
    return 0;
  }
  (void)wf::onnx::ChooseBatchAxis(model->signature, &model->graph);
  for (const auto& each : model->graph.weights) {
    const wf::onnx::Weight& weight = *each;
    std::vector<uint8_t> elements(static_cast<size_t>(weight.size_bytes()));
    (void)wf::onnx::ReadElements(*model, weight, elements);
  }
  return 0;
}
