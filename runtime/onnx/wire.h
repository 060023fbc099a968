#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

// Splits a model file into what protobuf parses and what stays in the file. Protobuf copies every string it meets, so weights never pass
// through it: the elements of an initialiser are found by walking the wire format, and only their place is kept.
namespace wf::onnx {

struct Piece {    // elements of one initialiser that were left in the file
  int field = 0;  // of TensorProto: 9 raw_data, 4 float_data, ...
  uint64_t offset = 0, length = 0;
};

struct Skeleton {
  std::string model;                       // ModelProto without its graph
  std::string graph;                       // GraphProto, initialisers without the pieces below
  std::vector<std::vector<Piece>> pieces;  // per initialiser, in order
};

// Errors: kInvalidArgument for bytes that are no protobuf message with one graph, cut short, or above the limit.
base::Result<Skeleton> ReadSkeleton(const ByteSource& source, uint64_t max_graph_bytes);

}  // namespace wf::onnx
