// Loops, memory and the stop flag.

#include <algorithm>
#include <cstddef>

#include <llvm/IR/MDBuilder.h>

#include "compiler/ir/math.h"
#include "compiler/lower/body.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {

using llvm::Value;

namespace {
constexpr uint64_t kOperationsPerLook = 131'072;  // well below a millisecond
constexpr uint64_t kLookIsNothing = 1'024;        // beside so many operations
constexpr uint64_t kTurnsPerLook = 16'384;        // at most: each may wait for memory
constexpr uint64_t kOperationsUnseen = 16;        // of a turn, where the loop is as long as something in memory
constexpr uint64_t kTurnsUnseen = 1 << 20;        // that the program states
constexpr uint64_t kOnStackBytes = 4096;

// Operations whose time grows with what they are given.
bool IsLong(ir::OpKind kind) {
  using ir::OpKind;
  switch (kind) {
    case OpKind::kReshape:
    case OpKind::kListOfTensor:
    case OpKind::kTensorOfList:
    case OpKind::kMapGet:
    case OpKind::kMapKeys:
    case OpKind::kMapValues:
    case OpKind::kStringEqual:
    case OpKind::kText:
    case OpKind::kStringFromBytes:
    case OpKind::kMeta:
    case OpKind::kAnnotate:
    case OpKind::kNative:
      return true;
    default:
      return false;
  }
}

// Is there something of that length?
bool IsInMemory(const ir::Body& body, ir::ValueId extent, int steps) {
  const ir::Op& op = body[extent];
  if (op.kind == ir::OpKind::kScalar || op.kind == ir::OpKind::kExtent) return op.imm <= kTurnsUnseen || static_cast<int64_t>(op.imm) < 0;
  if (op.kind == ir::OpKind::kDim || op.kind == ir::OpKind::kListLen || op.kind == ir::OpKind::kStringLen) return true;
  if (steps == 0) return false;
  const auto is = [&](size_t arg) { return IsInMemory(body, op.args[arg], steps - 1); };
  if (op.kind == ir::OpKind::kMin) return is(0) || is(1);
  return (op.kind == ir::OpKind::kAdd || op.kind == ir::OpKind::kSub || op.kind == ir::OpKind::kMax) && is(0) && is(1);
}

size_t AxesOf(const ir::Op& op) {
  if (op.kind == ir::OpKind::kBuild) return op.args.size();
  const bool is_loop = op.kind == ir::OpKind::kReduce || op.kind == ir::OpKind::kFold || op.kind == ir::OpKind::kListBuild ||
                       op.kind == ir::OpKind::kListFilter;
  return is_loop ? 1 : 0;
}

constexpr uint64_t kBlockBytes = 32, kFewBytes = 128;

// Says of a loop that it is not worth vectorising or unrolling.
llvm::MDNode* AsItStands(llvm::LLVMContext& context) {
  llvm::Metadata* no = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context));
  llvm::MDNode* facts = llvm::MDNode::getDistinct(
      context, {nullptr, llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"), no}),
                llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"))});
  facts->replaceOperandWith(0, facts);
  return facts;
}
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

void BodyEmitter::EndLoop(const Loop& loop, bool is_cold) {
  Value* next = b_.CreateAdd(loop.index, b_.getInt64(1), "next", true, true);
  loop.index->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, loop.count), loop.body, loop.exit);
  if (is_cold || is_cold_) back->setMetadata(llvm::LLVMContext::MD_loop, AsItStands(context_.llvm()));
  b_.SetInsertPoint(loop.exit);
  --loops_;
}

uint64_t BodyEmitter::TurnsPerLook(Value* count, uint64_t work) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (work == 0 || (known != nullptr && Times(work, count) <= kOperationsPerLook)) return 0;
  if (work > kLookIsNothing) return 1;
  return std::min(kTurnsPerLook, kOperationsPerLook / work);
}

// Short turns, of a loop that is as long as something in memory: most such loops are short, and looks would take a part of their time.
uint64_t BodyEmitter::WorkToLookAt(ir::ValueId extent, uint64_t work) const {
  return loops_ > 0 && work <= kOperationsUnseen && IsInMemory(body_, extent, 8) ? 0 : work;
}

uint64_t BodyEmitter::Times(uint64_t work, Value* count) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (known == nullptr) return kUnknownWork;
  return std::min(kUnknownWork, work * std::min(kUnknownWork, std::max<uint64_t>(known->getZExtValue(), 1)));
}

