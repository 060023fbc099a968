#include "runtime/onnx/mixing.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/onnx/einsum.h"
#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

// Symbols of extents along which samples lie. The one for their number stands only there: no operator makes an axis of it out of anything
// else. `found`: how many elements a node found in the data of all samples, with that node.
struct Counted {
  std::string samples;
  std::map<std::string, const Node*> found;
};

bool HasSymbol(const Dim& dim, const std::string& symbol);

// A quotient by an extent that is no number may have lost the symbol.
bool HasSymbol(const Dim::Atom& atom, const std::string& symbol) {
  return atom.division.empty() ? atom.symbol == symbol : atom.division[1].is_constant() && HasSymbol(atom.division[0], symbol);
}

// The extent depends on the symbol: all that is computed along the axis is computed from elements of all samples.
bool HasSymbol(const Dim& dim, const std::string& symbol) {
  if (dim.is_constant() || dim.fault() != Dim::Fault::kNone) return false;
  const std::vector<Dim::Term> terms = dim.terms();
  return std::any_of(terms.begin(), terms.end(), [&](const Dim::Term& term) {
    return std::any_of(term.atoms.begin(), term.atoms.end(), [&](const Dim::Atom& atom) { return HasSymbol(atom, symbol); });
  });
}

bool AnyHasSymbol(std::span<const Dim> dims, const std::string& symbol) {
  return std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) { return HasSymbol(dim, symbol); });
}

// One node beside those symbols. Concat along such an axis is none of these rules: what it joins may be taken apart again.
class MixingRule {
 public:
  // of_places: by value, its elements may be places of rows among the samples.
  MixingRule(const NodeContext& node, const Counted& counted, const std::vector<bool>& of_places)
      : node_(node), counted_(counted), of_places_(of_places) {
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
      case Op::kScatterElements:
        return Picks(node_.node.Int("axis", 0));
      case Op::kGatherND:
      case Op::kScatterND:
        return PicksTuples();
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

  // A multiple may be windowed so that no window takes from two samples; rows that were joined to the samples do not part them. weights:
  // the input that they are; 0: there are none.
  bool SlidesOver(size_t weights) const {
    std::vector<int64_t> kernel(node_.node.Ints("kernel_shape").begin(), node_.node.Ints("kernel_shape").end());
    if (weights > 0) {
      kernel.clear();
      for (size_t axis = 2; axis < node_.rank(weights); ++axis) kernel.push_back(Dims(weights)[axis].constant().value_or(1));
    }
    for (size_t i = 0; i < kernel.size() && 2 + i < node_.rank(0); ++i) {
      const Dim& extent = Dims(0)[2 + i];
      if (kernel[i] > 1 && HasSamples({extent}) && !HasSamples({extent - Dim::Symbol(counted_.samples)})) return true;
    }
    return false;
  }

  // By indices that are no places of rows: for a sample alone they are its own, and in a batch they are still those of the first and last.
  bool Picks(int64_t wanted) const {
    size_t axis = 0;
    return node_.Axis(wanted, node_.rank(0), axis).ok() && IsOfRows(Dims(0)[axis]) && !OfPlaces(1);
  }
  // By a condition that is as long in each batch.
  bool PicksFirst() const {
    return node_.node.Find("axis") != nullptr && IsOfRows(Dims(0)[Axis(node_.node.Int("axis", 0))]) && Dims(1)[0].is_constant();
  }
  bool PicksTuples() const {
    const size_t first = static_cast<size_t>(node_.node.Int("batch_dims", 0));
    const int64_t count = Dims(1).back().constant().value_or(0);
    for (size_t axis = first; axis < node_.rank(0) && axis < first + static_cast<size_t>(count); ++axis) {
      if (IsOfRows(Dims(0)[axis]) && !OfPlaces(1)) return true;
    }
    return false;
  }
  bool OfPlaces(size_t input) const { return of_places_[static_cast<size_t>(node_.node.in[input])]; }

  // Of two samples it takes not both in their order.
  bool Slices() const {
    std::optional<std::vector<int64_t>> starts, ends, axes, steps;
    const bool known = node_.IntsOf("starts", 1, starts).ok() && node_.IntsOf("ends", 2, ends).ok() && node_.IntsOf("axes", 3, axes).ok() &&
                       node_.IntsOf("steps", 4, steps).ok();
    if (!known || !starts || !ends) return false;
    const auto from_begin = [](int64_t at) { return at < 0 ? at + 2 : at; };
    for (size_t i = 0; i < starts->size(); ++i) {
      size_t axis = 0;
      if (!node_.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), node_.rank(0), axis).ok() || !IsOfRows(Dims(0)[axis])) continue;
      const bool both = (!steps || (*steps)[i] == 1) && from_begin((*starts)[i]) <= 0 && from_begin((*ends)[i]) >= 2;
      if (!both) return true;
    }
    return false;
  }

  const NodeContext& node_;
  const Counted& counted_;
  const std::vector<bool>& of_places_;
  bool follows_found_ = true;
};

