#include "runtime/onnx/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/onnx/rules.h"
#include "runtime/onnx/work.h"

namespace wf::onnx {
namespace {

using base::Status;

enum class Types { F, I, N, M, B, A, S };

Types TypesOf(Op op) {
  switch (op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case Op::k##domain##name:                                                                     \
    return Types::types;
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return Types::A;
}

// What files do with elements that are only stored.
bool TakesNarrow(Op op) {
  constexpr Op kThese[] = {Op::kCast,
                           Op::kCastLike,
                           Op::kDequantizeLinear,
                           Op::kFlatten,
                           Op::kIdentity,
                           Op::kIf,
                           Op::kLoop,
                           Op::kPad,
                           Op::kQuantizeLinear,
                           Op::kReshape,
                           Op::kScan,
                           Op::kShape,
                           Op::kSize,
                           Op::kSqueeze,
                           Op::kTranspose,
                           Op::kUnsqueeze,
                           Op::kMsGatherBlockQuantized};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

bool Accepts(Types types, uint8_t dtype) {
  if (IsNarrow(dtype)) return true;  // see TakesNarrow
  const bool real = IsFloat(dtype), text = dtype == kStringType;
  switch (types) {
    case Types::F:
      return real;
    case Types::I:
      return !real && !text && dtype != WF_BOOL;
    case Types::N:
      return !text && dtype != WF_BOOL;
    case Types::M:
      return real || dtype == WF_I8 || dtype == WF_I16 || dtype == WF_I32 || dtype == WF_I64;
    case Types::B:
      return dtype == WF_BOOL;
    case Types::A:
      return !text;
    case Types::S:
      return true;
  }
  return false;
}

Status Rule(NodeContext& context) {
  switch (context.node.op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case Op::k##domain##name:                                                                     \
    return Infer##infer(context);
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return Status::Ok();
}

bool IsFollowed(uint8_t dtype) { return dtype == WF_I64 || dtype == WF_I32 || dtype == WF_BOOL; }

std::optional<std::vector<Dim>> ContentOf(const Weight& weight) {
  if (!IsFollowed(weight.dtype) || !weight.held || weight.dim.size() > 1) return std::nullopt;
  const size_t size = static_cast<size_t>(base::DTypeSize(weight.dtype));
  if (weight.bytes.size() / size > static_cast<size_t>(kMaxContent)) return std::nullopt;
  std::vector<Dim> content;
  for (size_t at = 0; at < weight.bytes.size(); at += size) content.emplace_back(IntegerAt(weight, at));
  return content;
}

template <typename T>
double RealAs(const uint8_t* bytes, int64_t at) {
  T value;
  std::memcpy(&value, bytes + at * static_cast<int64_t>(sizeof value), sizeof value);
  return static_cast<double>(value);
}

// Of the numbers that C++ has.
std::optional<double> RealAt(const Weight& weight, int64_t at) {
  const uint8_t* bytes = weight.bytes.data();
  switch (weight.dtype) {
    case WF_F32:
      return RealAs<float>(bytes, at);
    case WF_F64:
      return RealAs<double>(bytes, at);
    case WF_I8:
      return RealAs<int8_t>(bytes, at);
    case WF_I16:
      return RealAs<int16_t>(bytes, at);
    case WF_I32:
      return RealAs<int32_t>(bytes, at);
    case WF_I64:
      return RealAs<int64_t>(bytes, at);
    case WF_U8:
      return RealAs<uint8_t>(bytes, at);
    case WF_U16:
      return RealAs<uint16_t>(bytes, at);
    case WF_U32:
      return RealAs<uint32_t>(bytes, at);
    case WF_U64:
      return RealAs<uint64_t>(bytes, at);
    default:
      return std::nullopt;
  }
}

// What is too large to compute with is as unknown as any extent that only a run tells.
void ForgetFaulty(std::vector<Dim>& dims, base::UnknownDims& unknown) {
  for (Dim& dim : dims) {
    if (dim.fault() != Dim::Fault::kNone) dim = unknown.Next();
  }
}

Status CheckInputs(const NodeContext& context) {
  for (size_t i = 0; i < context.node.in.size(); ++i) {
    if (!context.has_in(i)) continue;
    if (IsNarrow(context.in(i).dtype) && !TakesNarrow(context.node.op))
      return context.NotBuilt(fmt::format("elements of type {} are not supported here", TypeName(context.in(i).dtype)));
    if (const auto bytes = LeastBytes(context.in(i), kMostTensorBytes); !bytes.ok()) return bytes.status();
  }
  return Status::Ok();
}

Status RunNode(NodeContext& context) {
  const Node& node = context.node;
  WF_RETURN_IF_ERROR(CheckInputs(context));
  if (context.has_in(0) && !Accepts(TypesOf(node.op), context.in(0).dtype)) {
    return context.NotBuilt(fmt::format("elements of type {} are not supported here", TypeName(context.in(0).dtype)));
  }
  WF_RETURN_IF_ERROR(Rule(context));
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (!context.has_out(i)) continue;
    Known& out = context.out(i);
    if (out.dtype == 0) return context.NotBuilt(fmt::format("its output {} is not supported", i));
    if (out.dim.size() > WF_MAX_RANK)
      return context.NotBuilt(fmt::format("a result of {} axes, {} are the most", out.dim.size(), int{WF_MAX_RANK}));
    ForgetFaulty(out.dim, context.unknown);
    for (const Dim& dim : out.dim) {
      if (dim.constant().value_or(0) < 0) return context.Fail(fmt::format("a result of shape {}", ToString(out.dtype, out.dim)));
    }
    if (const auto bytes = LeastBytes(out, kMostTensorBytes); !bytes.ok()) return bytes.status();
    if (i == 0 && !out.content) out.content = ElementwiseContent(context);
    if (out.content) ForgetFaulty(*out.content, context.unknown);
    if (out.content && (!IsFollowed(out.dtype) || out.dim.size() > 1 || out.content->size() > static_cast<size_t>(kMaxContent)))
      out.content.reset();
  }
  return Status::Ok();
}

}  // namespace

int64_t IntegerAt(const Weight& weight, size_t at) {
  int64_t wide = 0;
  int32_t narrow = 0;
  if (weight.dtype == WF_BOOL) return weight.bytes[at] != 0 ? 1 : 0;
  const bool is_wide = weight.dtype == WF_I64;
  std::memcpy(is_wide ? static_cast<void*>(&wide) : &narrow, weight.bytes.data() + at, is_wide ? sizeof wide : sizeof narrow);
  return is_wide ? wide : narrow;
}

const Weight* NodeContext::weight(size_t i) const {
  if (!has_in(i)) return nullptr;
  const int index = graph_.values[static_cast<size_t>(node.in[i])].weight;
  in(i).wanted = in(i).wanted || index < 0;
  return index < 0 ? nullptr : &graph_.weight(index);
}

const Graph* NodeContext::Body(std::string_view attribute) const {
  const Attribute* found = node.Find(attribute);
  return found == nullptr || found->body < 0 ? nullptr : graph_.bodies[static_cast<size_t>(found->body)].get();
}

std::vector<Known> NodeContext::Captured(std::string_view attribute) const {
  const Graph* body = Body(attribute);
  std::vector<Known> captured;
  for (size_t i = 0; body != nullptr && i < body->inputs.size() - body->formal_inputs; ++i)
    captured.push_back(in(node.Find(attribute)->first_capture + i));
  return captured;
}

size_t NodeContext::FormalInputs() const {
  size_t count = node.in.size();
  for (const Attribute& attribute : node.attributes) {
    if (attribute.body >= 0) count = std::min(count, attribute.first_capture);
  }
  return count;
}

const Weight* NodeContext::TensorOf(std::string_view attribute) const {
  const Attribute* found = node.Find(attribute);
  return found == nullptr || found->tensor < 0 ? nullptr : &graph_.weight(found->tensor);
}

const std::optional<std::vector<Dim>>& NodeContext::Content(size_t i) const {
  static const std::optional<std::vector<Dim>> kNone;
  if (!has_in(i)) return kNone;
  const auto& content = in(i).content;
  const auto is_number = [](const Dim& dim) { return dim.is_constant(); };
  if (!content || !std::all_of(content->begin(), content->end(), is_number)) in(i).wanted = true;
  return content;
}

std::optional<std::vector<int64_t>> NodeContext::Numbers(size_t i) const {
  if (!has_in(i)) return std::nullopt;
  std::vector<int64_t> numbers;
  const Weight* constant = weight(i);
  if (!in(i).content && constant != nullptr && constant->held && IsFollowed(constant->dtype)) {  // long, or of several axes
    const size_t size = static_cast<size_t>(base::DTypeSize(constant->dtype));
    for (size_t at = 0; at < constant->bytes.size(); at += size) numbers.push_back(IntegerAt(*constant, at));
    return numbers;
  }
  const auto& content = Content(i);
  if (!content) return std::nullopt;
  for (const Dim& dim : *content) {
    if (!dim.is_constant()) return std::nullopt;
    numbers.push_back(*dim.constant());
  }
  return numbers;
}

std::optional<std::vector<double>> NodeContext::Reals(size_t i) const {
  std::vector<double> reals;
  if (const auto numbers = Numbers(i)) {
    for (const int64_t each : *numbers) reals.push_back(static_cast<double>(each));
    return reals;
  }
  const Weight* constant = weight(i);
  if (constant == nullptr || !constant->held) return std::nullopt;
  for (int64_t at = 0; at < constant->count(); ++at) {
    const auto real = RealAt(*constant, at);
    if (!real) return std::nullopt;
    reals.push_back(*real);
  }
  return reals;
}

std::optional<size_t> NodeContext::Length(size_t i) const {
  if (!has_in(i) || rank(i) != 1) return std::nullopt;
  const auto extent = in(i).dim[0].constant();
  return extent ? std::optional(static_cast<size_t>(*extent)) : std::nullopt;
}

NodeContext::Ints NodeContext::FindInts(const char* attribute, size_t input) const {
  if (const Attribute* found = node.Find(attribute)) return {true, found->ints};
  if (!has_in(input)) return {};
  if (Length(input) == 0) return {true, std::vector<int64_t>()};
  return {true, Numbers(input)};
}

Status NodeContext::IntsOf(const char* attribute, size_t input, std::optional<std::vector<int64_t>>& out) const {
  Ints found = FindInts(attribute, input);
  if (found.from_data()) return NotBuilt(fmt::format("its `{}` are computed from data, which is not supported", attribute));
  out = std::move(found.numbers);
  return Status::Ok();
}

Shape NodeContext::Unknowns(size_t count) {
  Shape shape;
  while (shape.size() < count) shape.push_back(unknown.Next());
  return shape;
}

Status NodeContext::Axis(int64_t axis, size_t rank, size_t& out) const {
  const int64_t count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return Fail(fmt::format("axis {} of a tensor with {} {}", axis, rank, rank == 1 ? "axis" : "axes"));
  out = static_cast<size_t>(axis < 0 ? axis + count : axis);
  return Status::Ok();
}

Status NodeContext::SameType(size_t a, size_t b) const {
  if (in(a).dtype == in(b).dtype) return Status::Ok();
  return Fail(fmt::format("inputs of different types, {} and {}", InType(a), InType(b)));
}

Status NodeContext::Rank(size_t i, size_t wanted) const {
  if (rank(i) == wanted) return Status::Ok();
  return Fail(fmt::format("input {} is {}, wanted {} axes", i, InType(i), wanted));
}

std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b, base::UnknownDims& unknown) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.is_constant() && b.is_constant()) return std::nullopt;
  if (a.is_constant()) return a;  // the other can only be 1 or the same
  return b.is_constant() ? b : unknown.Next();
}

