#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/base/text.h"
#include "runtime/onnx/compound.h"
#include "runtime/onnx/graph_reader.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/order.h"
#include "runtime/onnx/tensor.h"
#include "runtime/onnx/trees.h"
#include "runtime/onnx/unread.h"
#include "runtime/onnx/upgrade.h"

namespace wf::onnx {

using base::Status;

namespace {

constexpr size_t kMaxOperatorsTold = 16;
constexpr int kMaxResults = 1024;  // of a body

// "2", or "1 to 3"
std::string RangeText(int low, int high) { return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high); }

}  // namespace

Status GraphReader::FindOperators() {
  Status first = Status::Ok();
  std::vector<std::string> others;
  std::set<std::pair<std::string, std::string>> seen;
  rows_.reserve(node_count());
  for (size_t i = 0; i < node_count(); ++i) {
    const pb::NodeProto* node = nullptr;
    WF_RETURN_IF_ERROR(NodeAt(i, node));
    const pb::NodeProto& proto = *node;
    imports_ = node_opsets_.of_node[i];
    Status status = FindRow(proto, static_cast<int>(i), rows_.emplace_back());
    if (status.ok() || !seen.emplace(proto.domain(), proto.op_type()).second) continue;
    if (seen.size() > 1 && others.size() < kMaxOperatorsTold) others.push_back(Printable(proto.op_type()));
    if (first.ok()) first = std::move(status);
  }
  if (others.empty()) return first;
  const size_t untold = seen.size() - 1 - others.size();
  return Status(first.code(), fmt::format("{}; nor {} `{}`{}", first.message(), others.size() == 1 ? "is" : "are",
                                          fmt::join(others, "`, `"), untold > 0 ? fmt::format(" and {} more", untold) : ""));
}

// Bodies within it are read meanwhile.
Status GraphReader::ReadNode(const pb::NodeProto& proto, int index, const OperatorRow* row) {
  const int64_t opset = row->domain.empty() ? imports_->standard : imports_->other.at(proto.domain());
  const Node::Origin outer = std::exchange(origin_, {row->op, static_cast<int>(opset)});
  Status status = ReadAnyForm(proto, index, row);
  origin_ = outer;
  return status;
}

Node GraphReader::Begin(const pb::NodeProto& proto, int index, Op op) const {
  Node node;
  node.name = Printable(proto.name());
  node.index = index;
  node.op = op;
  node.origin = origin_;
  return node;
}

Status GraphReader::ReadAnyForm(const pb::NodeProto& proto, int index, const OperatorRow* row) {
  if (!row->domain.empty() || !IsOldForm(proto, imports_->standard)) return ReadNewer(proto, index, row);
  if (row->op == Op::kScan && depth_ > 0)  // each would be a copy of all within it
    return NotBuilt(Begin(proto, index, row->op).Describe() + ": within a body it is not supported");
  std::vector<pb::NodeProto> nodes;
  if (const Status status = Upgrade(proto, imports_->standard, nodes); !status.ok())
    return Prefixed(status, Begin(proto, index, row->op).Describe());
  for (const pb::NodeProto& each : nodes) WF_RETURN_IF_ERROR(ReadNewer(each, index, FindOperator(each.domain(), each.op_type())));
  return Status::Ok();
}

