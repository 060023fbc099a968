#include <fmt/format.h>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Result;
using base::Status;

std::vector<int64_t> Extents(const onnx::Shape& shape, size_t begin) {
  std::vector<int64_t> extents;
  for (size_t i = begin; i < shape.size(); ++i) extents.push_back(shape[i].constant().value_or(0));
  return extents;
}

Status LowerNever(Lowering& of) { return {base::kUnimplemented, fmt::format("{} is no kernel", onnx::OpName(of.node.op))}; }

namespace {

Status LowerNode(Lowering& of) {
  switch (of.node.op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case onnx::Op::k##domain##name:                                                               \
    return Lower##lower(of);
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return LowerNever(of);
}

}  // namespace

Result<Lowered> Lower(const Program& program, size_t node, std::vector<onnx::Known>& known) {
  Lowering of(program, node, known);
  WF_RETURN_IF_ERROR(LowerNode(of));
  return std::move(of.lowered);
}

Status ConcreteInfo(const onnx::Known& known, int64_t max_bytes, kernels::TensorInfo& info) {
  info = InfoOf(known.dtype, {});
  for (const onnx::Dim& dim : known.dim) {
    const auto extent = dim.constant();
    if (!extent) return Status(base::kUnimplemented, "a shape that depends on data is not supported");
    info.dim.push_back(*extent);
  }
  return onnx::LeastBytes(known, max_bytes).status();
}

}  // namespace wf::model
