#include "runtime/onnx/mixing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/mixing_rule.h"

namespace wf::onnx {
namespace {

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
    case Op::kUpsample:
    case Op::kAffineGrid:
    case Op::kCenterCropPad:
    case Op::kCol2Im:
    case Op::kMaxUnpool:
      return i > 0;
    default:
      return false;
  }
}

// Input i says which row of another input is meant: that has its own place in each batch.
bool PicksRow(const NodeContext& context, size_t i) {
  switch (context.node.op) {
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kGatherND:
    case Op::kScatterElements:
    case Op::kScatterND: {
      const Shape& dims = context.in(0).dim;
      return i == 1 && std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return !dim.is_constant(); });
    }
    case Op::kRoiAlign:
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
      if (ComputesAcross(context, counted_, elements_)) return &node;
      if (const Node* by = DecidedBy(node); by != nullptr) return by;
      if (const Node* inner = FindInBodies(context, read); inner != nullptr) return inner->name.empty() ? &node : inner;
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Node* found = elements_.counts[Index(graph_.outputs[i])];
      if (wanted[i] && found != nullptr) return found;
    }
    return nullptr;
  }

  // After Find. The node by which an output depends on how many samples there are, or on their places; read: by output.
  const Node* FindRows(const std::vector<bool>& read) const {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (read[i] && Rows(graph_.outputs[i]) != nullptr) return Rows(graph_.outputs[i]);
    }
    return nullptr;
  }

 private:
  const Node* Rows(int value) const { return elements_.rows[Index(value)]; }

  // The node by which a number of all samples is its condition.
  const Node* DecidedBy(const Node& node) const {
    if (node.op == Op::kIf) return elements_.counts[Index(node.in[0])] != nullptr ? elements_.counts[Index(node.in[0])] : Rows(node.in[0]);
    return node.op == Op::kLoop && node.has_in(1) ? Rows(node.in[1]) : nullptr;
  }

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
    if (node.op == Op::kIf || node.op == Op::kLoop || node.op == Op::kScan) {
      FollowStates(context);
    } else {
      FollowRows(context);
      FollowAhead(context);
    }
  }

  // What goes round is as it began; what the bodies make of it is looked for there.
  void FollowStates(const NodeContext& context) {
    const size_t first = context.node.op == Op::kLoop ? 2 : 0;
    for (size_t i = 0; i < States(context) && i < context.node.out.size(); ++i) {
      if (context.has_out(i) && context.has_in(first + i)) elements_.rows[Index(context.node.out[i])] = Rows(context.node.in[first + i]);
    }
  }

  void FollowRows(NodeContext& context) {
    const Node& node = context.node;
    const Node* rows = IsByPlace(context) ? &node : RowsInto(context);
    for (size_t i = 0; i < node.out.size(); ++i) {
      if (!context.has_out(i)) continue;
      const Known& out = context.out(i);
      const Node* by = rows != nullptr && rows != &node && !FollowNumbersOf(context, i) ? nullptr : rows;
      if (by != nullptr) AddBySamples(node, out, *by);
      elements_.rows[Index(node.out[i])] = out.content ? RowsIn(*out.content, by == nullptr ? node : *by) : by;
    }
  }

  // Whether one of them may depend on how many samples there are.
  bool FollowNumbersOf(NodeContext& context, size_t output) {
    ByElement& numbers = elements_.numbers[Index(context.node.out[output])];
    numbers = FollowNumbers(context, output, [&](size_t in) { return NumbersOf(context, in); });
    numbers_left_ -= std::min(numbers_left_, 1 + (numbers ? numbers->size() : 0));
    const bool is_settled = IsSettled(context);
    bool counts = !numbers && !is_settled;
    for (size_t at = 0; numbers && at < numbers->size(); ++at) {
      Number& number = (*numbers)[at];
      if (numbers_left_ == 0 || (number.by_samples && is_settled)) number.values = {};
      number.by_samples = number.by_samples && !is_settled;
      counts = counts || number.by_samples;
    }
    return counts;
  }

  ByElement NumbersOf(const NodeContext& context, size_t i) const {
    const Known& in = context.in(i);
    const auto value = static_cast<size_t>(context.node.in[i]);
    if (elements_.numbers[value]) return elements_.numbers[value];
    const auto count = NumbersIn(in);
    if (!count) return std::nullopt;
    std::vector<Number> numbers(*count, Number{Rows(context.node.in[i]) != nullptr});
    if (in.content && in.content->size() == *count) {
      std::transform(in.content->begin(), in.content->end(), numbers.begin(), [&](const Dim& each) {
        const bool by_samples = RowsIn({each}, context.node) != nullptr;
        return numbers_left_ > 0 ? NumberOf(each, counted_.samples, by_samples) : Number{by_samples};
      });
    } else if (const auto reals = numbers_left_ > 0 ? context.Reals(i) : std::nullopt; reals && reals->size() == *count) {
      std::transform(reals->begin(), reals->end(), numbers.begin(), ConstantNumber);
    }
    return numbers;
  }

  // Of the elements that it reads. A place beside another may tell no more than whose each is.
  const Node* RowsInto(const NodeContext& context) const {
    const Node& node = context.node;
    const Node* rows = nullptr;
    size_t of_rows = 0, of_places = 0;
    for (size_t i = 0; i < node.in.size() && !IsOfShapes(node.op); ++i) {
      if (!context.has_in(i) || IsExtent(node, i) || PicksRow(context, i)) continue;
      const Node* by = Rows(node.in[i]);
      const bool is_place = elements_.of_places[Index(node.in[i])];
      if (rows == nullptr) rows = by;
      of_rows += by != nullptr || is_place ? 1 : 0;
      of_places += is_place ? 1 : 0;
    }
    return of_places > 0 && of_rows > 1 ? nullptr : rows;
  }

  // Its elements are others for each place among the samples, from the first on.
  bool IsByPlace(NodeContext& context) const {
    const Node& node = context.node;
    if (!context.has_in(0) || !context.has_out(0)) return false;
    const auto counts = [&](const Dim& dim) { return HasSymbol(dim, counted_.samples); };
    const Shape &from = context.in(0).dim, &to = context.out(0).dim;
    switch (node.op) {
      case Op::kRange:
        return counts(to[0]) || (!to[0].is_constant() && Rows(node.in[1]) != nullptr);
      case Op::kEyeLike:
      case Op::kTrilu:
        return counts(to[to.size() - 1]) || counts(to[to.size() - 2]);
      case Op::kNonZero:
        return !elements_.of_data[Index(node.in[0])] && std::any_of(from.begin(), from.end(), counts);
      case Op::kSplit:
        return !AnyHasSymbol(from, counted_.samples) && std::any_of(to.begin(), to.end(), counts);
      default:
        return CutsToSamples(context);
    }
  }

  // To as many as there are samples, what is longer.
  bool CutsToSamples(const NodeContext& context) const {
    const Node& node = context.node;
    if (node.op != Op::kSlice || !context.has_in(2) || !context.Content(2)) return false;
    std::optional<std::vector<int64_t>> axes;
    if (!context.IntsOf("axes", 3, axes).ok()) return false;
    const std::vector<Dim>& ends = *context.Content(2);
    for (size_t i = 0; i < ends.size(); ++i) {
      size_t axis = 0;
      if (!HasSymbol(ends[i], counted_.samples)) continue;
      if (context.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), context.rank(0), axis).ok() && context.in(0).dim[axis].is_constant())
        return true;
    }
    return false;
  }

  // A comparison of their number that is the same for whatever number there is: is it above 0?
  bool IsSettled(const NodeContext& context) const {
    constexpr Op kThese[] = {Op::kEqual, Op::kGreater, Op::kGreaterOrEqual, Op::kLess, Op::kLessOrEqual};
    const Op op = context.node.op;
    if (std::find(std::begin(kThese), std::end(kThese), op) == std::end(kThese)) return false;
    const auto &a = context.Content(0), &b = context.Content(1);
    if (!a || !b || a->size() != 1 || b->size() != 1) return false;
    const Dim difference = (*a)[0] - (*b)[0];
    const auto linear = difference.AsLinear();
    if (!linear || linear->symbol != counted_.samples) return op == Op::kEqual && Dim::ProvedDifferentAbove0((*a)[0], (*b)[0]);
    const Dim of_one_dim = Dim(linear->mul) + Dim(linear->add);
    if (!of_one_dim.is_constant()) return false;
    const int64_t of_one = *of_one_dim.constant();
    if (linear->mul > 0) return of_one > 0 || (of_one == 0 && (op == Op::kGreaterOrEqual || op == Op::kLess));
    return of_one < 0 || (of_one == 0 && (op == Op::kLessOrEqual || op == Op::kGreater));
  }

  void AddBySamples(const Node& node, const Known& out, const Node& rows) {
    const std::string own = "_#x" + std::to_string(node.index) + '.';
    for (const Dim& dim : out.content.value_or(std::vector<Dim>())) {
      if (const auto symbol = dim.symbol(); symbol && symbol->starts_with(own)) counted_.by_samples.emplace(*symbol, &rows);
    }
  }
  const Node* RowsIn(const std::vector<Dim>& content, const Node& by) const {
    if (AnyHasSymbol(content, counted_.samples)) return &by;
    for (const auto& [symbol, node] : counted_.by_samples) {
      if (AnyHasSymbol(content, symbol)) return node;
    }
    return nullptr;
  }

  void FollowAhead(NodeContext& context) {
    const Node& node = context.node;
    if (!context.has_out(0)) return;
    auto& ahead = elements_.ahead[Index(node.out[0])];
    if (node.op == Op::kPad) ahead = PaddedAhead(context);
    if (node.op == Op::kConcat) ahead = JoinedAhead(context);
    if ((node.op == Op::kIdentity || node.op == Op::kCast) && context.has_in(0)) ahead = elements_.ahead[Index(node.in[0])];
  }
  bool IsSamples(const Dim& dim) const { return dim.symbol() == counted_.samples; }

  std::optional<Elements::Joined> PaddedAhead(const NodeContext& context) const {
    const auto [given, pads] = context.FindInts("pads", 1);
    const auto [limited, axes] = context.FindInts("axes", 3);
    if (!pads || (limited && !axes)) return std::nullopt;
    for (size_t i = 0; i < pads->size() / 2; ++i) {
      size_t axis = 0;
      const bool is_axis = context.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), context.rank(0), axis).ok();
      if (is_axis && IsSamples(context.in(0).dim[axis])) return Elements::Joined{axis, (*pads)[i]};
    }
    return std::nullopt;
  }

  std::optional<Elements::Joined> JoinedAhead(const NodeContext& context) const {
    size_t axis = 0;
    if (!context.Axis(context.node.Int("axis", 0), context.rank(0), axis).ok()) return std::nullopt;
    int64_t before = 0;
    for (size_t i = 0; i < context.node.in.size(); ++i) {
      const Dim& dim = context.in(i).dim[axis];
      if (IsSamples(dim)) return Elements::Joined{axis, before};
      if (!dim.is_constant()) return std::nullopt;
      before += *dim.constant();
    }
    return std::nullopt;
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
        return &context.node;  // one condition of all samples
      Search search(body, *known, Inside(context, attribute),
                    Counted{counted_.samples});  // names of unknown extents are those of one graph
      if (const Node* inner = search.Find(Wanted(context, body, read)); inner != nullptr) return inner;
      if (const Node* inner = search.FindRows(ReadOf(context, body, read)); inner != nullptr) return inner;
      const bool by_rows = loops && ((context.has_in(0) && Rows(context.node.in[0]) != nullptr) || search.GoesOnByRows());
      if (by_rows && search.CarriesRows(context, read)) return &context.node;
    }
    return nullptr;
  }

  // Of a Loop, this being its body.
  bool GoesOnByRows() const {
    std::vector<bool> by_rows(graph_.values.size(), false);
    for (size_t value = 0; value < by_rows.size(); ++value) by_rows[value] = elements_.rows[value] != nullptr;
    Spread(graph_, by_rows);
    return by_rows[Index(graph_.outputs[0])];
  }

  // Of a Loop that has as many turns as there are samples, this being its body: what it learns of one goes on to the next, and something
  // reads it. What has places for all of them, or grows with each, keeps them apart.
  bool CarriesRows(const NodeContext& context, const std::vector<bool>& read) const {
    std::vector<bool> of_row(graph_.values.size(), false);
    for (const Node& node : graph_.nodes) {
      const auto is_of_all = [&](int value) {
        return value >= 0 && elements_.of_data[Index(value)] && AnyHasSymbol(known_[Index(value)].dim, counted_.samples);
      };
      if (IsOfShapes(node.op) || std::none_of(node.in.begin(), node.in.end(), is_of_all)) continue;
      for (const int value : node.out) {
        if (value >= 0 && !AnyHasSymbol(known_[Index(value)].dim, counted_.samples)) of_row[Index(value)] = true;
      }
    }
    Spread(graph_, of_row);
    for (size_t state = 0; state < States(context); ++state) {
      const int next = graph_.outputs[1 + state];
      const Shape& dims = known_[Index(graph_.inputs[2 + state])].dim;
      const bool is_fixed = dims == context.in(2 + state).dim && !AnyHasSymbol(dims, counted_.samples);
      if (!is_fixed || !of_row[Index(next)]) continue;
      const std::vector<bool> of_state = DependsOn(graph_, 2 + state, 3 + state);
      for (size_t out = 0; out + 1 < graph_.outputs.size(); ++out) {
        const bool is_read = context.has_out(out) && read[Index(context.node.out[out])];
        if (is_read && (out == state || of_state[Index(graph_.outputs[1 + out])])) return true;
      }
    }
    return false;
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
      if (loops && i == 0 && context.has_in(0))
        inside.rows[at] = elements_.rows[value];  // the turn's number, if it goes through the samples
      if (goes_round) continue;
      inside.counts[at] = elements_.counts[value];
      inside.rows[at] = elements_.rows[value];
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

  // Of a body: what is read of the node's results.
  static std::vector<bool> ReadOf(NodeContext& context, const Graph& body, const std::vector<bool>& read) {
    const size_t ahead = context.node.op == Op::kLoop ? 1 : 0;
    std::vector<bool> wanted;
    for (size_t i = 0; i < body.outputs.size(); ++i)
      wanted.push_back(i >= ahead && context.has_out(i - ahead) && read[Index(context.node.out[i - ahead])]);
    return wanted;
  }

  // By value of a body: its elements depend on those of its inputs from `first` on, before `end`.
  static std::vector<bool> DependsOn(const Graph& body, size_t first, size_t end) {
    std::vector<bool> depends(body.values.size(), false);
    for (size_t i = first; i < end; ++i) depends[Index(body.inputs[i])] = true;
    Spread(body, depends);
    return depends;
  }
  static void Spread(const Graph& body, std::vector<bool>& depends) {
    for (const Node& node : body.nodes) {
      const bool reads = std::any_of(node.in.begin(), node.in.end(), [&](int value) { return value >= 0 && depends[Index(value)]; });
      if (!reads || IsOfShapes(node.op)) continue;
      for (const int value : node.out) {
        if (value >= 0) depends[Index(value)] = true;
      }
    }
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
  size_t numbers_left_ = 4096;  // that are followed by value, in one graph: each takes a KiB
};

}  // namespace

const Node* FindMixing(const Signature& signature, const Graph& graph, const std::vector<int8_t>& axes) {
  const Dim samples = base::UnknownDims("s").Next();  // one symbol, that the file cannot have
  std::vector<Port> inputs = signature.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    if (axes[i] >= 0 && axis < inputs[i].dim.size()) inputs[i].dim[axis] = samples;
  }
  auto known = InferShapes(graph, inputs, "", true);
  if (!known.ok()) return nullptr;
  Elements elements(graph.values.size());
  for (const int input : graph.inputs) elements.of_data[Index(input)] = true;
  const std::vector<bool> wanted(graph.outputs.size(), true);
  Search search(graph, *known, std::move(elements), Counted{*samples.symbol()});
  const Node* found = search.Find(wanted);
  return found != nullptr ? found : search.FindRows(wanted);
}

std::string MixingText(const Node& node) {
  return IsOfShapes(node.op) ? "results depend on how long it is, by " + node.Label() : node.Label() + " computes across it";
}

}  // namespace wf::onnx
