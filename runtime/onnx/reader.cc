#include "runtime/onnx/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/base/text.h"
#include "runtime/onnx/functions.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/operators.h"
#include "runtime/onnx/order.h"
#include "runtime/onnx/source.h"
#include "runtime/onnx/tensor.h"
#include "runtime/onnx/texts.h"
#include "runtime/onnx/trees.h"
#include "runtime/onnx/upgrade.h"
#include "runtime/onnx/wire.h"

namespace wf::onnx {
namespace {

using base::Result;
using base::Status;

constexpr int kMaxPorts = 1024;  // inputs, and outputs
constexpr size_t kMaxOperatorsTold = 16;
constexpr uint64_t kMostFunctionBytes = uint64_t{64} << 20;  // of nodes that stand for calls of functions

// "2", or "1 to 3"
std::string RangeText(int low, int high) { return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high); }

// Builds one model. Its methods return text with the file's name.
class Builder {
 public:
  Builder(Model& model, const ReadOptions& options) : model_(model), options_(options), texts_(model.graph.texts) {}

  Status Build(const ByteSource& source) {
    auto skeleton = ReadSkeleton(source, options_.max_graph_bytes);
    if (!skeleton.ok()) return skeleton.status();
    if (!proto_.ParseFromString(skeleton->model) || !graph_.ParseFromString(skeleton->graph)) {
      return Fail("not an ONNX model: its parts do not have the types of the format, or graphs stand in graphs more than 30 deep");
    }
    skeleton->model.clear();
    skeleton->graph.clear();
    model_.ir_version = proto_.ir_version();
    model_.producer = Printable(proto_.producer_name());
    WF_RETURN_IF_ERROR(ReadImports());
    WF_RETURN_IF_ERROR(ReadInitializers(skeleton->pieces));
    WF_RETURN_IF_ERROR(ReadInputs());
    WF_RETURN_IF_ERROR(FindOperators());
    for (int i = 0; i < graph_.node_size(); ++i) {
      imports_ = node_opsets_.of_node[static_cast<size_t>(i)];
      WF_RETURN_IF_ERROR(ReadNode(graph_.node(i), i, rows_[static_cast<size_t>(i)]));
    }
    return ReadOutputs();
  }

 private:
  // A graph that is being read, and the names in it.
  struct Scope {
    Graph* graph;
    const pb::GraphProto* proto;
    Scope* outer;                                 // null: it is the model's
    std::unordered_map<std::string, int> values;  // by the name in the file
    std::vector<int> captured;                    // values of `outer`, which the last inputs of the graph are
  };
  Graph& graph() { return *scope_->graph; }

  Status Fail(const std::string& text) const { return Status(base::kInvalidArgument, fmt::format("`{}`: {}", model_.path, text)); }
  Status NotBuilt(const std::string& text) const { return Status(base::kUnimplemented, fmt::format("`{}`: {}", model_.path, text)); }
  Status Prefixed(const Status& status, const std::string& what) const {
    return Status(status.code(), fmt::format("`{}`: {}: {}", model_.path, what, status.message()));
  }

  Status ReadImports() {
    if (const Status status = ReadOpsets(proto_.opset_import(), opsets_); !status.ok()) return NotBuilt(status.message());
    model_.opset = opsets_.standard;
    if (proto_.opset_import_size() == 0) return Fail("the model imports no operator set of ai.onnx");
    const Status status = WriteOutFunctions(proto_, opsets_, kMostFunctionBytes, graph_, node_opsets_);
    return status.ok() ? status : Status(status.code(), fmt::format("`{}`: {}", model_.path, status.message()));
  }

  Status ReadInitializers(const std::vector<std::vector<Piece>>& pieces) {
    if (graph_.sparse_initializer_size() > 0) return NotBuilt("sparse initialisers are not supported");
    WF_CHECK(pieces.size() == static_cast<size_t>(graph_.initializer_size()), pieces.size());
    for (int i = 0; i < graph_.initializer_size(); ++i) {
      const pb::TensorProto& tensor = graph_.initializer(i);
      const std::string what = fmt::format("initialiser `{}`", Printable(tensor.name()));
      auto weight = ReadTensor(tensor, pieces[static_cast<size_t>(i)], model_, texts_, options_);
      if (!weight.ok()) return Prefixed(weight.status(), what);
      if (tensor.name().empty()) return Fail("an initialiser without a name");
      const int value = Define(tensor.name());
      if (value < 0) return Fail(what + " is defined twice");
      SetWeight(value, *std::move(weight));
    }
    return Status::Ok();
  }

