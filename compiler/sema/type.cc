#include "compiler/sema/type.h"

#include <algorithm>
#include <functional>

namespace wf::sema {
namespace {

constexpr size_t kBuckets = 1024;

void Mix(size_t& hash, size_t value) { hash = hash * 1099511628211u + value; }

size_t HashOf(const Type& type) {
  size_t hash = static_cast<size_t>(type.kind) * 31 + static_cast<size_t>(type.dtype);
  Mix(hash, type.dims.size());
  for (const Dim& dim : type.dims) {
    for (const Dim::Term& term : dim.terms()) {
      Mix(hash, static_cast<size_t>(term.coefficient));
      for (const Dim::Atom& atom : term.atoms) Mix(hash, std::hash<std::string>()(atom.symbol));
    }
  }
  Mix(hash, std::hash<const void*>()(type.element));
  for (const Field& field : type.fields) {
    Mix(hash, std::hash<std::string>()(field.name));
    Mix(hash, std::hash<const void*>()(field.type));
  }
  Mix(hash, std::hash<std::string>()(type.name));
  return hash;
}

uint32_t PartsOf(const Type& type) {
  uint32_t parts = 1 + (type.element == nullptr ? 0 : type.element->parts);
  for (const Field& field : type.fields) parts = std::min(parts + field.type->parts, 2 * kMaxParts);
  return parts;
}

uint32_t LevelsOf(const Type& type) {
  uint32_t inner = type.element == nullptr ? 0 : type.element->levels;
  for (const Field& field : type.fields) inner = std::max(inner, field.type->levels);
  const bool encloses = type.kind == TypeKind::kList || type.kind == TypeKind::kMap || type.kind == TypeKind::kRecord;
  return inner + (encloses ? 1 : static_cast<uint32_t>(type.dims.size()));
}

bool IsOpen(TypeRef type) { return type->is_open; }
bool IsUnknown(TypeRef type) { return type->is_unknown; }

bool Holds(const Type& type, TypeKind one, TypeKind other, bool (*is_it)(TypeRef)) {
  if (type.kind == one || type.kind == other || (type.element != nullptr && is_it(type.element))) return true;
  return std::any_of(type.fields.begin(), type.fields.end(), [&](const Field& field) { return is_it(field.type); });
}

std::string FieldsToString(const std::vector<Field>& fields, const RecordNames& name_of) {
  std::string text;
  for (const Field& field : fields) text += (text.empty() ? "" : ", ") + field.name + ": " + ToString(field.type, name_of);
  return '(' + text + ')';
}

std::string TensorToString(const Type& type) {
  std::string dims;
  for (const Dim& dim : type.dims) dims += (dims.empty() ? "" : ", ") + dim.ToString();
  return (type.element != nullptr ? ToString(type.element) : std::string(ir::NameOf(type.dtype))) + '[' + dims + ']';
}

}  // namespace

TypeRef Types::Intern(Type type) {
  type.parts = PartsOf(type);
  type.levels = LevelsOf(type);
  type.is_open = Holds(type, TypeKind::kNever, TypeKind::kNone, IsOpen);
  type.is_unknown = Holds(type, TypeKind::kError, TypeKind::kVariable, IsUnknown);
  if (buckets_.empty()) buckets_.resize(kBuckets);
  std::vector<TypeRef>& bucket = buckets_[HashOf(type) % kBuckets];
  for (const TypeRef known : bucket) {
    if (*known == type) return known;
  }
  types_.push_back(std::move(type));
  bucket.push_back(&types_.back());
  return bucket.back();
}

TypeRef Types::Error(TypeRef meant) {
  Type type;
  type.element = meant;
  return Intern(std::move(type));
}

TypeRef Types::Scalar(DType dtype) {
  Type type;
  type.kind = TypeKind::kScalar;
  type.dtype = dtype;
  return Intern(std::move(type));
}

TypeRef Types::Tensor(DType dtype, std::vector<Dim> dims) {
  Type type;
  type.kind = TypeKind::kTensor;
  type.dtype = dtype;
  type.dims = std::move(dims);
  return Intern(std::move(type));
}

TypeRef Types::Simple(TypeKind kind) {
  Type type;
  type.kind = kind;
  return Intern(std::move(type));
}

TypeRef Types::List(TypeRef element) {
  Type type;
  type.kind = TypeKind::kList;
  type.element = element;
  return Intern(std::move(type));
}

TypeRef Types::Map(TypeRef element) {
  Type type;
  type.kind = TypeKind::kMap;
  type.element = element;
  return Intern(std::move(type));
}

TypeRef Types::Optional(TypeRef element) {
  Type type;
  type.kind = TypeKind::kOptional;
  type.element = element;
  return Intern(std::move(type));
}

TypeRef Types::Record(std::string name, std::vector<Field> fields, const source::Span& declared) {
  Type type;
  type.kind = TypeKind::kRecord;
  type.fields = std::move(fields);
  type.name = std::move(name);
  type.declared = declared;
  return Intern(std::move(type));
}

std::string ToString(TypeRef type) {
  return ToString(type, [](TypeRef record) { return record->name; });
}

std::string ToString(TypeRef type, const RecordNames& name_of) {
  switch (type->kind) {
    case TypeKind::kError:
      return "?";
    case TypeKind::kNever:
      return "no value";
    case TypeKind::kNone:
      return "none";
    case TypeKind::kScalar:
      return std::string(ir::NameOf(type->dtype));
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kTensor:
      return TensorToString(*type);
    case TypeKind::kRecord:
      return type->name.empty() ? FieldsToString(type->fields, name_of) : name_of(type);
    case TypeKind::kList:
      return type->element->kind == TypeKind::kNever ? "[]" : "list<" + ToString(type->element, name_of) + '>';
    case TypeKind::kMap:
      return "map<" + ToString(type->element, name_of) + '>';
    case TypeKind::kOptional:
      return ToString(type->element, name_of) + '?';
    case TypeKind::kVariable:
      return type->name;
  }
  return "?";
}

}  // namespace wf::sema
