// The interface as JSON: what a server carries in its note, without examples, since a server holds nothing of tests. A new member of an
// object is no new version; a change of meaning is.

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <utility>

#include "compiler/base/nesting.h"
#include "compiler/interface/interface.h"
#include "runtime/base/float_text.h"
#include "runtime/base/json_text.h"

namespace wf::interface {
namespace {

namespace json = llvm::json;

constexpr int64_t kVersion = 1;
constexpr int kMaxNesting = 64;  // of the JSON text

// ---- writing ----

void WriteIf(json::OStream& out, const char* name, const std::string& text) {
  if (!text.empty()) out.attribute(name, json::fixUTF8(text));
}
void WriteIf(json::OStream& out, const char* name, int64_t number) {
  if (number != 0) out.attribute(name, number);
}

void WriteDefault(json::OStream& out, const std::string& value) {
  if (value.empty()) return;
  out.attributeBegin("default");
  out.rawValue(value);
  out.attributeEnd();
}

template <typename T, typename F>
void WriteArray(json::OStream& out, const char* name, const std::vector<T>& items, const F& members) {
  out.attributeArray(name, [&] {
    for (const T& item : items) out.object([&] { members(item); });
  });
}

void WritePorts(json::OStream& out, const char* name, const std::vector<Port>& ports) {
  WriteArray(out, name, ports, [&](const Port& port) {
    out.attribute("name", json::fixUTF8(port.name));
    out.attribute("type", ToString(port.type));
    if (!port.required) out.attribute("required", false);
    WriteDefault(out, port.default_value);
    WriteIf(out, "written", port.written);
  });
}

void WriteCall(json::OStream& out, const Call& call) {
  out.attribute("name", json::fixUTF8(call.name));
  WriteIf(out, "doc", call.doc);
  if (call.is_model) out.attribute("model", true);
  WriteIf(out, "versions", call.versions);
  WritePorts(out, "in", call.in);
  WritePorts(out, "out", call.out);
  if (!call.errors.empty()) {
    out.attributeArray("errors", [&] {
      for (const int32_t code : call.errors) out.value(code);
    });
  }
  if (!call.meta.empty()) {
    WriteArray(out, "meta", call.meta, [&](const Meta& meta) {
      out.attribute("key", json::fixUTF8(meta.key));
      out.attribute("type", ToString(meta.type));
      WriteDefault(out, meta.default_value);
      WriteIf(out, "written", meta.written);
    });
  }
  if (!call.annotations.empty()) {
    out.attributeArray("annotations", [&] {
      for (const std::string& key : call.annotations) out.value(json::fixUTF8(key));
    });
  }
}

// ---- reading ----

std::string NumberText(const json::Value& value, const Type* type) {
  if (type == nullptr || !ir::IsFloat(type->dtype)) {
    if (const auto number = value.getAsInteger()) return std::to_string(*number);
    if (const auto number = value.getAsUINT64()) return std::to_string(*number);
  }
  char buffer[base::kMostFloatText];
  return {buffer, base::PutFloat(buffer, value.getAsNumber().value_or(0))};
}

// A value as `Describe` writes it: numbers in their fewest digits, members of a record in the order of its type. So what a server carries
// is equal to what its source says. Depth is that of the text.
class DefaultText {
 public:
  explicit DefaultText(const Interface& interface) : interface_(interface) {}

  std::string Of(const json::Value& value, const Type* type) const {
    if (type != nullptr && type->kind == ir::TypeKind::kOptional) type = &type->element[0];
    switch (value.kind()) {
      case json::Value::Null:
        return "null";
      case json::Value::Boolean:
        return *value.getAsBoolean() ? "true" : "false";
      case json::Value::Number:
        return NumberText(value, type);
      case json::Value::String:
        return base::QuoteJson(std::string_view(*value.getAsString()));
      case json::Value::Array:
        return OfArray(*value.getAsArray(), type);
      case json::Value::Object:
        return OfObject(*value.getAsObject(), type);
    }
    return "";
  }

 private:
  static const Type* ElementOf(const Type* type) {
    if (type != nullptr && type->kind == ir::TypeKind::kTensor) return type;  // nested arrays
    return type == nullptr || type->element.empty() ? nullptr : &type->element[0];
  }

