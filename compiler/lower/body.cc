// A body's prologue and end: frames and slots, failures, the result. The operations are in the files beside this one.

#include "compiler/lower/body.h"
#include "compiler/ir/told.h"

#include <cstddef>

#include <llvm/IR/MDBuilder.h>

#include "compiler/ir/interpret.h"
#include "compiler/lower/escape.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using ir::OpKind;
using llvm::Value;

constexpr size_t kManyTensors = 128;  // that a body reads

// The sticky bit that the operation may set.
uint32_t NotedBy(const ir::Op& op) {
  const auto bit = [](int32_t code) { return 1u << (code - ir::kFirstSticky); };
  switch (op.kind) {
    case OpKind::kCheckIndex:
      return bit(code::kIndex);
    case OpKind::kCheckDivisor:
      return bit(code::kDivisor);
    case OpKind::kStickyIf:
      return bit(static_cast<int32_t>(op.imm));
    case OpKind::kTensorOfList:
      return bit(code::kDimension);
    default:
      return 0;
  }
}

}  // namespace

BodyEmitter::BodyEmitter(Context& context, const FrameLayout& frames, const ir::Task& task, llvm::Function* function,
                         const TaskLiterals& literals)
    : context_(context),
      frames_(frames),
      task_(task),
      body_(task.body),
      function_(function),
      b_(context.llvm()),
      ctx_(function->getArg(0)),
      frame_array_(function->getArg(1)),
      places_(*function, literals),
      is_pick_(function->getReturnType()->isIntegerTy(64)),
      masks_bytes_(function->hasFnAttribute("prefer-vector-width")),
      parts_(body_, context.options().part_weight),
      long_lists_(body_),
      builds_(body_),
      values_(body_.ops.size()),
      stays_(FindLocalBuilds(context.program(), body_)),
      slots_(context.program().slots.size()) {
  size_t tensors = 0;
  for (const ir::Op& op : body_.ops) {
    tensors += op.kind == OpKind::kSlot && context_.type(op.type).kind == ir::TypeKind::kTensor ? 1 : 0;
    noted_ |= NotedBy(op);
  }
  const bool is_divisor_first = body_.divisor_first && (noted_ >> ir::kDivisorBit & 1) != 0;
  decisive_ = is_divisor_first ? 1u << ir::kDivisorBit : noted_ & (~noted_ + 1);
  has_many_tensors_ = tensors >= kManyTensors;
  alias_domain_ = llvm::MDBuilder(context.llvm()).createAnonymousAliasScopeDomain("body");
}

std::vector<Places::Entry> BodyEmitter::Emit() {
  entry_ = Block::Create(context_.llvm(), "entry", function_);
  Block* start = Block::Create(context_.llvm(), "start", function_);
  b_.SetInsertPoint(entry_);
  if (noted_ != 0) {
    sticky_ = b_.CreateAlloca(b_.getInt32Ty(), nullptr, "sticky");
    b_.CreateStore(b_.getInt32(0), sticky_);
  }
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  const Leaves result = EmitBlock(ir::BlockId{0}, {});
  LeaveWhenNoted(noted_);
  if (is_pick_) {
    WF_CHECK(result.size() == 1, result.size());
    b_.CreateRet(b_.CreateSExtOrTrunc(result[0], b_.getInt64Ty()));
  } else {
    FinishRun(result);
    b_.CreateRet(b_.getInt32(0));
  }
  parts_.Outline(*function_, {left_, failed_, sticky_failed_});
  return places_.TakeTable();
}

const Leaves& BodyEmitter::Get(ir::ValueId id) const {
  const Leaves& leaves = values_[static_cast<size_t>(id)];
  WF_CHECK(!leaves.empty() || body_[id].type == ir::TypeId::kNone || LeafCount(context_.types(), body_[id].type) == 0,
           static_cast<uint32_t>(id), ir::InfoOf(body_[id].kind).name);
  return leaves;
}

// ---- frames ----

Value* BodyEmitter::InFrame(uint32_t up, uint32_t offset) {
  Value* row = b_.CreateInBoundsGEP(b_.getPtrTy(), frame_array_, b_.CreateZExt(places_.Number(b_, up), b_.getInt64Ty()));
  return places_.Offset(b_, b_.CreateLoad(b_.getPtrTy(), row, "frame"), offset);
}

Value* BodyEmitter::SlotAddress(ir::SlotId id) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_->getTerminator());
  const int up = FramesUp(context_.program(), task_.region, context_.program()[id].region);
  return InFrame(static_cast<uint32_t>(up), frames_.slots[static_cast<size_t>(id)].offset);
}

// Loaded once, at the start: a slot that a body reads is written before and never again.
Leaves BodyEmitter::SlotValue(ir::SlotId id, ir::TypeId type) {
  Leaves& known = slots_[static_cast<size_t>(id)];
  if (!known.empty()) return known;
  Value* address = SlotAddress(id);
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_->getTerminator());
  return known = LoadValue(context_, b_, type, address);
}

