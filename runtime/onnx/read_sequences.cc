#include <algorithm>
#include <cstring>

#include "runtime/base/text.h"
#include "runtime/onnx/graph_reader.h"
#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/order.h"
#include "runtime/onnx/tensor.h"

// Sequences and optional values: of each is known, while the file is read, which tensors it holds. So no node is left that takes one, and
// nothing behind the reader knows that there were any.
namespace wf::onnx {

using base::Status;

namespace {

constexpr size_t kMostParts = 65535;               // of SplitToSequence, as outputs of a Split
constexpr size_t kMostGathered = 1024;             // tensors among which a run chooses
constexpr size_t kMostElements = size_t{1} << 20;  // of all sequences together
constexpr uint64_t kMostWrittenBytes = uint64_t{64} << 20;

const pb::GraphProto* BodyOf(const pb::NodeProto& node, std::string_view name) {
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

bool HasInput(const pb::NodeProto& node, int i) { return i < node.input_size() && !node.input(i).empty(); }

bool MentionsSequences(const pb::GraphProto& body) {
  return std::any_of(body.node().begin(), body.node().end(), [](const pb::NodeProto& node) {
    return node.op_type() != "ReverseSequence" && node.op_type().find("Sequence") != std::string::npos;
  });
}

}  // namespace

const GraphReader::Sequence* GraphReader::FindSequence(Scope& scope, const std::string& name) {
  if (const auto found = scope.sequences.find(name); found != scope.sequences.end()) return &found->second;
  if (scope.values.contains(name) || scope.outer == nullptr) return nullptr;
  const Sequence* outside = FindSequence(*scope.outer, name);
  if (outside == nullptr || scope.is_written_out) return outside;
  Sequence captured{{}, outside->is_absent};
  if (outside->stacked >= 0) captured.stacked = Capture(scope, outside->stacked, name);
  elements_ += outside->elements.size();
  for (const int element : outside->elements) {
    if (elements_ <= kMostElements) captured.elements.push_back(Capture(scope, element, name));
  }
  return &(scope.sequences[name] = std::move(captured));
}

GraphReader::Thing GraphReader::FindThing(const std::string& name) {
  if (name.empty()) return {};
  if (const Sequence* sequence = FindSequence(*scope_, name)) return {-1, *sequence};
  return {Find(*scope_, name), std::nullopt};
}

Status GraphReader::Bind(const Node& node, const std::string& name, Thing thing) {
  if (name.empty()) return Status::Ok();
  const auto exists = [&] { return Fail(fmt::format("{}: it writes `{}`, which exists already", node.Describe(), Printable(name))); };
  if (!thing.sequence)
    return scope_->sequences.contains(name) || !scope_->values.emplace(name, thing.value).second ? exists() : Status::Ok();
  elements_ += thing.sequence->elements.size();
  WF_RETURN_IF_ERROR(CheckElements(node));
  return scope_->values.contains(name) || !scope_->sequences.emplace(name, *std::move(thing.sequence)).second ? exists() : Status::Ok();
}

Status GraphReader::CheckElements(const Node& node) const {
  if (elements_ <= kMostElements) return Status::Ok();
  return Status(base::kOutOfRange,
                fmt::format("`{}`: {}: its sequences together have more than {} tensors", model_.path, node.Describe(), kMostElements));
}

Status GraphReader::AddBodyOutputs(const pb::NodeProto& proto, const std::vector<Body>& bodies, Node& node) {
  const auto is_plain = [](const Body& body) {
    return std::all_of(body.results.begin(), body.results.end(), [](int result) { return result == kTensor; });
  };
  if (std::all_of(bodies.begin(), bodies.end(), is_plain)) return ReadOutEdges(proto, node);
  if (node.op != Op::kIf || bodies.size() != 2)
    return NotBuiltAt(node, "its body gives a sequence in each of its turns, which is not supported");
  const std::vector<int>&one = bodies[0].results, &other = bodies[1].results;
  if (one.size() != other.size() || static_cast<int>(one.size()) != proto.output_size())
    return Fail(fmt::format("{}: its branches have other results than it", node.Describe()));
  for (size_t i = 0; i < one.size(); ++i) {
    const std::string& name = proto.output(static_cast<int>(i));
    if (one[i] != other[i])
      return NotBuiltAt(node, fmt::format("its output {} is not the same number of tensors on both ways, which only a run tells", i));
    Thing thing;
    if (one[i] != kTensor) thing.sequence = Sequence{{}, one[i] == kAbsent};
    for (int element = 0; element < std::max(one[i], one[i] == kTensor ? 1 : 0); ++element) {
      const int value = static_cast<int>(graph().values.size());
      graph().values.push_back({Printable(name), -1});
      node.out.push_back(value);
      if (thing.sequence) thing.sequence->elements.push_back(value);
      thing.value = thing.sequence ? -1 : value;
    }
    WF_RETURN_IF_ERROR(Bind(node, name, std::move(thing)));
  }
  return node.out.empty() ? NotBuiltAt(node, "results without tensors are not supported") : Status::Ok();
}

Status GraphReader::ReadWrittenOut(const pb::NodeProto& proto, const OperatorRow* row, Node& node, bool& done) {
  WF_RETURN_IF_ERROR(CheckElements(node));
  switch (row->op) {
    case Op::kIdentity:
      return ReadAlias(proto, node, done);
    case Op::kOptional:
    case Op::kOptionalGetElement:
    case Op::kOptionalHasElement:
      return ReadOptional(proto, node, done);
    case Op::kIf:
      return ReadKnownIf(proto, node, done);
    case Op::kLoop:
      return ReadKnownLoop(proto, node, done);
    case Op::kSequenceMap:
      done = true;
      return ReadSequenceMap(proto, node);
    case Op::kConcatFromSequence:
    case Op::kSequenceAt:
    case Op::kSequenceConstruct:
    case Op::kSequenceEmpty:
    case Op::kSequenceErase:
    case Op::kSequenceInsert:
    case Op::kSequenceLength:
    case Op::kSplitToSequence:
      done = true;
      WF_RETURN_IF_ERROR(ReadAttributes(proto, row->attributes, node));
      return ReadSequenceNode(proto, node);
    default:
      return Status::Ok();
  }
}

// Within what is written out a constant stays one, as the condition of a loop.
Status GraphReader::ReadAlias(const pb::NodeProto& proto, const Node& node, bool& done) {
  Thing thing = FindThing(proto.input(0));
  const bool is_constant = thing.value >= 0 && graph().values[static_cast<size_t>(thing.value)].weight >= 0;
  done = thing.sequence.has_value() || (is_constant && scope_->is_written_out);
  return done ? Bind(node, proto.output(0), std::move(thing)) : Status::Ok();
}

Status GraphReader::ReadOptional(const pb::NodeProto& proto, const Node& node, bool& done) {
  Thing thing;
  if (HasInput(proto, 0)) {
    thing = FindThing(proto.input(0));
  } else if (node.op == Op::kOptional) {
    thing.sequence = Sequence{{}, true};
  }
  done = thing.sequence.has_value() || (node.op == Op::kOptional && thing.value >= 0);
  if (!done) return Status::Ok();
  const bool is_absent = thing.sequence && thing.sequence->is_absent;
  if (node.op == Op::kOptionalHasElement) thing = {AddConstant(node, WF_BOOL, is_absent ? 0 : 1), std::nullopt};
  if (node.op == Op::kOptionalGetElement && is_absent)
    return Fail(fmt::format("{}: it takes an optional value that is not there", node.Describe()));
  return Bind(node, proto.output(0), std::move(thing));
}

Status GraphReader::ReadSequenceNode(const pb::NodeProto& proto, const Node& node) {
  const bool takes_stacked = node.op == Op::kSequenceAt || node.op == Op::kSequenceLength || node.op == Op::kConcatFromSequence;
  const Sequence* const from = takes_stacked ? FindSequence(*scope_, proto.input(0)) : nullptr;
  if (from != nullptr && from->stacked >= 0) return ReadStacked(proto, node, from->stacked);
  switch (node.op) {
    case Op::kSequenceInsert:
      return ReadInsert(proto, node);
    case Op::kSequenceErase:
      return ReadErase(proto, node);
    case Op::kSequenceAt:
      return ReadAt(proto, node);
    case Op::kSplitToSequence:
      return ReadSplit(proto, node);
    case Op::kConcatFromSequence:
      return ReadConcat(proto, node);
    case Op::kSequenceLength: {
      const Sequence* sequence = nullptr;
      WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, sequence));
      return Bind(node, proto.output(0), {AddConstant(node, WF_I64, static_cast<int64_t>(sequence->elements.size())), std::nullopt});
    }
    default: {
      Sequence made;  // SequenceConstruct; of SequenceEmpty nothing
      for (int i = 0; i < proto.input_size(); ++i) WF_RETURN_IF_ERROR(TakeTensor(proto, node, i, made.elements.emplace_back()));
      WF_RETURN_IF_ERROR(CheckSameTypes(node, made.elements));
      return Bind(node, proto.output(0), {-1, std::move(made)});
    }
  }
}