uint64_t BodyEmitter::WorkOf(ir::BlockId id) const {
  uint64_t work = 1;  // the turn itself
  for (const ir::ValueId value : body_[id].ops) {
    const ir::Op& op = body_[value];
    uint64_t own = IsLong(op.kind) ? kUnknownWork : ir::IsMath(op.kind) ? ir::kMathOps : op.blocks.empty() ? 1 : 0;
    for (const ir::BlockId block : op.blocks) own += WorkOf(block);
    for (size_t axis = 0; axis < AxesOf(op); ++axis) {
      const ir::Op& extent = body_[op.args[axis]];
      const uint64_t turns = extent.kind == ir::OpKind::kScalar ? std::max<uint64_t>(extent.imm, 1) : kUnknownWork;
      own = std::min(own, kUnknownWork) * std::min(turns, kUnknownWork);
    }
    work = std::min(work + std::min(own, kUnknownWork), kUnknownWork);
  }
  return work;
}

// Short loops look at the flag not once, and pay for it with a comparison.
void BodyEmitter::For(Value* count, uint64_t work, const std::function<void(Value*)>& each) {
  const uint64_t turns = TurnsPerLook(count, work);
  if (turns <= 1) {
    const Loop loop = BeginLoop(count);
    if (turns == 1) CheckStop();
    each(loop.index);
    EndLoop(loop);
    return;
  }
  const Loop strips = BeginLoop(count, "strip");
  Value* step = b_.getInt64(turns);
  Value* left = b_.CreateSub(count, strips.index, "left", true, true);
  const Loop strip = BeginLoop(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, step));
  each(b_.CreateAdd(strips.index, strip.index, "", true, true));
  EndLoop(strip);
  Block* another = Block::Create(context_.llvm(), "another", function_);
  b_.CreateCondBr(b_.CreateICmpSGT(left, step), another, strips.exit);
  b_.SetInsertPoint(another);
  CheckStop();
  strips.index->addIncoming(b_.CreateAdd(strips.index, step, "", true, true), b_.GetInsertBlock());
  b_.CreateBr(strips.body);
  b_.SetInsertPoint(strips.exit);
  --loops_;
}

void BodyEmitter::CheckStop() {
  if (stop_ == nullptr) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    stop_ = b_.CreateLoad(b_.getPtrTy(), Offset(b_, ctx_, offsetof(wf_ctx, stop)), "stop");
  }
  // Volatile: read each time. Not monotonic: what else the loop reads can still be read before it.
  llvm::LoadInst* set = b_.CreateLoad(b_.getInt32Ty(), stop_, /*isVolatile=*/true);
  set->setAtomic(llvm::AtomicOrdering::Unordered);
  set->setAlignment(llvm::Align(4));
  FailWhen(b_.CreateICmpNE(set, b_.getInt32(0)));
  LeaveWhenNoted(decisive_);
}

// A known extent stays known: the builder itself folds no intrinsic.
Value* BodyEmitter::NotNegative(Value* count) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count); known != nullptr) return known->isNegative() ? b_.getInt64(0) : count;
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b_.getInt64(0));
}

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
  LeaveWhenNoted(decisive_);  // the failure is that, and not what memory there is
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

// Up to kFewBytes, and as many as `least`, without a call: twice as many as are sure, the second half of them up to the end.
void BodyEmitter::CopyFew(Value* to, Value* from, Value* bytes, uint64_t least) {
  const auto copy = [&](uint64_t unit, uint64_t count) {
    llvm::Type* type = unit == kBlockBytes ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getInt8Ty(), kBlockBytes))
                                           : b_.getIntNTy(static_cast<unsigned>(8 * unit));
    llvm::SmallVector<std::pair<Value*, Value*>, 4> parts;  // what is loaded, and where it is written
    for (uint64_t i = 0; i < count; ++i) {
      Value* at = i < count / 2 ? static_cast<Value*>(b_.getInt64(i * unit)) : b_.CreateSub(bytes, b_.getInt64((count - i) * unit));
      Value* part = b_.CreateAlignedLoad(type, b_.CreateInBoundsGEP(b_.getInt8Ty(), from, at), llvm::Align(1));
      parts.emplace_back(part, b_.CreateInBoundsGEP(b_.getInt8Ty(), to, at));
    }
    for (const auto& [part, address] : parts) b_.CreateAlignedStore(part, address, llvm::Align(1));
  };
  const std::function<void(uint64_t)> from_on = [&](uint64_t sure) {
    if (sure >= kFewBytes) return CopyBytes(to, from, bytes);
    const uint64_t unit = std::min(sure, kBlockBytes), twice = 2 * sure;
    EmitEither(b_.CreateICmpULE(bytes, b_.getInt64(twice)), [&] { copy(unit, twice / unit); }, [&] { from_on(twice); });
  };
  from_on(least);
}

void BodyEmitter::CopyBytes(Value* to, Value* from, Value* bytes) {
  b_.CreateMemCpy(to, llvm::MaybeAlign(1), from, llvm::MaybeAlign(1), bytes);
}

}  // namespace wf::lower
