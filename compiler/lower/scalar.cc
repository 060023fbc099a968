#include "compiler/lower/scalar.h"

#include <utility>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using ir::DType;
using ir::OpKind;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

llvm::Type* Shaped(llvm::Type* element, llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(like);
  return vector == nullptr ? element : llvm::VectorType::get(element, vector->getElementCount());
}

llvm::Type* ShapedBits(Builder& b, llvm::Type* like) { return Shaped(b.getIntNTy(like->getScalarSizeInBits()), like); }

bool IsF16(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBf16; }
bool IsUnsigned(DType dtype) { return !ir::IsSigned(dtype); }

// The storage-only floats as f32, from their bits.
Value* WidenF16(Builder& b, DType dtype, Value* bits) {
  if (dtype == DType::kF16) {
    return b.CreateFPExt(b.CreateBitCast(bits, Shaped(b.getHalfTy(), bits->getType())), Shaped(b.getFloatTy(), bits->getType()));
  }
  Value* high = b.CreateShl(b.CreateZExt(bits, Shaped(b.getInt32Ty(), bits->getType())), 16);
  return b.CreateBitCast(high, Shaped(b.getFloatTy(), bits->getType()));
}

// Rounded to nearest, ties to even; written out for bf16 because the instruction is missing on most CPUs of x86-64-v3.
Value* NarrowToF16(Builder& b, DType dtype, Value* value) {
  llvm::Type* type = value->getType();
  if (dtype == DType::kF16) return b.CreateBitCast(b.CreateFPTrunc(value, Shaped(b.getHalfTy(), type)), Shaped(b.getInt16Ty(), type));
  llvm::Type* i32 = Shaped(b.getInt32Ty(), type);
  Value* bits = b.CreateBitCast(value, i32);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, llvm::ConstantInt::get(i32, 0x7fff)), odd), 16);
  Value* quiet = b.CreateOr(b.CreateLShr(bits, 16), 0x40);
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded), Shaped(b.getInt16Ty(), type));
}

Value* SelectLess(Builder& b, Value* x, Value* y) { return b.CreateSelect(b.CreateFCmpOLT(x, y), x, y); }     // minps x, y
Value* SelectGreater(Builder& b, Value* x, Value* y) { return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y); }  // maxps x, y

// LLVM takes its saturating conversion to narrow integers apart lane by lane; held within their range before, an ordinary one does.
Value* FloatToNarrow(Builder& b, DType to, Value* value) {
  const auto bits = static_cast<unsigned>(8 * ir::SizeOf(to));
  const double most = IsUnsigned(to) ? (1 << bits) - 1 : (1 << (bits - 1)) - 1, least = IsUnsigned(to) ? 0 : -most - 1;
  llvm::Type* type = value->getType();
  if (!IsUnsigned(to)) value = b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::Constant::getNullValue(type), value);
  value = SelectGreater(b, value, llvm::ConstantFP::get(type, least));  // the bound for NaN
  value = SelectLess(b, value, llvm::ConstantFP::get(type, most));
  return b.CreateTrunc(b.CreateFPToSI(value, Shaped(b.getInt32Ty(), type)), Shaped(b.getIntNTy(bits), type));
}

Value* FloatToInt(Builder& b, DType to, Value* value) {
  if (ir::SizeOf(to) < 4) return FloatToNarrow(b, to, value);
  llvm::Type* type = Shaped(b.getIntNTy(static_cast<unsigned>(8 * ir::SizeOf(to))), value->getType());
  const auto id = IsUnsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return b.CreateIntrinsic(id, {type, value->getType()}, {value});
}

