#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wf::ir {

// Element types; the numbers are those of runtime/abi/values.h.
enum class DType : uint8_t { kNone = 0, kBool = 1, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBf16, kF32, kF64 };
std::string_view NameOf(DType dtype);  // "f32"
size_t SizeOf(DType dtype);            // bytes
bool IsFloat(DType dtype);             // f16 bf16 f32 f64
bool IsSigned(DType dtype);            // i8..i64 and floats
bool IsStorageOnly(DType dtype);       // i8 i16 u8 u16 f16 bf16

enum class TypeId : uint32_t { kNone = 0xffffffff };

enum class TypeKind : uint8_t { kScalar = 1, kString, kBytes, kTensor, kRecord, kList, kMap, kOptional };  // numbers of WF_T_*

struct Field {
  std::string name;
  TypeId type = TypeId::kNone;
  friend bool operator==(const Field&, const Field&) = default;
};

struct Type {
  TypeKind kind = TypeKind::kScalar;
  DType dtype = DType::kNone;      // kScalar, kTensor
  std::vector<int64_t> dims;       // kTensor: -1 is known only at run time
  TypeId element = TypeId::kNone;  // kList, kMap, kOptional
  std::vector<Field> fields;       // kRecord, in declared order
  std::string name;                // kRecord: nominal, or empty
  friend bool operator==(const Type&, const Type&) = default;
};

// The types of one program, each once.
// Thread: loop-confined to the compilation.
class TypeTable {
 public:
  TypeId Intern(Type type);
  TypeId Scalar(DType dtype) { return Intern({.kind = TypeKind::kScalar, .dtype = dtype}); }
  TypeId Tensor(DType dtype, std::vector<int64_t> dims) {
    return Intern({.kind = TypeKind::kTensor, .dtype = dtype, .dims = std::move(dims)});
  }
  TypeId String() { return Intern({.kind = TypeKind::kString}); }
  TypeId Bytes() { return Intern({.kind = TypeKind::kBytes}); }
  TypeId List(TypeId element) { return Intern({.kind = TypeKind::kList, .element = element}); }
  TypeId Map(TypeId element) { return Intern({.kind = TypeKind::kMap, .element = element}); }
  TypeId Optional(TypeId element) { return Intern({.kind = TypeKind::kOptional, .element = element}); }
  TypeId Record(std::string name, std::vector<Field> fields) {
    return Intern({.kind = TypeKind::kRecord, .fields = std::move(fields), .name = std::move(name)});
  }
  const Type& operator[](TypeId id) const { return types_[static_cast<size_t>(id)]; }
  size_t size() const { return types_.size(); }
  std::string ToString(TypeId id) const;  // "f32[1, _, 28]", "list<string>", "(a: i32, b: f32[_])", "Line"

 private:
  std::vector<Type> types_;
  std::unordered_multimap<size_t, TypeId> by_hash_;
};

// A value of type `from` may stand where `to` is wanted: equal, but for extents that one of the two leaves open (-1); that those agree has
// been proved or is checked where the program runs. The layouts are the same.
bool Fits(const TypeTable& types, TypeId from, TypeId to);
// The narrowest type that both fit: extents that differ become -1. kNone when there is none.
TypeId Join(TypeTable& types, TypeId a, TypeId b);

// Bytes of a value's fixed part as runtime/abi/values.h lays it out, and of its fields.
struct Layout {
  uint32_t size = 0, align = 1;
};
Layout LayoutOf(const TypeTable& types, TypeId id);
uint32_t FieldOffset(const TypeTable& types, TypeId record, size_t field);
// {key, value} of a map: where the value stands and how long an entry is.
struct EntryLayout {
  uint32_t value_offset, size, align;
};
EntryLayout MapEntry(const TypeTable& types, TypeId element);

}  // namespace wf::ir
