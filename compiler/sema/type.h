#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/ir/type.h"
#include "runtime/base/dim.h"

namespace wf::sema {

using base::Dim;
using ir::DType;

// kError: poison, equal to everything, never reported again; with an element, what the value would be, were the call that yields it right:
// for editors. kNever: of `fail`. kNone: of the literal `none`. kVariable: T of a std function, replaced before use.
enum class TypeKind : uint8_t { kError, kNever, kNone, kScalar, kString, kBytes, kTensor, kRecord, kList, kMap, kOptional, kVariable };

struct Type;
using TypeRef = const Type*;  // never null; interned: equal types are equal pointers

struct Field {
  std::string name;
  TypeRef type;
  friend bool operator==(const Field&, const Field&) = default;
};

struct Type {
  TypeKind kind = TypeKind::kError;
  DType dtype = DType::kNone;  // kScalar, kTensor
  std::vector<Dim> dims;       // kTensor; symbols of the signature that is being checked
  TypeRef element = nullptr;   // kList, kMap, kOptional; kTensor over a type variable; kError
  std::vector<Field> fields;   // kRecord
  std::string name;            // kRecord: nominal, as QualifiedName makes it, which two never share, or empty for a named tuple; kVariable
  source::Span declared;       // kRecord with a name: where that stands
  uint32_t parts = 1;          // it and all that it holds, counted when it is interned; at most 2 * kMaxParts
  uint32_t levels = 0;         // of arrays and objects in its JSON, counted then too
  bool is_open = false;        // it holds kNever or kNone: of `[]`, `none` and `fail`, which fit many types
  bool is_unknown = false;     // it holds kError or kVariable
  friend bool operator==(const Type&, const Type&) = default;
};
inline bool IsTuple(TypeRef type) { return type->kind == TypeKind::kRecord && type->name.empty(); }
inline constexpr uint32_t kMaxParts = 4096;               // of one type: each field has its place in frames and its lines in codecs
std::string ToString(TypeRef type);                       // as users write it: "f32[1, h, w]"
using RecordNames = std::function<std::string(TypeRef)>;  // of those that have a name
std::string ToString(TypeRef type, const RecordNames& name_of);

// The types of one compilation, each once.
// Thread: loop-confined to the compilation.
class Types {
 public:
  TypeRef Intern(Type type);
  TypeRef Error(TypeRef meant = nullptr);
  TypeRef Scalar(DType dtype);
  TypeRef Tensor(DType dtype, std::vector<Dim> dims);
  TypeRef Simple(TypeKind kind);  // kError kNever kNone kString kBytes
  TypeRef List(TypeRef element);
  TypeRef Map(TypeRef element);
  TypeRef Optional(TypeRef element);
  TypeRef Record(std::string name, std::vector<Field> fields, const source::Span& declared = {});

 private:
  std::deque<Type> types_;  // stable addresses; looked up by hash
  std::vector<std::vector<TypeRef>> buckets_;
};

}  // namespace wf::sema
