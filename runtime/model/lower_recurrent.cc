#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

struct ActivationRow {
  const char* name;
  kernels::ActivationOp op;
  bool has_alpha, has_beta;
  float alpha, beta;  // unless the node says others
};
constexpr ActivationRow kActivations[] = {
    {"affine", kernels::ActivationOp::kAffine, true, true, 1, 0},
    {"elu", kernels::ActivationOp::kElu, true, false, 1, 0},
    {"hardsigmoid", kernels::ActivationOp::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"leakyrelu", kernels::ActivationOp::kLeakyRelu, true, false, 0.01f, 0},
    {"relu", kernels::ActivationOp::kRelu, false, false, 0, 0},
    {"scaledtanh", kernels::ActivationOp::kScaledTanh, true, true, 1, 1},
    {"sigmoid", kernels::ActivationOp::kSigmoid, false, false, 0, 0},
    {"softplus", kernels::ActivationOp::kSoftplus, false, false, 0, 0},
    {"softsign", kernels::ActivationOp::kSoftsign, false, false, 0, 0},
    {"tanh", kernels::ActivationOp::kTanh, false, false, 0, 0},
    {"thresholdedrelu", kernels::ActivationOp::kThresholdedRelu, true, false, 1, 0},
};

// The functions of all directions; parameters are consumed by those that have some, in their order.
Status ReadActivations(const onnx::Node& node, const std::vector<std::string>& names, std::vector<kernels::Activation>& out) {
  const onnx::Attribute *alphas = node.Find("activation_alpha"), *betas = node.Find("activation_beta");
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations), [&](const auto& each) { return lower == each.name; });
    if (row == std::end(kActivations)) return {base::kUnimplemented, fmt::format("activation `{}` is not supported", name)};
    kernels::Activation activation{row->op, row->alpha, row->beta};
    if (row->has_alpha && alphas != nullptr && alpha < alphas->floats.size()) activation.alpha = alphas->floats[alpha++];
    if (row->has_beta && betas != nullptr && beta < betas->floats.size()) activation.beta = betas->floats[beta++];
    out.push_back(activation);
  }
  return Status::Ok();
}

}  // namespace

Status LowerRecurrent(Lowering& of) {
  kernels::Recurrent layer;
  using enum kernels::RecurrentCell;
  layer.cell = of.node.op == Op::kLSTM ? kLstm : of.node.op == Op::kGRU ? kGru : kRnn;
  const std::string_view direction = of.node.String("direction", "forward");
  layer.forward = direction != "reverse";
  layer.backward = direction != "forward";
  layer.clip = of.node.Float("clip", 0);
  layer.linear_before_reset = of.node.Int("linear_before_reset", 0) != 0;
  layer.input_forget = of.node.Int("input_forget", 0) != 0;
  layer.batch_first = of.node.Int("layout", 0) != 0;
  layer.in_bytes = of.node.Int("#in_bytes", 0) != 0;
  const size_t directions = layer.forward && layer.backward ? 2 : 1, wanted = directions * kernels::ActivationsOf(layer.cell);
  std::vector<std::string> names;
  if (const onnx::Attribute* given = of.node.Find("activations")) names = given->strings;
  if (names.empty()) {
    const char* const kDefault[] = {"sigmoid", "tanh", "tanh"};
    for (size_t i = 0; i < wanted; ++i) names.emplace_back(layer.cell == kRnn ? "tanh" : kDefault[i % kernels::ActivationsOf(layer.cell)]);
  }
  if (names.size() != wanted) return {base::kInvalidArgument, fmt::format("{} activations, wanted {}", names.size(), wanted)};
  WF_RETURN_IF_ERROR(ReadActivations(of.node, names, layer.activation));
  of.lowered.params = std::move(layer);
  return Status::Ok();
}

}  // namespace wf::model