Value* Convert(Builder& b, DType from, DType to, Value* value) {
  if (from == to) return value;
  if (IsF16(from)) return Convert(b, DType::kF32, to, WidenF16(b, from, value));
  if (IsF16(to)) return NarrowToF16(b, to, Convert(b, from, DType::kF32, value));
  if (to == DType::kBool) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return ir::IsFloat(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  llvm::Type* type = ShapedType(b, to, value->getType());
  if (ir::IsFloat(from)) return ir::IsFloat(to) ? b.CreateFPCast(value, type) : FloatToInt(b, to, value);
  if (ir::IsFloat(to)) return IsUnsigned(from) ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
  return IsUnsigned(from) ? b.CreateZExtOrTrunc(value, type) : b.CreateSExtOrTrunc(value, type);
}

// Truncating division that cannot trap on MIN / -1. A zero divisor has been replaced before (check_divisor).
Value* Divide(Builder& b, DType dtype, bool remainder, Value* x, Value* d) {
  if (ir::IsFloat(dtype)) return remainder ? b.CreateFRem(x, d) : b.CreateFDiv(x, d);
  if (IsUnsigned(dtype)) return remainder ? b.CreateURem(x, d) : b.CreateUDiv(x, d);
  Value* minus = b.CreateICmpEQ(d, llvm::Constant::getAllOnesValue(d->getType()));
  Value* safe = b.CreateSelect(minus, llvm::ConstantInt::get(d->getType(), 1), d);
  if (remainder) return b.CreateSRem(x, safe);  // x % 1 is 0, as is x % -1
  return b.CreateSelect(minus, b.CreateNeg(x), b.CreateSDiv(x, safe));
}

Value* MinMax(Builder& b, DType dtype, bool max, Value* x, Value* y) {
  if (ir::IsFloat(dtype)) return b.CreateBinaryIntrinsic(max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  if (IsUnsigned(dtype)) return b.CreateBinaryIntrinsic(max ? llvm::Intrinsic::umax : llvm::Intrinsic::umin, x, y);
  return b.CreateBinaryIntrinsic(max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
}

// Against a bound that is no NaN: one comparison keeps what is beyond it and NaN; nothing when the sign of a zero needs more.
Value* MinMaxOfBound(Builder& b, bool max, Value* x, Value* bound) {
  const llvm::APFloat* known = nullptr;
  if (!llvm::PatternMatch::match(bound, llvm::PatternMatch::m_APFloat(known)) || known->isNaN()) return nullptr;
  Value* kept = max ? SelectGreater(b, bound, x) : SelectLess(b, bound, x);
  if (!known->isZero() || known->isNegative() == max) return kept;
  return max ? b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, kept) : nullptr;  // -0 becomes 0
}

// Is it made of integers, and so neither NaN nor -0? Sums of so few are finite.
bool IsWhole(Value* value, int steps = 6) {
  const llvm::APFloat* known = nullptr;
  if (llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(known)))
    return known->isInteger() && !known->isNegative() && ilogb(*known) < 64;
  const auto* op = llvm::dyn_cast<llvm::Instruction>(value);
  if (op == nullptr || steps == 0) return false;
  const auto is = [&](unsigned operand) { return IsWhole(op->getOperand(operand), steps - 1); };
  switch (op->getOpcode()) {
    case llvm::Instruction::UIToFP:
    case llvm::Instruction::SIToFP:
      return true;
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
      return is(0) && is(1);
    case llvm::Instruction::Select:
      return is(1) && is(2);
    default:
      return false;
  }
}

// minps and maxps give their second operand when one is NaN or both are zeros. Of both orders together, `or` keeps the NaN and the sign of
// -0; for the greater of two zeros the sign has to stand in both.
Value* FloatMinMax(Builder& b, DType dtype, bool max, Value* x, Value* y) {
  for (const auto& [value, bound] : {std::pair(x, y), std::pair(y, x)}) {
    if (Value* simple = MinMaxOfBound(b, max, value, bound); simple != nullptr) return simple;
  }
  if (IsWhole(x) && IsWhole(y)) return max ? SelectGreater(b, x, y) : SelectLess(b, x, y);
  if (!x->getType()->isVectorTy()) return MinMax(b, dtype, max, x, y);
  llvm::Type* bits = ShapedBits(b, x->getType());
  Value* one = b.CreateBitCast(max ? SelectGreater(b, x, y) : SelectLess(b, x, y), bits);
  Value* other = b.CreateBitCast(max ? SelectGreater(b, y, x) : SelectLess(b, y, x), bits);
  Value* all = b.CreateOr(one, other);
  if (max) {
    llvm::Constant* no_sign = llvm::ConstantInt::get(bits, llvm::APInt::getSignedMaxValue(bits->getScalarSizeInBits()));
    all = b.CreateOr(b.CreateAnd(one, other), b.CreateAnd(all, no_sign));
  }
  return b.CreateBitCast(all, x->getType());
}

Value* Shift(Builder& b, DType dtype, bool left, Value* x, Value* count) {
  Value* masked = b.CreateAnd(count, llvm::ConstantInt::get(count->getType(), 8 * ir::SizeOf(dtype) - 1));
  if (left) return b.CreateShl(x, masked);
  return IsUnsigned(dtype) ? b.CreateLShr(x, masked) : b.CreateAShr(x, masked);
}

Value* Compare(Builder& b, OpKind kind, DType dtype, Value* x, Value* y) {
  if (IsF16(dtype)) return Compare(b, kind, DType::kF32, WidenF16(b, dtype, x), WidenF16(b, dtype, y));
  const bool is_float = ir::IsFloat(dtype);
  const bool is_signed = ir::IsSigned(dtype);
  switch (kind) {
    case OpKind::kEq:
      return is_float ? b.CreateFCmpOEQ(x, y) : b.CreateICmpEQ(x, y);
    case OpKind::kNe:
      return is_float ? b.CreateFCmpUNE(x, y) : b.CreateICmpNE(x, y);
    case OpKind::kLt:
      return is_float ? b.CreateFCmpOLT(x, y) : is_signed ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    default:
      return is_float ? b.CreateFCmpOLE(x, y) : is_signed ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
  }
}

Value* Round(Builder& b, OpKind kind, Value* x) {
  const auto id = kind == OpKind::kFloor  ? llvm::Intrinsic::floor
                  : kind == OpKind::kCeil ? llvm::Intrinsic::ceil
                  : kind == OpKind::kRint ? llvm::Intrinsic::roundeven
                  : kind == OpKind::kSqrt ? llvm::Intrinsic::sqrt
                                          : llvm::Intrinsic::trunc;
  return b.CreateUnaryIntrinsic(id, x);
}

Value* Abs(Builder& b, DType dtype, Value* x) {
  if (ir::IsFloat(dtype)) return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  return IsUnsigned(dtype) ? x : b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());
}

}  // namespace

