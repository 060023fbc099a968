#include "runtime/onnx/mixing.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

// One node beside the symbol for the number of samples, which stands only in extents of axes along which samples lie: no operator makes an
// axis of it out of anything else. Concat along such an axis is none of these rules: what it joins may be taken apart again.
class MixingRule {
 public:
  MixingRule(const NodeContext& node, const Dim& samples) : node_(node), samples_(samples) {}

  bool Holds() const {
    switch (node_.node.op) {
      case Op::kReduceMean:
      case Op::kReduceSum:
        return Reduces();
      case Op::kSoftmax:
      case Op::kLogSoftmax:
        return Normalises();
      case Op::kGlobalAveragePool:
      case Op::kGlobalMaxPool:
        return AnyFrom(2);
      case Op::kMatMul:
        return Counts(Dims(0).back()) || Counts(Dims(1)[node_.rank(1) == 1 ? 0 : node_.rank(1) - 2]);
      case Op::kGemm:
        return Counts(Dims(0)[node_.node.Int("transA", 0) != 0 ? 0 : 1]) || Counts(Dims(1)[node_.node.Int("transB", 0) != 0 ? 1 : 0]);
      case Op::kConv:
      case Op::kAveragePool:
      case Op::kMaxPool:
        return SlidesOver();
      case Op::kGather:
        return Gathers();
      case Op::kSlice:
        return Slices();
      case Op::kArgMax:
      case Op::kArgMin:
        return Along(node_.node.Int("axis", 0));
      case Op::kTopK:
        return Along(node_.node.Int("axis", -1));
      case Op::kCumSum:
        return Accumulates();
      case Op::kHardmax:
        return Normalises();
      default:
        return false;
    }
  }

 private:
  const Shape& Dims(size_t input) const { return node_.in(input).dim; }

  // The extent is a multiple of the number of samples: all that is computed along the axis is computed from all of them.
  bool Counts(const Dim& dim) const { return !dim.is_constant() && Dim::FloorDiv(dim, samples_) * samples_ == dim; }
  bool AnyFrom(size_t axis) const {
    const Shape& dims = Dims(0);
    return axis < dims.size() &&
           std::any_of(dims.begin() + static_cast<ptrdiff_t>(axis), dims.end(), [&](const Dim& d) { return Counts(d); });
  }

  bool Reduces() const {
    std::vector<bool> reduced;
    if (!ReducedAxes(node_, reduced).ok()) return false;
    for (size_t axis = 0; axis < reduced.size(); ++axis) {
      if (reduced[axis] && Counts(Dims(0)[axis])) return true;
    }
    return false;
  }

  bool Along(int64_t wanted) const {
    size_t axis = 0;
    return node_.Axis(wanted, node_.rank(0), axis).ok() && Counts(Dims(0)[axis]);
  }

  bool Accumulates() const {
    const auto axis = node_.Numbers(1);
    return axis && axis->size() == 1 && Along((*axis)[0]);
  }

  // Before opset 13 a row is all from the axis on.
  bool Normalises() const {
    const bool rows = node_.node.opset < 13;
    const int64_t wanted = node_.node.Int("axis", rows ? 1 : -1);
    const size_t axis = static_cast<size_t>(wanted < 0 ? wanted + static_cast<int64_t>(node_.rank(0)) : wanted);
    return rows ? AnyFrom(axis) : Counts(Dims(0)[axis]);
  }

  // A multiple may be windowed so that no window takes from two samples.
  bool SlidesOver() const {
    std::vector<int64_t> kernel(node_.node.Ints("kernel_shape").begin(), node_.node.Ints("kernel_shape").end());
    if (node_.node.op == Op::kConv) {
      kernel.clear();
      for (size_t axis = 2; axis < node_.rank(1); ++axis) kernel.push_back(Dims(1)[axis].constant().value_or(1));
    }
    for (size_t i = 0; i < kernel.size() && 2 + i < node_.rank(0); ++i) {
      if (kernel[i] > 1 && Dims(0)[2 + i] == samples_) return true;
    }
    return false;
  }

  bool Gathers() const {
    size_t axis = 0;
    return node_.Axis(node_.node.Int("axis", 0), node_.rank(0), axis).ok() && Dims(0)[axis] == samples_;
  }

  // Of two samples it takes not both in their order.
  bool Slices() const {
    std::optional<std::vector<int64_t>> starts, ends, axes, steps;
    const bool known = node_.IntsOf("starts", 1, starts).ok() && node_.IntsOf("ends", 2, ends).ok() && node_.IntsOf("axes", 3, axes).ok() &&
                       node_.IntsOf("steps", 4, steps).ok();
    if (!known || !starts || !ends) return false;
    const auto from_begin = [](int64_t at) { return at < 0 ? at + 2 : at; };
    for (size_t i = 0; i < starts->size(); ++i) {
      size_t axis = 0;
      if (!node_.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), node_.rank(0), axis).ok() || Dims(0)[axis] != samples_) continue;
      const bool both = (!steps || (*steps)[i] == 1) && from_begin((*starts)[i]) <= 0 && from_begin((*ends)[i]) >= 2;
      if (!both) return true;
    }
    return false;
  }

  const NodeContext& node_;
  const Dim& samples_;
};

// By node: an output may depend on its elements, not on their shape alone.
std::vector<bool> ReachesOutput(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false), reaches(graph.nodes.size(), false);
  for (const int value : graph.outputs) read[static_cast<size_t>(value)] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    reaches[i] = std::any_of(node.out.begin(), node.out.end(), [&](int value) { return value >= 0 && read[static_cast<size_t>(value)]; });
    if (!reaches[i] || node.op == Op::kShape || node.op == Op::kSize) continue;
    for (const int value : node.in) {
      if (value >= 0) read[static_cast<size_t>(value)] = true;
    }
  }
  return reaches;
}

}  // namespace

const Node* FindMixing(const Model& model) {
  const Graph& graph = model.graph;
  const Dim samples = base::UnknownDims("s").Next();  // one symbol, that the file cannot have
  std::vector<Port> inputs = model.signature.inputs;
  for (Port& input : inputs) {
    WF_CHECK(!input.dim.empty(), input.name);
    input.dim[0] = samples;
  }
  auto known = InferShapes(graph, inputs, model.path, true);
  if (!known.ok()) return nullptr;
  const std::vector<bool> reaches = ReachesOutput(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeContext context(graph, graph.nodes[i], *known, true);
    if (reaches[i] && MixingRule(context, samples).Holds()) return &graph.nodes[i];
  }
  return nullptr;
}

}  // namespace wf::onnx
