#include "runtime/onnx/mixing_rule.h"

#include <algorithm>
#include <string_view>

#include "runtime/onnx/einsum.h"

namespace wf::onnx {
namespace {

// A quotient by an extent that is no number may have lost the symbol.
bool AtomHasSymbol(const Dim::Atom& atom, const std::string& symbol) {
  return atom.division.empty() ? atom.symbol == symbol : atom.division[1].is_constant() && HasSymbol(atom.division[0], symbol);
}

constexpr int64_t kFar = int64_t{1} << 30;  // an end that stands for the last

// One node beside those symbols. Concat along such an axis is none of these rules: what it joins may be taken apart again.
class MixingRule {
 public:
  MixingRule(NodeContext& node, const Counted& counted, const Elements& elements) : node_(node), counted_(counted), elements_(elements) {
    // Beside an axis of samples, one of what was found may be masked by which sample each belongs to.
    for (size_t i = 0; i < node.node.in.size(); ++i) follows_found_ = follows_found_ && !(node.has_in(i) && HasSamples(node.in(i).dim));
  }

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
      case Op::kGatherElements:
        return Picks(node_.node.Int("axis", 0));
      case Op::kGatherND:
        return PicksTuples();
      case Op::kScatterElements:
        return Picks(node_.node.Int("axis", 0)) || Collects();
      case Op::kScatterND:
        return PicksTuples() || Collects();
      case Op::kCompress:
        return PicksFirst();
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
      case Op::kStringSplit:
        return AnyFrom(0);  // each text has as many parts as that of all samples which has most
      case Op::kTfIdfVectorizer:
        return Counts(Dims(0).back());
      case Op::kLpNormalization:
        return Counts(Dims(0)[Axis(node_.node.Int("axis", -1))]);
      case Op::kMeanVarianceNormalization:
        return NormalisesAxes();
      case Op::kLRN:
        return Counts(Dims(0)[1]);
      case Op::kMlNormalizer:
        return !Dims(0).empty() && Counts(Dims(0).back());
      case Op::kReverseSequence:
        return Counts(Dims(0)[Axis(node_.node.Int("time_axis", 0))]);
      case Op::kIf:
        return HasSamples(Dims(0));  // one condition of all samples
      case Op::kLoop:
        return (node_.has_in(0) && HasSamples(Dims(0))) || (node_.has_in(1) && HasSamples(Dims(1)));
      case Op::kGroupNormalization:
      case Op::kSTFT:
      case Op::kMsAttention:
        return AnyFrom(1);
      case Op::kMsMultiHeadAttention:
      case Op::kMsGroupQueryAttention:
        return Attends();
      case Op::kResize:
      case Op::kUpsample:
        return Resizes();
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
      case Op::kMsMatMulBnb4:
      case Op::kMsMatMulNBits:
        return Counts(Dims(0).back());
      case Op::kMsFusedMatMul:
        return Counts(FromBack(0, node_.node.Int("transA", 0) != 0 ? 2 : 1)) ||
               Counts(FromBack(1, node_.rank(1) > 1 && node_.node.Int("transB", 0) == 0 ? 2 : 1));
      case Op::kNegativeLogLikelihoodLoss:
      case Op::kSoftmaxCrossEntropyLoss:
        return AnyFrom(node_.node.String("reduction", "mean") == "none" ? 1 : 0);
      default:
        return MixesPlaces();
    }
  }

