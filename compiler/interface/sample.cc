#include "compiler/interface/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/base/json_text.h"

namespace wf::interface {
namespace {

constexpr size_t kMaxElements = 4096;  // of one tensor; more do not belong on a command line

constexpr int64_t kMaxSize = 64;  // of a symbol

// Nested arrays of the same element.
std::string Nested(const std::vector<int64_t>& extents, size_t axis, const std::string& element) {
  if (axis == extents.size()) return element;
  const std::string inner = Nested(extents, axis + 1, element);
  std::string text;
  for (int64_t at = 0; at < extents[axis]; ++at) text += (at == 0 ? "" : ",") + inner;
  return "[" + text + "]";
}

// What stands between the brackets of a JSON array or object that is written without blanks, part by part.
std::vector<std::string_view> PartsOf(std::string_view json) {
  std::vector<std::string_view> parts;
  bool in_text = false;
  int depth = 0;
  size_t begin = 1;
  for (size_t at = 1; at + 1 < json.size(); ++at) {
    const char c = json[at];
    if (in_text && c == '\\') ++at;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c != ',' || depth != 0) continue;
    parts.push_back(json.substr(begin, at - begin));
    begin = at + 1;
  }
  if (json.size() > 2) parts.push_back(json.substr(begin, json.size() - 1 - begin));
  return parts;
}

class Sampler {
 public:
  Sampler(const Interface& interface, const Call& call, int64_t least) : interface_(interface), call_(call), size_(least) {
    for (const Port& port : call.in) {
      if (port.required || port.default_value.empty()) continue;
      const std::string_view value = port.default_value;
      Bind(port.type, value);
      int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size() && IsSymbol(port.name)) known_.try_emplace(port.name, number);
    }
    while (size_ < kMaxSize && !Fits()) size_ *= 2;
  }

  std::optional<std::string> Body() const {
    std::string members;
    for (const Port& port : call_.in) {
      if (!port.required) continue;
      const auto value = port.type.kind == ir::TypeKind::kScalar && IsSymbol(port.name) ? std::to_string(SizeOf(port.name)) : Of(port.type);
      if (!value) return std::nullopt;
      members += (members.empty() ? "" : ",") + base::QuoteJson(port.name) + ":" + *value;
    }
    return "{" + members + "}";
  }

