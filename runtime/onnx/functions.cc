#include "runtime/onnx/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "runtime/onnx/operators.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {

using base::Status;

namespace {

constexpr int kOldestOpset = 1, kNewestOpset = 23;
constexpr size_t kMostCalls = 32, kMostBodies = 32;  // within each other

Status Refused(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

template <typename Proto>
std::string KeyOf(const Proto& proto, const std::string& name) {
  const std::string domain = IsStandard(proto.domain()) ? "" : proto.domain();
  return domain + '\0' + name + '\0' + proto.overload();
}

struct Defined {
  const pb::FunctionProto* proto;
  const Opsets* opsets;
  std::string mark;   // of its nodes within bodies
  bool open = false;  // being written out
};

// One call that is being written out.
struct Call {
  const pb::FunctionProto& function;
  const pb::NodeProto& node;
  std::string prefix;                                  // of names of values
  std::unordered_map<std::string, std::string> names;  // of inputs and outputs, by those in the function
  std::string label;                                   // of nodes

  std::string Name(const std::string& name) const {
    if (name.empty()) return name;
    const auto found = names.find(name);
    return found == names.end() ? prefix + name : found->second;
  }
};

// Where nodes stand before they are written: in a graph of the model, or of a function that is called.
struct Place {
  const Opsets* opsets;
  const std::string* mark;
  const Call* call = nullptr;
};

// How many `#` the longest run of them has that a name begins with. Graphs lie within each other at most as deep as protobuf reads.
size_t LongestMark(const pb::GraphProto& graph) {
  size_t longest = 0;
  const auto look = [&](const std::string& name) { longest = std::max(longest, std::min(name.find_first_not_of('#'), name.size())); };
  for (const pb::ValueInfoProto& input : graph.input()) look(input.name());
  for (const pb::TensorProto& tensor : graph.initializer()) look(tensor.name());
  for (const pb::SparseTensorProto& tensor : graph.sparse_initializer()) look(tensor.values().name());
  for (const pb::NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) look(output);
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) longest = std::max(longest, LongestMark(attribute.g()));
      for (const pb::GraphProto& each : attribute.graphs()) longest = std::max(longest, LongestMark(each));
    }
  }
  return longest;
}

class Writer {
 public:
  Writer(uint64_t max_bytes, pb::GraphProto& graph, NodeOpsets& out)
      : left_bytes_(max_bytes), graph_(graph), out_(out), prefix_(LongestMark(graph) + 1, '#') {}

  Status ReadFunctions(const pb::ModelProto& model) {
    for (const pb::FunctionProto& proto : model.functions()) {
      Opsets& opsets = out_.of_functions.emplace_back();
      if (const Status status = ReadOpsets(proto.opset_import(), opsets); !status.ok())
        return Status(status.code(), fmt::format("function `{}`: {}", Printable(proto.name()), status.message()));
      Defined defined{&proto, &opsets, std::to_string(out_.of_functions.size())};
      if (!functions_.emplace(KeyOf(proto, proto.name()), std::move(defined)).second)
        return Refused(fmt::format("function `{}` is defined twice", Printable(proto.name())));
    }
    return Status::Ok();
  }

  Status Write(const Opsets& opsets) {
    out_.of_model = &opsets;
    const std::string mark = "0";
    return WriteNodes(graph_, {&opsets, &mark});
  }

 private:
  Defined* Find(const pb::NodeProto& node) {
    const auto found = functions_.find(KeyOf(node, node.op_type()));
    return found == functions_.end() ? nullptr : &found->second;
  }

  static std::string LabelOf(const pb::NodeProto& node) { return Printable(node.name().empty() ? node.op_type() : node.name()); }

  // `opsets`: those that the node's graph imports.
  static std::string Where(const pb::NodeProto& node, const std::string& label, const Opsets& opsets) {
    const auto version = opsets.other.find(node.domain());
    const std::string opset = version == opsets.other.end() ? "" : fmt::format(" opset {}", version->second);
    return fmt::format("node `{}` (function `{}`, {}{})", label, Printable(node.op_type()),
                       IsStandard(node.domain()) ? fmt::format("ai.onnx opset {}", opsets.standard) : Printable(node.domain()), opset);
  }

  // Of the model, or of a body.
  Status WriteNodes(pb::GraphProto& graph, const Place& place) {
    google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    for (pb::NodeProto& node : nodes) WF_RETURN_IF_ERROR(WriteNode(node, place, graph));
    return Status::Ok();
  }