Status GraphReader::ReadInsert(const pb::NodeProto& proto, const Node& node) {
  const Sequence* into = nullptr;
  int value = -1;
  WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, into));
  WF_RETURN_IF_ERROR(TakeTensor(proto, node, 1, value));
  Sequence made = *into;
  const auto count = static_cast<int64_t>(made.elements.size());
  const auto position = HasInput(proto, 2) ? PositionOf(proto, node, 2, count, count) : base::Result<int64_t>(count);
  if (!position.ok()) return position.status();
  if (count > 0) WF_RETURN_IF_ERROR(CheckSameTypes(node, {made.elements[0], value}));
  made.elements.insert(made.elements.begin() + *position, value);
  return Bind(node, proto.output(0), {-1, std::move(made)});
}

Status GraphReader::ReadErase(const pb::NodeProto& proto, const Node& node) {
  const Sequence* from = nullptr;
  WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, from));
  Sequence made = *from;
  const auto count = static_cast<int64_t>(made.elements.size());
  const auto position = HasInput(proto, 1) ? PositionOf(proto, node, 1, count, count - 1) : base::Result<int64_t>(count - 1);
  if (!position.ok()) return position.status();
  if (count == 0) return Fail(fmt::format("{}: a sequence without tensors", node.Describe()));
  made.elements.erase(made.elements.begin() + *position);
  return Bind(node, proto.output(0), {-1, std::move(made)});
}