  std::string OfArray(const json::Array& items, const Type* type) const {
    std::string text;
    for (const json::Value& item : items) text += (text.empty() ? "" : ",") + Of(item, ElementOf(type));
    return "[" + text + "]";
  }
  std::string OfObject(const json::Object& object, const Type* type) const {
    std::string text;
    const auto add = [&](std::string_view name, const Type* of) {
      const json::Value* value = object.get({name.data(), name.size()});
      if (value != nullptr) text += (text.empty() ? "" : ",") + base::QuoteJson(name) + ":" + Of(*value, of);
    };
    if (type != nullptr && type->kind == ir::TypeKind::kRecord) {
      for (const Field& field : FieldsOf(interface_, *type)) add(field.name, &field.type);
    } else {
      std::vector<std::string_view> names;
      for (const auto& member : object) names.emplace_back(llvm::StringRef(member.first));
      std::sort(names.begin(), names.end());
      for (const std::string_view name : names) add(name, ElementOf(type));
    }
    return "{" + text + "}";
  }

  const Interface& interface_;  // with the records
};

// Members of objects into the structs; what is missing or of another kind leaves `ok` false.
class Reader {
 public:
  Interface Read(const json::Object& root) {
    if (root.getInteger("version") != kVersion) ok_ = false;
    EachObject(root, "types", [&](const json::Object& one) {
      Record record{.name = Text(one, "name"), .doc = OptionalText(one, "doc"), .fields = {}};
      EachObject(one, "fields", [&](const json::Object& field) { record.fields.push_back({Text(field, "name"), ReadType(field)}); });
      result_.records.push_back(std::move(record));
    });
    EachObject(root, "errors", [&](const json::Object& one) {
      result_.errors.push_back({.code = Number<int32_t>(one, "code"),
                                .name = Text(one, "name"),
                                .message = Text(one, "message"),
                                .status = Number<int>(one, "status"),
                                .place = {}});
    });
    EachObject(root, "services", [&](const json::Object& one) { result_.services.push_back(ReadService(one)); });
    return std::move(result_);
  }
  bool ok() const { return ok_; }

 private:
  Service ReadService(const json::Object& one) {
    Service service{.name = Text(one, "name"),
                    .doc = OptionalText(one, "doc"),
                    .calls = {},
                    .timeout_ns = Number<int64_t>(one, "timeout_ns", 0),
                    .body_bytes = static_cast<uint64_t>(Number<int64_t>(one, "body_bytes", 0)),
                    .rows = Number<uint32_t>(one, "rows", 0),
                    .place = {}};
    EachObject(one, "calls", [&](const json::Object& call) { service.calls.push_back(ReadCall(call)); });
    ok_ = ok_ && !service.calls.empty();
    return service;
  }

  Call ReadCall(const json::Object& one) {
    Call call;
    call.name = Text(one, "name");
    call.doc = OptionalText(one, "doc");
    call.is_model = one.getBoolean("model").value_or(false);
    call.versions = OptionalText(one, "versions");
    EachObject(one, "in", [&](const json::Object& port) { call.in.push_back(ReadPort(port)); });
    EachObject(one, "out", [&](const json::Object& port) { call.out.push_back(ReadPort(port)); });
    if (const json::Array* errors = one.getArray("errors")) {
      for (const json::Value& code : *errors) call.errors.push_back(static_cast<int32_t>(code.getAsInteger().value_or(0)));
    }
    if (one.get("meta") != nullptr) {
      EachObject(one, "meta", [&](const json::Object& meta) {
        call.meta.push_back(
            {.key = Text(meta, "key"), .type = ReadType(meta), .default_value = {}, .written = OptionalText(meta, "written"), .place = {}});
        call.meta.back().default_value = Default(meta, call.meta.back().type);
      });
    }
    if (const json::Array* keys = one.getArray("annotations")) {
      for (const json::Value& key : *keys) call.annotations.push_back(key.getAsString().value_or("").str());
    }
    return call;
  }

  Port ReadPort(const json::Object& one) {
    Port port{.name = Text(one, "name"),
              .type = ReadType(one),
              .required = one.getBoolean("required").value_or(true),
              .default_value = {},
              .written = OptionalText(one, "written"),
              .place = {}};
    port.default_value = Default(one, port.type);
    return port;
  }

