#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/onnx/graph.h"

namespace wf::model {

// What a file holds, counted before anything of it is joined or computed.
struct Contents {
  struct Weights {
    int64_t count = 0, bytes = 0;
  };
  explicit Contents(const onnx::Graph& graph);
  Contents() = default;

  int64_t nodes = 0;
  std::map<std::string, int64_t> operators;  // nodes, by name
  Weights weights;
  std::map<std::string, Weights> weights_by_type;
};

}  // namespace wf::model