Status GraphReader::ReadAt(const pb::NodeProto& proto, const Node& node) {
  const Sequence* from = nullptr;
  int at = -1;
  WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, from));
  WF_RETURN_IF_ERROR(TakeTensor(proto, node, 1, at));
  int value = -1;
  if (!IntegersOf(at)) {
    WF_RETURN_IF_ERROR(GatherAt(node, from->elements, at, value));
    return Bind(node, proto.output(0), {value, std::nullopt});
  }
  const auto count = static_cast<int64_t>(from->elements.size());
  const auto position = PositionOf(proto, node, 1, count, count - 1);
  if (!position.ok()) return position.status();
  return Bind(node, proto.output(0), {from->elements[static_cast<size_t>(*position)], std::nullopt});
}

// One of tensors that have the same shape, by a position that a run computes.
Status GraphReader::GatherAt(const Node& node, const std::vector<int>& elements, int position, int& value) {
  const auto refused = [&] {
    return NotBuiltAt(
        node, fmt::format("its position is computed from data, which is supported for at most {} tensors that are known to have one shape",
                          kMostGathered));
  };
  const Known* const at = KnownOf(position);
  const Known* const first = elements.empty() || elements.size() > kMostGathered ? nullptr : KnownOf(elements[0]);
  if (at == nullptr || first == nullptr || (!at->dim.empty() && at->dim != Shape{Dim(1)})) return refused();
  const bool is_vector = !at->dim.empty();
  const uint8_t dtype = first->dtype;
  const Shape dim = first->dim;
  std::vector<int> joined;
  for (const int element : elements) {
    const Known* const known = KnownOf(element);
    if (known == nullptr || known->dtype != dtype || known->dim != dim) return refused();
  }
  for (const int element : elements) joined.push_back(AddNode(node, Op::kUnsqueeze, {element}, 1, {IntsAttribute("axes", {0})})[0]);
  if (is_vector) position = AddNode(node, Op::kSqueeze, {position}, 1, {IntsAttribute("axes", {0})})[0];
  const int whole = AddNode(node, Op::kConcat, std::move(joined), 1, {IntAttribute("axis", 0)})[0];
  value = AddNode(node, Op::kGather, {whole, position}, 1, {IntAttribute("axis", 0)})[0];
  return Status::Ok();
}

