#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/onnx/onnx.pb.h"

// Inside the reader: functions that a model defines, written out where they are called.
namespace wf::onnx {

// Versions of the operator sets that a model or a function imports.
struct Opsets {
  int standard = 0;                                // of ai.onnx; 0: none
  std::unordered_map<std::string, int64_t> other;  // by domain
};

// Errors: kUnimplemented for a version of ai.onnx that is not supported; text without file.
base::Status ReadOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports, Opsets& out);

// By node of the graph after it was written out.
struct NodeOpsets {
  std::deque<Opsets> of_functions;
  const Opsets* of_model = nullptr;
  std::vector<const Opsets*> of_node;  // the model's or one of these

  // Of a node within a body: a model with functions has the number of its opsets where files have an overload. `around`: where none is.
  const Opsets* OfInner(const pb::NodeProto& node, const Opsets* around) const;
};

// Writes out calls in `graph` of functions of `model`, also those within functions and bodies, until none is left: values of a call get
// names that no other has, its nodes are called `outer/inner`, attributes that refer to the function's have what the call or the function
// gives.
// Errors: a function that calls itself, one defined twice, a call with more inputs or outputs than the function has, more than
// kMostWrittenNodes nodes or `max_bytes` bytes of them, calls or bodies too deep within each other; text without file.   Bounds: memory of
// that.
inline constexpr int kMostWrittenNodes = 1 << 16;
base::Status WriteOutFunctions(const pb::ModelProto& model, const Opsets& opsets, uint64_t max_bytes, pb::GraphProto& graph,
                               NodeOpsets& out);

}  // namespace wf::onnx