Status GraphReader::ReadNewer(const pb::NodeProto& proto, int index, const OperatorRow* row) {
  Node node = Begin(proto, index, row->op);
  const Opsets& opsets = *imports_;
  node.opset = row->domain.empty() ? std::max(opsets.standard, kOldestForm) : static_cast<int>(opsets.other.at(proto.domain()));
  if (proto.input_size() < row->min_in || proto.input_size() > row->max_in) {
    return Fail(
        fmt::format("{}: {}, wanted {}", node.Describe(), base::Counted(proto.input_size(), "input"), RangeText(row->min_in, row->max_in)));
  }
  if (proto.output_size() < 1 || proto.output_size() > row->max_out) {
    return Fail(
        fmt::format("{}: {}, wanted {}", node.Describe(), base::Counted(proto.output_size(), "output"), RangeText(1, row->max_out)));
  }
  if (IsCompound(*row, proto)) return ReadCompound(proto, index, *row);
  bool is_done = false;
  WF_RETURN_IF_ERROR(ReadWrittenOut(proto, row, node, is_done));
  if (is_done) return Status::Ok();
  auto bodies = std::exchange(bodies_, {});
  WF_RETURN_IF_ERROR(ReadAttributes(proto, row->attributes, node));
  std::swap(bodies, bodies_);
  WF_RETURN_IF_ERROR(ReadInEdges(proto, row->min_in, node));
  WF_RETURN_IF_ERROR(bodies.empty() ? ReadOutEdges(proto, node) : AddBodyOutputs(proto, bodies, node));
  AddCaptures(bodies, node);
  WF_RETURN_IF_ERROR(FinishMl(proto, node));
  if (node.op == Op::kConstant) return FoldConstant(node);
  graph().nodes.push_back(std::move(node));
  return Status::Ok();
}

Status GraphReader::ReadCompound(const pb::NodeProto& proto, int index, const OperatorRow& row) {
  std::vector<pb::NodeProto> nodes;
  if (const Status status = WriteOutCompound(proto, row, imports_->standard, nodes); !status.ok())
    return Prefixed(status, Begin(proto, index, row.op).Describe());
  for (const pb::NodeProto& each : nodes) WF_RETURN_IF_ERROR(ReadNewer(each, index, FindOperator(each.domain(), each.op_type())));
  return Status::Ok();
}

Status GraphReader::FinishMl(const pb::NodeProto& proto, Node& node) {
  switch (node.op) {
    case Op::kMlTreeEnsemble:
    case Op::kMlTreeEnsembleClassifier:
    case Op::kMlTreeEnsembleRegressor:
      if (const Status status = ReadTrees(model_, graph(), node); !status.ok())
        return Status(status.code(), fmt::format("`{}`: {}: {}", model_.path, node.Describe(), status.message()));
      return Status::Ok();
    case Op::kMlLabelEncoder:
    case Op::kMlCategoryMapper:
      texts_.AddDefault(node);
      return Status::Ok();
    case Op::kMlZipMap:
      maps_.insert(proto.output(0));
      return Status::Ok();
    default:
      return Status::Ok();
  }
}

Status GraphReader::FindRow(const pb::NodeProto& proto, int index, const OperatorRow*& row) const {
  const bool standard = IsStandard(proto.domain());
  const Opsets& opsets = *imports_;
  const auto imported = opsets.other.find(proto.domain());
  const bool is_imported = standard ? opsets.standard > 0 : imported != opsets.other.end();
  const int64_t opset = !is_imported ? 0 : standard ? opsets.standard : imported->second;
  row = FindOperator(proto.domain(), proto.op_type());
  if (row != nullptr && opset >= row->since) return Status::Ok();
  const std::string version = is_imported ? fmt::format("opset {}", opset) : "of which the model imports no opset";
  const std::string op = Printable(proto.op_type()), name = Printable(proto.name());
  const std::string node = name.empty() ? fmt::format("node {}", index) : fmt::format("node `{}`", name);
  return NotBuilt(fmt::format("{} ({}): operator `{}` of {}, {}, is not supported{}", node, op, op,
                              standard ? "ai.onnx" : '`' + Printable(proto.domain()) + '`', version,
                              standard && row == nullptr ? MeantBy(op) : ""));
}

