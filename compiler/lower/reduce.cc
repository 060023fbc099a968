// Reductions. Over integers and bools, and of least and greatest, the order is free: a plain loop, which LLVM vectorises. Sums and products
// of floats have fixed bits whatever the CPU's vectors are: 16 lanes of f32 or 8 of f64, each starting from the identity; lane l takes the
// elements k with k % lanes == l in order of k; then the upper half of the lanes is added to the lower, lane by lane, until one is left
// (docs/ir.md).

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "compiler/lower/body.h"
#include "compiler/lower/lanes.h"
#include "compiler/lower/scalar.h"
#include "runtime/base/check.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

namespace {
constexpr uint64_t kUnrolledOperations = 528;  // 33 for each of 16
constexpr size_t kMostKeyOps = 8;              // of an element: few enough to write them twice

// Integers in the order of floats: what `maximum` and `minimum` choose among, -0 below 0. NaN are beyond the infinities, on the side of
// their sign. It is its own inverse.
Value* KeyOfFloat(llvm::IRBuilder<>& b, Value* bits) {
  return b.CreateXor(bits, b.CreateAnd(b.CreateAShr(bits, 31), b.getInt32(0x7fffffff)));
}

// Is it the least or greatest of f32 that are read one after the other?
bool HasKeys(const ir::Body& body, const ir::Block& block, ir::DType dtype) {
  if (dtype != ir::DType::kF32 || block.ops.size() > kMostKeyOps) return false;
  return std::all_of(block.ops.begin(), block.ops.end(), [&](ir::ValueId id) {
    return ir::IsScalarArithmetic(body[id].kind) || body[id].kind == OpKind::kLoad || body[id].kind == OpKind::kScalar;
  });
}

int32_t KeyOfInfinity(bool is_negative) { return is_negative ? static_cast<int32_t>(0x807fffff) : 0x7f800000; }
}  // namespace

Value* BodyEmitter::EmitReduce(const ir::Op& op) {
  const ir::DType dtype = context_.type(op.type).dtype;
  Value* count = NotNegative(Scalar(op.args[0]));
  ++tensor_blocks_;
  Value* result = nullptr;
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const bool is_free = !ir::IsFloat(dtype) || kind == ir::ReduceKind::kMin || kind == ir::ReduceKind::kMax;
  if (ir::IsFloat(dtype) && known != nullptr && known->getZExtValue() <= ir::ReduceLanes(dtype) &&
      known->getZExtValue() * WorkOf(op.blocks[0]) <= kUnrolledOperations) {
    result = ReduceUnrolled(op, known->getZExtValue());
  } else if (is_free) {
    result = HasKeys(body_, body_[op.blocks[0]], dtype) ? ReduceKeys(op, count) : ReduceLoop(op, count);
  } else {
    const bool has_lanes =
        !builds_.IsOnce(op.blocks[0]) && LaneBlock::Takes(context_, body_, {op.blocks[0], body_[op.blocks[0]].params[0], 0});
    result = has_lanes ? ReduceLanes(op, count, 1, [](size_t) {})[0] : ReduceBuffered(op, count);
  }
  --tensor_blocks_;
  return result;
}

Value* BodyEmitter::ReduceLoop(const ir::Op& op, Value* count) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  llvm::Constant* identity = Identity(b_, kind, dtype);
  llvm::AllocaInst* acc = Local(identity->getType(), "acc");
  b_.CreateStore(identity, acc);
  For(count, WorkToLookAt(op.args[0], WorkOf(op.blocks[0])), [&](Value* index) {
    Value* element = EmitBlock(op.blocks[0], {index})[0];
    b_.CreateStore(EmitReduceStep(b_, kind, dtype, b_.CreateLoad(identity->getType(), acc), element), acc);
  });
  return b_.CreateLoad(identity->getType(), acc);
}