// What is followed of the elements of a graph's values, by value.
struct Elements {
  explicit Elements(size_t values) : of_data(values, false), of_places(values, false), counts(values, nullptr) {}
  std::vector<bool> of_data;        // they depend on elements of the model's inputs
  std::vector<bool> of_places;      // they may be places of rows among the samples, or are chosen by such
  std::vector<const Node*> counts;  // they depend on how many elements this node found in all samples; null: not known to
};

constexpr size_t Index(int value) { return static_cast<size_t>(value); }

// By value: an output for which `wanted` holds may depend on its elements, not on its shape alone.
std::vector<bool> ReachesOutput(const Graph& graph, const std::vector<bool>& wanted) {
  std::vector<bool> read(graph.values.size(), false);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (wanted[i]) read[Index(graph.outputs[i])] = true;
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const bool reaches = std::any_of(node.out.begin(), node.out.end(), [&](int value) { return value >= 0 && read[Index(value)]; });
    if (!reaches || IsOfShapes(node.op)) continue;
    for (const int value : node.in) {
      if (value >= 0) read[Index(value)] = true;
    }
  }
  return read;
}

// The operators whose results tell rows apart by where they stand.
bool MakesPlaces(Op op) {
  constexpr Op kThese[] = {Op::kRange,   Op::kNonZero, Op::kUnique, Op::kCumSum, Op::kArgMax, Op::kArgMin,           Op::kTopK,
                           Op::kEyeLike, Op::kTrilu,   Op::kIf,     Op::kLoop,   Op::kScan,   Op::kNonMaxSuppression};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

bool Finds(Op op) { return op == Op::kCompress || op == Op::kNonZero || op == Op::kUnique; }

// Input i says what shape the result has, no more.
bool IsExtent(const Node& node, size_t i) {
  switch (node.op) {
    case Op::kRange:
    case Op::kConstantOfShape:
      return true;
    case Op::kReshape:
    case Op::kExpand:
    case Op::kTile:
    case Op::kPad:
    case Op::kSlice:
    case Op::kSplit:
    case Op::kResize:
    case Op::kTopK:
    case Op::kTrilu:
    case Op::kOneHot:
      return i > 0;
    default:
      return false;
  }
}

// One graph and the bodies of its nodes.
class Search {
 public:
  Search(const Graph& graph, std::vector<Known>& known, Elements elements, Counted counted)
      : graph_(graph), known_(known), elements_(std::move(elements)), counted_(std::move(counted)) {}

  // wanted: by output, whether anything reads it.
  const Node* Find(const std::vector<bool>& wanted) {
    const std::vector<bool> read = ReachesOutput(graph_, wanted);
    for (const Node& node : graph_.nodes) {
      NodeContext context(graph_, node, known_, true);
      Follow(context);
      if (std::none_of(node.out.begin(), node.out.end(), [&](int value) { return value >= 0 && read[Index(value)]; })) continue;
      if (MixingRule(context, counted_, elements_.of_places).Holds()) return &node;
      if (node.op == Op::kIf && elements_.counts[Index(node.in[0])] != nullptr) return elements_.counts[Index(node.in[0])];
      if (const Node* inner = FindInBodies(context, read); inner != nullptr) return inner->name.empty() ? &node : inner;
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Node* found = elements_.counts[Index(graph_.outputs[i])];
      if (wanted[i] && found != nullptr) return found;
    }
    return nullptr;
  }

 private:
  // Sets what follows for the elements of the node's results.
  void Follow(NodeContext& context) {
    const Node& node = context.node;
    bool of_data = false, of_places = MakesPlaces(node.op);
    const Node* counts = nullptr;
    for (size_t i = 0; i < node.in.size() && !IsOfShapes(node.op); ++i) {
      if (!context.has_in(i)) continue;
      of_data = of_data || elements_.of_data[Index(node.in[i])];
      of_places = of_places || elements_.of_places[Index(node.in[i])];
      if (counts == nullptr && i < context.FormalInputs() && !IsExtent(node, i)) counts = elements_.counts[Index(node.in[i])];
    }
    const bool finds = of_data && Finds(node.op) && AnyHasSymbol(context.in(0).dim, counted_.samples);
    for (size_t i = 0; i < node.out.size(); ++i) {
      if (!context.has_out(i)) continue;
      const Known& out = context.out(i);
      if (finds) AddFound(node, out.dim);
      elements_.of_data[Index(node.out[i])] = of_data;
      elements_.of_places[Index(node.out[i])] = of_places;
      elements_.counts[Index(node.out[i])] = IsOfShapes(node.op) ? CountIn(out) : IsNumber(out) ? nullptr : counts;
      if (finds && node.op == Op::kUnique && i == 3) elements_.counts[Index(node.out[i])] = &node;  // how often each is there
    }
  }

  void AddFound(const Node& node, const Shape& dims) {
    const std::string own = "_#x" + std::to_string(node.index) + '.';
    for (const Dim& dim : dims) {
      if (const auto symbol = dim.symbol(); symbol && symbol->starts_with(own)) counted_.found.emplace(*symbol, &node);
    }
  }

  static bool IsNumber(const Known& known) {
    return known.content && std::all_of(known.content->begin(), known.content->end(), [](const Dim& each) { return each.is_constant(); });
  }
  const Node* CountIn(const Known& known) const {
    for (const auto& [symbol, node] : counted_.found) {
      if (known.content && AnyHasSymbol(*known.content, symbol)) return node;
    }
    return nullptr;
  }

  const Node* FindInBodies(NodeContext& context, const std::vector<bool>& read) {
    for (const Attribute& attribute : context.node.attributes) {
      if (attribute.body < 0) continue;
      const Graph& body = *context.Body(attribute.name);
      if (context.node.op == Op::kScan && FollowsRows(context, body, read)) return &context.node;
      std::vector<Known> inputs = FormalInputs(context);
      if (inputs.size() != body.formal_inputs) continue;
      for (Known& each : context.Captured(attribute.name)) inputs.push_back(std::move(each));
      auto known = InferGraph(body, inputs, true);
      if (!known.ok()) continue;
      const bool loops = context.node.op == Op::kLoop;
      if (loops && AnyHasSymbol((*known)[Index(body.outputs[0])].dim, counted_.samples))
        return &context.node;                 // one condition of all samples
      Counted counted{counted_.samples, {}};  // names of unknown extents are those of one graph
      if (const Node* inner = Search(body, *known, Inside(context, attribute), std::move(counted)).Find(Wanted(context, body, read)))
        return inner;
    }
    return nullptr;
  }

  static size_t States(const NodeContext& context) {
    if (context.node.op == Op::kIf) return 0;
    return context.FormalInputs() - (context.node.op == Op::kLoop ? 2 : static_cast<size_t>(context.node.Int("num_scan_inputs", 0)));
  }

  // What the body is given: what goes round has the shape that it settled to.
  static std::vector<Known> FormalInputs(NodeContext& context) {
    if (context.node.op == Op::kIf) return {};
    const bool loops = context.node.op == Op::kLoop;
    std::vector<Known> inputs;
    if (loops) inputs = {{WF_I64, {}, std::nullopt}, {WF_BOOL, {}, std::nullopt}};
    const size_t first = inputs.size(), states = States(context);
    for (size_t i = 0; first + i < context.FormalInputs(); ++i) {
      const Known& given = i < states && context.has_out(i) ? context.out(i) : context.in(first + i);
      inputs.push_back({given.dtype, given.dim, std::nullopt});
      if (i >= states) inputs.back().dim.erase(inputs.back().dim.begin() + static_cast<ptrdiff_t>(ScannedAxis(context, i)));
    }
    return inputs;
  }

  // REQUIRES: inference took the node.
  static size_t ScannedAxis(const NodeContext& context, size_t input) {
    const auto axes = context.node.Ints("scan_input_axes");
    const size_t at = input - States(context);
    size_t axis = 0;
    WF_CHECK(context.Axis(at < axes.size() ? axes[at] : 0, context.rank(input), axis).ok(), input);
    return axis;
  }

  Elements Inside(const NodeContext& context, const Attribute& attribute) const {
    const Graph& body = *context.Body(attribute.name);
    Elements inside(body.values.size());
    const bool loops = context.node.op == Op::kLoop;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const bool is_formal = i < body.formal_inputs;
      const size_t from = is_formal ? i : attribute.first_capture + i - body.formal_inputs;
      const size_t at = Index(body.inputs[i]);
      const bool goes_round = is_formal && (loops || i < States(context));  // the turn's number is a place, too
      const size_t value = context.has_in(from) ? Index(context.node.in[from]) : 0;
      inside.of_data[at] = goes_round || elements_.of_data[value];
      inside.of_places[at] = goes_round || elements_.of_places[value];
      if (!goes_round) inside.counts[at] = elements_.counts[value];
    }
    return inside;
  }

  // Of a body: what goes round, and what is read of the node's results.
  static std::vector<bool> Wanted(NodeContext& context, const Graph& body, const std::vector<bool>& read) {
    const size_t ahead = context.node.op == Op::kLoop ? 1 : 0;
    std::vector<bool> wanted;
    for (size_t i = 0; i < body.outputs.size(); ++i) {
      const bool goes_round = i < ahead + States(context);
      wanted.push_back(goes_round || (context.has_out(i - ahead) && read[Index(context.node.out[i - ahead])]));
    }
    return wanted;
  }

  // By value of a body: its elements depend on those of its inputs from `first` on, before `end`.
  static std::vector<bool> DependsOn(const Graph& body, size_t first, size_t end) {
    std::vector<bool> depends(body.values.size(), false);
    for (size_t i = first; i < end; ++i) depends[Index(body.inputs[i])] = true;
    for (const Node& node : body.nodes) {
      const bool reads = std::any_of(node.in.begin(), node.in.end(), [&](int value) { return value >= 0 && depends[Index(value)]; });
      if (!reads || IsOfShapes(node.op)) continue;
      for (const int value : node.out) {
        if (value >= 0) depends[Index(value)] = true;
      }
    }
    return depends;
  }

  // A Scan that walks along the samples takes what it learns of one to the next, and something reads it.
  bool FollowsRows(NodeContext& context, const Graph& body, const std::vector<bool>& read) const {
    const size_t states = States(context);
    if (body.outputs.size() != context.node.out.size()) return false;
    for (size_t i = states; i < body.formal_inputs; ++i) {
      if (!HasSymbol(context.in(i).dim[ScannedAxis(context, i)], counted_.samples)) continue;
      const std::vector<bool> of_row = DependsOn(body, i, i + 1);
      for (size_t state = 0; state < states; ++state) {
        if (!of_row[Index(body.outputs[state])]) continue;
        const std::vector<bool> of_state = DependsOn(body, state, state + 1);
        for (size_t out = 0; out < body.outputs.size(); ++out) {
          const bool is_read = context.has_out(out) && read[Index(context.node.out[out])];
          if (is_read && (out == state || of_state[Index(body.outputs[out])])) return true;
        }
      }
    }
    return false;
  }

  const Graph& graph_;
  std::vector<Known>& known_;
  Elements elements_;
  Counted counted_;
};

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
  Elements elements(graph.values.size());
  for (const int input : graph.inputs) elements.of_data[Index(input)] = true;
  return Search(graph, *known, std::move(elements), {*samples.symbol(), {}}).Find(std::vector<bool>(graph.outputs.size(), true));
}

}  // namespace wf::onnx
