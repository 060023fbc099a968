// Reductions. Over integers and bools, and of least and greatest, the order is free: a plain loop, which LLVM vectorises. Sums and products
// of floats have fixed bits whatever the CPU's vectors are: 16 lanes of f32 or 8 of f64, each starting from the identity; lane l takes the
// elements k with k % lanes == l in order of k; then the upper half of the lanes is added to the lower, lane by lane, until one is left
// (docs/ir.md).

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
    result = ReduceLoop(op, count);
  } else {
    result = LaneBlock::Takes(context_, body_, {op.blocks[0], body_[op.blocks[0]].params[0], 0}) ? ReduceLanes(op, count)
                                                                                                 : ReduceBuffered(op, count);
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

Value* BodyEmitter::ReduceLanes(const ir::Op& op, Value* count) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const size_t n = ir::ReduceLanes(dtype);
  llvm::Constant* identity =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(n)), Identity(b_, kind, dtype));
  llvm::AllocaInst* acc = Local(identity->getType(), "lanes");
  b_.CreateStore(identity, acc);
  const LaneBlock::Shape shape{op.blocks[0], body_[op.blocks[0]].params[0], static_cast<unsigned>(n)};
  Value* whole = b_.CreateLShr(count, n == 16 ? 4 : 3);
  For(whole, n * WorkToLookAt(op.args[0], WorkOf(op.blocks[0])), [&](Value* index) {
    LaneBlock block(*this, shape, b_.CreateMul(index, b_.getInt64(n), "k", true, true), nullptr);
    Value* elements = block.Emit();
    b_.CreateStore(EmitReduceStep(b_, kind, dtype, b_.CreateLoad(identity->getType(), acc), elements), acc);
  });
  Value* rest = b_.CreateAnd(count, b_.getInt64(n - 1));
  if (rest == b_.getInt64(0)) return CombineLanes(op, b_.CreateLoad(identity->getType(), acc));
  Block* tail = Block::Create(context_.llvm(), "tail", function_);
  Block* done = Block::Create(context_.llvm(), "combine", function_);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), tail, done);
  b_.SetInsertPoint(tail);
  {
    LaneBlock block(*this, shape, b_.CreateSub(count, rest, "k", true, true), rest);
    Value* live = block.live();
    Value* elements = block.Emit();
    Value* old = b_.CreateLoad(identity->getType(), acc);
    b_.CreateStore(b_.CreateSelect(live, EmitReduceStep(b_, kind, dtype, old, elements), old), acc);
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  return CombineLanes(op, b_.CreateLoad(identity->getType(), acc));
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
  return CombineLanes(op, b_.CreateLoad(row_type, acc));
}

Value* BodyEmitter::CombineLanes(const ir::Op& op, Value* lanes) {
  const ir::DType dtype = context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  for (size_t half = ir::ReduceLanes(dtype) / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int, 8> low, high;
    for (size_t lane = 0; lane < half; ++lane) {
      low.push_back(static_cast<int>(lane));
      high.push_back(static_cast<int>(lane + half));
    }
    lanes = EmitReduceStep(b_, kind, dtype, b_.CreateShuffleVector(lanes, low), b_.CreateShuffleVector(lanes, high));
  }
  return b_.CreateExtractElement(lanes, uint64_t{0});
}

}  // namespace wf::lower