// Where its elements lie. The slots of a body that reads very many tensors are asked each time: no CPU has registers for all of them, and
// LLVM would take long to find out which of them to keep.
Value* BodyEmitter::DataOf(ir::ValueId tensor) {
  const ir::Op& op = body_[tensor];
  if (!has_many_tensors_ || op.kind != OpKind::kSlot) return Get(tensor)[0];
  const ir::RegionId region = context_.program().slots[op.imm].region;
  Value*& frame = frames_of_many_[static_cast<uint32_t>(region)];
  if (frame == nullptr) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    frame = InFrame(static_cast<uint32_t>(FramesUp(context_.program(), task_.region, region)), 0);
  }
  return b_.CreateLoad(b_.getPtrTy(), Offset(b_, frame, frames_.slots[op.imm].offset + offsetof(wf_tensor, data)), "data");
}

// The nearest enclosing region that an EACH enters holds the position.
Value* BodyEmitter::ElementIndex() {
  uint32_t up = 0;
  ir::RegionId region = task_.region;
  while (!frames_.regions[static_cast<size_t>(region)].is_loop_body) {
    region = context_.program()[region].parent;
    WF_CHECK(region != ir::RegionId::kNone, "an element index outside a fan-out");
    ++up;
  }
  return b_.CreateLoad(b_.getInt64Ty(), InFrame(up, frames_.regions[static_cast<size_t>(region)].element_offset), "element");
}

llvm::AllocaInst* BodyEmitter::Local(llvm::Type* type, const llvm::Twine& name) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_, entry_->begin());
  return b_.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst* BodyEmitter::LocalBytes(uint64_t bytes, uint64_t align) {
  llvm::AllocaInst* local = Local(llvm::ArrayType::get(b_.getInt8Ty(), std::max<uint64_t>(bytes, 1)));
  local->setAlignment(llvm::Align(align));
  return local;
}

// ---- failures ----

void BodyEmitter::Return(Value* code) {
  if (is_pick_) code = b_.getInt64(static_cast<uint64_t>(int64_t{WF_FAILED}));
  if (!parts_.are_needed()) {
    b_.CreateRet(code);
    return;
  }
  if (left_ == nullptr) {
    code_ = Local(code->getType(), "code");
    left_ = Block::Create(context_.llvm(), "left", function_);
    llvm::IRBuilder<> b(left_);
    b.CreateRet(b.CreateLoad(code->getType(), code_));
  }
  b_.CreateStore(code, code_);
  b_.CreateBr(left_);
}

void BodyEmitter::FailWhen(Value* condition) {
  if (failed_ == nullptr) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    failed_ = Block::Create(context_.llvm(), "failed", function_);
    b_.SetInsertPoint(failed_);
    Return(b_.getInt32(static_cast<uint32_t>(WF_FAILED)));
  }
  Block* next = Block::Create(context_.llvm(), "next", function_);
  b_.CreateCondBr(condition, failed_, next, llvm::MDBuilder(context_.llvm()).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(next);
}

void BodyEmitter::FailUnlessZero(Value* code) {
  Block* bad = Block::Create(context_.llvm(), "bad", function_);
  Block* next = Block::Create(context_.llvm(), "next", function_);
  b_.CreateCondBr(b_.CreateICmpEQ(code, b_.getInt32(0)), next, bad, llvm::MDBuilder(context_.llvm()).createBranchWeights(1 << 20, 1));
  b_.SetInsertPoint(bad);
  Return(code);
  b_.SetInsertPoint(next);
}

void BodyEmitter::Fail(Value* condition, Value* code, uint32_t line, Value* text, Value* length) {
  Block* bad = Block::Create(context_.llvm(), "bad", function_);
  Block* next = Block::Create(context_.llvm(), "next", function_);
  b_.CreateCondBr(condition, bad, next, llvm::MDBuilder(context_.llvm()).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(bad);
  Return(b_.CreateCall(context_.Runtime("wf_fail"), {ctx_, code, places_.Number(b_, line), text, length}));
  b_.SetInsertPoint(next);
}

void BodyEmitter::SetSticky(int code, Value* condition) {
  WF_CHECK(code >= ir::kFirstSticky && code <= ir::kLastSticky, code);
  Value* flag = b_.CreateShl(b_.CreateZExt(condition, b_.getInt32Ty()), static_cast<uint64_t>(code - ir::kFirstSticky));
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), sticky_), flag), sticky_);
}

