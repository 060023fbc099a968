// Loops, memory and the stop flag.

#include <cstddef>

#include <llvm/IR/MDBuilder.h>

#include "compiler/lower/body.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {

using llvm::Value;

namespace {
constexpr uint64_t kElementsBetweenStops = 16384;  // of cheap work; well below 100 us
constexpr uint64_t kOnStackBytes = 4096;
constexpr uint64_t kNotLong = 1 << 20;  // turns that the program states
}  // namespace

BodyEmitter::Loop BodyEmitter::BeginLoop(Value* count, const llvm::Twine& name) {
  Block* before = b_.GetInsertBlock();
  Loop loop{Block::Create(context_.llvm(), name, function_), nullptr, count, Block::Create(context_.llvm(), "after", function_)};
  b_.CreateCondBr(b_.CreateICmpSGT(count, b_.getInt64(0)), loop.body, loop.exit);
  b_.SetInsertPoint(loop.body);
  loop.index = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
  loop.index->addIncoming(b_.getInt64(0), before);
  ++loops_;
  return loop;
}

llvm::BranchInst* BodyEmitter::EndLoop(const Loop& loop) {
  Value* next = b_.CreateAdd(loop.index, b_.getInt64(1), "next", true, true);
  loop.index->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, loop.count), loop.body, loop.exit);
  b_.SetInsertPoint(loop.exit);
  --loops_;
  return back;
}

void BodyEmitter::For(Value* count, Stop stop, const std::function<void(Value*)>& each) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count); known != nullptr && known->getZExtValue() <= kElementsBetweenStops)
    stop = Stop::kNo;
  if (stop == Stop::kNo) {
    const Loop loop = BeginLoop(count);
    each(loop.index);
    EndLoop(loop);
    return;
  }
  Value* step = b_.getInt64(kElementsBetweenStops);
  Value* pieces = b_.CreateUDiv(b_.CreateAdd(count, b_.getInt64(kElementsBetweenStops - 1), "", true), step);
  const Loop outer = BeginLoop(pieces, "piece");
  CheckStop();
  Value* first = b_.CreateMul(outer.index, step, "first", true, true);
  Value* left = b_.CreateSub(count, first, "left", true, true);
  const Loop inner = BeginLoop(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, step));
  each(b_.CreateAdd(first, inner.index, "", true, true));
  EndLoop(inner);
  EndLoop(outer);
}

void BodyEmitter::CheckStop() {
  Value* flag = b_.CreateLoad(b_.getPtrTy(), Offset(b_, ctx_, offsetof(wf_ctx, stop)), "stop");
  llvm::LoadInst* set = b_.CreateLoad(b_.getInt32Ty(), flag);
  set->setAtomic(llvm::AtomicOrdering::Monotonic);
  set->setAlignment(llvm::Align(4));
  FailWhen(b_.CreateICmpNE(set, b_.getInt32(0)));
}

bool BodyEmitter::MayBeEndless(ir::ValueId extent, int steps) const {
  const ir::Op& op = body_[extent];
  if (op.kind == ir::OpKind::kScalar) return op.imm > kNotLong && static_cast<int64_t>(op.imm) > 0;
  if (op.kind == ir::OpKind::kDim || op.kind == ir::OpKind::kListLen || op.kind == ir::OpKind::kStringLen) return false;
  const bool is_sum = op.kind == ir::OpKind::kAdd || op.kind == ir::OpKind::kSub || op.kind == ir::OpKind::kMax;
  if (!is_sum || steps == 0) return true;
  return MayBeEndless(op.args[0], steps - 1) || MayBeEndless(op.args[1], steps - 1);
}

Value* BodyEmitter::NotNegative(Value* count) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b_.getInt64(0)); }

Value* BodyEmitter::Bytes(llvm::ArrayRef<Value*> extents, uint64_t element) {
  uint64_t known = element;
  bool fits = true;
  llvm::SmallVector<Value*, 4> unknown;
  for (Value* extent : extents) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
    if (constant == nullptr) {
      unknown.push_back(extent);
    } else {
      fits &= !__builtin_mul_overflow(known, constant->getZExtValue(), &known);
    }
  }
  Value* bytes = b_.getInt64(fits ? known : UINT64_MAX);
  if (unknown.empty()) return bytes;
  Value* overflow = b_.getInt1(!fits);
  for (Value* extent : unknown) {
    Value* product = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
    bytes = b_.CreateExtractValue(product, 0);
    overflow = b_.CreateOr(overflow, b_.CreateExtractValue(product, 1));
  }
  return b_.CreateSelect(overflow, b_.getInt64(UINT64_MAX), bytes);
}

Value* BodyEmitter::Allocate(Value* bytes, uint64_t align) {
  Value* some = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, bytes, b_.getInt64(1));
  llvm::CallInst* memory = b_.CreateCall(context_.Runtime("wf_alloc"), {ctx_, some, b_.getInt64(align)}, "memory");
  memory->addRetAttr(llvm::Attribute::NoAlias);
  FailWhen(b_.CreateIsNull(memory));
  return memory;
}

Value* BodyEmitter::Scratch(ir::ValueId site, Value* bytes) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(bytes); known != nullptr && known->getZExtValue() <= kOnStackBytes) {
    return LocalBytes(known->getZExtValue(), WF_ALIGN);
  }
  if (loops_ == 0) return Allocate(bytes, WF_ALIGN);
  auto& [memory, size] = scratch_[static_cast<uint32_t>(site)];
  if (memory == nullptr) {
    memory = Local(b_.getPtrTy(), "scratch");
    size = Local(b_.getInt64Ty(), "scratch_size");
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), memory);
    b_.CreateStore(b_.getInt64(0), size);
  }
  return Grown(memory, size, bytes);
}

// At least by half, so that sizes that creep up from turn to turn do not eat the request's budget.
Value* BodyEmitter::Grown(llvm::AllocaInst* memory, llvm::AllocaInst* size, Value* bytes) {
  Block* grow = Block::Create(context_.llvm(), "grow", function_);
  Block* enough = Block::Create(context_.llvm(), "enough", function_);
  Value* have = b_.CreateLoad(b_.getInt64Ty(), size);
  Value* missing = b_.CreateOr(b_.CreateICmpUGT(bytes, have), b_.CreateIsNull(b_.CreateLoad(b_.getPtrTy(), memory)));
  b_.CreateCondBr(missing, grow, enough);
  b_.SetInsertPoint(grow);
  Value* wanted = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, bytes, b_.CreateAdd(have, b_.CreateLShr(have, 1)));
  b_.CreateStore(Allocate(wanted, WF_ALIGN), memory);
  b_.CreateStore(wanted, size);
  b_.CreateBr(enough);
  b_.SetInsertPoint(enough);
  return b_.CreateLoad(b_.getPtrTy(), memory, "grown");
}

void BodyEmitter::CopyBytes(Value* to, Value* from, Value* bytes) {
  b_.CreateMemCpy(to, llvm::MaybeAlign(1), from, llvm::MaybeAlign(1), bytes);
}

}  // namespace wf::lower