// NaN ends in every step of `maximum` and `minimum`, which takes five instructions that wait for each other. As integers elements take one,
// and the other end of all tells whether there was a NaN: then all is done again, for the one that it has to be.
Value* BodyEmitter::ReduceKeys(const ir::Op& op, Value* count) {
  llvm::Type *i32 = b_.getInt32Ty(), *f32 = b_.getFloatTy();
  const int32_t least_number = KeyOfInfinity(true), greatest_number = KeyOfInfinity(false);
  llvm::AllocaInst *least = Local(i32, "least"), *greatest = Local(i32, "greatest"), *result = Local(f32, "result");
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(greatest_number)), least);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(least_number)), greatest);
  For(count, WorkToLookAt(op.args[0], WorkOf(op.blocks[0])), [&](Value* index) {
    Value* key = KeyOfFloat(b_, b_.CreateBitCast(EmitBlock(op.blocks[0], {index})[0], i32));
    b_.CreateStore(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateLoad(i32, least), key), least);
    b_.CreateStore(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateLoad(i32, greatest), key), greatest);
  });
  Value* has_nan = b_.CreateOr(b_.CreateICmpSLT(b_.CreateLoad(i32, least), b_.getInt32(static_cast<uint32_t>(least_number))),
                               b_.CreateICmpSGT(b_.CreateLoad(i32, greatest), b_.getInt32(static_cast<uint32_t>(greatest_number))));
  EmitEither(
      has_nan, [&] { b_.CreateStore(ReduceLoop(op, count), result); },
      [&] {
        const bool is_max = static_cast<ir::ReduceKind>(op.imm) == ir::ReduceKind::kMax;
        b_.CreateStore(b_.CreateBitCast(KeyOfFloat(b_, b_.CreateLoad(i32, is_max ? greatest : least)), f32), result);
      });
  return b_.CreateLoad(f32, result);
}

// Few elements, all in registers: the lanes beyond them hold the identity, and joining it changes nothing but the sign of a zero sum, which
// starting from +0 makes positive.
Value* BodyEmitter::ReduceUnrolled(const ir::Op& op, uint64_t count) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  llvm::Constant* identity = Identity(b_, kind, dtype);
  if (count == 0) return identity;
  std::vector<Value*> lanes;
  for (uint64_t k = 0; k < count; ++k) lanes.push_back(EmitBlock(op.blocks[0], {b_.getInt64(k)})[0]);
  for (size_t half = ir::ReduceLanes(dtype) / 2; half >= 1; half /= 2) {
    for (size_t lane = 0; lane + half < lanes.size(); ++lane)
      lanes[lane] = EmitReduceStep(b_, kind, dtype, lanes[lane], lanes[lane + half]);
    if (lanes.size() > half) lanes.resize(half);
  }
  return kind == ir::ReduceKind::kSum ? b_.CreateFAdd(lanes[0], identity) : lanes[0];
}

// Sums of one operation that run together through the same elements: `enter` makes the values that stand around number i those of i.
std::vector<Value*> BodyEmitter::ReduceLanes(const ir::Op& op, Value* count, size_t sums, const std::function<void(size_t)>& enter) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const size_t n = ir::ReduceLanes(dtype);
  llvm::Constant* identity =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(n)), Identity(b_, kind, dtype));
  llvm::SmallVector<llvm::AllocaInst*, 16> accumulators;
  for (size_t i = 0; i < sums; ++i) b_.CreateStore(identity, accumulators.emplace_back(Local(identity->getType(), "lanes")));
  const LaneBlock::Shape shape{op.blocks[0], body_[op.blocks[0]].params[0], static_cast<unsigned>(n)};
  const auto step = [&](Value* first, Value* rest) {
    for (size_t i = 0; i < sums; ++i) {
      enter(i);
      LaneBlock block(*this, shape, first, rest);
      Value* live = block.live();
      Value* elements = block.Emit();
      Value* old = b_.CreateLoad(identity->getType(), accumulators[i]);
      Value* stepped = EmitReduceStep(b_, kind, dtype, old, elements);
      b_.CreateStore(rest == nullptr ? stepped : b_.CreateSelect(live, stepped, old), accumulators[i]);
    }
  };
  const auto combined = [&] {
    std::vector<Value*> lanes;
    for (llvm::AllocaInst* accumulator : accumulators) lanes.push_back(b_.CreateLoad(identity->getType(), accumulator));
    return CombineLanes(op, lanes);
  };
  Value* whole = b_.CreateLShr(count, n == 16 ? 4 : 3);
  const uint64_t work = sums == 1 ? n * WorkToLookAt(op.args[0], WorkOf(op.blocks[0])) : sums * WorkOf(op.blocks[0]);
  For(whole, work, [&](Value* index) { step(b_.CreateMul(index, b_.getInt64(n), "k", true, true), nullptr); });
  Value* rest = b_.CreateAnd(count, b_.getInt64(n - 1));
  if (rest == b_.getInt64(0)) return combined();
  Block* tail = Block::Create(context_.llvm(), "tail", function_);
  Block* done = Block::Create(context_.llvm(), "combine", function_);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), tail, done);
  b_.SetInsertPoint(tail);
  step(b_.CreateSub(count, rest, "k", true, true), rest);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  return combined();
}