  Status ReadInputs() {
    for (const pb::ValueInfoProto& input : graph_.input()) {
      const auto known = scope_->values.find(input.name());
      if (known != scope_->values.end() && model_.graph.values[static_cast<size_t>(known->second)].weight >= 0)
        continue;  // it has a default
      Port port;
      WF_RETURN_IF_ERROR(ReadPort(input, "input", port));
      if (port.dtype == 0) return Fail(fmt::format("input `{}` has no element type", port.name));
      if (!ElementOf(input).tensor_type().has_shape()) return NotBuilt(fmt::format("input `{}` has no shape", port.name));
      const int value = Define(input.name());
      if (value < 0) return Fail(fmt::format("input `{}` is defined twice", port.name));
      if (model_.graph.inputs.size() >= kMaxPorts) return NotBuilt(fmt::format("more than {} inputs", kMaxPorts));
      model_.graph.inputs.push_back(value);
      model_.signature.inputs.push_back(std::move(port));
    }
    return Status::Ok();
  }

  // The type, of an optional value that of what it may hold.
  static const pb::TypeProto& ElementOf(const pb::ValueInfoProto& info) {
    return info.type().has_optional_type() ? info.type().optional_type().elem_type() : info.type();
  }

  Status ReadPort(const pb::ValueInfoProto& info, const char* what, Port& port) {
    if (info.name().empty()) return Fail(fmt::format("{} with an empty name", what));
    if (!IsPlainName(info.name()))
      return Fail(fmt::format("{} with a name that is not printable UTF-8, `{}`", what, Printable(info.name())));
    port.name = info.name();
    port.optional = info.type().has_optional_type();
    const pb::TypeProto& type = ElementOf(info);
    if (type.value_case() == pb::TypeProto::VALUE_NOT_SET || maps_.contains(info.name())) return Status::Ok();
    if (!type.has_tensor_type()) return NotBuilt(fmt::format("{} `{}` is a sequence, map or sparse tensor", what, port.name));
    const int tensor_type = type.tensor_type().elem_type();
    port.dtype = DTypeOf(tensor_type);
    if (port.dtype == 0 && tensor_type != 0) {
      return NotBuilt(
          fmt::format("{} `{}` has elements of type {}, which are not supported", what, port.name, TensorTypeName(tensor_type)));
    }
    const pb::TensorShapeProto& shape = type.tensor_type().shape();
    if (shape.dim_size() > WF_MAX_RANK) {
      return NotBuilt(fmt::format("{} `{}` has {} axes, {} are the most", what, port.name, shape.dim_size(), int{WF_MAX_RANK}));
    }
    for (const pb::TensorShapeProto::Dimension& dim : shape.dim()) {
      if (dim.has_dim_value() && dim.dim_value() < -1) {
        return Fail(fmt::format("{} `{}` has an axis of negative extent {}", what, port.name, dim.dim_value()));
      }
      const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;  // some exporters write -1 for a dynamic axis
      const bool named = dim.has_dim_param() && IsPlainName(dim.dim_param()) && dim.dim_param().find('#') == std::string::npos;
      port.dim.push_back(fixed ? Dim(dim.dim_value()) : named ? Dim::Symbol(dim.dim_param()) : unknown_.Next());
    }
    return Status::Ok();
  }

  // All that are not supported are told at once: whoever converts the model again wants to know them all.
  Status FindOperators() {
    Status first = Status::Ok();
    std::vector<std::string> others;
    std::set<std::pair<std::string, std::string>> seen;
    for (int i = 0; i < graph_.node_size(); ++i) {
      const pb::NodeProto& proto = graph_.node(i);
      imports_ = node_opsets_.of_node[static_cast<size_t>(i)];
      Status status = FindRow(proto, i, rows_.emplace_back());
      if (status.ok() || !seen.emplace(proto.domain(), proto.op_type()).second) continue;
      if (seen.size() > 1 && others.size() < kMaxOperatorsTold) others.push_back(Printable(proto.op_type()));
      if (first.ok()) first = std::move(status);
    }
    if (others.empty()) return first;
    const size_t untold = seen.size() - 1 - others.size();
    return Status(first.code(), fmt::format("{}; nor {} `{}`{}", first.message(), others.size() == 1 ? "is" : "are",
                                            fmt::join(others, "`, `"), untold > 0 ? fmt::format(" and {} more", untold) : ""));
  }