  // Of operators that read at places.
  bool MixesPlaces() const {
    switch (node_.node.op) {
      case Op::kMsGatherBlockQuantized:
        return Picks(node_.node.Int("gather_axis", 0));
      case Op::kMlArrayFeatureExtractor:
        return Picks(-1);
      case Op::kRoiAlign:
        return AnyFrom(2) || (IsOfRows(Dims(0)[0]) && !OfPlaces(2));
      case Op::kGridSample:
        return AnyFrom(2);
      case Op::kNonMaxSuppression:
        return Counts(Dims(0)[1]);
      case Op::kCenterCropPad:
        return Crops();
      case Op::kSplit:
        return Parts();
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

  bool HasSamples(const Shape& dims) const { return AnyHasSymbol(dims, counted_.samples); }
  bool Counts(const Dim& dim) const {
    if (HasSymbol(dim, counted_.samples)) return true;
    const auto is_in = [&](const auto& found) { return HasSymbol(dim, found.first); };
    return follows_found_ && std::any_of(counted_.found.begin(), counted_.found.end(), is_in);
  }
  // Each place of the axis is one of a sample's own.
  bool IsOfRows(const Dim& dim) const {
    const auto symbol = dim.symbol();
    return symbol && (*symbol == counted_.samples || (follows_found_ && counted_.found.contains(*symbol)));
  }
  bool AnyFrom(size_t axis, size_t input = 0) const {
    const Shape& dims = Dims(input);
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

  // A multiple may be windowed so that no window takes from two samples; rows that were joined to the samples do not part them. weights:
  // the input that they are; 0: there are none.
  bool SlidesOver(size_t weights) const {
    std::vector<int64_t> kernel(node_.node.Ints("kernel_shape").begin(), node_.node.Ints("kernel_shape").end());
    if (weights > 0) {
      kernel.clear();
      for (size_t axis = 2; axis < node_.rank(weights); ++axis) kernel.push_back(Dims(weights)[axis].constant().value_or(1));
    }
    const auto steps = node_.node.Ints("strides");
    for (size_t i = 0; i < kernel.size() && 2 + i < node_.rank(0); ++i) {
      const Dim& extent = Dims(0)[2 + i];
      if (i < steps.size() && steps[i] > 1 && IsOfRows(extent)) return true;  // it leaves samples out
      if (kernel[i] > 1 && HasSamples({extent}) && !HasSamples({extent - Dim::Symbol(counted_.samples)})) return true;
    }
    return false;
  }

  // By indices that are no places of rows: for a sample alone they are its own, and in a batch they are still those of the first and last.
  bool Picks(int64_t wanted) const {
    size_t axis = 0;
    if (!node_.Axis(wanted, node_.rank(0), axis).ok() || OfPlaces(1)) return false;
    return IsOfRows(Dims(0)[axis]) || IsOfSamples(axis) || PicksJoined(axis);
  }
  // Each place is one of a sample's own, of which they may have several.
  bool IsOfSamples(size_t axis) const {
    if (!elements_.of_data[Index(node_.node.in[0])]) return false;
    const auto linear = Dims(0)[axis].AsLinear();
    return linear && linear->symbol == counted_.samples && linear->add == 0;
  }
  // Places of samples, among which lie rows that were joined to them.
  bool PicksJoined(size_t axis) const {
    const auto& ahead = elements_.ahead[Index(node_.node.in[0])];
    const auto at = node_.Numbers(1);
    if (!ahead || ahead->axis != axis || !at) return false;
    const Dim others = Dims(0)[axis] - Dim::Symbol(counted_.samples);
    if (!others.is_constant()) return false;
    const int64_t behind = *others.constant() - ahead->count;
    return std::any_of(at->begin(), at->end(), [&](int64_t i) { return i < 0 ? -i > behind : i >= ahead->count; });
  }
  // By a condition that is as long in each batch.
  bool PicksFirst() const {
    if (node_.node.Find("axis") == nullptr || !Dims(1)[0].is_constant()) return false;
    const size_t axis = Axis(node_.node.Int("axis", 0));
    return IsOfRows(Dims(0)[axis]) || IsOfSamples(axis);
  }
  bool PicksTuples() const {
    const size_t first = static_cast<size_t>(node_.node.Int("batch_dims", 0));
    const int64_t count = Dims(1).back().constant().value_or(0);
    for (size_t axis = first; axis < node_.rank(0) && axis < first + static_cast<size_t>(count); ++axis) {
      if ((IsOfRows(Dims(0)[axis]) || IsOfSamples(axis)) && !OfPlaces(1)) return true;
    }
    return false;
  }
  bool OfPlaces(size_t input) const { return elements_.of_places[Index(node_.node.in[input])]; }

  // What all samples bring into one tensor, in which none has a place of its own.
  bool Collects() const {
    const auto is_free = [](const Dim& dim) { return dim.is_constant(); };
    return std::all_of(Dims(0).begin(), Dims(0).end(), is_free) && (HasSamples(Dims(1)) || HasSamples(Dims(2))) && !OfPlaces(1);
  }

  // Queries, keys and values: those of a sample are all that has its place along axis 0.
  bool Attends() const {
    for (size_t input = 0; input < 3; ++input) {
      if (node_.has_in(input) && AnyFrom(1, input)) return true;
    }
    return false;
  }

  // To as many as there are in each batch, or between one and the next. What is repeated may be taken apart again.
  bool Resizes() const {
    const std::string_view mode = node_.node.String("mode", "nearest");
    for (size_t axis = 0; axis < node_.rank(0); ++axis) {
      const Dim &from = Dims(0)[axis], &to = node_.out(0).dim[axis];
      if (Counts(from) && (to.is_constant() || (mode != "nearest" && to != from && Counts(to)))) return true;
    }
    return false;
  }

  // Rows lie beside the samples; it takes as many as there are samples, from another place on than the first of them.
  bool Shifts(size_t axis, int64_t start, int64_t end, int64_t step) const {
    const auto& ahead = elements_.ahead[Index(node_.node.in[0])];
    if (!ahead || ahead->axis != axis || start < 0 || step != 1) return false;
    if (end >= 0 && end < kFar) return false;
    const Dim taken = Dims(0)[axis] + Dim(end < 0 ? end : 0) - Dim(start);
    return taken == Dim::Symbol(counted_.samples) && start != ahead->count;
  }

  // Rows lie beside the samples; it takes one of these, or several that are there in each batch.
  bool TakesJoined(size_t axis, int64_t start, int64_t end) const {
    const auto& ahead = elements_.ahead[Index(node_.node.in[0])];
    return ahead && ahead->axis == axis && start >= ahead->count && end > start && end < ahead->count + 2;
  }

  // To as many as there are in each batch, or fewer than there are samples.
  bool Crops() const {
    for (size_t axis = 0; axis < node_.rank(0); ++axis) {
      const Dim &from = Dims(0)[axis], &to = node_.out(0).dim[axis];
      if (Counts(from) && (to.is_constant() || (to - from).constant().value_or(0) < 0)) return true;
    }
    return false;
  }

  // Into one that is as long in each batch, and others.
  bool Parts() const {
    size_t axis = 0;
    if (!node_.Axis(node_.node.Int("axis", 0), node_.rank(0), axis).ok() || !IsOfRows(Dims(0)[axis])) return false;
    for (size_t i = 0; i < node_.node.out.size(); ++i) {
      if (node_.has_out(i) && node_.out(i).dim[axis].constant().value_or(0) > 0) return true;
    }
    return false;
  }

  // Begins or ends of slices: one that is so far from the number of samples is counted from their end.
  std::optional<std::vector<int64_t>> PlacesOf(const char* attribute, size_t input) const {
    std::optional<std::vector<int64_t>> places;
    if (node_.IntsOf(attribute, input, places).ok()) return places;
    if (!node_.has_in(input) || !node_.Content(input)) return std::nullopt;
    places.emplace();
    for (const Dim& place : *node_.Content(input)) {
      const Dim from_end = place - Dim::Symbol(counted_.samples);
      if (!place.is_constant() && !from_end.is_constant()) return std::nullopt;
      if (place.is_constant())
        places->push_back(*place.constant());
      else
        places->push_back(*from_end.constant() < 0 ? *from_end.constant() : kFar);
    }
    return places;
  }

  // Of an axis that has as many places for each sample: it takes those of the first, or of the last, alone.
  bool TakesOne(size_t axis, int64_t start, int64_t end) const {
    if (!IsOfSamples(axis)) return false;
    const int64_t two = 2 * Dims(0)[axis].AsLinear()->mul;
    return (start >= 0 && end > start && end < two) || (start < 0 && start > -two && (end >= kFar || end == 0 || (end < 0 && end > start)));
  }

  // Of two samples it takes not both in their order.
  bool Slices() const {
    std::optional<std::vector<int64_t>> axes, steps;
    const auto starts = PlacesOf("starts", 1), ends = PlacesOf("ends", 2);
    const bool known = node_.IntsOf("axes", 3, axes).ok() && node_.IntsOf("steps", 4, steps).ok();
    if (!known || !starts || !ends) return false;
    const auto from_begin = [](int64_t at) { return at < 0 ? at + 2 : at; };
    for (size_t i = 0; i < starts->size(); ++i) {
      size_t axis = 0;
      if (!node_.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), node_.rank(0), axis).ok()) continue;
      if (Shifts(axis, (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1) || TakesOne(axis, (*starts)[i], (*ends)[i])) return true;
      if (TakesJoined(axis, (*starts)[i], (*ends)[i])) return true;
      if (!IsOfRows(Dims(0)[axis])) continue;
      const bool both = (!steps || (*steps)[i] == 1) && from_begin((*starts)[i]) <= 0 && from_begin((*ends)[i]) >= 2;
      if (!both) return true;
    }
    return false;
  }

  NodeContext& node_;
  const Counted& counted_;
  const Elements& elements_;
  bool follows_found_ = true;
};

}  // namespace

bool HasSymbol(const Dim& dim, const std::string& symbol) {
  if (dim.is_constant() || dim.fault() != Dim::Fault::kNone) return false;
  const std::vector<Dim::Term> terms = dim.terms();
  return std::any_of(terms.begin(), terms.end(), [&](const Dim::Term& term) {
    return std::any_of(term.atoms.begin(), term.atoms.end(), [&](const Dim::Atom& atom) { return AtomHasSymbol(atom, symbol); });
  });
}

bool AnyHasSymbol(std::span<const Dim> dims, const std::string& symbol) {
  return std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) { return HasSymbol(dim, symbol); });
}

bool ComputesAcross(NodeContext& node, const Counted& counted, const Elements& elements) {
  return MixingRule(node, counted, elements).Holds();
}

}  // namespace wf::onnx