 private:
  // A default says the symbols that it stands with: a required parameter must fit it.
  void Bind(const Type& type, std::string_view value) {
    if (type.kind == ir::TypeKind::kRecord && value.starts_with('{')) {
      for (const std::string_view member : PartsOf(value)) {
        const auto is_it = [&](const Field& field) { return member.starts_with('"' + field.name + "\":"); };
        const auto field = std::find_if(type.fields.begin(), type.fields.end(), is_it);
        if (field != type.fields.end()) Bind(field->type, member.substr(field->name.size() + 3));
      }
    }
    for (const base::Dim& dim : type.dims) {
      if (!value.starts_with('[')) return;
      const std::vector<std::string_view> elements = PartsOf(value);
      const auto linear = dim.AsLinear();
      if (linear) known_.try_emplace(linear->symbol, (static_cast<int64_t>(elements.size()) - linear->add) / linear->mul);
      if (elements.empty()) return;
      value = elements.front();
    }
  }
  int64_t SizeOf(const std::string& symbol) const {
    const auto known = known_.find(symbol);
    return known == known_.end() ? size_ : known->second;
  }
  // Extents with every symbol that no default says at `size_`; below zero: none.
  int64_t ExtentOf(const base::Dim& dim) const {
    return dim.Evaluate([&](const std::string& symbol) { return std::optional<int64_t>(SizeOf(symbol)); }).value_or(-1);
  }
  bool IsKnown(const base::Dim& dim) const {
    const auto symbols = dim.Symbols();
    return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) { return known_.contains(symbol); });
  }
  bool Fits() const {
    return std::all_of(call_.in.begin(), call_.in.end(), [&](const Port& port) {
      return std::all_of(port.type.dims.begin(), port.type.dims.end(),
                         [&](const base::Dim& dim) { return IsKnown(dim) || ExtentOf(dim) > 0; });
    });
  }
  bool IsSymbol(const std::string& name) const {
    return std::any_of(call_.in.begin(), call_.in.end(), [&](const Port& port) {
      return std::any_of(port.type.dims.begin(), port.type.dims.end(), [&](const base::Dim& dim) {
        const auto symbols = dim.Symbols();
        return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
      });
    });
  }

  std::optional<std::string> Of(const Type& type) const {
    const std::string one = type.dtype == ir::DType::kBool ? "true" : "1";
    switch (type.kind) {
      case ir::TypeKind::kScalar:
        return one;
      case ir::TypeKind::kString:
        return "\"text\"";
      case ir::TypeKind::kBytes:
        return R"({"b64":""})";
      case ir::TypeKind::kTensor:
        return TensorOf(type, one);
      case ir::TypeKind::kRecord:
        return RecordOf(type);
      case ir::TypeKind::kList: {
        const auto element = Of(type.element[0]);
        return element ? std::optional("[" + *element + "]") : std::nullopt;
      }
      case ir::TypeKind::kMap: {
        const auto element = Of(type.element[0]);
        return element ? std::optional("{\"key\":" + *element + "}") : std::nullopt;
      }
      case ir::TypeKind::kOptional:
        return "null";
    }
    return std::nullopt;
  }

  std::optional<std::string> TensorOf(const Type& type, const std::string& one) const {
    std::vector<int64_t> extents;
    size_t elements = 1;
    for (const base::Dim& dim : type.dims) {
      extents.push_back(std::max<int64_t>(ExtentOf(dim), 0));
      elements = std::min(elements * std::min(static_cast<size_t>(extents.back()), kMaxElements + 1), kMaxElements + 1);
    }
    return elements > kMaxElements ? std::nullopt : std::optional(Nested(extents, 0, one));
  }

  std::optional<std::string> RecordOf(const Type& type) const {
    std::string members;
    for (const Field& field : FieldsOf(interface_, type)) {
      const auto value = Of(field.type);
      if (!value) return std::nullopt;
      members += (members.empty() ? "" : ",") + base::QuoteJson(field.name) + ":" + *value;
    }
    return "{" + members + "}";
  }

  const Interface& interface_;
  const Call& call_;
  int64_t size_;  // of every other symbol
  std::map<std::string, int64_t> known_;
};

// For a shell: single quotes hold everything but themselves.
std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::optional<std::string> SampleBody(const Interface& interface, const Call& call, int64_t least) {
  return call.example.empty() ? Sampler(interface, call, least).Body() : call.example;
}

std::string SampleCurl(const Interface& interface, const Service& service, const Call& call, const std::string& url, int64_t least) {
  const std::string target = fmt::format("{}/{}/{}", url, service.name, call.name);
  const std::string_view curl = url.starts_with("https:") ? "curl -k" : "curl";  // its certificate is for another name than an address
  const bool has_others =
      std::any_of(call.in.begin(), call.in.end(), [&](const Port& port) { return port.required && &port != RawBody(call); });
  if (RawBody(call) != nullptr && !has_others) return fmt::format("{} --data-binary @FILE {}", curl, target);
  const auto body = SampleBody(interface, call, least);
  return fmt::format("{} -H 'content-type: application/json' -d {} {}", curl, body ? ShellQuoted(*body) : "@FILE", target);
}

std::vector<std::string> SampleCurls(const Interface& interface, const std::string& url, int64_t least) {
  std::vector<std::string> lines;
  for (const Service& service : interface.services)
    for (const Call& call : service.calls) lines.push_back(SampleCurl(interface, service, call, url, least));
  return lines;
}

}  // namespace wf::interface
