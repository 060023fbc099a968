#include "tests/diff/type.h"

#include <algorithm>
#include <cctype>

namespace wf::diff {

std::string ToText(const Type& type) {
  switch (type.kind) {
    case Kind::kScalar:
      return std::string(ir::NameOf(type.dtype));
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
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
    case Kind::kMap:
      return "map<" + ToText(type.of[0]) + ">";
    case Kind::kOptional:
      return ToText(type.of[0]) + "?";
  }
  return {};
}

bool IsOpen(const Type& type) {
  return std::find(type.dims.begin(), type.dims.end(), "_") != type.dims.end() || std::any_of(type.of.begin(), type.of.end(), IsOpen);
}

void Solve(const Type& symbolic, const Type& of, Dims& dims) {
  if (symbolic.dims.size() != of.dims.size() || symbolic.of.size() != of.of.size()) return;
  for (size_t i = 0; i < of.dims.size(); ++i)
    if (std::isalpha(static_cast<unsigned char>(symbolic.dims[i][0])) != 0) dims.emplace_back(symbolic.dims[i], of.dims[i]);
  for (size_t i = 0; i < of.of.size(); ++i) Solve(symbolic.of[i], of.of[i], dims);
}

Type With(const Type& type, const Dims& dims) {
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
