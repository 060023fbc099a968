#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  std::string graph;                       // GraphProto without its nodes, initialisers without the pieces below
  std::vector<std::vector<Piece>> pieces;  // per initialiser, in order
  std::string nodes;                       // NodeProtos, one behind the other: read one at a time, they take little memory
  std::vector<uint64_t> node_end;          // of each

  size_t node_count() const { return node_end.size(); }
  std::string_view node(size_t i) const {
    const uint64_t begin = i == 0 ? 0 : node_end[i - 1];
    return std::string_view(nodes).substr(begin, node_end[i] - begin);
  }
};

// Errors: kInvalidArgument for bytes that are no protobuf message with one graph, cut short, or above the limit.
base::Result<Skeleton> ReadSkeleton(const ByteSource& source, uint64_t max_graph_bytes);

}  // namespace wf::onnx