Status GraphReader::ReadAttributes(const pb::NodeProto& proto, std::string_view known, Node& node) {
  for (const pb::AttributeProto& attribute : proto.attribute()) {
    const std::string name = Printable(attribute.name());
    const Attribute::Kind wanted = WantedKind(known, name);
    const bool is_written = name.starts_with('#') && node.origin.op == node.op;  // by a file, which may not
    if (wanted == Attribute::Kind::kOther || is_written)
      return NotBuilt(fmt::format("{}: attribute `{}` is not supported", node.Describe(), name));
    if (IsOtherValue(known, name, attribute.i(), attribute.s()))
      return NotBuilt(fmt::format("{}: this value of attribute `{}` is not supported", node.Describe(), name));
    if (node.Find(name) != nullptr) return Fail(fmt::format("{}: attribute `{}` is given twice", node.Describe(), name));
    if (!attribute.ref_attr_name().empty())
      return Fail(fmt::format("{}: attribute `{}` refers to one of a function", node.Describe(), name));
    Attribute read;
    read.name = name;
    WF_RETURN_IF_ERROR(ReadAttribute(attribute, node, read));
    if (read.kind != wanted) return Fail(fmt::format("{}: attribute `{}` has another type than the operator's", node.Describe(), name));
    node.attributes.push_back(std::move(read));
  }
  return Status::Ok();
}

Status GraphReader::ReadAttribute(const pb::AttributeProto& proto, const Node& node, Attribute& out) {
  using enum Attribute::Kind;
  switch (proto.type()) {
    case pb::AttributeProto::INT:
      out.kind = kInt;
      out.i = proto.i();
      break;
    case pb::AttributeProto::FLOAT:
      out.kind = kFloat;
      out.f = proto.f();
      break;
    case pb::AttributeProto::STRING:
      out.kind = kString;
      out.s = Printable(proto.s());
      out.strings = {proto.s()};
      if (texts_.Holds(proto.name())) out.texts = {texts_.Number(proto.s())};
      break;
    case pb::AttributeProto::INTS:
      out.kind = kInts;
      out.ints.assign(proto.ints().begin(), proto.ints().end());
      break;
    case pb::AttributeProto::FLOATS:
      out.kind = kFloats;
      out.floats.assign(proto.floats().begin(), proto.floats().end());
      break;
    case pb::AttributeProto::STRINGS:
      out.kind = kStrings;
      out.strings.assign(proto.strings().begin(), proto.strings().end());
      if (texts_.Holds(proto.name())) out.texts = texts_.Numbers(out.strings);
      break;
    case pb::AttributeProto::TENSOR: {
      auto weight = ReadTensor(proto.t(), {}, model_, texts_, options_);
      if (!weight.ok()) return Prefixed(weight.status(), fmt::format("{}: attribute `{}`", node.Describe(), out.name));
      out.kind = kTensor;
      out.tensor = graph().Add(*std::move(weight));
      break;
    }
    case pb::AttributeProto::SPARSE_TENSOR: {
      auto weight = ReadSparseTensor(proto.sparse_tensor(), model_, texts_, options_, sparse_left_bytes_);
      if (!weight.ok()) return Prefixed(weight.status(), fmt::format("{}: attribute `{}`", node.Describe(), out.name));
      out.kind = kTensor;
      out.tensor = graph().Add(*std::move(weight));
      break;
    }
    case pb::AttributeProto::GRAPH:
      return ReadBody(proto.g(), node, out);
    default:
      break;  // kOther: no operator of ours takes it
  }
  return Status::Ok();
}

Status GraphReader::ReadInEdges(const pb::NodeProto& proto, int min_in, Node& node) {
  for (const std::string& name : proto.input()) {
    if (!name.empty() && FindSequence(*scope_, name) != nullptr)
      return NotBuilt(fmt::format("{}: it reads `{}`, a sequence or an optional value that is not there, which it does not take here",
                                  node.Describe(), Printable(name)));
    node.in.push_back(name.empty() ? -1 : Find(*scope_, name));
    if (!name.empty() && node.in.back() < 0) return Fail(fmt::format("{}: {}", node.Describe(), WhyAbsent(node, name)));
    if (maps_.contains(name))
      return NotBuilt(
          fmt::format("{}: it reads `{}`, a map for each row: only outputs of the model may be that", node.Describe(), Printable(name)));
  }
  for (int i = 0; i < min_in; ++i) {
    if (node.in[static_cast<size_t>(i)] < 0) return Fail(fmt::format("{}: input {} is absent but required", node.Describe(), i));
  }
  return Status::Ok();
}

