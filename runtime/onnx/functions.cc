#include "runtime/onnx/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/onnx/operators.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {

using base::Status;

namespace {

constexpr int kOldestOpset = 1, kNewestOpset = 23;
constexpr size_t kMostCalls = 32;  // within each other

Status Refused(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

template <typename Proto>
std::string KeyOf(const Proto& proto, const std::string& name) {
  const std::string domain = IsStandard(proto.domain()) ? "" : proto.domain();
  return domain + '\0' + name + '\0' + proto.overload();
}

struct Defined {
  const pb::FunctionProto* proto;
  const Opsets* opsets;
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

class Writer {
 public:
  Writer(uint64_t max_bytes, pb::GraphProto& graph, NodeOpsets& out) : left_bytes_(max_bytes), graph_(graph), out_(out) {}

  Status ReadFunctions(const pb::ModelProto& model) {
    for (const pb::FunctionProto& proto : model.functions()) {
      Opsets& opsets = out_.of_functions.emplace_back();
      if (const Status status = ReadOpsets(proto.opset_import(), opsets); !status.ok())
        return Status(status.code(), fmt::format("function `{}`: {}", Printable(proto.name()), status.message()));
      if (!functions_.emplace(KeyOf(proto, proto.name()), Defined{&proto, &opsets}).second)
        return Refused(fmt::format("function `{}` is defined twice", Printable(proto.name())));
    }
    return Status::Ok();
  }

  Status Write(const Opsets& opsets) {
    google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
    nodes.Swap(graph_.mutable_node());
    for (pb::NodeProto& node : nodes) {
      Defined* function = Find(node);
      if (function != nullptr) {
        WF_RETURN_IF_ERROR(WriteCall(node, *function, opsets));
      } else {
        graph_.add_node()->Swap(&node);
        out_.of_node.push_back(&opsets);
      }
    }
    return Status::Ok();
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

  // Calls within calls are at most kMostCalls deep.
  Status WriteCall(const pb::NodeProto& node, Defined& function, const Opsets& opsets) {
    const pb::FunctionProto& proto = *function.proto;
    const std::string label = LabelOf(node), where = Where(node, label, opsets);
    if (function.open) return Refused(fmt::format("{}: the function calls itself", where));
    if (++depth_ > kMostCalls) return {base::kUnimplemented, fmt::format("{}: more than {} calls within each other", where, kMostCalls)};
    if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
      return Refused(fmt::format("{}: {} inputs and {} outputs, the function has {} and {}", where, node.input_size(), node.output_size(),
                                 proto.input_size(), proto.output_size()));
    Call call{proto, node, fmt::format("{}#{}/", label, ++calls_), {}, label + '/'};
    function.open = true;
    WF_RETURN_IF_ERROR(NamePorts(call, function));
    for (const pb::NodeProto& inner : proto.node()) {
      if (const Status status = WriteInner(call, inner, function); !status.ok()) return status;
    }
    function.open = false;
    --depth_;
    return Status::Ok();
  }

  // An input that is an output, too, is copied.
  Status NamePorts(Call& call, const Defined& function) {
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
      WF_RETURN_IF_ERROR(Add(std::move(copy), function));
    }
    return Status::Ok();
  }

  Status WriteInner(const Call& call, const pb::NodeProto& inner, const Defined& function) {
    if (++steps_ > kMostWrittenNodes || inner.ByteSizeLong() > left_bytes_) return TooLarge();
    pb::NodeProto node = inner;
    WF_RETURN_IF_ERROR(Rename(call, node, *function.opsets));
    if (Defined* callee = Find(node)) return WriteCall(node, *callee, *function.opsets);
    return Add(std::move(node), function);
  }

  Status Add(pb::NodeProto node, const Defined& function) {
    const uint64_t bytes = node.ByteSizeLong();
    if (bytes > left_bytes_ || graph_.node_size() >= kMostWrittenNodes) return TooLarge();
    left_bytes_ -= bytes;
    graph_.add_node()->Swap(&node);
    out_.of_node.push_back(function.opsets);
    return Status::Ok();
  }

  static Status TooLarge() {
    return {base::kResourceExhausted,
            fmt::format("its functions, written out where they are called, have more than {} nodes or too many bytes", kMostWrittenNodes)};
  }

  // Values, labels and attributes of a copy of a function's node. Graphs among its attributes lie within each other at most as deep as
  // protobuf reads.
  Status Rename(const Call& call, pb::NodeProto& node, const Opsets& opsets) {
    for (std::string& name : *node.mutable_input()) name = call.Name(name);
    for (std::string& name : *node.mutable_output()) name = call.Name(name);
    node.set_name(call.label + (node.name().empty() ? node.op_type() : node.name()));
    google::protobuf::RepeatedPtrField<pb::AttributeProto> attributes;
    attributes.Swap(node.mutable_attribute());
    for (pb::AttributeProto& attribute : attributes) {
      if (!attribute.ref_attr_name().empty() && !Resolve(call, attribute)) continue;  // absent in the call: absent here
      if (attribute.has_g()) WF_RETURN_IF_ERROR(RenameGraph(call, *attribute.mutable_g(), opsets));
      for (pb::GraphProto& graph : *attribute.mutable_graphs()) WF_RETURN_IF_ERROR(RenameGraph(call, graph, opsets));
      node.add_attribute()->Swap(&attribute);
    }
    if (node.ByteSizeLong() > left_bytes_) return TooLarge();
    return Status::Ok();
  }

  static bool Resolve(const Call& call, pb::AttributeProto& attribute) {
    const auto take = [&](const google::protobuf::RepeatedPtrField<pb::AttributeProto>& from) {
      const auto same = [&](const pb::AttributeProto& each) { return each.name() == attribute.ref_attr_name(); };
      const auto found = std::find_if(from.begin(), from.end(), same);
      if (found == from.end()) return false;
      const std::string name = attribute.name();
      attribute = *found;
      attribute.set_name(name);
      return true;
    };
    return take(call.node.attribute()) || take(call.function.attribute_proto());
  }

  Status RenameGraph(const Call& call, pb::GraphProto& graph, const Opsets& opsets) {
    for (pb::NodeProto& node : *graph.mutable_node()) {
      if (Find(node) != nullptr)
        return {base::kUnimplemented,
                Where(node, call.label + LabelOf(node), opsets) + ": a function that is called within a branch or a loop is not supported"};
      WF_RETURN_IF_ERROR(Rename(call, node, opsets));
    }
    for (pb::ValueInfoProto& input : *graph.mutable_input()) input.set_name(call.Name(input.name()));
    for (pb::ValueInfoProto& output : *graph.mutable_output()) output.set_name(call.Name(output.name()));
    for (pb::TensorProto& tensor : *graph.mutable_initializer()) tensor.set_name(call.Name(tensor.name()));
    for (pb::SparseTensorProto& tensor : *graph.mutable_sparse_initializer())
      tensor.mutable_values()->set_name(call.Name(tensor.values().name()));
    return Status::Ok();
  }

  uint64_t left_bytes_;
  pb::GraphProto& graph_;
  NodeOpsets& out_;
  std::unordered_map<std::string, Defined> functions_;
  size_t depth_ = 0, calls_ = 0;
  int steps_ = 0;  // nodes that were looked at: functions of nothing but calls add none
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

Status WriteOutFunctions(const pb::ModelProto& model, const Opsets& opsets, uint64_t max_bytes, pb::GraphProto& graph, NodeOpsets& out) {
  Writer writer(max_bytes, graph, out);
  WF_RETURN_IF_ERROR(writer.ReadFunctions(model));
  return writer.Write(opsets);
}

}  // namespace wf::onnx