  // A node, which within a call is a copy, behind those of `to`.
  Status WriteNode(pb::NodeProto& node, const Place& place, pb::GraphProto& to) {
    WF_RETURN_IF_ERROR(place.call != nullptr ? RenamePorts(*place.call, node) : Status::Ok());
    google::protobuf::RepeatedPtrField<pb::AttributeProto> attributes;
    attributes.Swap(node.mutable_attribute());
    for (pb::AttributeProto& attribute : attributes) {
      bool is_given = false;  // by the call: its bodies are written out, and their names are those around the call
      if (place.call != nullptr && !attribute.ref_attr_name().empty()) {
        const pb::AttributeProto* const found = Referred(*place.call, attribute.ref_attr_name(), is_given);
        if (found == nullptr) continue;  // absent in the call: absent here
        WF_RETURN_IF_ERROR(Count(NodesOf(*found), found->ByteSizeLong()));
        const std::string name = attribute.name();
        attribute = *found;
        attribute.set_name(name);
      }
      if (attribute.has_g() && !is_given) WF_RETURN_IF_ERROR(WriteBody(*attribute.mutable_g(), place));
      for (int i = 0; i < attribute.graphs_size() && !is_given; ++i) WF_RETURN_IF_ERROR(WriteBody(*attribute.mutable_graphs(i), place));
      node.add_attribute()->Swap(&attribute);
    }
    if (Defined* callee = Find(node)) return WriteCall(node, *callee, place, to);
    Add(node, place, to);
    return Status::Ok();
  }

  Status WriteBody(pb::GraphProto& graph, const Place& place) {
    if (++bodies_ > kMostBodies) return {base::kUnimplemented, fmt::format("bodies in bodies, more than {} deep", kMostBodies)};
    WF_RETURN_IF_ERROR(WriteNodes(graph, place));
    --bodies_;
    return place.call != nullptr ? RenameGraph(*place.call, graph) : Status::Ok();
  }

  // Calls within calls are at most kMostCalls deep.
  Status WriteCall(const pb::NodeProto& node, Defined& function, const Place& place, pb::GraphProto& to) {
    const pb::FunctionProto& proto = *function.proto;
    const std::string label = LabelOf(node), where = Where(node, label, *place.opsets);
    if (function.open) return Refused(fmt::format("{}: the function calls itself", where));
    if (++depth_ > kMostCalls) return {base::kUnimplemented, fmt::format("{}: more than {} calls within each other", where, kMostCalls)};
    if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
      return Refused(fmt::format("{}: {} inputs and {} outputs, the function has {} and {}", where, node.input_size(), node.output_size(),
                                 proto.input_size(), proto.output_size()));
    Call call{proto, node, fmt::format("{}{}/", prefix_, ++calls_), {}, label + '/'};
    const Place inside{function.opsets, &function.mark, &call};
    function.open = true;
    WF_RETURN_IF_ERROR(NamePorts(call, inside, to));
    for (const pb::NodeProto& inner : proto.node()) {
      WF_RETURN_IF_ERROR(Count(0, inner.ByteSizeLong()));
      pb::NodeProto copy = inner;
      WF_RETURN_IF_ERROR(WriteNode(copy, inside, to));
    }
    function.open = false;
    --depth_;
    return Status::Ok();
  }

  // An input that is an output, too, is copied.
  Status NamePorts(Call& call, const Place& inside, pb::GraphProto& to) {
    for (int i = 0; i < call.function.input_size(); ++i) {
      const std::string value = i < call.node.input_size() ? call.node.input(i) : "";
      if (!call.names.emplace(call.function.input(i), value).second)
        return Refused(fmt::format("{} has two inputs of one name", call.label));
    }
    for (int i = 0; i < call.node.output_size(); ++i) {
      const std::string& value = call.node.output(i);
      if (value.empty()) continue;
      const auto [at, is_new] = call.names.emplace(call.function.output(i), value);
      if (is_new) continue;
      pb::NodeProto copy;
      copy.set_op_type("Identity");
      copy.set_name(call.label + "copy");
      copy.add_input(at->second);
      copy.add_output(value);
      WF_RETURN_IF_ERROR(Count(1, copy.ByteSizeLong()));
      Add(copy, inside, to);
    }
    return Status::Ok();
  }

  void Add(pb::NodeProto& node, const Place& place, pb::GraphProto& to) {
    if (&to == &graph_) {
      out_.of_node.push_back(place.opsets);
    } else {
      node.set_overload(*place.mark);
    }
    to.add_node()->Swap(&node);
  }