std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b, base::UnknownDims& unknown) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    auto both = BroadcastDim(longer[skip + i], shorter[i], unknown);
    if (!both) return std::nullopt;
    result[skip + i] = *std::move(both);
  }
  return result;
}

Dim Product(std::span<const Dim> dims) {
  Dim product(1);
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

base::Result<int64_t> LeastBytes(const Known& known, int64_t max_bytes) {
  int64_t bytes = ElementSize(known.dtype);
  for (const Dim& dim : known.dim) {
    // An empty tensor must not hide the other extents from the limit.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim.constant().value_or(1), 1), &bytes) || bytes > max_bytes) {
      return Status(base::kOutOfRange,
                    fmt::format("a tensor {} is above the limit of {} bytes", ToString(known.dtype, known.dim), max_bytes));
    }
  }
  return bytes;
}

// Not by walking through bodies, or by counting elements.
static bool IsComputedFromShapes(const Node& node, std::span<const Known> known) {
  const auto has_body = [](const Attribute& attribute) { return attribute.body >= 0; };
  const auto is_known = [&](int out) {
    return out < 0 || std::all_of(
                          known[static_cast<size_t>(out)].dim.begin(), known[static_cast<size_t>(out)].dim.end(),
                          [](const Dim& dim) { return dim.is_constant(); });
  };
  return std::none_of(node.attributes.begin(), node.attributes.end(), has_body) && std::all_of(node.out.begin(), node.out.end(), is_known);
}

