#pragma once

#include "runtime/onnx/graph.h"

// Apart from graph.h, so that a new operator compiles only those again who tell operators apart.
namespace wf::onnx {

enum class Op : uint16_t {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) k##domain##name,
#include "runtime/onnx/operators.def"
#undef OPERATOR
};

}  // namespace wf::onnx
