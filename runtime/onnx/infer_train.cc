// Shape rules of steps of training.
#include <fmt/format.h>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {

using base::Status;

namespace {

Status CheckScalars(const NodeContext& node) {
  for (const size_t i : {0, 1}) {
    const bool fits = i == 0 ? node.in(i).dtype == WF_F32 || node.in(i).dtype == WF_F64 : node.in(i).dtype == WF_I64;
    if (!fits || Dim::ProvedDifferent(Product(node.in(i).dim), 1))
      return node.Fail(fmt::format("input {} is {}, wanted one {}", i, node.InType(i), i == 0 ? "f32 or f64" : "i64"));
  }
  return Status::Ok();
}

// Of one parameter: its gradient and what is kept for it.
Status CheckSame(const NodeContext& node, size_t parameter, size_t i) {
  if (!node.has_in(parameter) || !node.has_in(i)) return node.Fail(fmt::format("input {} is absent", node.has_in(i) ? parameter : i));
  bool same = node.in(parameter).dtype == node.in(i).dtype && node.rank(parameter) == node.rank(i);
  for (size_t axis = 0; same && axis < node.rank(i); ++axis)
    same = !Dim::ProvedDifferent(node.in(parameter).dim[axis], node.in(i).dim[axis]);
  if (!same) return node.Fail(fmt::format("input {} is {}, its parameter {}", i, node.InType(i), node.InType(parameter)));
  return Status::Ok();
}

}  // namespace

Status InferTrainStep(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckScalars(node));
  if (node.node.op == Op::kTrainMomentum) {
    const std::string_view mode = node.node.String("mode", "");
    if (mode != "standard" && mode != "nesterov") return node.Fail(fmt::format("mode `{}`, wanted standard or nesterov", mode));
    for (const char* required : {"alpha", "beta", "norm_coefficient"}) {
      if (node.node.Find(required) == nullptr) return node.Fail(fmt::format("it lacks `{}`", required));
    }
  }
  const size_t each = node.node.op == Op::kTrainAdam ? 4 : 3, inputs = node.node.in.size() - 2, parameters = inputs / each;
  if (parameters == 0 || inputs % each != 0 || node.node.out.size() != parameters * (each - 1))
    return node.Fail(fmt::format("{} inputs and {} outputs, which are not {} and {} for each parameter", inputs + 2, node.node.out.size(),
                                 each, each - 1));
  for (size_t i = 0; i < inputs; ++i) {
    WF_RETURN_IF_ERROR(CheckSame(node, 2 + i % parameters, 2 + i));
    const uint8_t dtype = node.in(2 + i).dtype;
    if (dtype != WF_F32 && dtype != WF_F64) return node.NotBuilt(fmt::format("parameters of {} are not supported", node.InType(2 + i)));
    if (node.in(2 + i).dtype != node.in(2).dtype) return node.NotBuilt("parameters of different types are not supported");
  }
  for (size_t i = 0; i < node.node.out.size(); ++i) {
    if (!node.has_out(i)) return node.NotBuilt(fmt::format("output {} is absent, which is not supported", i));
    node.out(i).dtype = node.in(2).dtype;
    node.out(i).dim = node.in(2 + i % parameters).dim;
  }
  return Status::Ok();
}

}  // namespace wf::onnx
