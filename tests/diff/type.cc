#include "tests/diff/type.h"

namespace wf::diff {

std::string ToText(const Type& type) {
  switch (type.kind) {
    case Kind::kScalar:
      return std::string(ir::NameOf(type.dtype));
    case Kind::kString:
      return "string";
    case Kind::kTensor: {
      std::string text = std::string(ir::NameOf(type.dtype)) + "[";
      for (size_t i = 0; i < type.dims.size(); ++i) text += (i == 0 ? "" : ", ") + type.dims[i];
      return text + "]";
    }
    case Kind::kRecord:
      return type.name;
    case Kind::kTuple: {
      std::string text;
      for (size_t i = 0; i < type.of.size(); ++i) text += (i == 0 ? "(" : ", ") + type.names[i] + ": " + ToText(type.of[i]);
      return text + ")";
    }
    case Kind::kList:
      return "list<" + ToText(type.of[0]) + ">";
    case Kind::kOptional:
      return ToText(type.of[0]) + "?";
  }
  return {};
}

Type With(const Type& type, const std::vector<std::pair<std::string, std::string>>& dims) {
  Type made = type;
  for (std::string& dim : made.dims) {
    for (const auto& [from, to] : dims) {
      if (dim != from) continue;
      dim = to;
      break;
    }
  }
  for (Type& inner : made.of) inner = With(inner, dims);
  return made;
}

}  // namespace wf::diff