Status GraphReader::ReadSplit(const pb::NodeProto& proto, const Node& node) {
  int value = -1;
  WF_RETURN_IF_ERROR(TakeTensor(proto, node, 0, value));
  const int64_t axis = node.Int("axis", 0);
  const bool keeps_axis = HasInput(proto, 1) || node.Int("keepdims", 1) != 0;
  std::optional<std::vector<int64_t>> sizes;
  WF_RETURN_IF_ERROR(PartsOf(proto, node, value, axis, sizes));
  Sequence made;
  if (!sizes) WF_RETURN_IF_ERROR(StackParts(node, value, keeps_axis, made.stacked));
  if (sizes && !sizes->empty())
    made.elements = AddNode(node, Op::kSplit, {value}, sizes->size(), {IntAttribute("axis", axis), IntsAttribute("split", *sizes)});
  if (!keeps_axis) {
    for (int& element : made.elements) element = AddNode(node, Op::kSqueeze, {element}, 1, {IntsAttribute("axes", {axis})})[0];
  }
  return Bind(node, proto.output(0), {-1, std::move(made)});
}

Status GraphReader::PartsOf(const pb::NodeProto& proto, const Node& node, int value, int64_t axis,
                            std::optional<std::vector<int64_t>>& sizes) {
  int64_t size = 1;
  if (HasInput(proto, 1)) {
    int split = -1;
    WF_RETURN_IF_ERROR(TakeTensor(proto, node, 1, split));
    const auto numbers = IntegersOf(split, kMostParts + 1);
    if (!numbers) return NotBuiltAt(node, "its `split` is computed from data, and so how many parts there are");
    const Known* const known = KnownOf(split);
    const int weight = graph().values[static_cast<size_t>(split)].weight;
    const bool is_scalar = weight >= 0 ? graph().weight(weight).dim.empty() : known != nullptr && known->dim.empty();
    if (!is_scalar) {
      sizes = numbers;
      if (sizes->size() <= kMostParts) return Status::Ok();
      return Status(base::kOutOfRange,
                    fmt::format("`{}`: {}: {} parts, {} are the most", model_.path, node.Describe(), sizes->size(), kMostParts));
    }
    size = (*numbers)[0];
    if (size < 1) return Fail(fmt::format("{}: parts of {}", node.Describe(), size));
  }
  const Known* const known = KnownOf(value);
  const auto rank = known == nullptr ? 0 : static_cast<int64_t>(known->dim.size());
  if (known != nullptr && (axis < -rank || axis >= rank))
    return Fail(fmt::format("{}: axis {} of a tensor with {}", node.Describe(), axis, rank == 1 ? "1 axis" : fmt::format("{} axes", rank)));
  const auto extent = known == nullptr ? std::nullopt : known->dim[static_cast<size_t>(axis < 0 ? axis + rank : axis)].constant();
  if (!extent && size > 1)
    return NotBuiltAt(node, fmt::format("parts of {} along an extent that the file leaves open, where the last may be shorter", size));
  if (!extent) return Status::Ok();
  const int64_t count = *extent / size + (*extent % size != 0 ? 1 : 0);
  if (count > static_cast<int64_t>(kMostParts))
    return Status(base::kOutOfRange, fmt::format("`{}`: {}: {} parts, {} are the most", model_.path, node.Describe(), count, kMostParts));
  sizes.emplace(static_cast<size_t>(count), size);
  if (*extent % size != 0) sizes->back() = *extent % size;
  return Status::Ok();
}

