#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/ir.h"

// Scalar operations on bits (zero-extended, as Op::imm): the definition that constant folding, the interpreter and the tests of lowering
// share.
namespace wf::ir {

// True for the kinds that EvaluateScalar knows: add .. bitcast, and eq .. convert; not exp .. pow.
bool IsScalarArithmetic(OpKind kind);
// `dtype`: of the arguments (of `b` for kSelect). Result bits; bool for comparisons. Total: a divisor of 0 counts as 1.
uint64_t EvaluateScalar(OpKind kind, DType dtype, uint64_t a, uint64_t b = 0, uint64_t c = 0);
// The same, looked up once; null: the type has no function for it, as storage types have for what does not look at bits alone, or it is
// kConvert.
using ScalarFunction = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);
ScalarFunction ScalarFunctionOf(OpKind kind, DType dtype);
// kConvert. f16 and bf16 convert through f32.
uint64_t ConvertScalar(DType from, DType to, uint64_t bits);

// What a reduction starts from: 0, 1, +inf or the greatest, -inf or the least, false, true.
uint64_t ReduceIdentity(ReduceKind kind, DType dtype);
OpKind ReduceOperation(ReduceKind kind);  // kAdd kMul kMin kMax kOr kAnd
// Lanes of a float sum or product (docs/semantics.md 32): 16 of f32, 8 of f64.
inline size_t ReduceLanes(DType dtype) { return dtype == DType::kF64 ? 8 : 16; }

uint64_t F32Bits(float value);
uint64_t F64Bits(double value);
float F32Of(uint64_t bits);
double F64Of(uint64_t bits);
int64_t SignedOf(DType dtype, uint64_t bits);          // sign-extended from the dtype's width
uint64_t MaskTo(DType dtype, uint64_t bits);           // zero-extended
bool SameScalar(DType dtype, uint64_t a, uint64_t b);  // equal bits; any two NaNs of one float type are the same
// As `text` prints it: decimal integers, true and false, the shortest text that reads back as the same float (nan, inf, -inf).
std::string ScalarText(DType dtype, uint64_t bits);
// The bits of a scalar written as JSON writes it; nothing: it is none of the type. Metadata is read so.
std::optional<uint64_t> ParseScalar(DType dtype, const std::string& text);

}  // namespace wf::ir