static int64_t StoredBytes(const Graph& graph) {
  int64_t stored = 0;
  for (const auto& weight : graph.weights) stored += weight == nullptr || weight->is_sparse ? 0 : weight->stored_bytes();
  return stored;
}

int64_t MostConstantBytes(const Graph& graph) {
  constexpr int64_t kOfWeights = 4;  // a weight that is converted from 8 bits, or one that is rearranged four times
  return kMostConstantBytes + kOfWeights * StoredBytes(graph);
}

int64_t MostConstantWork(const Graph& graph) {
  constexpr int64_t kOfWeights = 32;  // ns of each byte: 16 elements of 4 bytes that are read or written for each of its own
  return kMostConstantWork + kOfWeights * StoredBytes(graph);
}

// Whether its results fit into what is left, which is less then.
static bool TakeBytes(const Node& node, std::span<const Known> known, int64_t& left) {
  int64_t rest = left;
  for (const int index : node.out) {
    const auto bytes = index < 0 ? base::Result<int64_t>(0) : LeastBytes(known[static_cast<size_t>(index)], rest);
    if (!bytes.ok()) return false;
    rest -= *bytes;
  }
  left = rest;
  return true;
}

Constants ConstantNodes(const Graph& graph, std::span<const Known> known, int64_t max_bytes, int64_t max_work) {
  std::vector<bool> is_constant(graph.values.size());
  Constants found{std::vector<bool>(graph.nodes.size()), max_work};
  for (size_t i = 0; i < graph.values.size(); ++i) is_constant[i] = graph.values[i].weight >= 0;
  int64_t left = max_bytes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const auto reads = [&](int in) { return in < 0 || is_constant[static_cast<size_t>(in)]; };
    if (node.in.empty() || IsOfShapes(node.op) || !std::all_of(node.in.begin(), node.in.end(), reads)) continue;
    if (!IsComputedFromShapes(node, known) || IsOfRunTexts(node, known)) continue;
    const int64_t ns = WorkOf(node, known).ns;
    if (ns > found.spare_ns || !TakeBytes(node, known, left)) continue;
    found.spare_ns -= ns;
    for (const int index : node.out) {
      if (index >= 0) is_constant[static_cast<size_t>(index)] = true;
    }
    found.nodes[i] = true;
  }
  return found;
}

