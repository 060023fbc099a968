#pragma once

#include <vector>

#include "runtime/model/program.h"

namespace wf::model {

// What files write as DequantizeLinear in front of an operator of f32 and QuantizeLinear behind it becomes one operator on 8-bit integers:
// Conv, MatMul and Gemm with constant weights, Add, Mul, and what only moves elements about or chooses among them. Products are joined to a
// Relu or Clip before the QuantizeLinear. A product with a tensor that is quantised in the run (DynamicQuantizeLinear, MatMulInteger) is
// joined to what makes f32 of it. Nothing is done where this machine has no quick products of such integers: those of f32 are
// better. gone: nodes that are done; those that are left out are marked. known: grows with the values. Errors: a constant cannot be read,
// memory.
base::Status JoinQuantised(Program& program, std::vector<onnx::Known>& known, std::vector<bool>& gone);

}  // namespace wf::model
