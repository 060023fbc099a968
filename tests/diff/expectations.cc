#include "tests/diff/expectations.h"

#include <cmath>
#include <cstring>

#include "compiler/ir/scalar.h"
#include "runtime/base/base64.h"

namespace wf::diff {
namespace {

using ir::DType;
using ir::TypeKind;

std::string Quoted(const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      quoted += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Base64(const std::string& bytes) {
  std::string text(base::Base64Bytes(bytes.size()), ' ');
  base::EncodeBase64(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), reinterpret_cast<uint8_t*>(text.data()));
  return text;
}

template <typename Texts>
std::string Members(const Texts& texts) {
  std::string text = "{";
  for (const auto& [name, value] : texts) text += (text == "{" ? "" : ", ") + Quoted(name) + ": " + Quoted(value);
  return text + "}";
}

std::string Listed(const std::vector<ir::Annotation>& annotations) {
  std::string text = "[";
  for (const ir::Annotation& one : annotations)
    text += (text == "[" ? "[" : ", [") + Quoted(one.key) + ", " + Quoted(one.text) + (one.is_certain ? ", true]" : ", false]");
  return text + "]";
}

class Words {
 public:
  explicit Words(const ir::Program& program) : program_(program) {}

  std::string Scalar(DType dtype, uint64_t bits) {
    if (dtype == DType::kBool) return bits != 0 ? "true" : "false";
    if (ir::IsFloat(dtype)) {
      const double value = ir::F64Of(ir::ConvertScalar(dtype, DType::kF64, bits));
      has_no_words_ = has_no_words_ || !std::isfinite(value);
      return "{\"" + std::string(ir::NameOf(dtype)) + "\": " + std::to_string(bits) + "}";
    }
    if (!ir::IsSigned(dtype)) return std::to_string(bits);
    const auto unused = static_cast<unsigned>(64 - 8 * ir::SizeOf(dtype));
    return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
  }

  std::string Elements(const ir::Type& type, const ir::Value& value, size_t axis, size_t* at) {
    if (axis == value.dims.size()) {
      uint64_t bits = 0;
      const size_t size = ir::SizeOf(type.dtype);
      std::memcpy(&bits, value.text->data() + (*at)++ * size, size);
      return Scalar(type.dtype, bits);
    }
    std::string text = "[";
    for (int64_t i = 0; i < value.dims[axis]; ++i) text += (i == 0 ? "" : ", ") + Elements(type, value, axis + 1, at);
    return text + "]";
  }

  std::string Of(ir::TypeId id, const ir::Value& value) {
    const ir::Type& type = program_.types[id];
    size_t at = 0;
    switch (type.kind) {
      case TypeKind::kScalar:
        return Scalar(type.dtype, value.bits);
      case TypeKind::kString:
        return Quoted(*value.text);
      case TypeKind::kBytes:
        return "{\"b64\": \"" + Base64(*value.text) + "\"}";
      case TypeKind::kTensor:
        return Elements(type, value, 0, &at);
      case TypeKind::kOptional:
        return value.bits == 0 ? "null" : Of(type.element, (*value.items)[0]);
      case TypeKind::kList:
      case TypeKind::kMap: {
        std::string text = "[";
        for (size_t i = 0; i < value.items->size(); ++i) text += (i == 0 ? "" : ", ") + Of(type.element, (*value.items)[i]);
        return text + "]";
      }
      case TypeKind::kRecord: {
        std::string text = "{";
        for (size_t i = 0; i < type.fields.size(); ++i)
          text += (i == 0 ? "" : ", ") + Quoted(type.fields[i].name) + ": " + Of(type.fields[i].type, (*value.items)[i]);
        return text + "}";
      }
    }
    return {};
  }

  bool has_no_words() const { return has_no_words_; }

 private:
  const ir::Program& program_;
  bool has_no_words_ = false;
};

// The parameter that a raw body is: the one of bytes that is required. Empty: there is none, or there are several.
std::string RawParameter(const ir::Program& program, const ir::Workflow& workflow) {
  std::string name;
  for (const ir::Port& port : workflow.in) {
    if (!port.required || program.types[program[port.slot].type].kind != TypeKind::kBytes) continue;
    if (!name.empty()) return "";
    name = port.name;
  }
  return name;
}

}  // namespace

std::string Expectation(const ir::Program& program, size_t workflow, const Input& asked, const Ending& ending,
                        const std::vector<Reported>& known) {
  const ir::Workflow& row = program.workflows[workflow];
  std::string text = "{\"path\": " + Quoted("/" + row.service + "/" + row.name) + ", \"body\": " + Quoted(asked.json) +
                     ", \"metadata\": " + Members(asked.metadata) + ", \"raw\": " + Quoted(RawParameter(program, row));
  if (ending.failure.code != 0) {
    text += ", \"failures\": [";
    for (size_t i = 0; i < known.size(); ++i)
      text += (i == 0 ? "[" : ", [") + std::to_string(known[i].code) + ", " + Quoted(known[i].path) + "]";
    return text + "]}";
  }
  Words words(program);
  std::string values;
  for (size_t i = 0; i < ending.values.size(); ++i)
    values += (i == 0 ? "" : ", ") + Quoted(row.out[i].name) + ": " + words.Of(program[row.out[i].slot].type, ending.values[i]);
  return text + (words.has_no_words() ? ", \"failures\": [[9000, \"\"]]}"
                                      : ", \"values\": {" + values + "}, \"annotations\": " + Listed(ending.annotations) + "}");
}

}  // namespace wf::diff