  Status ReadNode(const pb::NodeProto& proto, int index, const OperatorRow* row) {
    if (!row->domain.empty() || !IsOldForm(proto, imports_->standard)) return ReadNewer(proto, index, row);
    if (row->op == Op::kScan && depth_ > 0)  // each would be a copy of all within it
      return NotBuilt(Where(proto, index) + ": a Scan of opset 8 within a body is not supported");
    std::vector<pb::NodeProto> nodes;
    if (const Status status = Upgrade(proto, imports_->standard, nodes); !status.ok()) return Prefixed(status, Where(proto, index));
    for (const pb::NodeProto& each : nodes) WF_RETURN_IF_ERROR(ReadNewer(each, index, FindOperator(each.domain(), each.op_type())));
    return Status::Ok();
  }

  // Of a form from kOldestForm on.
  Status ReadNewer(const pb::NodeProto& proto, int index, const OperatorRow* row) {
    Node node;
    node.name = Printable(proto.name());
    node.index = index;
    node.op = row->op;
    const Opsets& opsets = *imports_;
    node.opset = row->domain.empty() ? std::max(opsets.standard, kOldestForm) : static_cast<int>(opsets.other.at(proto.domain()));
    if (proto.input_size() < row->min_in || proto.input_size() > row->max_in) {
      return Fail(fmt::format("{}: {}, wanted {}", node.Describe(), base::Counted(proto.input_size(), "input"),
                              RangeText(row->min_in, row->max_in)));
    }
    if (proto.output_size() < 1 || proto.output_size() > row->max_out) {
      return Fail(
          fmt::format("{}: {}, wanted {}", node.Describe(), base::Counted(proto.output_size(), "output"), RangeText(1, row->max_out)));
    }
    auto around = std::exchange(captures_, {});
    WF_RETURN_IF_ERROR(ReadAttributes(proto, row->attributes, node));
    std::swap(around, captures_);
    WF_RETURN_IF_ERROR(ReadEdges(proto, row->min_in, node));
    AddCaptures(around, node);
    WF_RETURN_IF_ERROR(FinishMl(proto, node));
    if (node.op == Op::kConstant) return FoldConstant(node);
    graph().nodes.push_back(std::move(node));
    return Status::Ok();
  }

