#pragma once

#include "runtime/kernels/unary/unary.h"

namespace wf::kernels {

// Matrix product with broadcast of the axes in front: a [.., m, k], b [.., k, n] -> [.., m, n]; vectors as in ONNX. c, when present,
// broadcasts to the result: then(alpha * a b + beta * c). turn_a, turn_b: the matrix is given transposed (rank 2 only).
struct MatMul {
  bool turn_a = false, turn_b = false;
  float alpha = 1, beta = 1;
  Unary then = {UnaryOp::kIdentity};
};

}  // namespace wf::kernels
