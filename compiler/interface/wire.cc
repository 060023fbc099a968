#include "compiler/interface/wire.h"

namespace wf::interface {
namespace {

std::string Ranked(ir::DType dtype, size_t rank) { return std::string(ir::NameOf(dtype)) + " of rank " + std::to_string(rank); }

}  // namespace

std::string OipText(const Type& type, bool is_result) {
  const std::string json = "BYTES with JSON";
  if (type.kind == ir::TypeKind::kOptional && is_result) return json;
  const Type& plain = type.kind == ir::TypeKind::kOptional ? type.element[0] : type;
  if (plain.kind == ir::TypeKind::kScalar || plain.kind == ir::TypeKind::kTensor) return Ranked(plain.dtype, plain.dims.size());
  if (plain.kind == ir::TypeKind::kString || plain.kind == ir::TypeKind::kBytes) return "BYTES";
  if (plain.kind != ir::TypeKind::kList) return json;
  const Type& element = plain.element[0];
  if (element.kind == ir::TypeKind::kScalar) return Ranked(element.dtype, 1);
  return element.kind == ir::TypeKind::kString || element.kind == ir::TypeKind::kBytes ? "BYTES of rank 1" : json;
}

std::map<std::string, std::string> OipNames(const Interface& interface) {
  std::map<std::string, std::string> names;
  std::map<std::string, int> owners;
  for (const Service& service : interface.services) {
    names.emplace(service.name, service.name + "/" + service.calls.front().name);
    for (const Call& call : service.calls) {
      names.emplace(service.name + "." + call.name, service.name + "/" + call.name);
      ++owners[call.name];
    }
  }
  for (const Service& service : interface.services) {
    for (const Call& call : service.calls) {
      if (owners[call.name] == 1) names.emplace(call.name, service.name + "/" + call.name);
    }
  }
  return names;
}

}  // namespace wf::interface