Status GraphReader::ReadConcat(const pb::NodeProto& proto, const Node& node) {
  const Sequence* from = nullptr;
  WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, from));
  if (node.Find("axis") == nullptr) return Fail(fmt::format("{}: no `axis`", node.Describe()));
  if (from->elements.empty()) return Fail(fmt::format("{}: a sequence without tensors", node.Describe()));
  const int64_t axis = node.Int("axis", 0);
  std::vector<int> joined = from->elements;
  if (node.Int("new_axis", 0) != 0) {
    for (int& element : joined) element = AddNode(node, Op::kUnsqueeze, {element}, 1, {IntsAttribute("axes", {axis})})[0];
  }
  return Bind(node, proto.output(0), {AddNode(node, Op::kConcat, std::move(joined), 1, {IntAttribute("axis", axis)})[0], std::nullopt});
}

Status GraphReader::ReadSequenceMap(const pb::NodeProto& proto, const Node& node) {
  const pb::GraphProto* const body = BodyOf(proto, "body");
  if (body == nullptr || body->output_size() != proto.output_size())
    return Fail(fmt::format("{}: it lacks its `body`, or that has other results than it", node.Describe()));
  const Sequence* over = nullptr;
  WF_RETURN_IF_ERROR(TakeSequence(proto, node, 0, over));
  const size_t count = over->elements.size();
  std::vector<Thing> given;
  for (int i = 0; i < proto.input_size(); ++i) {
    given.push_back(FindThing(proto.input(i)));
    if (!given.back().sequence) {
      WF_RETURN_IF_ERROR(TakeTensor(proto, node, i, given.back().value));
    } else if (given.back().sequence->stacked >= 0 || given.back().sequence->elements.size() != count) {
      return Fail(fmt::format("{}: sequences of {} and of {} tensors", node.Describe(), count, given.back().sequence->elements.size()));
    }
  }
  std::vector<Sequence> made(static_cast<size_t>(proto.output_size()));
  for (size_t k = 0; k < count; ++k) {
    std::vector<Thing> inputs, results;
    for (const Thing& each : given) inputs.push_back({each.sequence ? each.sequence->elements[k] : each.value, std::nullopt});
    WF_RETURN_IF_ERROR(CountWrittenOut(*body, node));
    WF_RETURN_IF_ERROR(WriteOutBody(*body, node, std::move(inputs), results));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].sequence) return NotBuiltAt(node, "sequences of sequences are not supported");
      made[i].elements.push_back(results[i].value);
    }
  }
  for (size_t i = 0; i < made.size(); ++i) WF_RETURN_IF_ERROR(Bind(node, proto.output(static_cast<int>(i)), {-1, std::move(made[i])}));
  return Status::Ok();
}

// A condition that is known leaves one of the branches, whatever stands in the other.
Status GraphReader::ReadKnownIf(const pb::NodeProto& proto, const Node& node, bool& done) {
  const pb::GraphProto *const taken = BodyOf(proto, "then_branch"), *const other = BodyOf(proto, "else_branch");
  const Thing condition = FindThing(proto.input(0));
  if (taken == nullptr || other == nullptr || condition.value < 0) return Status::Ok();
  const auto known = IntegersOf(condition.value);
  if (!known || known->size() != 1) return Status::Ok();
  done = true;
  std::vector<Thing> results;
  WF_RETURN_IF_ERROR(WriteOutBody((*known)[0] != 0 ? *taken : *other, node, {}, results));
  if (static_cast<int>(results.size()) != proto.output_size())
    return Fail(fmt::format("{}: its branches have other results than it", node.Describe()));
  for (size_t i = 0; i < results.size(); ++i) WF_RETURN_IF_ERROR(Bind(node, proto.output(static_cast<int>(i)), std::move(results[i])));
  return Status::Ok();
}