llvm::Type* ShapedType(Builder& b, DType dtype, llvm::Type* like) {
  switch (dtype) {
    case DType::kBool:
      return Shaped(b.getInt1Ty(), like);
    case DType::kF16:
    case DType::kBf16:
      return Shaped(b.getInt16Ty(), like);
    case DType::kF32:
      return Shaped(b.getFloatTy(), like);
    case DType::kF64:
      return Shaped(b.getDoubleTy(), like);
    case DType::kNone:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      break;
  }
  return Shaped(b.getIntNTy(static_cast<unsigned>(8 * ir::SizeOf(dtype))), like);
}

Value* EmitScalarOp(Builder& b, OpKind kind, DType arg, DType result, llvm::ArrayRef<Value*> args) {
  const bool is_float = ir::IsFloat(arg);
  switch (kind) {
    case OpKind::kAdd:
      return is_float ? b.CreateFAdd(args[0], args[1]) : b.CreateAdd(args[0], args[1]);
    case OpKind::kSub:
      return is_float ? b.CreateFSub(args[0], args[1]) : b.CreateSub(args[0], args[1]);
    case OpKind::kMul:
      return is_float ? b.CreateFMul(args[0], args[1]) : b.CreateMul(args[0], args[1]);
    case OpKind::kDiv:
      return Divide(b, arg, false, args[0], args[1]);
    case OpKind::kRem:
      return Divide(b, arg, true, args[0], args[1]);
    case OpKind::kNeg:
      return is_float ? b.CreateFNeg(args[0]) : b.CreateNeg(args[0]);
    case OpKind::kMin:
    case OpKind::kMax:
      return is_float ? FloatMinMax(b, arg, kind == OpKind::kMax, args[0], args[1])
                      : MinMax(b, arg, kind == OpKind::kMax, args[0], args[1]);
    case OpKind::kAbs:
      return Abs(b, arg, args[0]);
    case OpKind::kFloor:
    case OpKind::kCeil:
    case OpKind::kRint:
    case OpKind::kTrunc:
    case OpKind::kSqrt:
      return Round(b, kind, args[0]);
    case OpKind::kFma:
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {args[0]->getType()}, {args[0], args[1], args[2]});
    case OpKind::kShl:
      return Shift(b, arg, true, args[0], args[1]);
    case OpKind::kShr:
      return Shift(b, arg, false, args[0], args[1]);
    case OpKind::kBitAnd:
      return b.CreateAnd(args[0], args[1]);
    case OpKind::kBitOr:
      return b.CreateOr(args[0], args[1]);
    case OpKind::kIndexOrZero:
      return b.CreateSelect(b.CreateICmpULT(args[0], args[1]), args[0], llvm::Constant::getNullValue(args[0]->getType()));
    case OpKind::kBitcast:
      return b.CreateBitCast(args[0], ShapedType(b, result, args[0]->getType()));
    case OpKind::kEq:
    case OpKind::kNe:
    case OpKind::kLt:
    case OpKind::kLe:
      return Compare(b, kind, arg, args[0], args[1]);
    case OpKind::kNot:
      return b.CreateNot(args[0]);
    case OpKind::kAnd:
      return b.CreateAnd(args[0], args[1]);
    case OpKind::kOr:
      return b.CreateOr(args[0], args[1]);
    case OpKind::kSelect:
      return b.CreateSelect(args[0], args[1], args[2]);
    case OpKind::kConvert:
      return Convert(b, arg, result, args[0]);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define SCALAR_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  WF_CHECK(false, "not a scalar operation, or one that expand_math replaces", ir::InfoOf(kind).name);
  return nullptr;
}

