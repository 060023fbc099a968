#include "compiler/interface/schema.h"

#include <limits>

#include "compiler/interface/shapes.h"

namespace wf::interface {
namespace {

namespace json = llvm::json;

template <typename T>
void Bound(json::Object& schema) {
  schema["minimum"] = std::numeric_limits<T>::lowest();
  schema["maximum"] = std::numeric_limits<T>::max();
}

json::Object Scalar(ir::DType dtype) {
  if (dtype == ir::DType::kBool) return json::Object{{"type", "boolean"}};
  json::Object schema{{"type", ir::IsFloat(dtype) ? "number" : "integer"}};
  const auto bounded = [&]<typename T>(T, const char* format) {
    Bound<T>(schema);
    schema["format"] = format;
  };
  const auto between = [&](double end) {
    schema["exclusiveMinimum"] = -end;
    schema["exclusiveMaximum"] = end;
  };
  switch (dtype) {
    case ir::DType::kI8:
      bounded(int8_t(), "int8");
      break;
    case ir::DType::kI16:
      bounded(int16_t(), "int16");
      break;
    case ir::DType::kI32:
      bounded(int32_t(), "int32");
      break;
    case ir::DType::kI64:
      bounded(int64_t(), "int64");
      break;
    case ir::DType::kU8:
      bounded(uint8_t(), "uint8");
      break;
    case ir::DType::kU16:
      bounded(uint16_t(), "uint16");
      break;
    case ir::DType::kU32:
      bounded(uint32_t(), "uint32");
      break;
    case ir::DType::kU64:
      bounded(uint64_t(), "uint64");
      break;
    case ir::DType::kF16:  // of floats: what rounds to a finite value is taken, a tie with the first value beyond is not
      between(65520.0);
      break;
    case ir::DType::kBf16:
      between(0x1.ffp+127);
      break;
    case ir::DType::kF32:
      between(0x1.ffffffp+127);
      schema["format"] = "float";
      break;
    case ir::DType::kF64:
      schema["format"] = "double";
      break;
    case ir::DType::kBool:
    case ir::DType::kNone:
      break;
  }
  return schema;
}

}  // namespace

void SetDefault(json::Object& schema, const std::string& text) {
  if (auto value = json::parse(text)) {
    schema["default"] = std::move(*value);
  } else {
    llvm::consumeError(value.takeError());
  }
}

json::Object Schemas::Tensor(const Type& type) {
  json::Object schema = Scalar(type.dtype);
  for (size_t axis = type.dims.size(); axis-- > 0;) {
    json::Object outer{{"type", "array"}, {"items", std::move(schema)}};
    if (const auto extent = type.dims[axis].constant()) {
      outer["minItems"] = *extent;
      outer["maxItems"] = *extent;
    } else if (const int64_t least = Least(type.dims[axis]).value_or(0); least > 0) {
      outer["minItems"] = least;
    }
    schema = std::move(outer);
  }
  schema["description"] = "`" + ToString(type) + "`; the arrays of one axis are equally long, and a symbol is one number throughout a call";
  return schema;
}

json::Object Schemas::Members(const std::vector<Field>& fields, bool request) {
  json::Object properties;
  json::Array required;
  for (const Field& field : fields) {
    properties[json::fixUTF8(field.name)] = Of(field.type, request);
    if (!request || field.type.kind != ir::TypeKind::kOptional) required.push_back(json::fixUTF8(field.name));
  }
  json::Object schema{{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  if (request) schema["additionalProperties"] = false;
  return schema;
}

json::Object Schemas::Reference(const std::string& record, bool request) {
  const std::string name = record + (request ? ".Input" : "");
  if (records_.get(name) == nullptr) {
    const Record& found = *interface_.FindRecord(record);
    json::Object schema = Members(found.fields, request);
    if (!found.doc.empty()) schema["description"] = json::fixUTF8(found.doc);
    records_[name] = std::move(schema);
  }
  return json::Object{{"$ref", "#/components/schemas/" + name}};
}

json::Object Schemas::Of(const Type& type, bool request) {
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      return Scalar(type.dtype);
    case ir::TypeKind::kString:
      return json::Object{{"type", "string"}};
    case ir::TypeKind::kBytes: {
      json::Object text{{"type", "string"}, {"contentEncoding", "base64"}};
      json::Object schema{{"type", "object"}, {"properties", json::Object{{"b64", std::move(text)}}}, {"required", json::Array{"b64"}}};
      schema["additionalProperties"] = false;
      return schema;
    }
    case ir::TypeKind::kTensor:
      return Tensor(type);
    case ir::TypeKind::kRecord:
      return type.record.empty() ? Members(type.fields, request) : Reference(type.record, request);
    case ir::TypeKind::kList:
      return json::Object{{"type", "array"}, {"items", Of(type.element[0], request)}};
    case ir::TypeKind::kMap:
      return json::Object{{"type", "object"}, {"additionalProperties", Of(type.element[0], request)}};
    case ir::TypeKind::kOptional:
      return json::Object{{"anyOf", json::Array{Of(type.element[0], request), json::Object{{"type", "null"}}}}};
  }
  return json::Object{};
}

json::Object Schemas::ForRequest(const std::vector<Port>& parameters) {
  json::Object properties;
  json::Array required;
  for (const Port& port : parameters) {
    json::Object schema = ForRequest(port.type);
    SetDefault(schema, port.default_value);
    properties[json::fixUTF8(port.name)] = std::move(schema);
    if (port.required) required.push_back(json::fixUTF8(port.name));
  }
  json::Object schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

json::Object Schemas::ForAnswer(const std::vector<Port>& results) {
  std::vector<Field> fields;
  for (const Port& port : results) fields.push_back({port.name, port.type});
  return Members(fields, false);
}

}  // namespace wf::interface