// Where a body is left that has noted a failure, with the code that is told.
BodyEmitter::Block* BodyEmitter::StickyFailed() {
  if (sticky_failed_ != nullptr) return sticky_failed_;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  sticky_failed_ = Block::Create(context_.llvm(), "sticky_failed", function_);
  b_.SetInsertPoint(sticky_failed_);
  Value* bit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateLoad(b_.getInt32Ty(), sticky_), b_.getFalse());
  if (body_.divisor_first) {
    Value* divides = b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), sticky_), b_.getInt32(1u << ir::kDivisorBit));
    bit = b_.CreateSelect(b_.CreateIsNotNull(divides), b_.getInt32(ir::kDivisorBit), bit);
  }
  Value* code = b_.CreateAdd(bit, b_.getInt32(ir::kFirstSticky));
  Value *text = nullptr, *length = nullptr;
  for (int i = ir::kFirstSticky; i <= ir::kLastSticky; ++i) {
    const std::string_view message = ir::StickyText(i);
    Value* is_it = b_.CreateICmpEQ(code, b_.getInt32(static_cast<uint32_t>(i)));
    text = text == nullptr ? context_.Text(message) : b_.CreateSelect(is_it, context_.Text(message), text);
    length = length == nullptr ? b_.getInt64(message.size()) : b_.CreateSelect(is_it, b_.getInt64(message.size()), length);
  }
  Return(b_.CreateCall(context_.Runtime("wf_fail"), {ctx_, code, b_.getInt32(0), text, length}));
  return sticky_failed_;
}

void BodyEmitter::LeaveWhenNoted(uint32_t bits) {
  if (bits == 0) return;
  Block* next = Block::Create(context_.llvm(), "next", function_);
  Value* noted = b_.CreateLoad(b_.getInt32Ty(), sticky_);
  if (bits != noted_) noted = b_.CreateAnd(noted, b_.getInt32(bits));
  b_.CreateCondBr(b_.CreateIsNotNull(noted), StickyFailed(), next, llvm::MDBuilder(context_.llvm()).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(next);
}

void BodyEmitter::BeforeEffect() {
  if (tensor_blocks_ == 0) LeaveWhenNoted(noted_);
}

// ---- the result ----

void BodyEmitter::FinishRun(const Leaves& result) {
  if (task_.out == ir::SlotId::kNone) return;
  const ir::TypeId type = context_.program()[task_.out].type;
  const ir::ValueId value = body_.blocks[0].result;
  if (value == ir::ValueId::kNone) {  // such a body has failed before it comes here
    FailWhen(b_.getTrue());
    return;
  }
  if (context_.type(type).kind != ir::TypeKind::kTensor) {
    StoreValue(context_, b_, type, result, SlotAddress(task_.out));
    return;
  }
  if (body_[value].kind != OpKind::kBuild) StoreTensorResult(result);  // a build has written its elements in place
}

// A tensor that was not built here. A view is enough, but where the slot has its own memory the elements go there.
void BodyEmitter::StoreTensorResult(const Leaves& result) {
  const FrameLayout::Slot& slot = frames_.slots[static_cast<size_t>(task_.out)];
  const ir::TypeId type = context_.program()[task_.out].type;
  if (slot.store == ir::Store::kDynamic) {
    StoreValue(context_, b_, type, result, SlotAddress(task_.out));
    return;
  }
  const size_t rank = context_.type(type).dims.size();
  CopyElements(type, result, *PrepareOut(llvm::ArrayRef<Value*>(result).slice(1, rank)));
}

// Writes the out slot's shape and gets its memory; nothing when this body has no tensor slot.
std::optional<BodyEmitter::Target> BodyEmitter::PrepareOut(llvm::ArrayRef<Value*> extents) {
  if (is_pick_ || task_.out == ir::SlotId::kNone) return std::nullopt;
  const ir::TypeId type = context_.program()[task_.out].type;
  if (context_.type(type).kind != ir::TypeKind::kTensor) return std::nullopt;
  const FrameLayout::Slot& slot = frames_.slots[static_cast<size_t>(task_.out)];
  Value* address = SlotAddress(task_.out);
  const bool in_frame = slot.store == ir::Store::kInFrame;
  Leaves tensor =
      DenseTensor(in_frame ? places_.Offset(b_, address, slot.data - slot.offset) : llvm::ConstantPointerNull::get(b_.getPtrTy()), extents);
  StoreValue(context_, b_, type, tensor, address);
  if (!in_frame) {
    Value* out = b_.CreateTrunc(places_.Number(b_, static_cast<uint32_t>(task_.out)), b_.getInt16Ty());
    FailUnlessZero(b_.CreateCall(context_.Runtime("wf_out"), {ctx_, frame_array_, out}));
    tensor[0] = b_.CreateLoad(b_.getPtrTy(), Offset(b_, address, offsetof(wf_tensor, data)), "data");
  }
  Target target{tensor[0], {}};
  for (size_t axis = 0; axis + 1 < extents.size(); ++axis) {
    Value* stride = tensor[1 + extents.size() + axis];
    if (slot.store == ir::Store::kStaged) {  // a row of a batch may be padded
      stride = b_.CreateLoad(b_.getInt64Ty(), Offset(b_, address, offsetof(wf_tensor, stride) + 8 * axis), "stride");
    }
    target.strides.push_back(stride);
  }
  return target;
}

}  // namespace wf::lower
