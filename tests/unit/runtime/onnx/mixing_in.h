#pragma once

#include <functional>
#include <string>

#include "runtime/onnx/mixing.h"
#include "runtime/onnx/signature.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::testing {

// A file from `x: f32[n, 4]` to `y`, whose nodes `add` makes, and what FindMixing says of it: the node's name, or "".
inline std::string MixingIn(const std::function<void(Builder&)>& add, int64_t opset = 17, const Builder::Extents& x = {"n", 4}) {
  Builder builder(opset);
  builder.Input("x", x);
  builder.Output("y");
  add(builder);
  const auto model = builder.Read();
  if (!model.ok()) return model.status().message();
  const auto axes = onnx::ChooseBatchAxis(model->signature, &model->graph);
  if (!axes.ok() || !axes->batched) return "no batch axis: " + model->signature.outputs[0].ToString();
  const onnx::Node* node = onnx::FindMixing(*model);
  return node == nullptr ? "" : node->name;
}

}  // namespace wf::testing
