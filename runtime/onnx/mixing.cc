#include "runtime/onnx/mixing.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "runtime/onnx/einsum.h"
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
      case Op::kReduceL1:
      case Op::kReduceL2:
      case Op::kReduceLogSum:
      case Op::kReduceLogSumExp:
      case Op::kReduceMax:
      case Op::kReduceMean:
      case Op::kReduceMin:
      case Op::kReduceProd:
      case Op::kReduceSum:
      case Op::kReduceSumSquare:
        return Reduces();
      case Op::kSoftmax:
      case Op::kLogSoftmax:
        return Normalises();
      case Op::kGlobalAveragePool:
      case Op::kGlobalLpPool:
      case Op::kGlobalMaxPool:
      case Op::kInstanceNormalization:
      case Op::kDeformConv:
        return AnyFrom(2);
      case Op::kMatMul:
      case Op::kMatMulInteger:
      case Op::kMsMatMulIntegerToFloat:
        return Multiplies(1);
      case Op::kQLinearMatMul:
        return Multiplies(3);
      case Op::kDynamicQuantizeLinear:
        return AnyFrom(0);
      case Op::kGemm:
        return Counts(Dims(0)[node_.node.Int("transA", 0) != 0 ? 0 : 1]) || Counts(Dims(1)[node_.node.Int("transB", 0) != 0 ? 1 : 0]);
      case Op::kConv:
      case Op::kConvInteger:
      case Op::kConvTranspose:
        return SlidesOver(1);
      case Op::kQLinearConv:
        return SlidesOver(3);
      case Op::kAveragePool:
      case Op::kLpPool:
      case Op::kMaxPool:
        return SlidesOver(0);
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
        return MixesWhole();
    }
  }

 private:
  // Of operators that take some axes as a whole.
  bool MixesWhole() const {
    switch (node_.node.op) {
      case Op::kLayerNormalization:
      case Op::kSimplifiedLayerNormalization:
        return AnyFrom(Axis(node_.node.Int("axis", -1)));
      case Op::kMsSkipLayerNormalization:
      case Op::kMsSkipSimplifiedLayerNormalization:
        return Counts(Dims(0).back());
      case Op::kTfIdfVectorizer:
        return Counts(Dims(0).back());
      case Op::kLpNormalization:
        return Counts(Dims(0)[Axis(node_.node.Int("axis", -1))]);
      case Op::kMeanVarianceNormalization:
        return NormalisesAxes();
      case Op::kLRN:
        return Counts(Dims(0)[1]);
      case Op::kGroupNormalization:
      case Op::kSTFT:
      case Op::kMsAttention:
      case Op::kMsMultiHeadAttention:
      case Op::kMsGroupQueryAttention:
        return AnyFrom(1);
      case Op::kBatchNormalization:
        return Trains() && AnyFrom(0);
      case Op::kRNN:
      case Op::kGRU:
      case Op::kLSTM:
        return Counts(Dims(0)[node_.node.Int("layout", 0) != 0 ? 1 : 0]) || (node_.node.Int("#in_bytes", 0) != 0 && AnyFrom(0));
      case Op::kDFT:
        return Transforms();
      case Op::kDet:
      case Op::kMsInverse:
        return AnyFrom(node_.rank(0) - 2);
      case Op::kEinsum:
        return SumsLabels();
      case Op::kMsFusedMatMul:
        return Counts(FromBack(0, node_.node.Int("transA", 0) != 0 ? 2 : 1)) ||
               Counts(FromBack(1, node_.rank(1) > 1 && node_.node.Int("transB", 0) == 0 ? 2 : 1));
      case Op::kNegativeLogLikelihoodLoss:
      case Op::kSoftmaxCrossEntropyLoss:
        return AnyFrom(node_.node.String("reduction", "mean") == "none" ? 1 : 0);
      default:
        return false;
    }
  }

  size_t Axis(int64_t axis) const { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(node_.rank(0)) : axis); }
  const Dim& FromBack(size_t input, size_t count) const { return Dims(input)[node_.rank(input) - count]; }

  bool Trains() const {
    bool trains = node_.node.Int("training_mode", 0) != 0;
    for (size_t i = 1; i < node_.node.out.size(); ++i) trains = trains || node_.has_out(i);
    return trains;
  }

  bool NormalisesAxes() const {
    std::vector<int64_t> axes = {0, 2, 3};
    if (const Attribute* given = node_.node.Find("axes")) axes = given->ints;
    return std::any_of(axes.begin(), axes.end(), [&](int64_t axis) { return Counts(Dims(0)[Axis(axis)]); });
  }

  bool Transforms() const {
    const auto given = node_.Numbers(2);
    const bool as_input = node_.node.opset >= 20;
    if (as_input && node_.has_in(2) && !given) return AnyFrom(0);
    return Counts(Dims(0)[Axis(!as_input ? node_.node.Int("axis", 1) : given ? given->front() : -2)]);
  }

  bool SumsLabels() const {
    std::vector<size_t> ranks;
    for (size_t i = 0; i < node_.node.in.size(); ++i) ranks.push_back(node_.rank(i));
    const auto labels = ParseEinsum(node_.node.String("equation", ""), ranks);
    for (size_t i = 0; labels.ok() && i < ranks.size(); ++i) {
      for (size_t axis = 0; axis < ranks[i]; ++axis) {
        if (labels->in[i][axis] >= labels->out_rank && Counts(Dims(i)[axis])) return true;
      }
    }
    return false;
  }

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

  bool Multiplies(size_t right) const {
    return Counts(Dims(0).back()) || Counts(Dims(right)[node_.rank(right) == 1 ? 0 : node_.rank(right) - 2]);
  }

  // A multiple may be windowed so that no window takes from two samples. weights: the input that they are; 0: there are none.
  bool SlidesOver(size_t weights) const {
    std::vector<int64_t> kernel(node_.node.Ints("kernel_shape").begin(), node_.node.Ints("kernel_shape").end());
    if (weights > 0) {
      kernel.clear();
      for (size_t axis = 2; axis < node_.rank(weights); ++axis) kernel.push_back(Dims(weights)[axis].constant().value_or(1));
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
    if (!reaches[i] || IsOfShapes(node.op)) continue;
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
