#include "compiler/sema/instantiation.h"

#include "compiler/sema/consts.h"
#include "compiler/sema/rest.h"

namespace wf::sema {

TypeRef Instantiation::Of(TypeRef type) {
  switch (type->kind) {
    case TypeKind::kTensor:
      return Tensor(*type);
    case TypeKind::kVariable: {
      const auto bound = bindings_.types.find(type->name);
      return bound == bindings_.types.end() ? Unbound(type->name) : bound->second;
    }
    case TypeKind::kList:
      return types_.List(Of(type->element));
    case TypeKind::kMap:
      return types_.Map(Of(type->element));
    case TypeKind::kOptional:
      return types_.Optional(Of(type->element));
    case TypeKind::kRecord: {
      if (!type->name.empty()) return type;
      std::vector<Field> fields = type->fields;
      for (Field& field : fields) field.type = Of(field.type);
      return types_.Record("", std::move(fields));
    }
    case TypeKind::kError:
    case TypeKind::kNever:
    case TypeKind::kNone:
    case TypeKind::kScalar:
    case TypeKind::kString:
    case TypeKind::kBytes:
      break;
  }
  return type;
}

TypeRef Instantiation::Tensor(const Type& type) {
  DType dtype = type.dtype;
  if (type.element != nullptr) {
    const TypeRef element = Of(type.element);
    if (element->kind == TypeKind::kVariable) return OfAny(type, element);
    if (element->kind != TypeKind::kScalar) return types_.Error();
    dtype = element->dtype;
  }
  std::vector<Dim> dims;
  for (const Dim& dim : type.dims) {
    if (IsRest(dim)) {
      const auto rest = bindings_.rests.find(dim.symbol()->substr(1));
      if (rest != bindings_.rests.end()) {
        dims.insert(dims.end(), rest->second.begin(), rest->second.end());
      } else if (open_ == Open::kNamed) {
        dims.push_back(dim);
      } else {
        return types_.Error();
      }
    } else {
      dims.push_back(solver_.ValueOf(dim).value_or(open_ == Open::kNamed ? dim : AnyDim()));
      if (dims.back().fault() != Dim::Fault::kNone) faulty_ = dims.back() = dim;
    }
  }
  if (faulty_ && open_ == Open::kUnknown) return types_.Error();
  return dims.empty() ? types_.Scalar(dtype) : types_.Tensor(dtype, std::move(dims));
}

TypeRef Instantiation::Unbound(const std::string& name) const {
  Type any;
  if (open_ == Open::kNamed) any.kind = TypeKind::kVariable;
  if (open_ == Open::kNamed) any.name = name;
  return types_.Intern(std::move(any));
}

TypeRef Instantiation::OfAny(Type tensor, TypeRef element) const {
  tensor.element = element;
  return types_.Intern(std::move(tensor));
}

}  // namespace wf::sema
