#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"

// A model file, field by field, sound until a test makes it otherwise.
namespace wf::testing {

class Builder {
 public:
  explicit Builder(int64_t opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
  }

  // An extent: a number, or the name of a dynamic axis ("" unnamed).
  struct Extent {
    Extent(int number) : value(number) {}     // NOLINT: so that shapes read as lists
    Extent(const char* text) : name(text) {}  // NOLINT
    int64_t value = -1;
    std::string name;
  };
  using Extents = std::vector<Extent>;

  Builder& Input(const std::string& name, const Extents& shape, int type = onnx::pb::FLOAT) {
    return Port(*graph.add_input(), name, shape, type);
  }
  Builder& Output(const std::string& name, const Extents& shape, int type = onnx::pb::FLOAT) {
    return Port(*graph.add_output(), name, shape, type);
  }
  Builder& Output(const std::string& name) {
    graph.add_output()->set_name(name);
    return *this;
  }

  onnx::pb::NodeProto& Node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out,
                            const std::string& name = "n") {
    onnx::pb::NodeProto& node = Add(graph, op, in, out);
    node.set_name(name);
    return node;
  }
  // Of a node: a graph of its own.
  static onnx::pb::GraphProto& Body(onnx::pb::NodeProto& node, const std::string& name) {
    onnx::pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::pb::AttributeProto::GRAPH);
    return *attribute.mutable_g();
  }
  static onnx::pb::NodeProto& Add(onnx::pb::GraphProto& body, const std::string& op, const std::vector<std::string>& in,
                                  const std::vector<std::string>& out) {
    onnx::pb::NodeProto& node = *body.add_node();
    node.set_op_type(op);
    for (const std::string& each : in) node.add_input(each);
    for (const std::string& each : out) node.add_output(each);
    return node;
  }
  static void Int(onnx::pb::NodeProto& node, const std::string& name, int64_t value) {
    onnx::pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::pb::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void String(onnx::pb::NodeProto& node, const std::string& name, const std::string& value) {
    onnx::pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::pb::AttributeProto::STRING);
    attribute.set_s(value);
  }
  static void Ints(onnx::pb::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
    onnx::pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::pb::AttributeProto::INTS);
    for (const int64_t each : values) attribute.add_ints(each);
  }

  static void SetFloats(onnx::pb::TensorProto& tensor, const std::vector<float>& values) {
    tensor.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
  }
  onnx::pb::TensorProto& Floats(const std::string& name, const std::vector<int64_t>& dim, size_t count) {
    onnx::pb::TensorProto& tensor = Tensor(name, dim, onnx::pb::FLOAT);
    tensor.set_raw_data(std::string(4 * count, '\0'));
    return tensor;
  }
  onnx::pb::TensorProto& Longs(const std::string& name, const std::vector<int64_t>& values) {
    onnx::pb::TensorProto& tensor = Tensor(name, {static_cast<int64_t>(values.size())}, onnx::pb::INT64);
    for (const int64_t each : values) tensor.add_int64_data(each);
    return tensor;
  }
  onnx::pb::TensorProto& Tensor(const std::string& name, const std::vector<int64_t>& dim, int type) {
    onnx::pb::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const int64_t each : dim) tensor.add_dims(each);
    return tensor;
  }

  onnx::pb::ModelProto& model() { return model_; }

  // The file: the model's own fields, then the graph as field 7.
  std::string Bytes() const {
    const std::string inner = graph.SerializeAsString();
    std::string bytes = model_.SerializeAsString();
    bytes += '\x3a';
    for (size_t n = inner.size(); true; n >>= 7) {
      bytes += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
      if (n <= 0x7f) break;
    }
    return bytes + inner;
  }

  base::Result<onnx::Model> Read() {
    bytes_ = Bytes();
    return onnx::ReadModelBytes({reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()}, "x.onnx");
  }
  std::string Error() {
    const auto model = Read();
    return model.ok() ? "" : model.status().message();
  }

  onnx::pb::GraphProto graph;

 private:
  Builder& Port(onnx::pb::ValueInfoProto& port, const std::string& name, const Extents& shape, int type) {
    port.set_name(name);
    auto& tensor = *port.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const Extent& each : shape) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (each.value >= 0) dim.set_dim_value(each.value);
      if (!each.name.empty()) dim.set_dim_param(each.name);
    }
    return *this;
  }

  onnx::pb::ModelProto model_;
  std::string bytes_;
};

}  // namespace wf::testing