Status GraphReader::ReadOutEdges(const pb::NodeProto& proto, Node& node) {
  for (const std::string& name : proto.output()) {
    node.out.push_back(name.empty() ? -1 : Define(name));
    if (!name.empty() && node.out.back() < 0)
      return Fail(fmt::format("{}: it writes `{}`, which exists already", node.Describe(), Printable(name)));
  }
  if (node.out[0] >= 0) return Status::Ok();
  node.out[0] = static_cast<int>(graph().values.size());  // rules and kernels have it even where nobody reads it
  graph().values.emplace_back();
  return Status::Ok();
}

Status GraphReader::FoldConstant(const Node& node) {
  if (node.attributes.size() != 1) return Fail(fmt::format("{}: wanted exactly one value", node.Describe()));
  const Attribute& value = node.attributes[0];
  if (value.kind == Attribute::Kind::kTensor) {
    graph().values[static_cast<size_t>(node.out[0])].weight = value.tensor;
    return Status::Ok();
  }
  Weight weight;
  weight.name = graph().values[static_cast<size_t>(node.out[0])].name;
  weight.held = true;
  const auto take = [&](uint8_t dtype, const auto* data, size_t count, bool vector) {
    weight.dtype = dtype;
    if (vector) weight.dim = {static_cast<int64_t>(count)};
    const auto* bytes = reinterpret_cast<const uint8_t*>(data);
    weight.bytes.assign(bytes, bytes + count * sizeof(*data));
  };
  using enum Attribute::Kind;
  if (value.kind == kInt) take(WF_I64, &value.i, 1, false);
  if (value.kind == kFloat) take(WF_F32, &value.f, 1, false);
  if (value.kind == kInts) take(WF_I64, value.ints.data(), value.ints.size(), true);
  if (value.kind == kString || value.kind == kStrings) take(kStringType, value.texts.data(), value.texts.size(), value.kind == kStrings);
  if (value.kind == kFloats) take(WF_F32, value.floats.data(), value.floats.size(), true);
  SetWeight(node.out[0], std::move(weight));
  return Status::Ok();
}

int GraphReader::Define(const std::string& name) {
  const int index = static_cast<int>(graph().values.size());
  if (scope_->sequences.contains(name) || !scope_->values.emplace(name, index).second) return -1;
  graph().values.push_back({Printable(name), -1});
  return index;
}

void GraphReader::SetWeight(int value, Weight weight) {
  graph().values[static_cast<size_t>(value)].weight = graph().Add(std::move(weight));
}

int GraphReader::Find(Scope& scope, const std::string& name) {
  if (const auto found = scope.values.find(name); found != scope.values.end()) return found->second;
  const int outside = scope.outer == nullptr ? -1 : Find(*scope.outer, name);
  if (outside < 0 || scope.is_written_out) return outside;
  const int index = Capture(scope, outside, name);
  scope.values.emplace(name, index);
  return index;
}

int GraphReader::Capture(Scope& scope, int outside, const std::string& name) {
  const int index = static_cast<int>(scope.graph->values.size());
  scope.graph->values.push_back({Printable(name), -1});
  scope.graph->inputs.push_back(index);
  scope.captured.push_back(outside);
  return index;
}

Status GraphReader::ReadBody(const pb::GraphProto& proto, const Node& node, Attribute& attribute) {
  if (depth_ >= kMostDepth) return NotBuilt(fmt::format("{}: bodies in bodies, more than {} deep", node.Describe(), kMostDepth));
  const auto body = std::make_shared<Graph>();
  Body read{attribute.name, {}, {}};
  Scope inner{body.get(), &proto, scope_, false, {}, {}, {}};
  Scope* const outer = std::exchange(scope_, &inner);
  ++depth_;
  const Status status = ReadInner(proto, read);
  --depth_;
  scope_ = outer;
  if (!status.ok()) return Status(status.code(), fmt::format("{}, in `{}` of {}", status.message(), attribute.name, node.Describe()));
  read.captured = std::move(inner.captured);
  attribute.kind = Attribute::Kind::kGraph;
  attribute.body = static_cast<int>(graph().bodies.size());
  bodies_.push_back(std::move(read));
  graph().bodies.push_back(body);
  return Status::Ok();
}