Known KnownOfWeight(const Weight& weight) { return {weight.dtype, Shape(weight.dim.begin(), weight.dim.end()), ContentOf(weight)}; }

std::vector<Known> KnownWeights(const Graph& graph) {
  std::vector<Known> known(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].weight < 0) continue;
    known[i] = KnownOfWeight(graph.weight(graph.values[i].weight));
  }
  return known;
}

int64_t UnusualWeight(std::span<const Dim> dims) {
  size_t free = 0, weight = 0;
  for (const Dim& dim : dims) {
    if (dim.is_constant() || (dim.weight() <= Followed::kPlain && ++free <= Followed::kShort)) continue;
    weight += dim.weight();
  }
  return static_cast<int64_t>(weight);
}

Status InferNode(const Graph& graph, const Node& node, std::vector<Known>& known, bool exact, Followed* followed) {
  NodeContext context(graph, node, known, exact);
  context.follows_all = followed == nullptr || !followed->is_spent();
  WF_RETURN_IF_ERROR(RunNode(context));
  for (size_t i = 0; followed != nullptr && i < node.out.size(); ++i) {
    if (!context.has_out(i)) continue;
    Known& out = context.out(i);
    followed->weight += UnusualWeight(out.dim) + (out.content ? UnusualWeight(*out.content) : 0);
    if (!followed->is_spent()) continue;
    if (out.content && UnusualWeight(*out.content) > 0) out.content.reset();
    for (Dim& dim : out.dim) {
      if (dim.weight() > Followed::kPlain) dim = context.unknown.Next();
    }
  }
  return Status::Ok();
}

base::Result<std::vector<Known>> InferShapes(const Graph& graph, std::span<const Port> inputs, const std::string& model, bool exact) {
  WF_CHECK(inputs.size() == graph.inputs.size(), inputs.size(), graph.inputs.size());
  std::vector<Known> given;
  for (const Port& input : inputs) given.push_back({input.dtype, input.dim, std::nullopt});
  auto known = InferGraph(graph, given, exact);
  if (!known.ok()) return Status(known.status().code(), fmt::format("`{}`: {}", model, known.status().message()));
  return known;
}

base::Result<std::vector<Known>> InferGraph(const Graph& graph, std::span<const Known> inputs, bool exact) {
  std::vector<Known> known = KnownWeights(graph);
  for (size_t i = 0; i < inputs.size(); ++i) known[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  Followed followed;
  for (const Node& node : graph.nodes) {
    if (const Status status = InferNode(graph, node, known, exact, &followed); !status.ok())
      return Status(status.code(), fmt::format("{}: {}", node.Describe(), status.message()));
  }
  return known;
}

}  // namespace wf::onnx
