// Folds, and where the memory of their turns goes.

#include <algorithm>

#include <llvm/IR/MDBuilder.h>

#include "compiler/lower/body.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

// What the turns of one fold allocate. Most allocate nothing. Where all that they make is the next accumulator, element by element, two
// blocks take turns, for of all accumulators only the last can be seen. Else the runtime gives back what they have allocated, now and then,
// after the accumulator has moved out of it.
// Borrows: emitter, fold, accumulator (a local for each leaf).
class BodyEmitter::FoldMemory {
 public:
  FoldMemory(BodyEmitter& emitter, const ir::Op& fold, llvm::ArrayRef<llvm::AllocaInst*> accumulator);
  void EndTurn();
  void End();

 private:
  using Each = llvm::function_ref<bool(ir::ValueId)>;
  bool AnyOf(const ir::Block& block, Each holds) const;  // of the block's operations and those within them
  bool Allocates(ir::ValueId id) const;
  void Swap();
  void GiveBack(bool ended);
  void Move();

  BodyEmitter& emitter_;
  llvm::IRBuilder<>& b_;
  const ir::Op& fold_;
  const llvm::ArrayRef<llvm::AllocaInst*> accumulator_;
  std::optional<TwoBlocks> blocks_;
  llvm::AllocaInst *state_ = nullptr, *value_ = nullptr;  // state_: where the runtime gives back
};

BodyEmitter::FoldMemory::FoldMemory(BodyEmitter& emitter, const ir::Op& fold, llvm::ArrayRef<llvm::AllocaInst*> accumulator)
    : emitter_(emitter), b_(emitter.b_), fold_(fold), accumulator_(accumulator) {
  const ir::Block& block = emitter_.body_[fold.blocks[0]];
  const ir::ValueId next = block.result;
  const bool is_built =
      std::find(block.ops.begin(), block.ops.end(), next) != block.ops.end() && emitter_.body_[next].kind == OpKind::kBuild;
  if (AnyOf(block, [&](ir::ValueId id) { return (!is_built || id != next) && Allocates(id); })) {
    const ir::Layout layout = ir::LayoutOf(emitter_.context_.types(), fold.type);
    value_ = emitter_.LocalBytes(layout.size, layout.align);
    state_ = emitter_.LocalBytes(sizeof(wf_fold), alignof(wf_fold));
    b_.CreateCall(emitter_.context_.Runtime("wf_fold_begin"), {emitter_.ctx_, state_});
    return;
  }
  if (!is_built) return;
  TwoBlocks& blocks = emitter_.two_blocks_[static_cast<uint32_t>(next)];
  if (blocks.held == nullptr) {
    const auto local = [&](llvm::Type* type, const char* name) { return emitter_.Local(type, name); };
    blocks = {local(b_.getPtrTy(), "held"), local(b_.getInt64Ty(), "held_bytes"), local(b_.getPtrTy(), "spare"),
              local(b_.getInt64Ty(), "spare_bytes")};
  }
  for (llvm::AllocaInst* memory : {blocks.held, blocks.spare}) b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), memory);
  for (llvm::AllocaInst* bytes : {blocks.held_bytes, blocks.spare_bytes}) b_.CreateStore(b_.getInt64(0), bytes);
  blocks_ = blocks;
}

void BodyEmitter::FoldMemory::EndTurn() {
  if (blocks_) Swap();
  if (state_ != nullptr) GiveBack(false);
}

// What is left is what others see of the fold: it may stand in a loop, or in thousands of elements of a request.
void BodyEmitter::FoldMemory::End() {
  if (state_ != nullptr) GiveBack(true);
}

bool BodyEmitter::FoldMemory::AnyOf(const ir::Block& block, Each holds) const {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](ir::ValueId id) {
    const ir::Op& op = emitter_.body_[id];
    if (holds(id)) return true;
    if (op.kind == OpKind::kFailIf) return false;  // the message is the last of the body
    return std::any_of(op.blocks.begin(), op.blocks.end(), [&](ir::BlockId inner) { return AnyOf(emitter_.body_[inner], holds); });
  });
}