  // A name of a record must be one that has been read: so there are no circles.
  bool IsKnown(const Type& type) const {
    if (!type.record.empty()) return result_.FindRecord(type.record) != nullptr;
    return std::all_of(type.element.begin(), type.element.end(), [&](const Type& element) { return IsKnown(element); }) &&
           std::all_of(type.fields.begin(), type.fields.end(), [&](const Field& field) { return IsKnown(field.type); });
  }
  Type ReadType(const json::Object& one) {
    auto type = ParseType(Text(one, "type"), unknown_);
    ok_ = ok_ && type.ok() && IsKnown(*type);
    return type.ok() ? *std::move(type) : Type();
  }

  std::string Default(const json::Object& one, const Type& type) const {
    const json::Value* value = one.get("default");
    return value == nullptr || !ok_ ? "" : DefaultText(result_).Of(*value, &type);
  }
  static std::string OptionalText(const json::Object& one, const char* name) { return one.getString(name).value_or("").str(); }
  std::string Text(const json::Object& one, const char* name) {
    const auto text = one.getString(name);
    ok_ = ok_ && text.has_value();
    return text.value_or("").str();
  }
  template <typename T>
  T Number(const json::Object& one, const char* name, std::optional<T> otherwise = std::nullopt) {
    const auto number = one.getInteger(name);
    if (!number && otherwise) return *otherwise;
    ok_ = ok_ && number && std::in_range<T>(*number);
    return static_cast<T>(number.value_or(0));
  }
  template <typename F>
  void EachObject(const json::Object& one, const char* name, const F& take) {
    const json::Array* items = one.getArray(name);
    if (items == nullptr) ok_ = false;
    for (size_t at = 0; items != nullptr && at < items->size(); ++at) {
      const json::Object* item = (*items)[at].getAsObject();
      if (item != nullptr) take(*item);
      ok_ = ok_ && item != nullptr;
    }
  }

  Interface result_;
  base::UnknownDims unknown_{"j"};
  bool ok_ = true;
};

}  // namespace

std::string ToJson(const Interface& interface) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  out.object([&] {
    out.attribute("version", kVersion);
    WriteArray(out, "types", interface.records, [&](const Record& record) {
      out.attribute("name", record.name);
      WriteIf(out, "doc", record.doc);
      WriteArray(out, "fields", record.fields, [&](const Field& field) {
        out.attribute("name", field.name);
        out.attribute("type", ToString(field.type));
      });
    });
    WriteArray(out, "errors", interface.errors, [&](const Error& error) {
      out.attribute("code", error.code);
      out.attribute("name", error.name);
      out.attribute("message", json::fixUTF8(error.message));
      out.attribute("status", error.status);
    });
    WriteArray(out, "services", interface.services, [&](const Service& service) {
      out.attribute("name", service.name);
      WriteIf(out, "doc", service.doc);
      WriteIf(out, "timeout_ns", service.timeout_ns);
      WriteIf(out, "body_bytes", static_cast<int64_t>(service.body_bytes));
      WriteIf(out, "rows", int64_t{service.rows});
      WriteArray(out, "calls", service.calls, [&](const Call& call) { WriteCall(out, call); });
    });
  });
  return text;
}

namespace {

base::Status Unreadable() { return {base::kInvalidArgument, "its description of the interface cannot be read"}; }

base::Result<json::Object> ParseObject(std::string_view text) {
  if (!source::NestsWithin(text, kMaxNesting)) return Unreadable();
  auto value = json::parse({text.data(), text.size()});
  if (!value) {
    llvm::consumeError(value.takeError());
    return Unreadable();
  }
  json::Object* object = value->getAsObject();
  if (object == nullptr) return Unreadable();
  return std::move(*object);
}

base::Result<Interface> FromObject(const json::Object& object) {
  Reader reader;
  Interface interface = reader.Read(object);
  if (!reader.ok()) return Unreadable();
  return interface;
}

}  // namespace

base::Result<Interface> FromJson(std::string_view text) {
  const auto object = ParseObject(text);
  return object.ok() ? FromObject(*object) : object.status();
}

base::Result<Interface> FromNote(std::string_view note) {
  const auto object = ParseObject(note);
  if (!object.ok()) return object.status();
  const json::Object* interface = object->getObject("interface");
  if (interface == nullptr) return base::Status(base::kInvalidArgument, "built by an earlier wfc, which did not describe interfaces");
  return FromObject(*interface);
}

}  // namespace wf::interface