std::vector<std::string> GraphReader::GivenInputs(const pb::GraphProto& body) {
  std::unordered_set<std::string> initialised;
  for (const pb::TensorProto& tensor : body.initializer()) initialised.insert(tensor.name());
  for (const pb::SparseTensorProto& tensor : body.sparse_initializer()) initialised.insert(tensor.values().name());
  std::vector<std::string> given;
  for (const pb::ValueInfoProto& input : body.input()) {
    if (!initialised.contains(input.name())) given.push_back(input.name());
  }
  return given;
}

Status GraphReader::ReadInner(const pb::GraphProto& proto, Body& body) {
  for (const std::string& input : GivenInputs(proto)) {
    const int value = Define(input);
    if (value < 0) return Fail(fmt::format("input `{}` is defined twice", Printable(input)));
    graph().inputs.push_back(value);
  }
  graph().formal_inputs = graph().inputs.size();
  WF_RETURN_IF_ERROR(ReadInnerNodes(proto));
  for (const pb::ValueInfoProto& output : proto.output()) {
    const Thing thing = FindThing(output.name());
    if (thing.value < 0 && !thing.sequence) return Fail(fmt::format("output `{}` is written by no node", Printable(output.name())));
    if (!thing.sequence) {
      body.results.push_back(kTensor);
      graph().outputs.push_back(thing.value);
      continue;
    }
    if (thing.sequence->stacked >= 0)
      return NotBuilt(fmt::format("output `{}` is a sequence of as many tensors as only a run tells", Printable(output.name())));
    body.results.push_back(thing.sequence->is_absent ? kAbsent : static_cast<int>(thing.sequence->elements.size()));
    graph().outputs.insert(graph().outputs.end(), thing.sequence->elements.begin(), thing.sequence->elements.end());
  }
  LeaveOutUnread(graph());
  return Status::Ok();
}

// Initialisers and nodes of the body that is the scope.
Status GraphReader::ReadInnerNodes(const pb::GraphProto& proto) {
  if (proto.output_size() == 0 || proto.output_size() > kMaxResults) return Fail("a body without results, or with too many");
  for (const pb::TensorProto& tensor : proto.initializer()) {
    auto weight = ReadTensor(tensor, {}, model_, texts_, options_);
    if (!weight.ok()) return Prefixed(weight.status(), fmt::format("initialiser `{}`", Printable(tensor.name())));
    const int value = Define(tensor.name());
    if (value < 0) return Fail(fmt::format("initialiser `{}` is defined twice", Printable(tensor.name())));
    SetWeight(value, *std::move(weight));
  }
  WF_RETURN_IF_ERROR(ReadSparseInitializers(proto));
  const Opsets* const around = imports_;
  for (int i = 0; i < proto.node_size(); ++i) {
    const OperatorRow* row = nullptr;
    imports_ = node_opsets_.OfInner(proto.node(i), around);
    WF_RETURN_IF_ERROR(FindRow(proto.node(i), i, row));
    WF_RETURN_IF_ERROR(ReadNode(proto.node(i), i, row));
  }
  imports_ = around;
  return Status::Ok();
}

void GraphReader::AddCaptures(const std::vector<Body>& bodies, Node& node) {
  for (Attribute& attribute : node.attributes) {
    for (const Body& body : bodies) {
      if (attribute.name != body.attribute) continue;
      attribute.first_capture = node.in.size();
      node.in.insert(node.in.end(), body.captured.begin(), body.captured.end());
    }
  }
}

}  // namespace wf::onnx