  // What is written for calls, before it is.
  Status Count(int nodes, uint64_t bytes) {
    if (nodes > kMostWrittenNodes - written_nodes_ || bytes > left_bytes_)
      return {
          base::kResourceExhausted,
          fmt::format("its functions, written out where they are called, have more than {} nodes or too many bytes", kMostWrittenNodes)};
    written_nodes_ += nodes;
    left_bytes_ -= bytes;
    return Status::Ok();
  }

  static int NodesOf(const pb::GraphProto& graph) {
    int count = graph.node_size();
    for (const pb::NodeProto& node : graph.node()) {
      for (const pb::AttributeProto& attribute : node.attribute()) count += NodesOf(attribute);
    }
    return count;
  }
  static int NodesOf(const pb::AttributeProto& attribute) {
    int count = attribute.has_g() ? NodesOf(attribute.g()) : 0;
    for (const pb::GraphProto& graph : attribute.graphs()) count += NodesOf(graph);
    return count;
  }

  Status Rename(const Call& call, std::string& name) {
    std::string renamed = call.Name(name);
    WF_RETURN_IF_ERROR(Count(0, renamed.size()));
    name = std::move(renamed);
    return Status::Ok();
  }

  Status RenamePorts(const Call& call, pb::NodeProto& node) {
    for (std::string& name : *node.mutable_input()) WF_RETURN_IF_ERROR(Rename(call, name));
    for (std::string& name : *node.mutable_output()) WF_RETURN_IF_ERROR(Rename(call, name));
    WF_RETURN_IF_ERROR(Count(1, call.label.size()));
    node.set_name(call.label + (node.name().empty() ? node.op_type() : node.name()));
    return Status::Ok();
  }

  Status RenameGraph(const Call& call, pb::GraphProto& graph) {
    for (pb::ValueInfoProto& input : *graph.mutable_input()) WF_RETURN_IF_ERROR(Rename(call, *input.mutable_name()));
    for (pb::ValueInfoProto& output : *graph.mutable_output()) WF_RETURN_IF_ERROR(Rename(call, *output.mutable_name()));
    for (pb::TensorProto& tensor : *graph.mutable_initializer()) WF_RETURN_IF_ERROR(Rename(call, *tensor.mutable_name()));
    for (pb::SparseTensorProto& tensor : *graph.mutable_sparse_initializer())
      WF_RETURN_IF_ERROR(Rename(call, *tensor.mutable_values()->mutable_name()));
    return Status::Ok();
  }

  static const pb::AttributeProto* Referred(const Call& call, const std::string& name, bool& is_given) {
    const auto same = [&](const pb::AttributeProto& each) { return each.name() == name; };
    const auto& given = call.node.attribute();
    const auto& defaults = call.function.attribute_proto();
    const auto found = std::find_if(given.begin(), given.end(), same);
    is_given = found != given.end();
    if (is_given) return &*found;
    const auto other = std::find_if(defaults.begin(), defaults.end(), same);
    return other == defaults.end() ? nullptr : &*other;
  }

  uint64_t left_bytes_;
  pb::GraphProto& graph_;
  NodeOpsets& out_;
  std::string prefix_;  // no name in the model begins with it
  std::unordered_map<std::string, Defined> functions_;
  size_t depth_ = 0, calls_ = 0, bodies_ = 0;
  int written_nodes_ = 0;  // and calls, which are counted too: functions of nothing but calls add none
};

}  // namespace

Status ReadOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports, Opsets& out) {
  for (const pb::OperatorSetIdProto& set : imports) {
    if (!IsStandard(set.domain())) {
      out.other[set.domain()] = set.version();
    } else if (set.version() < kOldestOpset || set.version() > kNewestOpset) {
      return {base::kUnimplemented,
              fmt::format("operator set {} of ai.onnx is not supported; {} to {} are", set.version(), kOldestOpset, kNewestOpset)};
    } else {
      out.standard = static_cast<int>(set.version());
    }
  }
  return Status::Ok();
}

const Opsets* NodeOpsets::OfInner(const pb::NodeProto& node, const Opsets* around) const {
  if (of_functions.empty()) return around;
  const std::string& mark = node.overload();
  size_t number = 0;
  const auto [end, error] = std::from_chars(mark.data(), mark.data() + mark.size(), number);
  if (error != std::errc() || number > of_functions.size()) return around;
  return number == 0 ? of_model : &of_functions[number - 1];
}

Status WriteOutFunctions(const pb::ModelProto& model, const Opsets& opsets, uint64_t max_bytes, pb::GraphProto& graph, NodeOpsets& out) {
  Writer writer(max_bytes, graph, out);
  WF_RETURN_IF_ERROR(writer.ReadFunctions(model));
  return writer.Write(opsets);
}

}  // namespace wf::onnx