  // What nodes of ai.onnx.ml have besides attributes and edges.
  Status FinishMl(const pb::NodeProto& proto, Node& node) {
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

  static std::string Where(const pb::NodeProto& proto, int index) {
    const std::string op = Printable(proto.op_type()), name = Printable(proto.name());
    return name.empty() ? fmt::format("node {} ({})", index, op) : fmt::format("node `{}` ({})", name, op);
  }

  Status FindRow(const pb::NodeProto& proto, int index, const OperatorRow*& row) const {
    const bool standard = IsStandard(proto.domain());
    const Opsets& opsets = *imports_;
    const auto imported = opsets.other.find(proto.domain());
    const bool is_imported = standard ? opsets.standard > 0 : imported != opsets.other.end();
    const int64_t opset = !is_imported ? 0 : standard ? opsets.standard : imported->second;
    row = FindOperator(proto.domain(), proto.op_type());
    if (row != nullptr && opset >= row->since) return Status::Ok();
    const std::string version = is_imported ? fmt::format("opset {}", opset) : "of which the model imports no opset";
    const std::string op = Printable(proto.op_type());
    return NotBuilt(fmt::format("{}: operator `{}` of {}, {}, is not supported{}", Where(proto, index), op,
                                standard ? "ai.onnx" : '`' + Printable(proto.domain()) + '`', version,
                                standard && row == nullptr ? MeantBy(op) : ""));
  }

  Status ReadAttributes(const pb::NodeProto& proto, std::string_view known, Node& node) {
    for (const pb::AttributeProto& attribute : proto.attribute()) {
      const std::string name = Printable(attribute.name());
      const Attribute::Kind wanted = WantedKind(known, name);
      if (wanted == Attribute::Kind::kOther) return NotBuilt(fmt::format("{}: attribute `{}` is not supported", node.Describe(), name));
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

  Status ReadAttribute(const pb::AttributeProto& proto, const Node& node, Attribute& out) {
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
        out.tensor = static_cast<int>(graph().weights.size());
        graph().weights.push_back(*std::move(weight));
        break;
      }
      case pb::AttributeProto::GRAPH:
        return ReadBody(proto.g(), node, out);
      default:
        break;  // kOther: no operator of ours takes it
    }
    return Status::Ok();
  }

  Status ReadEdges(const pb::NodeProto& proto, int min_in, Node& node) {
    for (const std::string& name : proto.input()) {
      node.in.push_back(name.empty() ? -1 : Find(*scope_, name));
      if (!name.empty() && node.in.back() < 0)
        return Fail(fmt::format("{}: {}", node.Describe(), WhyAbsent(*scope_->proto, node.index, name)));
      if (maps_.contains(name))
        return NotBuilt(
            fmt::format("{}: it reads `{}`, a map for each row: only outputs of the model may be that", node.Describe(), Printable(name)));
    }
    for (int i = 0; i < min_in; ++i) {
      if (node.in[static_cast<size_t>(i)] < 0) return Fail(fmt::format("{}: input {} is absent but required", node.Describe(), i));
    }
    for (const std::string& name : proto.output()) {
      node.out.push_back(name.empty() ? -1 : Define(name));
      if (!name.empty() && node.out.back() < 0)
        return Fail(fmt::format("{}: it writes `{}`, which exists already", node.Describe(), Printable(name)));
    }
    const bool recurrent = node.op == Op::kRNN || node.op == Op::kGRU || node.op == Op::kLSTM;
    if (node.out[0] < 0 && recurrent) {  // whose first output is optional, too
      node.out[0] = static_cast<int>(graph().values.size());
      graph().values.emplace_back();
    }
    if (node.out[0] < 0) return Fail(fmt::format("{}: its first output has no name", node.Describe()));
    return Status::Ok();
  }

  // A Constant node is a weight; it does not stay a node.
  Status FoldConstant(const Node& node) {
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
    if (value.kind == kFloats) take(WF_F32, value.floats.data(), value.floats.size(), true);
    SetWeight(node.out[0], std::move(weight));
    return Status::Ok();
  }

  Status ReadOutputs() {
    std::unordered_set<std::string> seen;
    if (graph_.output_size() == 0) return Fail("the model has no output");
    if (graph_.output_size() > kMaxPorts) return NotBuilt(fmt::format("more than {} outputs", kMaxPorts));
    for (const pb::ValueInfoProto& output : graph_.output()) {
      Port port;
      WF_RETURN_IF_ERROR(ReadPort(output, "output", port));
      const int found = Find(*scope_, output.name());
      if (found < 0) return Fail(fmt::format("output `{}` is written by no node", port.name));
      if (!seen.insert(output.name()).second) return Fail(fmt::format("output `{}` is listed twice", port.name));
      model_.graph.outputs.push_back(found);
      output_has_shape_.push_back(!maps_.contains(output.name()) && ElementOf(output).tensor_type().has_shape());
      model_.signature.outputs.push_back(std::move(port));
    }
    return InferOutputs();
  }

  // Constant indices that were left in the file, so that shape inference sees whether they lie within their axis.
  Status HoldIndices() {
    int64_t left = int64_t{16} << 20;  // bytes, more than tables of indices have
    for (const Node& node : model_.graph.nodes) {
      if (node.op != Op::kGather) continue;
      const int index = model_.graph.values[static_cast<size_t>(node.in[1])].weight;
      if (index < 0) continue;
      Weight& weight = model_.graph.weights[static_cast<size_t>(index)];
      if (weight.held || weight.size_bytes() > left) continue;
      left -= weight.size_bytes();
      std::vector<uint8_t> bytes(static_cast<size_t>(weight.size_bytes()));
      WF_RETURN_IF_ERROR(ReadElements(model_, weight, bytes));
      weight.bytes = std::move(bytes);
      weight.held = true;
    }
    return Status::Ok();
  }

  // Outputs of strings are not built: the others are the model's.
  Status LeaveOutTexts(const std::vector<Known>& known) {
    std::vector<int>& outputs = model_.graph.outputs;
    size_t kept = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (known[static_cast<size_t>(outputs[i])].dtype == kStringType) {
        model_.left_out.push_back(model_.signature.outputs[i].name);
        continue;
      }
      outputs[kept] = outputs[i];
      output_has_shape_[kept] = output_has_shape_[i];
      if (kept != i) model_.signature.outputs[kept] = std::move(model_.signature.outputs[i]);
      ++kept;
    }
    if (kept == 0) return NotBuilt(fmt::format("{}: outputs of strings are not built", WriterOf(outputs[0])));
    outputs.resize(kept);
    output_has_shape_.resize(kept);
    model_.signature.outputs.resize(kept);
    return Status::Ok();
  }

