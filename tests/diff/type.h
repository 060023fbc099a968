#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/type.h"

namespace wf::diff {

using ir::DType;
enum class Kind : uint8_t { kScalar, kString, kBytes, kTensor, kRecord, kTuple, kList, kMap, kOptional };

// A type as the generator thinks of it: dimensions are the text that stands in the program, "n" or "3".
struct Type {
  Kind kind = Kind::kScalar;
  DType dtype = DType::kI64;       // kScalar, kTensor
  std::vector<std::string> dims;   // kTensor
  std::vector<Type> of;            // element, or the fields
  std::vector<std::string> names;  // of the fields
  std::string name;                // kRecord
  friend bool operator==(const Type&, const Type&) = default;
};

inline Type Scalar(DType dtype) { return {.kind = Kind::kScalar, .dtype = dtype}; }
inline Type String() { return {.kind = Kind::kString}; }
inline Type Bytes() { return {.kind = Kind::kBytes}; }
inline Type Tensor(DType dtype, std::vector<std::string> dims) {
  return dims.empty() ? Scalar(dtype) : Type{.kind = Kind::kTensor, .dtype = dtype, .dims = std::move(dims)};
}
inline Type List(Type of) { return {.kind = Kind::kList, .of = {std::move(of)}}; }
inline Type Map(Type of) { return {.kind = Kind::kMap, .of = {std::move(of)}}; }
inline Type Optional(Type of) { return {.kind = Kind::kOptional, .of = {std::move(of)}}; }

// As a number, not a symbol.
inline bool IsWritten(const std::string& dim) { return !dim.empty() && dim[0] >= '0' && dim[0] <= '9'; }
inline bool IsNumber(DType dtype) { return dtype != DType::kBool; }
inline bool HasArithmetic(DType dtype) { return IsNumber(dtype) && !ir::IsStorageOnly(dtype); }
inline bool IsScalar(const Type& type) { return type.kind == Kind::kScalar; }
inline bool IsTensor(const Type& type) { return type.kind == Kind::kTensor; }
inline bool IsOptional(const Type& type) { return type.kind == Kind::kOptional; }
// A dimension of it is known only when it runs: `_`, each of which is another.
bool IsOpen(const Type& type);
inline bool IsBool(const Type& type) { return IsScalar(type) && type.dtype == DType::kBool; }

std::string ToText(const Type& type);
// The type with dimensions replaced, as a call does.
using Dims = std::vector<std::pair<std::string, std::string>>;
Type With(const Type& type, const Dims& dims);
// Adds what `of` has for the symbols of `symbolic`.
void Solve(const Type& symbolic, const Type& of, Dims& dims);

}  // namespace wf::diff
