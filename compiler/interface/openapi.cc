#include "compiler/interface/openapi.h"

#include <fmt/format.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <map>

#include "compiler/interface/sample.h"
#include "compiler/interface/schema.h"
#include "runtime/abi/defaults.h"
#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/float_text.h"
#include "runtime/base/units.h"

namespace wf::interface {
namespace {

namespace json = llvm::json;

// What the framework answers to calls that reach it (docs/protocols.md).
struct Refusal {
  int status;
  int32_t code;
  const char* when;
};
constexpr std::array kRefusals = {Refusal{400, code::kInputParams, "the request does not fit the signature"},
                                  Refusal{408, code::kTimeout, "the body does not come in time"},
                                  Refusal{413, code::kInputParams, "the body is larger than the service takes"},
                                  Refusal{415, code::kInputParams, "the body has a content-encoding"},
                                  Refusal{429, code::kRefused, "the server, or a queue of it, is full"},
                                  Refusal{429, code::kMemoryCap, "the request needs more memory than one may take"},
                                  Refusal{500, code::kType, "a value is not what the program expects of it"},
                                  Refusal{500, code::kInference, "a model failed, or a result is NaN or infinite"},
                                  Refusal{503, code::kClosed, "the server stops"},
                                  Refusal{504, code::kTimeout, "the deadline is over"}};

json::Object FailureExample(int32_t code, std::string_view name, const std::string& message) {
  json::Object error{{"code", code}, {"name", std::string(name)}, {"message", json::fixUTF8(message)}, {"path", ""}, {"data_id", 1},
                     {"log_id", ""}};
  return json::Object{{"value", json::Object{{"error", std::move(error)}}}};
}

// As LLVM does, but that fractions have their fewest digits.
void Write(json::OStream& out, const json::Value& value) {
  if (const auto* object = value.getAsObject()) {
    std::map<llvm::StringRef, const json::Value*> members;
    for (const auto& [name, member] : *object) members.emplace(name, &member);
    out.object([&] {
      for (const auto& [name, member] : members) {
        out.attributeBegin(name);
        Write(out, *member);
        out.attributeEnd();
      }
    });
  } else if (const auto* array = value.getAsArray()) {
    out.array([&] {
      for (const json::Value& item : *array) Write(out, item);
    });
  } else if (value.kind() == json::Value::Number && !value.getAsInteger() && !value.getAsUINT64()) {
    char digits[base::kMostFloatText];
    out.rawValue({digits, static_cast<size_t>(base::PutFloat(digits, *value.getAsNumber()) - digits)});
  } else {
    out.value(value);
  }
}

class OpenApiWriter {
 public:
  OpenApiWriter(const Interface& interface, const Service& service) : interface_(interface), service_(service), schemas_(interface) {
    while (interface.FindRecord(failure_) != nullptr) failure_ += "_";
  }

  json::Object Run() {
    json::Object paths;
    for (const Call& call : service_.calls) paths["/" + service_.name + "/" + call.name] = json::Object{{"post", Operation(call)}};
    json::Object components{{"schemas", schemas_.TakeRecords()}};
    components.getObject("schemas")->insert({failure_, FailureSchema()});
    json::Object info{{"title", service_.name}, {"version", "1"}};
    if (!service_.doc.empty()) info["description"] = json::fixUTF8(service_.doc);
    json::Object server{{"url", "http://localhost:8080"}, {"description", "the default port on this machine"}};
    return json::Object{{"openapi", "3.1.0"},
                        {"info", std::move(info)},
                        {"servers", json::Array{std::move(server)}},
                        {"paths", std::move(paths)},
                        {"components", std::move(components)}};
  }

 private:
  json::Object Operation(const Call& call) {
    json::Object operation{
        {"operationId", call.name}, {"requestBody", RequestBody(call)}, {"responses", Responses(call)}, {"parameters", Parameters(call)}};
    if (!call.doc.empty()) {
      operation["summary"] = json::fixUTF8(call.doc.substr(0, call.doc.find('\n')));
      operation["description"] = json::fixUTF8(call.doc);
    }
    return operation;
  }

  json::Object RequestBody(const Call& call) {
    json::Object as_json{{"schema", schemas_.ForRequest(call.in)}};
    if (const auto sample = SampleBody(interface_, call)) {
      if (auto value = json::parse(*sample)) {
        as_json["example"] = std::move(*value);
      } else {
        llvm::consumeError(value.takeError());
      }
    }
    json::Object content{{"application/json", std::move(as_json)}};
    json::Object body{{"required", true}};
    if (const Port* raw = RawBody(call)) {
      content["application/octet-stream"] = json::Object{};
      body["description"] = fmt::format(
          "JSON, or under any other content type the bytes of `{}` themselves, with the other parameters in the query", raw->name);
    }
    body["content"] = std::move(content);
    return body;
  }

  json::Array Parameters(const Call& call) {
    json::Array parameters{json::Object{{"name", "x-request-id"},
                                        {"in", "header"},
                                        {"description", "comes back as `log_id` of errors and logs"},
                                        {"schema", json::Object{{"type", "string"}}}}};
    for (const Meta& meta : call.meta) {
      if (auto parameter = MetaParameter(meta)) parameters.push_back(std::move(*parameter));
    }
    const Port* const raw = RawBody(call);
    for (const Port& port : call.in) {
      if (raw != nullptr && &port != raw) parameters.push_back(QueryParameter(port));
    }
    return parameters;
  }