  std::string WriterOf(int value) const {
    for (const Node& node : model_.graph.nodes) {
      if (std::find(node.out.begin(), node.out.end(), value) != node.out.end()) return node.Describe();
    }
    return fmt::format("`{}`", model_.graph.values[static_cast<size_t>(value)].name);
  }

  // The axes of outputs are computed; what the file says about them is only checked, or gives a name where nothing can be computed.
  Status InferOutputs() {
    WF_RETURN_IF_ERROR(HoldIndices());
    auto known = InferShapes(model_.graph, model_.signature.inputs, model_.path);
    if (!known.ok()) return known.status();
    if (const auto folded = ConstantNodes(model_.graph, *known, model_.path); !folded.ok()) return folded.status();
    WF_RETURN_IF_ERROR(LeaveOutTexts(*known));
    const auto exact = InferShapes(model_.graph, model_.signature.inputs, model_.path, true);
    for (size_t i = 0; i < model_.graph.outputs.size(); ++i) {
      const Known& computed = (*known)[static_cast<size_t>(model_.graph.outputs[i])];
      Port& port = model_.signature.outputs[i];
      const std::string wanted = port.ToString();
      bool fits = (port.dtype == 0 || port.dtype == computed.dtype) && (!output_has_shape_[i] || port.dim.size() == computed.dim.size());
      for (size_t axis = 0; fits && output_has_shape_[i] && axis < computed.dim.size(); ++axis) {
        fits = !Dim::ProvedDifferent(port.dim[axis], computed.dim[axis]);
      }
      if (!fits)
        return Fail(fmt::format("output {} is declared, but the nodes compute {}", wanted, ToString(computed.dtype, computed.dim)));
      port.dtype = computed.dtype;
      Shape dim = computed.dim;
      for (size_t axis = 0; output_has_shape_[i] && axis < dim.size(); ++axis) {
        const auto symbol = dim[axis].symbol();
        if (symbol && symbol->starts_with("_#")) dim[axis] = port.dim[axis];
      }
      port.dim = std::move(dim);
      Shape& proved = model_.signature.computed.emplace_back();
      if (exact.ok()) proved = (*exact)[static_cast<size_t>(model_.graph.outputs[i])].dim;
      while (proved.size() < port.dim.size()) proved.push_back(unknown_.Next());
    }
    return Status::Ok();
  }

  int Define(const std::string& name) {
    const int index = static_cast<int>(graph().values.size());
    if (!scope_->values.emplace(name, index).second) return -1;
    graph().values.push_back({Printable(name), -1});
    return index;
  }

  void SetWeight(int value, Weight weight) {
    graph().values[static_cast<size_t>(value)].weight = static_cast<int>(graph().weights.size());
    graph().weights.push_back(std::move(weight));
  }

  // The value of a name; -1: there is none. What a body reads from outside becomes an input of it.
  int Find(Scope& scope, const std::string& name) {
    if (const auto found = scope.values.find(name); found != scope.values.end()) return found->second;
    const int outside = scope.outer == nullptr ? -1 : Find(*scope.outer, name);
    if (outside < 0) return -1;
    const int index = static_cast<int>(scope.graph->values.size());
    scope.values.emplace(name, index);
    scope.graph->values.push_back({Printable(name), -1});
    scope.graph->inputs.push_back(index);
    scope.captured.push_back(outside);
    return index;
  }

