#include "runtime/model/origin.h"

#include <algorithm>

#include "runtime/onnx/op.h"

namespace wf::model {

using onnx::Op;

void Origin::Begin() {
  buffers_.assign(plan_.buffers().size(), {});
  first_ = kNoStep;
}

Kinds Origin::KindsOfWeight(int weight) {
  const auto [found, is_new] = weights_.try_emplace(weight);
  if (!is_new) return found->second;
  const size_t at = static_cast<size_t>(weight);
  const onnx::Weight& of = program_.graph.weight(weight);
  const auto elements = program_.constants[at]->Load();
  if (elements.ok()) found->second = KindsOf(of.dtype, elements->get(), of.count());
  return found->second;
}

bool Origin::HasBadWeights(const onnx::Node& node) {
  if (node.op == Op::kWhere) return false;
  const bool multiplies = node.op == Op::kMatMul || node.op == Op::kGemm || node.op == Op::kConv;
  return std::any_of(node.in.begin(), node.in.end(), [&](int value) {
    const int weight = value < 0 ? -1 : program_.graph.values[static_cast<size_t>(value)].weight;
    if (weight < 0) return false;
    const Kinds kinds = KindsOfWeight(weight);
    constexpr Op kPicking[] = {Op::kGather, Op::kGatherElements, Op::kGatherND, Op::kMsGatherBlockQuantized, Op::kCompress};
    const bool picks = std::find(std::begin(kPicking), std::end(kPicking), node.op) != std::end(kPicking);
    if (picks) return kinds.nan && !kinds.finite;  // whatever it picks
    return kinds.nan || (multiplies && kinds.infinite);
  });
}

bool Origin::IsFinite(int buffer_index, const uint8_t* arena) const {
  const Plan::Buffer& buffer = plan_.buffers()[static_cast<size_t>(buffer_index)];
  return KindsOf(buffer.dtype, arena + buffer.offset, buffer.bytes / base::DTypeSize(buffer.dtype)).all_finite();
}

void Origin::Note(size_t step_index, const uint8_t* arena) {
  const Plan::Step& step = plan_.steps()[step_index];
  for (const int out : step.out) {
    if (out >= 0) NoteResult(step_index, out, IsFinite(out, arena));
  }
}

void Origin::NoteResult(size_t step_index, int out, bool is_finite) {
  const Plan::Step& step = plan_.steps()[step_index];
  State result;
  result.finite = is_finite;
  bool takes_finite = true, moves_constant = step.node < 0;
  for (const int in : step.in) {
    if (in < 0) continue;
    const State& taken = buffers_[static_cast<size_t>(in)];
    takes_finite = takes_finite && taken.finite;
    moves_constant = moves_constant && plan_.buffers()[static_cast<size_t>(in)].constant != nullptr;
    if (!result.finite && result.weights == kNoStep) result.weights = taken.weights;
  }
  if (moves_constant) {  // to who reads it, and is asked
    result = {};
  } else if (!result.finite) {
    if (takes_finite && first_ == kNoStep) first_ = step_index;
    if (result.weights == kNoStep && step.node >= 0 && HasBadWeights(program_.graph.nodes[static_cast<size_t>(step.node)]))
      result.weights = step_index;
  }
  buffers_[static_cast<size_t>(out)] = result;
}

std::optional<std::string_view> Origin::weights() const {
  for (const Plan::Output& output : plan_.outputs()) {
    if (const size_t step = buffers_[static_cast<size_t>(output.buffer)].weights; step != kNoStep) return WhereOf(step);
  }
  return std::nullopt;
}

}  // namespace wf::model
