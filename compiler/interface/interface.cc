#include "compiler/interface/interface.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace wf::interface {
namespace {

std::string FieldsText(const std::vector<Field>& fields) {
  std::string text = "(";
  for (const Field& field : fields) text += (text.size() > 1 ? ", " : "") + field.name + ": " + ToString(field.type);
  return text + ")";
}

}  // namespace

std::string ToString(const Type& type) {
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      return std::string(ir::NameOf(type.dtype));
    case ir::TypeKind::kString:
      return "string";
    case ir::TypeKind::kBytes:
      return "bytes";
    case ir::TypeKind::kTensor: {
      std::string text;
      for (const base::Dim& dim : type.dims) text += (text.empty() ? "[" : ", ") + dim.ToString();
      return std::string(ir::NameOf(type.dtype)) + (text.empty() ? "[" : text) + "]";
    }
    case ir::TypeKind::kRecord:
      return type.record.empty() ? FieldsText(type.fields) : type.record;
    case ir::TypeKind::kList:
      return "list<" + ToString(type.element[0]) + ">";
    case ir::TypeKind::kMap:
      return "map<" + ToString(type.element[0]) + ">";
    case ir::TypeKind::kOptional:
      return ToString(type.element[0]) + "?";
  }
  return "";
}

const Record* Interface::FindRecord(std::string_view name) const {
  const auto row = std::find_if(records.begin(), records.end(), [&](const Record& record) { return record.name == name; });
  return row == records.end() ? nullptr : &*row;
}

const Error* Interface::FindError(int32_t code) const {
  const auto row = std::find_if(errors.begin(), errors.end(), [&](const Error& error) { return error.code == code; });
  return row == errors.end() ? nullptr : &*row;
}

const std::vector<Field>& FieldsOf(const Interface& interface, const Type& record) {
  if (record.record.empty()) return record.fields;
  const Record* found = interface.FindRecord(record.record);
  WF_CHECK(found != nullptr, record.record);
  return found->fields;
}

const Port* RawBody(const Call& call) {
  const Port* only = nullptr;
  for (const Port& port : call.in) {
    if (!port.required || port.type.kind != ir::TypeKind::kBytes) continue;
    if (only != nullptr) return nullptr;
    only = &port;
  }
  return only;
}

}  // namespace wf::interface