// A loop with sequences is written out, turn by turn: one that carries them has to be.
Status GraphReader::ReadKnownLoop(const pb::NodeProto& proto, const Node& node, bool& done) {
  const pb::GraphProto* const body = BodyOf(proto, "body");
  bool carries = false;
  for (int i = 2; i < proto.input_size(); ++i) carries = carries || FindThing(proto.input(i)).sequence;
  if (body == nullptr || (!carries && !MentionsSequences(*body))) return Status::Ok();
  const auto known = [&](int input, int64_t otherwise) -> std::optional<int64_t> {
    if (!HasInput(proto, input)) return otherwise;
    const auto numbers = IntegersOf(FindThing(proto.input(input)).value);
    return numbers && numbers->size() == 1 ? std::optional((*numbers)[0]) : std::nullopt;
  };
  const auto turns = known(0, INT64_MAX), condition = known(1, 1);
  if (turns && condition) {
    done = carries || *turns <= kMostWrittenNodes / (body->node_size() + 1);
    return done ? WriteOutLoop(proto, node, *body, *condition != 0 ? *turns : 0) : Status::Ok();
  }
  if (!carries) return Status::Ok();
  WF_RETURN_IF_ERROR(ReadGrowingLoop(proto, node, done));
  if (done) return Status::Ok();
  return NotBuiltAt(node, "it carries a sequence, and how often it turns is computed from data");
}

Status GraphReader::WriteOutLoop(const pb::NodeProto& proto, const Node& node, const pb::GraphProto& body, int64_t turns) {
  std::vector<Thing> carried;
  for (int i = 2; i < proto.input_size(); ++i) {
    carried.push_back(FindThing(proto.input(i)));
    if (!carried.back().sequence) WF_RETURN_IF_ERROR(TakeTensor(proto, node, i, carried.back().value));
  }
  if (body.output_size() != proto.output_size() + 1 || static_cast<size_t>(proto.output_size()) < carried.size())
    return Fail(fmt::format("{}: its `body` has other results than it", node.Describe()));
  std::vector<std::vector<int>> stacked(static_cast<size_t>(proto.output_size()) - carried.size());
  bool goes_on = true;
  for (int64_t turn = 0; turn < turns && goes_on; ++turn) {
    std::vector<Thing> inputs = {{AddConstant(node, WF_I64, turn), std::nullopt}, {AddConstant(node, WF_BOOL, 1), std::nullopt}}, results;
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    WF_RETURN_IF_ERROR(CountWrittenOut(body, node));
    WF_RETURN_IF_ERROR(WriteOutBody(body, node, std::move(inputs), results));
    const auto condition = results[0].sequence ? std::nullopt : IntegersOf(results[0].value);
    if (!condition || condition->size() != 1)
      return NotBuiltAt(node, "it turns with sequences, and whether it goes on is computed from data");
    goes_on = (*condition)[0] != 0;
    for (size_t i = 0; i < stacked.size(); ++i) {
      const Thing& result = results[1 + carried.size() + i];
      if (result.sequence) return NotBuiltAt(node, "sequences of sequences are not supported");
      stacked[i].push_back(AddNode(node, Op::kUnsqueeze, {result.value}, 1, {IntsAttribute("axes", {0})})[0]);
    }
    std::move(results.begin() + 1, results.begin() + 1 + static_cast<ptrdiff_t>(carried.size()), carried.begin());
  }
  for (size_t i = 0; i < carried.size(); ++i) WF_RETURN_IF_ERROR(Bind(node, proto.output(static_cast<int>(i)), std::move(carried[i])));
  for (size_t i = 0; i < stacked.size(); ++i) {
    if (stacked[i].empty()) return NotBuiltAt(node, "it turns with sequences, and never, so that results have no shape");
    const int whole = AddNode(node, Op::kConcat, std::move(stacked[i]), 1, {IntAttribute("axis", 0)})[0];
    WF_RETURN_IF_ERROR(Bind(node, proto.output(static_cast<int>(carried.size() + i)), {whole, std::nullopt}));
  }
  return Status::Ok();
}