  std::optional<json::Object> MetaParameter(const Meta& meta) {
    const auto is = [&](std::string_view name) { return base::EqualIgnoringCase(meta.key, name); };
    const bool token =
        std::all_of(meta.key.begin(), meta.key.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
    if (!token || meta.key.empty() || is("accept") || is("content-type") || is("authorization") || is("x-request-id")) return std::nullopt;
    json::Object schema = schemas_.ForRequest(meta.type);
    SetDefault(schema, meta.default_value);
    return json::Object{
        {"name", meta.key}, {"in", "header"}, {"description", "metadata that the program reads"}, {"schema", std::move(schema)}};
  }

  // Texts and bytes stand in the query as they are, everything else as JSON.
  json::Object QueryParameter(const Port& port) {
    const Type& type = port.type.kind == ir::TypeKind::kOptional ? port.type.element[0] : port.type;
    json::Object parameter{{"name", json::fixUTF8(port.name)},
                           {"in", "query"},
                           {"description", "only beside a body that is not JSON; else a member of the body"}};
    if (type.kind == ir::TypeKind::kString || type.kind == ir::TypeKind::kBytes) {
      json::Object schema{{"type", "string"}};
      if (type.kind == ir::TypeKind::kString) SetDefault(schema, port.default_value == "null" ? "" : port.default_value);
      parameter["schema"] = std::move(schema);
      return parameter;
    }
    json::Object schema = schemas_.ForRequest(port.type);
    SetDefault(schema, port.default_value);
    if (type.kind == ir::TypeKind::kScalar && port.type.kind != ir::TypeKind::kOptional) {
      parameter["schema"] = std::move(schema);
    } else {
      parameter["content"] = json::Object{{"application/json", json::Object{{"schema", std::move(schema)}}}};
    }
    return parameter;
  }

  json::Object FailureBody(json::Object examples) {
    json::Object media{{"schema", json::Object{{"$ref", "#/components/schemas/" + failure_}}}};
    if (!examples.empty()) media["examples"] = std::move(examples);
    return json::Object{{"application/json", std::move(media)}};
  }

  json::Object Responses(const Call& call) {
    json::Object fine{{"description", "the results"},
                      {"content", json::Object{{"application/json", json::Object{{"schema", schemas_.ForAnswer(call.out)}}}}}};
    if (json::Object headers = Annotations(call); !headers.empty()) fine["headers"] = std::move(headers);
    json::Object responses{{"200", std::move(fine)}};
    struct Answer {
      std::string description;
      json::Object examples;
    };
    std::map<int, Answer> answers;
    const auto add = [&](int status, int32_t code, std::string_view name, const std::string& when) {
      Answer& answer = answers[status];
      answer.description += fmt::format("{}{} `{}`: {}", answer.description.empty() ? "" : "; ", code, name, when);
      std::string key(name);  // of several errors of one name, the first has it alone
      if (answer.examples.get(key) != nullptr) key += "_" + std::to_string(code);
      answer.examples[key] = FailureExample(code, name, when);
    };
    for (const int32_t code : call.errors) {
      if (const Error* error = interface_.FindError(code))
        add(base::HttpStatus(static_cast<base::StatusCode>(error->status)), code, error->name, error->message);
    }
    for (const Refusal& refusal : kRefusals) {
      const bool body = refusal.status == 413;
      const std::string limit =
          base::SizeText(service_.body_bytes != 0 ? service_.body_bytes : static_cast<uint64_t>(abi::kBodyBytes.value));
      add(refusal.status, refusal.code, base::CodeInfoOf(refusal.code).name, body ? refusal.when + (", " + limit) : refusal.when);
    }
    for (auto& [status, answer] : answers) {
      json::Object response{{"description", json::fixUTF8(answer.description)}, {"content", FailureBody(std::move(answer.examples))}};
      if (status == 429)
        response["headers"] = json::Object{
            {"retry-after", json::Object{{"description", "seconds; not on every refusal"}, {"schema", json::Object{{"type", "integer"}}}}}};
      responses[std::to_string(status)] = std::move(response);
    }
    responses["default"] = json::Object{{"description", "other failures"}, {"content", FailureBody({})}};
    return responses;
  }

  static json::Object Annotations(const Call& call) {
    json::Object headers;
    for (std::string key : call.annotations) {
      if (!std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; }))
        continue;
      std::transform(key.begin(), key.end(), key.begin(), base::Lower);
      headers["wf-" + key] =
          json::Object{{"description", "control characters and `%` are percent-encoded"}, {"schema", json::Object{{"type", "string"}}}};
    }
    return headers;
  }

  json::Object FailureSchema() const {
    json::Object properties{
        {"code",
         json::Object{
             {"type", "integer"}, {"format", "int32"}, {"description", "what failed; other than the HTTP status, it is the program's"}}},
        {"name", json::Object{{"type", "string"}, {"description", "of the code"}}},
        {"message", json::Object{{"type", "string"}, {"description", "for people"}}},
        {"path", json::Object{{"type", "string"}, {"description", "of the node that failed; empty when none did"}}},
        {"data_id", json::Object{{"type", "integer"}, {"format", "int64"}, {"description", "the server's number of this call"}}},
        {"log_id", json::Object{{"type", "string"}, {"description", "the client's `x-request-id`"}}}};
    json::Object error{{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", json::Array{"code", "name", "message", "path", "data_id", "log_id"}}};
    return json::Object{{"type", "object"}, {"properties", json::Object{{"error", std::move(error)}}}, {"required", json::Array{"error"}}};
  }

  const Interface& interface_;
  const Service& service_;
  Schemas schemas_;
  std::string failure_ = "Failure";
};

}  // namespace

std::string OpenApi(const Interface& interface, const Service& service) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream, 2);
  Write(out, OpenApiWriter(interface, service).Run());
  return text + "\n";
}

}  // namespace wf::interface