// Memory of the request, each time it runs. Scratch memory is kept for the next time.
bool BodyEmitter::FoldMemory::Allocates(ir::ValueId id) const {
  const ir::Op& op = emitter_.body_[id];
  switch (op.kind) {
    case OpKind::kBuild:
      return !emitter_.stays_[static_cast<size_t>(id)];
    case OpKind::kText:
    case OpKind::kListMake:
      return !op.args.empty();
    case OpKind::kReshape:
    case OpKind::kListBuild:
    case OpKind::kListFilter:
    case OpKind::kListOfTensor:
    case OpKind::kTensorOfList:
    case OpKind::kMapKeys:
    case OpKind::kMapValues:
    case OpKind::kNative:
      return true;
    default:
      WF_CHECK(op.kind != OpKind::kAnnotate);  // what it keeps outlives the turn
      return false;
  }
}

void BodyEmitter::FoldMemory::Swap() {
  for (const auto& [a, c] : {std::pair(blocks_->held, blocks_->spare), std::pair(blocks_->held_bytes, blocks_->spare_bytes)}) {
    Value *first = b_.CreateLoad(a->getAllocatedType(), a), *second = b_.CreateLoad(c->getAllocatedType(), c);
    b_.CreateStore(second, a);
    b_.CreateStore(first, c);
  }
}

void BodyEmitter::FoldMemory::GiveBack(bool ended) {
  Block* full = Block::Create(b_.getContext(), "full", emitter_.function_);
  Block* moved = Block::Create(b_.getContext(), "moved", emitter_.function_);
  Block* next = Block::Create(b_.getContext(), "next", emitter_.function_);
  const auto rarely = llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1000);
  Context& context = emitter_.context_;
  Value* is_full = b_.CreateCall(context.Runtime("wf_fold_is_full"), {emitter_.ctx_, state_, b_.getInt32(ended ? 1 : 0)});
  b_.CreateCondBr(b_.CreateICmpNE(is_full, b_.getInt32(0)), full, next, rarely);
  b_.SetInsertPoint(full);
  Leaves leaves;
  for (llvm::AllocaInst* leaf : accumulator_) leaves.push_back(b_.CreateLoad(leaf->getAllocatedType(), leaf));
  StoreValue(context, b_, fold_.type, leaves, value_);
  Value* type = b_.getInt32(static_cast<uint32_t>(fold_.type));
  Value* has_moved = b_.CreateCall(context.Runtime("wf_fold_keep"), {emitter_.ctx_, state_, context.TypeRow(0), type, value_});
  b_.CreateCondBr(b_.CreateICmpNE(has_moved, b_.getInt32(0)), moved, next);
  b_.SetInsertPoint(moved);
  Move();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

// Only addresses have changed. Scratch memory of the turns has gone.
void BodyEmitter::FoldMemory::Move() {
  const Leaves leaves = LoadValue(emitter_.context_, b_, fold_.type, value_);
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i]->getType()->isPointerTy()) b_.CreateStore(leaves[i], accumulator_[i]);
  AnyOf(emitter_.body_[fold_.blocks[0]], [&](ir::ValueId id) {
    const auto found = emitter_.scratch_.find(static_cast<uint32_t>(id));
    if (found == emitter_.scratch_.end()) return false;
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), found->second.first);
    b_.CreateStore(b_.getInt64(0), found->second.second);
    return false;
  });
}

Leaves BodyEmitter::EmitFold(const ir::Op& op) {
  const Leaves initial = Get(op.args[1]);
  llvm::SmallVector<llvm::AllocaInst*, 4> kept;
  for (Value* leaf : initial) {
    kept.push_back(Local(leaf->getType(), "acc"));
    b_.CreateStore(leaf, kept.back());
  }
  const auto load = [&] {
    Leaves leaves;
    for (llvm::AllocaInst* local : kept) leaves.push_back(b_.CreateLoad(local->getAllocatedType(), local));
    return leaves;
  };
  FoldMemory memory(*this, op, kept);
  ++folds_;
  For(NotNegative(Scalar(op.args[0])), WorkOf(op.blocks[0]), [&](Value* index) {
    const Leaves next = EmitBlockLeaves(op.blocks[0], {Leaves{index}, load()});
    for (size_t i = 0; i < next.size(); ++i) b_.CreateStore(next[i], kept[i]);
    memory.EndTurn();
  });
  --folds_;
  memory.End();
  return load();
}

}  // namespace wf::lower