Status GraphReader::CountWrittenOut(const pb::GraphProto& body, const Node& node) {
  written_out_nodes_ += body.node_size() + 1;
  written_out_bytes_ += body.ByteSizeLong();
  if (written_out_nodes_ <= kMostWrittenNodes && written_out_bytes_ <= kMostWrittenBytes) return Status::Ok();
  return Status(base::kResourceExhausted,
                fmt::format("`{}`: {}: the turns over sequences, written out, have more than {} nodes or too many bytes", model_.path,
                            node.Describe(), kMostWrittenNodes));
}

Status GraphReader::WriteOutBody(const pb::GraphProto& body, const Node& node, std::vector<Thing> inputs, std::vector<Thing>& results) {
  if (depth_ >= kMostDepth) return NotBuiltAt(node, fmt::format("bodies in bodies, more than {} deep", kMostDepth));
  const std::vector<std::string> names = GivenInputs(body);
  if (names.size() != inputs.size())
    return Fail(
        fmt::format("{}: its body takes {}, and is given {}", node.Describe(), base::Counted(names.size(), "input"), inputs.size()));
  Scope inner{scope_->graph, &body, scope_, true, {}, {}, {}};
  Scope* const outer = std::exchange(scope_, &inner);
  ++depth_;
  Status status;
  for (size_t i = 0; status.ok() && i < inputs.size(); ++i) status = Bind(node, names[i], std::move(inputs[i]));
  if (status.ok()) status = ReadInnerNodes(body);
  for (int i = 0; status.ok() && i < body.output_size(); ++i) {
    results.push_back(FindThing(body.output(i).name()));
    if (results.back().value < 0 && !results.back().sequence)
      status = Fail(fmt::format("output `{}` is written by no node", Printable(body.output(i).name())));
  }
  --depth_;
  scope_ = outer;
  return status.ok() ? status : Status(status.code(), fmt::format("{}, in a body of {}", status.message(), node.Describe()));
}

Status GraphReader::TakeSequence(const pb::NodeProto& proto, const Node& node, int input, const Sequence*& out) {
  out = HasInput(proto, input) ? FindSequence(*scope_, proto.input(input)) : nullptr;
  if (out != nullptr && out->stacked >= 0)
    return NotBuiltAt(node, fmt::format("input {} has as many tensors as only a run tells, which is not supported here", input));
  if (out != nullptr && !out->is_absent) return Status::Ok();
  int value = -1;
  if (out == nullptr) WF_RETURN_IF_ERROR(TakeTensor(proto, node, input, value));
  return Fail(fmt::format("{}: input {} is {}, wanted a sequence", node.Describe(), input,
                          out == nullptr ? "a tensor" : "an optional value that is not there"));
}

Status GraphReader::TakeTensor(const pb::NodeProto& proto, const Node& node, int input, int& value) {
  if (!HasInput(proto, input)) return Fail(fmt::format("{}: input {} is absent but required", node.Describe(), input));
  const Thing thing = FindThing(proto.input(input));
  if (thing.sequence) return NotBuiltAt(node, fmt::format("input {} is a sequence or absent, wanted a tensor", input));
  value = thing.value;
  if (value >= 0) return Status::Ok();
  return Fail(fmt::format("{}: {}", node.Describe(), WhyAbsent(node, proto.input(input))));
}

Status GraphReader::CheckSameTypes(const Node& node, const std::vector<int>& values) {
  uint8_t dtype = 0;
  for (const int value : values) {
    const Known* const known = KnownOf(value);
    if (known == nullptr) continue;
    if (dtype != 0 && known->dtype != dtype)
      return Fail(
          fmt::format("{}: tensors of different types in a sequence, {} and {}", node.Describe(), TypeName(dtype), TypeName(known->dtype)));
    dtype = known->dtype;
  }
  return Status::Ok();
}