// The block does not become vector code: its elements go through a row of memory, a lane each.
Value* BodyEmitter::ReduceBuffered(const ir::Op& op, Value* count) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const size_t n = ir::ReduceLanes(dtype);
  llvm::Type* element = context_.Register(dtype);
  auto* row_type = llvm::FixedVectorType::get(element, static_cast<unsigned>(n));
  llvm::AllocaInst* acc = Local(row_type, "lanes");
  llvm::AllocaInst* row = Local(row_type, "row");
  b_.CreateStore(llvm::ConstantVector::getSplat(row_type->getElementCount(), Identity(b_, kind, dtype)), acc);
  Value* rows = b_.CreateLShr(b_.CreateAdd(count, b_.getInt64(n - 1), "", true), n == 16 ? 4 : 3);
  const uint64_t work = WorkOf(op.blocks[0]);
  For(rows, n * work, [&](Value* index) {
    Value* first = b_.CreateMul(index, b_.getInt64(n), "", true, true);
    Value* live = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(count, first), b_.getInt64(n));
    For(live, TurnsPerLook(live, work) < n ? work : 0, [&](Value* lane) {
      Value* value = EmitBlock(op.blocks[0], {b_.CreateAdd(first, lane, "", true, true)})[0];
      b_.CreateStore(value, b_.CreateInBoundsGEP(element, row, lane));
    });
    Value* old = b_.CreateLoad(row_type, acc);
    Value* stepped = EmitReduceStep(b_, kind, dtype, old, b_.CreateLoad(row_type, row));
    Value* mask = b_.CreateICmpULT(b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), static_cast<unsigned>(n))),
                                   b_.CreateVectorSplat(static_cast<unsigned>(n), live));
    b_.CreateStore(b_.CreateSelect(mask, stepped, old), acc);
  });
  return CombineLanes(op, {b_.CreateLoad(row_type, acc)})[0];
}

// Adds upper halves to lower ones until one lane of each is left. Two vectors that are half added share one, so that sums which are
// combined together, as many as a power of two, take few steps more than one.
std::vector<Value*> BodyEmitter::CombineLanes(const ir::Op& op, llvm::ArrayRef<Value*> lanes) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  struct Partial {
    Value* vector;
    std::vector<size_t> sums;  // that stand in it, side by side
  };
  std::vector<Partial> partials;
  for (size_t i = 0; i < lanes.size(); ++i) partials.push_back({lanes[i], {i}});
  for (size_t half = ir::ReduceLanes(dtype) / 2; half >= 1; half /= 2) {
    std::vector<Partial> halves;
    for (size_t i = 0; i < partials.size(); i += 2) {
      const bool is_pair = i + 1 < partials.size();
      const size_t groups = partials[i].sums.size();
      llvm::SmallVector<int, 16> low, high;
      Partial next{nullptr, {}};
      const auto take = [&](size_t which, size_t group) {
        next.sums.push_back(partials[i + which].sums[group]);
        for (size_t lane = 0; lane < half; ++lane) {
          low.push_back(static_cast<int>((which * groups + group) * 2 * half + lane));
          high.push_back(low.back() + static_cast<int>(half));
        }
      };
      // Within 16 bytes, elements of two vectors are shuffled most cheaply where they change places with their neighbours.
      const bool alternates = is_pair && half * ir::SizeOf(dtype) < 16;
      for (size_t which = 0; which < (is_pair && !alternates ? 2 : 1); ++which) {
        for (size_t group = 0; group < groups; ++group) {
          take(which, group);
          if (alternates) take(1, group);
        }
      }
      Value *one = partials[i].vector, *other = is_pair ? partials[i + 1].vector : llvm::PoisonValue::get(one->getType());
      next.vector = EmitReduceStep(b_, kind, dtype, b_.CreateShuffleVector(one, other, low), b_.CreateShuffleVector(one, other, high));
      halves.push_back(std::move(next));
    }
    partials = std::move(halves);
  }
  std::vector<Value*> results(lanes.size());
  for (const Partial& partial : partials) {
    for (size_t i = 0; i < partial.sums.size(); ++i) results[partial.sums[i]] = b_.CreateExtractElement(partial.vector, i);
  }
  return results;
}

}  // namespace wf::lower
