#include "compiler/driver/sample_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/render.h"

namespace wf::driver {
namespace {

constexpr int kMaxDepth = 8;           // of nested types; deeper ones are shown empty
constexpr size_t kMaxElements = 4096;  // of one tensor; more do not belong on a command line

// Nested arrays of zeros.
std::string Zeros(const std::vector<int64_t>& dims, size_t axis, const std::string& zero) {
  if (axis == dims.size()) return zero;
  const int64_t extent = dims[axis] < 0 ? 1 : dims[axis];
  const std::string inner = Zeros(dims, axis + 1, zero);
  std::string text;
  for (int64_t at = 0; at < extent; ++at) text += (at == 0 ? "" : ",") + inner;
  return "[" + text + "]";
}

std::string SampleOf(const ir::TypeTable& types, ir::TypeId id, int depth) {
  const ir::Type& type = types[id];
  const std::string zero = type.dtype == ir::DType::kBool ? "false" : "0";
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      return zero;
    case ir::TypeKind::kString:
      return "\"text\"";
    case ir::TypeKind::kBytes:
      return R"({"b64":""})";
    case ir::TypeKind::kTensor: {
      size_t elements = 1;
      for (const int64_t extent : type.dims)
        elements = std::min(elements * static_cast<size_t>(std::max<int64_t>(extent, 1)), kMaxElements + 1);
      return elements > kMaxElements ? "[]" : Zeros(type.dims, 0, zero);
    }
    case ir::TypeKind::kRecord: {
      std::string fields;
      for (const ir::Field& field : type.fields) {
        if (depth >= kMaxDepth) break;
        fields += fmt::format("{}{}:{}", fields.empty() ? "" : ",", diag::QuoteJson(field.name), SampleOf(types, field.type, depth + 1));
      }
      return "{" + fields + "}";
    }
    case ir::TypeKind::kList:
      return depth >= kMaxDepth ? "[]" : "[" + SampleOf(types, type.element, depth + 1) + "]";
    case ir::TypeKind::kMap:
      return "{}";
    case ir::TypeKind::kOptional:
      return "null";
  }
  return "null";
}

// For a shell: single quotes hold everything but themselves.
std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string SampleCall(const ir::Program& program, const ir::Workflow& workflow, const std::string& url) {
  const std::string target = fmt::format("{}/{}/{}", url, workflow.service, workflow.name);
  std::vector<const ir::Port*> required;
  for (const ir::Port& port : workflow.in) {
    if (port.required) required.push_back(&port);
  }
  if (required.size() == 1 && program.types[required.front()->type].kind == ir::TypeKind::kBytes) {
    return fmt::format("curl --data-binary @FILE {}", target);
  }
  std::string body;
  for (const ir::Port* port : required) {
    body += fmt::format("{}{}:{}", body.empty() ? "" : ",", diag::QuoteJson(port->name), SampleOf(program.types, port->type, 0));
  }
  return fmt::format("curl -H 'content-type: application/json' -d {} {}", ShellQuoted("{" + body + "}"), target);
}

}  // namespace wf::driver
