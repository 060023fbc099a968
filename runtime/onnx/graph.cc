#include "runtime/onnx/graph.h"

#include <fmt/format.h>

#include "runtime/onnx/op.h"
#include "runtime/onnx/operators.h"

namespace wf::onnx {

int64_t ElementSize(uint8_t dtype) { return base::DTypeSize(ElementType(dtype)); }

std::string TypeName(uint8_t dtype) {
  if (dtype == kStringType) return "string";
  return std::string(IsNarrow(dtype) ? base::NarrowName(NarrowOf(dtype)) : base::DTypeName(dtype));
}

std::string ToString(uint8_t dtype, const Shape& shape) {
  std::string text = TypeName(dtype);
  if (shape.empty()) return text;
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "[" : ", ") + shape[i].ToString();
  return text + "]";
}

int64_t Weight::count() const {
  int64_t count = 1;
  for (const int64_t extent : dim) count *= extent;
  return count;
}

int64_t Weight::size_bytes() const { return count() * ElementSize(dtype); }

int64_t Weight::stored_bytes() const { return IsNarrow(dtype) ? base::PackedBytes(NarrowOf(dtype), count()) : size_bytes(); }

int Graph::Add(Weight weight) {
  weights.push_back(std::make_shared<const Weight>(std::move(weight)));
  return static_cast<int>(weights.size()) - 1;
}

std::string_view OpName(Op op) {
  switch (op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case Op::k##domain##name:                                                                     \
    return #name;
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return "?";
}

Attribute IntAttribute(const char* name, int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = Attribute::Kind::kInt;
  attribute.i = value;
  return attribute;
}

Attribute IntsAttribute(const char* name, std::vector<int64_t> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = Attribute::Kind::kInts;
  attribute.ints = std::move(values);
  return attribute;
}

const Attribute* Node::Find(std::string_view attribute) const {
  for (const Attribute& each : attributes) {
    if (each.name == attribute) return &each;
  }
  return nullptr;
}

int64_t Node::Int(std::string_view attribute, int64_t otherwise) const {
  const Attribute* found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kInt ? found->i : otherwise;
}

float Node::Float(std::string_view attribute, float otherwise) const {
  const Attribute* found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kFloat ? found->f : otherwise;
}

std::string_view Node::String(std::string_view attribute, std::string_view otherwise) const {
  const Attribute* found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kString ? std::string_view(found->s) : otherwise;
}

std::span<const int64_t> Node::Ints(std::string_view attribute) const {
  const Attribute* found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kInts ? std::span<const int64_t>(found->ints) : std::span<const int64_t>();
}

std::span<const float> Node::Floats(std::string_view attribute) const {
  const Attribute* found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kFloats ? std::span<const float>(found->floats) : std::span<const float>();
}

std::span<const int64_t> Node::Texts(std::string_view attribute) const {
  const Attribute* found = Find(attribute);
  return found != nullptr ? std::span<const int64_t>(found->texts) : std::span<const int64_t>();
}

std::string Node::Label() const { return fmt::format("node {} ({})", name.empty() ? std::to_string(index) : '`' + name + '`', OpName(op)); }

std::string Node::Describe() const {
  std::string text = Label();
  if (origin.opset == 0) return text;
  const std::string_view op_name = OpName(op), in_file = OpName(origin.op);
  text.resize(text.size() - op_name.size() - 1);
  text += fmt::format("{}, {} opset {}", in_file, DomainOf(origin.op), origin.opset);
  return text + (op_name == in_file ? ")" : fmt::format(", as {})", op_name));
}

std::string Port::ToString() const { return name + ": " + onnx::ToString(dtype, dim); }

}  // namespace wf::onnx