base::Result<int64_t> GraphReader::PositionOf(const pb::NodeProto& proto, const Node& node, int input, int64_t count, int64_t most) {
  int value = -1;
  WF_RETURN_IF_ERROR(TakeTensor(proto, node, input, value));
  const auto numbers = IntegersOf(value);
  if (!numbers) return NotBuiltAt(node, "its position is computed from data, which is not supported");
  if (numbers->empty()) return Fail(fmt::format("{}: no position", node.Describe()));
  const int64_t position = (*numbers)[0];
  if (position < -count || position > most)
    return Fail(fmt::format("{}: position {} in a sequence of {}", node.Describe(), position,
                            base::Counted(static_cast<uint64_t>(count), "tensor")));
  return position < 0 ? position + count : position;
}

std::vector<int> GraphReader::AddNode(const Node& node, Op op, std::vector<int> in, size_t outs, std::vector<Attribute> attributes) {
  Node added;
  added.op = op;
  added.name = node.name;
  added.index = node.index;
  added.opset = node.opset;
  added.origin = node.origin;
  added.in = std::move(in);
  added.attributes = std::move(attributes);
  for (size_t i = 0; i < outs; ++i) {
    added.out.push_back(static_cast<int>(graph().values.size()));
    graph().values.push_back({node.Label(), -1});
  }
  std::vector<int> values = added.out;
  graph().nodes.push_back(std::move(added));
  return values;
}

int GraphReader::AddConstant(const Node& node, uint8_t dtype, int64_t number) {
  Weight weight;
  weight.name = node.name;
  weight.dtype = dtype;
  weight.held = true;
  weight.bytes.resize(static_cast<size_t>(ElementSize(dtype)));
  std::memcpy(weight.bytes.data(), &number, weight.bytes.size());  // little-endian: the low bytes are the narrow number
  const int value = static_cast<int>(graph().values.size());
  graph().values.push_back({node.Label(), -1});
  SetWeight(value, std::move(weight));
  return value;
}

const Known* GraphReader::KnownOf(int value) {
  if (!is_of_model() || value < 0) return nullptr;
  const Graph& whole = model_.graph;
  const size_t before = known_.size();
  known_.resize(whole.values.size());
  for (size_t i = 0; before == 0 && i < whole.inputs.size(); ++i) {
    const Port& port = model_.signature.inputs[i];
    known_[static_cast<size_t>(whole.inputs[i])] = {port.dtype, port.dim, std::nullopt};
  }
  for (size_t i = before; i < known_.size(); ++i) {
    if (whole.values[i].weight >= 0) known_[i] = KnownOfWeight(whole.weight(whole.values[i].weight));
  }
  for (; !is_stuck_ && known_nodes_ < whole.nodes.size(); ++known_nodes_)
    is_stuck_ = !InferNode(whole, whole.nodes[known_nodes_], known_, /*exact=*/true, &followed_).ok();
  const Known& known = known_[static_cast<size_t>(value)];
  return known.dtype == 0 ? nullptr : &known;
}

std::optional<std::vector<int64_t>> GraphReader::IntegersOf(int value, size_t most) {
  if (value < 0) return std::nullopt;
  std::vector<int64_t> numbers;
  if (const int index = graph().values[static_cast<size_t>(value)].weight; index >= 0) {
    const Weight& weight = graph().weight(index);
    if (!weight.held || weight.count() > static_cast<int64_t>(most) ||
        (weight.dtype != WF_I64 && weight.dtype != WF_I32 && weight.dtype != WF_BOOL))
      return std::nullopt;
    const auto size = static_cast<size_t>(ElementSize(weight.dtype));
    for (size_t at = 0; at < weight.bytes.size(); at += size) numbers.push_back(IntegerAt(weight, at));
    return numbers;
  }
  const Known* const known = KnownOf(value);
  if (known == nullptr || !known->content || known->content->size() > most) return std::nullopt;
  for (const Dim& dim : *known->content) {
    if (!dim.is_constant()) return std::nullopt;
    numbers.push_back(*dim.constant());
  }
  return numbers;
}

}  // namespace wf::onnx