// Where it is no lesser, minps gives the lanes. The result has the sign of -0 if `same` has, and of +0 for the greater of the two, so what
// is left to do is the same in all lanes.
Value* EmitMinMaxOfSame(Builder& b, bool max, Value* same, Value* lanes) {
  auto* type = llvm::cast<llvm::VectorType>(lanes->getType());
  const auto splat = [&](Value* value) { return b.CreateVectorSplat(type->getElementCount(), value); };
  if (Value* simple = MinMaxOfBound(b, max, lanes, splat(same)); simple != nullptr) return simple;
  llvm::Type* bits = b.getIntNTy(same->getType()->getScalarSizeInBits());
  llvm::Constant* sign = llvm::ConstantInt::get(bits, llvm::APInt::getSignMask(bits->getIntegerBitWidth()));
  Value* own = b.CreateAnd(b.CreateBitCast(same, bits), sign);
  Value* is_nan = b.CreateSExt(b.CreateFCmpUNO(same, same), bits);
  Value* chosen = b.CreateBitCast(max ? SelectGreater(b, splat(same), lanes) : SelectLess(b, splat(same), lanes), ShapedBits(b, type));
  if (max) chosen = b.CreateAnd(chosen, splat(b.CreateOr(own, b.CreateNot(sign))));
  chosen = b.CreateOr(chosen, splat(max ? is_nan : b.CreateOr(own, is_nan)));
  return b.CreateBitCast(chosen, type);
}

llvm::Constant* Identity(Builder& b, ir::ReduceKind kind, DType dtype) {
  llvm::Type* type = ShapedType(b, dtype, b.getInt1Ty());
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  const bool is_signed = ir::IsSigned(dtype);
  switch (kind) {
    case ir::ReduceKind::kSum:
    case ir::ReduceKind::kAny:
      return llvm::Constant::getNullValue(type);
    case ir::ReduceKind::kAll:
      return b.getTrue();
    case ir::ReduceKind::kProd:
      return ir::IsFloat(dtype) ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
    case ir::ReduceKind::kMin:
      if (ir::IsFloat(dtype)) return llvm::ConstantFP::getInfinity(type);
      return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    case ir::ReduceKind::kMax:
      if (ir::IsFloat(dtype)) return llvm::ConstantFP::getInfinity(type, true);
      return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
  }
  return nullptr;
}

Value* EmitReduceStep(Builder& b, ir::ReduceKind kind, DType dtype, Value* a, Value* c) {
  switch (kind) {
    case ir::ReduceKind::kSum:
      return EmitScalarOp(b, OpKind::kAdd, dtype, dtype, {a, c});
    case ir::ReduceKind::kProd:
      return EmitScalarOp(b, OpKind::kMul, dtype, dtype, {a, c});
    case ir::ReduceKind::kMin:
      return MinMax(b, dtype, false, a, c);
    case ir::ReduceKind::kMax:
      return MinMax(b, dtype, true, a, c);
    case ir::ReduceKind::kAny:
      return b.CreateOr(a, c);
    case ir::ReduceKind::kAll:
      return b.CreateAnd(a, c);
  }
  return nullptr;
}

}  // namespace wf::lower
