#include "runtime/onnx/reader.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "runtime/base/text.h"
#include "runtime/onnx/counts.h"
#include "runtime/onnx/graph_reader.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/order.h"
#include "runtime/onnx/source.h"
#include "runtime/onnx/tensor.h"
#include "runtime/onnx/unread.h"

namespace wf::onnx {

using base::Result;
using base::Status;

namespace {

constexpr int kMaxPorts = 1024;  // inputs, and outputs
constexpr char kNotOfTheFormat[] =
    "not an ONNX model: its parts do not have the types of the format, or graphs stand in graphs more than 30 deep";
constexpr uint64_t kMostFunctionBytes = uint64_t{64} << 20;  // of nodes that stand for calls of functions

// Not what tools write for an extent that they do not know: `?`, `-1`, `None`.
bool IsAxisName(const std::string& text) {
  constexpr std::string_view kUnknown[] = {"any", "nan", "none", "null", "undefined", "unk", "unknown"};
  if (!IsPlainName(text) || text.find('#') != std::string::npos) return false;
  const auto is_letter = [](char c) {
    return static_cast<signed char>(c) < 0 || std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  if (std::none_of(text.begin(), text.end(), is_letter)) return false;
  std::string small = text;
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(std::begin(kUnknown), std::end(kUnknown), small) == std::end(kUnknown);
}

// The type, of an optional value that of what it may hold.
const pb::TypeProto& ElementOf(const pb::TypeProto& type) { return type.has_optional_type() ? type.optional_type().elem_type() : type; }

}  // namespace

Status GraphReader::Build(const ByteSource& source) {
  sparse_left_bytes_ = MostSparseBytes(model_);
  auto skeleton = ReadSkeleton(source, options_.max_graph_bytes);
  if (!skeleton.ok()) return skeleton.status();
  skeleton_ = *std::move(skeleton);
  if (!proto_.ParseFromString(skeleton_.model) || !graph_.ParseFromString(skeleton_.graph)) return Fail(kNotOfTheFormat);
  skeleton_.model = {};
  skeleton_.graph = {};
  model_.ir_version = proto_.ir_version();
  model_.producer = Printable(proto_.producer_name());
  WF_RETURN_IF_ERROR(ReadImports());
  WF_RETURN_IF_ERROR(ReadInitializers(skeleton_.pieces));
  WF_RETURN_IF_ERROR(ReadInputs());
  WF_RETURN_IF_ERROR(FindOperators());
  graph().nodes.reserve(node_count());
  for (size_t i = 0; i < node_count(); ++i) {
    imports_ = node_opsets_.of_node[i];
    const pb::NodeProto* node = nullptr;
    WF_RETURN_IF_ERROR(NodeAt(i, node));
    WF_RETURN_IF_ERROR(ReadNode(*node, static_cast<int>(i), rows_[i]));
  }
  WF_RETURN_IF_ERROR(ReadOutputs());
  LeaveOutUnread(model_.graph);
  LetGo();
  return InferOutputs();
}

Status GraphReader::NodeAt(size_t i, const pb::NodeProto*& out) {
  if (are_nodes_whole_) {
    out = &graph_.node(static_cast<int>(i));
    return Status::Ok();
  }
  const std::string_view bytes = skeleton_.node(i);
  out = &node_;
  return node_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? Status::Ok() : Fail(kNotOfTheFormat);
}

Status GraphReader::ReadWholeNodes() {
  for (size_t i = 0; !are_nodes_whole_ && i < skeleton_.node_count(); ++i) {
    const std::string_view bytes = skeleton_.node(i);
    if (!graph_.add_node()->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Fail(kNotOfTheFormat);
  }
  are_nodes_whole_ = true;
  return Status::Ok();
}

std::string GraphReader::WhyAbsent(const Node& node, const std::string& value) {
  if (scope_ != &top_) return onnx::WhyAbsent(*scope_->proto, node.index, value);
  const Status status = ReadWholeNodes();
  return status.ok() ? onnx::WhyAbsent(graph_, node.index, value) : status.message();
}

void GraphReader::LetGo() {
  skeleton_ = {};
  pb::ModelProto().Swap(&proto_);
  pb::GraphProto().Swap(&graph_);
  pb::NodeProto().Swap(&node_);
  top_.values = {};
  top_.sequences = {};
  known_ = {};
  rows_ = {};
  node_opsets_ = {};
  model_.graph.nodes.shrink_to_fit();
  model_.graph.values.shrink_to_fit();
  model_.graph.weights.shrink_to_fit();
}

Status GraphReader::Prefixed(const Status& status, const std::string& what) const {
  return Status(status.code(), fmt::format("`{}`: {}: {}", model_.path, what, status.message()));
}

Status GraphReader::ReadImports() {
  if (const Status status = ReadOpsets(proto_.opset_import(), opsets_); !status.ok()) return NotBuilt(status.message());
  model_.opset = opsets_.standard;
  if (proto_.opset_import_size() == 0) return Fail("the model imports no operator set of ai.onnx");
  if (proto_.functions_size() == 0) {
    node_opsets_.of_node.assign(node_count(), &opsets_);
    return Status::Ok();
  }
  WF_RETURN_IF_ERROR(ReadWholeNodes());
  const Status status = WriteOutFunctions(proto_, opsets_, kMostFunctionBytes, graph_, node_opsets_);
  return status.ok() ? status : Status(status.code(), fmt::format("`{}`: {}", model_.path, status.message()));
}

Status GraphReader::ReadInitializers(const std::vector<std::vector<Piece>>& pieces) {
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
  return ReadSparseInitializers(graph_);
}

Status GraphReader::ReadSparseInitializers(const pb::GraphProto& proto) {
  for (const pb::SparseTensorProto& tensor : proto.sparse_initializer()) {
    const std::string what = fmt::format("sparse initialiser `{}`", Printable(tensor.values().name()));
    auto weight = ReadSparseTensor(tensor, model_, texts_, options_, sparse_left_bytes_);
    if (!weight.ok()) return Prefixed(weight.status(), what);
    if (tensor.values().name().empty()) return Fail("a sparse initialiser without a name");
    const int value = Define(tensor.values().name());
    if (value < 0) return Fail(what + " is defined twice");
    SetWeight(value, *std::move(weight));
  }
  return Status::Ok();
}

Status GraphReader::ReadInputs() {
  for (const pb::ValueInfoProto& input : graph_.input()) {
    const auto known = scope_->values.find(input.name());
    if (known != scope_->values.end() && model_.graph.values[static_cast<size_t>(known->second)].weight >= 0) continue;  // it has a default
    WF_RETURN_IF_ERROR(ReadInput(input));
  }
  return Status::Ok();
}

Status GraphReader::ReadInput(const pb::ValueInfoProto& input) {
  Port port;
  WF_RETURN_IF_ERROR(ReadPortName(input, "input", port));
  port.optional = input.type().has_optional_type();
  if (scope_->values.contains(input.name()) || scope_->sequences.contains(input.name()))
    return Fail(fmt::format("input `{}` is defined twice", port.name));
  const pb::TypeProto& type = ElementOf(input.type());
  if (port.optional && options_.given && options_.given->absent.contains(port.name)) {
    scope_->sequences[input.name()].is_absent = true;
    return Status::Ok();
  }
  if (type.has_sequence_type()) return ReadSequenceInput(input, std::move(port));
  WF_RETURN_IF_ERROR(ReadPortType(type, "input", port));
  if (port.dtype == 0) return Fail(fmt::format("input `{}` has no element type", port.name));
  if (!type.tensor_type().has_shape()) return NotBuilt(fmt::format("input `{}` has no shape", port.name));
  if (model_.graph.inputs.size() >= kMaxPorts) return NotBuilt(fmt::format("more than {} inputs", kMaxPorts));
  model_.graph.inputs.push_back(Define(input.name()));
  model_.signature.inputs.push_back(std::move(port));
  return Status::Ok();
}

// An input for each of its tensors.
Status GraphReader::ReadSequenceInput(const pb::ValueInfoProto& input, Port port) {
  const pb::TypeProto& type = ElementOf(input.type()).sequence_type().elem_type();
  if (!type.has_tensor_type()) return NotBuilt(fmt::format("input `{}` is a sequence of what is no tensor", port.name));
  if (!options_.given)
    return NotBuilt(
        fmt::format("input `{0}` is a sequence, and how many tensors it has is not said; a written signature lists them, as in "
                    "`x as \"{0}[0]\": f32[n]`",
                    port.name));
  Sequence& sequence = scope_->sequences[input.name()];
  for (;;) {
    Port each = port;
    each.name = fmt::format("{}[{}]", port.name, sequence.elements.size());
    const auto given = std::find_if(options_.given->inputs.begin(), options_.given->inputs.end(),
                                    [&](const Port& other) { return other.name == each.name; });
    if (given == options_.given->inputs.end()) return Status::Ok();
    WF_RETURN_IF_ERROR(ReadPortType(type, "input", each));
    if (each.dtype == 0) return Fail(fmt::format("input `{}` has no element type", each.name));
    each.dim = given->dim;                                                      // what the file says is at best that of the first
    for (Dim& dim : each.dim) dim = dim.is_constant() ? dim : unknown_.Next();  // of one tensor, not of the next
    if (model_.graph.inputs.size() >= kMaxPorts) return NotBuilt(fmt::format("more than {} inputs", kMaxPorts));
    const int value = static_cast<int>(model_.graph.values.size());
    model_.graph.values.push_back({each.name, -1});
    sequence.elements.push_back(value);
    model_.graph.inputs.push_back(value);
    model_.signature.inputs.push_back(std::move(each));
  }
}

Status GraphReader::ReadPortName(const pb::ValueInfoProto& info, const char* what, Port& port) const {
  if (info.name().empty()) return Fail(fmt::format("{} with an empty name", what));
  if (!IsPlainName(info.name())) return Fail(fmt::format("{} with a name that is not printable UTF-8, `{}`", what, Printable(info.name())));
  port.name = info.name();
  return Status::Ok();
}

Status GraphReader::ReadPortType(const pb::TypeProto& type, const char* what, Port& port) {
  if (type.value_case() == pb::TypeProto::VALUE_NOT_SET) return Status::Ok();
  if (!type.has_tensor_type()) return NotBuilt(fmt::format("{} `{}` is a map, a sparse tensor or of another such type", what, port.name));
  const int tensor_type = type.tensor_type().elem_type();
  port.dtype = DTypeOf(tensor_type);
  if ((port.dtype == 0 && tensor_type != 0) || (IsNarrow(port.dtype) && !options_.narrow)) {
    return NotBuilt(fmt::format("{} `{}` has elements of type {}, which are not supported", what, port.name, TensorTypeName(tensor_type)));
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
    const bool named = dim.has_dim_param() && IsAxisName(dim.dim_param());
    port.dim.push_back(fixed ? Dim(dim.dim_value()) : named ? Dim::Symbol(dim.dim_param()) : unknown_.Next());
  }
  return Status::Ok();
}

Status GraphReader::ReadOutputs() {
  std::unordered_set<std::string> seen;
  if (graph_.output_size() == 0) return Fail("the model has no output");
  for (const pb::ValueInfoProto& output : graph_.output()) {
    Port port;
    WF_RETURN_IF_ERROR(ReadPortName(output, "output", port));
    if (!seen.insert(output.name()).second) return Fail(fmt::format("output `{}` is listed twice", port.name));
    const bool is_map = maps_.contains(output.name());
    const pb::TypeProto& type = ElementOf(output.type());
    if (const Sequence* sequence = FindSequence(*scope_, output.name())) {
      if (sequence->stacked >= 0)
        return NotBuilt(fmt::format("output `{}` is a sequence of as many tensors as only a run tells", port.name));
      if (sequence->is_absent) return NotBuilt(fmt::format("output `{}` is an optional value that is not there", port.name));
      for (size_t i = 0; i < sequence->elements.size(); ++i) {
        Port each = port;
        each.name += fmt::format("[{}]", i);
        WF_RETURN_IF_ERROR(AddOutput(sequence->elements[i], std::move(each), false));
      }
      continue;
    }
    if (!is_map) WF_RETURN_IF_ERROR(ReadPortType(type, "output", port));
    const int found = Find(*scope_, output.name());
    if (found < 0) return Fail(fmt::format("output `{}` is written by no node", port.name));
    WF_RETURN_IF_ERROR(AddOutput(found, std::move(port), !is_map && type.tensor_type().has_shape()));
  }
  return model_.graph.outputs.empty() ? NotBuilt("the outputs are sequences without tensors") : Status::Ok();
}

Status GraphReader::AddOutput(int value, Port port, bool has_shape) {
  if (model_.graph.outputs.size() >= kMaxPorts) return NotBuilt(fmt::format("more than {} outputs", kMaxPorts));
  model_.graph.outputs.push_back(value);
  output_has_shape_.push_back(has_shape);
  model_.signature.outputs.push_back(std::move(port));
  return Status::Ok();
}

Status GraphReader::HoldIndices() {
  int64_t left = int64_t{16} << 20;  // bytes, more than tables of indices have
  for (const Node& node : model_.graph.nodes) {
    if (node.op != Op::kGather) continue;
    const int index = model_.graph.values[static_cast<size_t>(node.in[1])].weight;
    if (index < 0) continue;
    std::shared_ptr<const Weight>& kept = model_.graph.weights[static_cast<size_t>(index)];
    Weight weight = *kept;
    if (weight.held || weight.size_bytes() > left) continue;
    left -= weight.size_bytes();
    std::vector<uint8_t> bytes(static_cast<size_t>(weight.size_bytes()));
    WF_RETURN_IF_ERROR(ReadElements(model_, weight, bytes));
    weight.bytes = std::move(bytes);
    weight.held = true;
    kept = std::make_shared<const Weight>(std::move(weight));
  }
  return Status::Ok();
}

std::string GraphReader::WriterOf(int value) const {
  for (const Node& node : model_.graph.nodes) {
    if (std::find(node.out.begin(), node.out.end(), value) != node.out.end()) return node.Describe();
  }
  return fmt::format("`{}`", model_.graph.values[static_cast<size_t>(value)].name);
}

std::vector<Known> GraphReader::OfOutputs(const std::vector<Known>& known) const {
  std::vector<Known> of_outputs;
  for (const int output : model_.graph.outputs) of_outputs.push_back(known[static_cast<size_t>(output)]);
  return of_outputs;
}

Status GraphReader::InferWhole(std::vector<Known>& of_outputs, Counts& counts) {
  auto known = InferShapes(model_.graph, model_.signature.inputs, model_.path);
  if (!known.ok()) return known.status();
  of_outputs = OfOutputs(*known);
  counts = FindCounts(model_.graph, *known);
  return Status::Ok();
}

std::vector<Known> GraphReader::InferExactly() const {
  const auto known = InferShapes(model_.graph, model_.signature.inputs, model_.path, true);
  return known.ok() ? OfOutputs(*known) : std::vector<Known>();
}

std::unordered_set<std::string> GraphReader::GivenExtents() const {
  std::unordered_set<std::string> given;
  for (const Port& input : model_.signature.inputs) {
    for (const Dim& dim : input.dim) {
      if (auto symbol = dim.symbol()) given.insert(*std::move(symbol));
    }
  }
  return given;
}

Status GraphReader::InferOutputs() {
  WF_RETURN_IF_ERROR(HoldIndices());
  std::vector<Known> of_outputs;
  Counts counts;
  WF_RETURN_IF_ERROR(InferWhole(of_outputs, counts));
  const std::vector<Known> exact = InferExactly();
  const std::unordered_set<std::string> given = GivenExtents();
  for (size_t i = 0; i < model_.graph.outputs.size(); ++i) {
    const Known& computed = of_outputs[i];
    Port& port = model_.signature.outputs[i];
    if (IsNarrow(computed.dtype) && !options_.narrow)
      return NotBuilt(fmt::format("output `{}` has elements of type {}, which are not supported", port.name, TypeName(computed.dtype)));
    const std::string wanted = port.ToString();
    bool fits = !output_has_shape_[i] || port.dim.size() == computed.dim.size(), is_fixed = false;
    for (size_t axis = 0; fits && output_has_shape_[i] && axis < computed.dim.size(); ++axis) {
      fits = !Dim::ProvedDifferent(port.dim[axis], computed.dim[axis]);
      is_fixed = is_fixed || (port.dim[axis].is_constant() && given.contains(computed.dim[axis].symbol().value_or("")));
    }
    const std::string misfit = fmt::format("output `{}` is declared, but {} computes {}", wanted, WriterOf(model_.graph.outputs[i]),
                                           ToString(computed.dtype, computed.dim));
    if (port.dtype != 0 && port.dtype != computed.dtype) return Fail(misfit);
    if (!fits || is_fixed) model_.notes.push_back(misfit);  // tools that write these shapes are at times wrong; nodes decide
    port.dtype = computed.dtype;
    Shape dim = computed.dim;
    std::string& found_by = model_.signature.found_by.emplace_back();
    for (const std::string& symbol : dim.empty() ? std::vector<std::string>() : dim[0].Symbols()) {
      if (const auto at = counts.find(symbol); at != counts.end()) found_by = at->second->Label();
    }
    for (size_t axis = 0; fits && output_has_shape_[i] && axis < dim.size(); ++axis) {
      const auto symbol = dim[axis].symbol();
      if (symbol && symbol->starts_with("_#") && !given.contains(*symbol)) dim[axis] = port.dim[axis];
    }
    port.dim = std::move(dim);
    Shape& proved = model_.signature.computed.emplace_back();
    if (!exact.empty()) proved = exact[i].dim;
    while (proved.size() < port.dim.size()) proved.push_back(unknown_.Next());
  }
  return Status::Ok();
}

namespace {

Result<Model> ReadFrom(std::shared_ptr<const ByteSource> source, const std::string& path, const ReadOptions& options) {
  Model model;
  model.path = path;
  model.files.push_back(source);
  WF_RETURN_IF_ERROR(GraphReader(model, options).Build(*source));
  return model;
}

}  // namespace

Result<Model> ReadModel(const std::string& path, const ReadOptions& options) {
  auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  return ReadFrom(*std::move(source), path, options);
}

Result<Declared> ReadDeclared(const std::string& path) {
  const auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  const auto skeleton = ReadSkeleton(**source, ReadOptions().max_graph_bytes);
  if (!skeleton.ok()) return skeleton.status();
  pb::GraphProto graph;
  if (!graph.ParseFromString(skeleton->graph)) return Status(base::kInvalidArgument, fmt::format("`{}`: not an ONNX model", path));
  std::unordered_set<std::string> defaults;
  for (const pb::TensorProto& tensor : graph.initializer()) defaults.insert(tensor.name());
  for (const pb::SparseTensorProto& tensor : graph.sparse_initializer()) defaults.insert(tensor.values().name());
  const auto declared = [](const pb::ValueInfoProto& port) {
    const pb::TypeProto& type = ElementOf(port.type());
    const bool is_of_maps = type.has_sequence_type() && type.sequence_type().elem_type().has_map_type();  // a tensor here
    return DeclaredPort{port.name(), port.type().has_optional_type(), type.has_sequence_type() && !is_of_maps};
  };
  Declared result;
  for (const pb::ValueInfoProto& input : graph.input()) {
    if (!defaults.contains(input.name())) result.inputs.push_back(declared(input));
  }
  for (const pb::ValueInfoProto& output : graph.output()) result.outputs.push_back(declared(output));
  return result;
}

Result<Model> ReadModelBytes(std::span<const uint8_t> bytes, const std::string& name, const ReadOptions& options) {
  ReadOptions here = options;
  here.external_data = false;
  return ReadFrom(BytesOf(bytes, name), name, here);
}

}  // namespace wf::onnx
