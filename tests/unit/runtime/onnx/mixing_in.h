#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/onnx/mixing.h"
#include "runtime/onnx/signature.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::testing {

// A body of a node, whose inner nodes `add` makes.
inline void AddBody(onnx::pb::NodeProto& node, const std::string& name, const std::vector<std::string>& in,
                    const std::vector<std::string>& out, const std::function<void(Builder&)>& add) {
  Builder inner;
  for (const std::string& each : in) inner.graph.add_input()->set_name(each);
  for (const std::string& each : out) inner.Output(each);
  add(inner);
  Builder::Body(node, name) = inner.graph;
}

// A file from `x: f32[n, 4]` to `y`, whose nodes `add` makes, and the name of the node that computes across axis 0, by which it counts no
// samples, or "".
inline std::string MixingIn(const std::function<void(Builder&)>& add, int64_t opset = 17, const Builder::Extents& x = {"n", 4}) {
  Builder builder(opset);
  builder.Input("x", x);
  builder.Output("y");
  add(builder);
  const auto model = builder.Read();
  if (!model.ok()) return model.status().message();
  const auto axes = onnx::ChooseBatchAxis(model->signature, &model->graph);
  if (!axes.ok()) return axes.status().message();
  if (axes->batched) return "";
  if (axes->reason.find("counts no samples") == std::string::npos) return "no batch axis: " + model->signature.outputs[0].ToString();
  return onnx::FindMixing(model->signature, model->graph, std::vector<int8_t>(model->signature.inputs.size(), 0))->name;
}

}  // namespace wf::testing
