#include "runtime/model/walk.h"

#include <algorithm>
#include <iterator>

#include "runtime/onnx/op.h"

namespace wf::model {

using base::Result;
using base::Status;

Status Walk::Begin(std::span<const Elements> inputs) {
  for (Elements& each : values_) {  // the list of extents keeps its memory: a loop's body runs often
    each.info.dtype = 0;
    each.data.reset();
  }
  for (size_t i = 0; i < inputs.size(); ++i) values_[static_cast<size_t>(program_.graph.inputs[i])] = inputs[i];
  for (const int output : program_.graph.outputs) {
    const int weight = program_.graph.values[static_cast<size_t>(output)].weight;
    if (weight < 0) continue;
    auto loaded = program_.constants[static_cast<size_t>(weight)]->Load();
    if (!loaded.ok()) return loaded.status();
    const onnx::Weight& of = program_.graph.weight(weight);
    values_[static_cast<size_t>(output)] = {InfoOf(of.dtype, of.dim), *std::move(loaded)};
  }
  return Status::Ok();
}

Status Walk::Run(std::span<const Elements> inputs) {
  WF_RETURN_IF_ERROR(Begin(inputs));
  for (size_t at = 0; at < program_.graph.nodes.size();) {
    WF_RETURN_IF_ERROR(limits_.budget->Check());
    const auto part = PartAt(at);
    if (!part.ok()) return part.status();
    WF_RETURN_IF_ERROR((*part)->Run(values_));
    at = (*part)->end();
  }
  return Status::Ok();
}

Result<Part*> Walk::PartAt(size_t begin) {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) { return part->Fits(begin, values_); });
  if (found != parts_.end()) {
    parts_.splice(parts_.begin(), parts_, found);
    return parts_.front().get();
  }
  auto made = Part::Make(program_, begin, values_, limits_);
  if (!made.ok()) return made.status();
  parts_.push_front(*std::move(made));
  if (parts_.size() > kMostParts) parts_.pop_back();
  return parts_.front().get();
}

std::vector<Elements> Walk::outputs() const {
  std::vector<Elements> outputs;
  for (size_t i = 0; i < program_.graph.outputs.size(); ++i) outputs.push_back(output(i));
  return outputs;
}

Result<bool> DependsOnData(const Program& program, std::span<const onnx::Port> inputs) {
  const auto inferred = onnx::InferShapes(program.graph, inputs, program.subject);
  if (!inferred.ok()) return inferred.status();
  std::vector<onnx::Known> known = onnx::KnownWeights(program.graph);
  for (const int input : program.graph.inputs) known[static_cast<size_t>(input)] = (*inferred)[static_cast<size_t>(input)];
  for (size_t i = 0; i < program.graph.nodes.size(); ++i) {
    if (!IsSettled(program, i, known)) return true;
  }
  return false;
}

bool HasNodesOfData(const Program& program) {
  using onnx::Op;
  constexpr Op kCounting[] = {Op::kCompress,         Op::kNonMaxSuppression, Op::kNonZero,    Op::kUnique,
                              Op::kStringNormalizer, Op::kStringSplit,       Op::kMsTokenizer};
  const auto is_of_data = [&](const onnx::Node& node) {
    return HasBody(node) || std::find(std::begin(kCounting), std::end(kCounting), node.op) != std::end(kCounting);
  };
  return std::any_of(program.graph.nodes.begin(), program.graph.nodes.end(), is_of_data);
}

}  // namespace wf::model