  Status ReadBody(const pb::GraphProto& proto, const Node& node, Attribute& attribute) {
    constexpr int kMostDepth = 16;
    if (depth_ >= kMostDepth) return NotBuilt(fmt::format("{}: bodies in bodies, more than {} deep", node.Describe(), kMostDepth));
    const auto body = std::make_shared<Graph>();
    Scope inner{body.get(), &proto, scope_, {}, {}};
    Scope* const outer = std::exchange(scope_, &inner);
    ++depth_;
    const Status read = ReadInner(proto);
    --depth_;
    scope_ = outer;
    if (!read.ok()) return Status(read.code(), fmt::format("{}, in `{}` of {}", read.message(), attribute.name, node.Describe()));
    attribute.kind = Attribute::Kind::kGraph;
    attribute.body = static_cast<int>(graph().bodies.size());
    captures_.emplace_back(attribute.name, std::move(inner.captured));
    graph().bodies.push_back(body);
    return Status::Ok();
  }

  Status ReadInner(const pb::GraphProto& proto) {
    if (proto.sparse_initializer_size() > 0) return NotBuilt("sparse initialisers are not supported");
    if (proto.output_size() == 0 || proto.output_size() > kMaxPorts) return Fail("a body without results, or with too many");
    for (const pb::ValueInfoProto& input : proto.input()) {
      const int value = Define(input.name());
      if (value < 0) return Fail(fmt::format("input `{}` is defined twice", Printable(input.name())));
      graph().inputs.push_back(value);
    }
    graph().formal_inputs = graph().inputs.size();
    for (const pb::TensorProto& tensor : proto.initializer()) {
      auto weight = ReadTensor(tensor, {}, model_, texts_, options_);
      if (!weight.ok()) return Prefixed(weight.status(), fmt::format("initialiser `{}`", Printable(tensor.name())));
      const int value = Define(tensor.name());
      if (value < 0) return Fail(fmt::format("initialiser `{}` is defined twice", Printable(tensor.name())));
      SetWeight(value, *std::move(weight));
    }
    for (int i = 0; i < proto.node_size(); ++i) {
      const OperatorRow* row = nullptr;
      WF_RETURN_IF_ERROR(FindRow(proto.node(i), i, row));
      WF_RETURN_IF_ERROR(ReadNode(proto.node(i), i, row));
    }
    for (const pb::ValueInfoProto& output : proto.output()) {
      const int value = Find(*scope_, output.name());
      if (value < 0) return Fail(fmt::format("output `{}` is written by no node", Printable(output.name())));
      graph().outputs.push_back(value);
    }
    return Status::Ok();
  }

  // What its bodies read from outside, behind the node's own inputs.
  void AddCaptures(const std::vector<std::pair<std::string, std::vector<int>>>& captures, Node& node) {
    for (Attribute& attribute : node.attributes) {
      for (const auto& [name, values] : captures) {
        if (attribute.name != name) continue;
        attribute.first_capture = node.in.size();
        node.in.insert(node.in.end(), values.begin(), values.end());
      }
    }
  }

  Model& model_;
  const ReadOptions& options_;
  pb::ModelProto proto_;
  pb::GraphProto graph_;
  Scope top_{&model_.graph, &graph_, nullptr, {}, {}};
  Scope* scope_ = &top_;
  int depth_ = 0;                                                   // of bodies
  std::vector<std::pair<std::string, std::vector<int>>> captures_;  // of the node that is being read: by attribute, values around it
  Opsets opsets_;
  NodeOpsets node_opsets_;
  const Opsets* imports_ = nullptr;  // of the model's node that is being read, and of the bodies in it
  Texts texts_;
  std::unordered_set<std::string> maps_;  // outputs of ZipMap
  std::vector<const OperatorRow*> rows_;  // by node
  std::vector<bool> output_has_shape_;
  base::UnknownDims unknown_{"f"};
};

Result<Model> ReadFrom(std::shared_ptr<const ByteSource> source, const std::string& path, const ReadOptions& options) {
  Model model;
  model.path = path;
  model.files.push_back(source);
  WF_RETURN_IF_ERROR(Builder(model, options).Build(*source));
  return model;
}

}  // namespace

Result<Model> ReadModel(const std::string& path, const ReadOptions& options) {
  auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  return ReadFrom(*std::move(source), path, options);
}

Result<Model> ReadModelBytes(std::span<const uint8_t> bytes, const std::string& name, const ReadOptions& options) {
  ReadOptions here = options;
  here.external_data = false;
  return ReadFrom(BytesOf(bytes, name), name, here);
}

}  // namespace wf::onnx
