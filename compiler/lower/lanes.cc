#include "compiler/lower/lanes.h"

#include "compiler/ir/scalar.h"
#include "compiler/lower/scalar.h"
#include "runtime/base/check.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

namespace {

bool BlocksUse(const ir::Body& body, const ir::Op& op, const std::vector<bool>& varies) {
  for (const ir::BlockId block : op.blocks) {
    if (const ir::ValueId result = body[block].result; result != ir::ValueId::kNone && varies[static_cast<size_t>(result)]) return true;
    for (const ir::ValueId id : body[block].ops) {
      for (const ir::ValueId arg : body[id].args) {
        if (varies[static_cast<size_t>(arg)]) return true;
      }
      if (BlocksUse(body, body[id], varies)) return true;
    }
  }
  return false;
}

}  // namespace

bool BodyEmitter::LaneBlock::Takes(Context& context, const ir::Body& body, const ir::Op& reduce) {
  const ir::Block& block = body[reduce.blocks[0]];
  std::vector<bool> varies(body.ops.size());
  varies[static_cast<size_t>(block.params[0])] = true;
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body[id];
    if (BlocksUse(body, op, varies)) return false;
    bool any = false;
    for (const ir::ValueId arg : op.args) any |= varies[static_cast<size_t>(arg)];
    if (!any) continue;
    const bool is_check = op.kind == OpKind::kCheckIndex || op.kind == OpKind::kCheckDivisor || op.kind == OpKind::kStickyIf;
    const bool is_load = op.kind == OpKind::kLoad && !varies[static_cast<size_t>(op.args[0])];
    if (!op.blocks.empty() || !(IsScalarOp(op.kind) || is_check || is_load)) return false;
    if (IsScalarOp(op.kind) && context.type(op.type).kind != ir::TypeKind::kScalar) return false;
    varies[static_cast<size_t>(id)] = true;
  }
  return true;
}

BodyEmitter::LaneBlock::LaneBlock(BodyEmitter& outer, const ir::Op& reduce, Value* first, Value* live)
    : o_(outer),
      reduce_(reduce),
      b_(outer.b_),
      n_(static_cast<unsigned>(ir::ReduceLanes(outer.context_.type(reduce.type).dtype))),
      first_(first),
      count_(live) {
  if (live == nullptr) return;
  Value* numbers = b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), n_));
  mask_ = b_.CreateICmpULT(numbers, b_.CreateVectorSplat(n_, live), "live");
}

Value* BodyEmitter::LaneBlock::Mask() {
  return mask_ != nullptr ? mask_ : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(n_), b_.getTrue());
}

Value* BodyEmitter::LaneBlock::Emit() {
  const ir::Block& block = o_.body_[reduce_.blocks[0]];
  lanes_[static_cast<uint32_t>(block.params[0])] = {first_, b_.getInt64(1), nullptr};
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = o_.body_[id];
    if (std::any_of(op.args.begin(), op.args.end(), [&](ir::ValueId arg) { return Varies(arg); })) {
      EmitVarying(id);
    } else {
      o_.EmitOp(id);
    }
  }
  return Vector(block.result);
}

BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::Get(ir::ValueId id) const {
  const auto found = lanes_.find(static_cast<uint32_t>(id));
  return found != lanes_.end() ? found->second : Lane{o_.Scalar(id), nullptr, nullptr};
}

Value* BodyEmitter::LaneBlock::Vector(ir::ValueId id) {
  const Lane lane = Get(id);
  if (lane.vector != nullptr) return lane.vector;
  Value* vector = b_.CreateVectorSplat(n_, lane.base);
  if (lane.step == nullptr) return vector;
  Value* numbers = b_.CreateStepVector(vector->getType());
  vector = b_.CreateAdd(vector, b_.CreateMul(numbers, b_.CreateVectorSplat(n_, lane.step)));
  lanes_[static_cast<uint32_t>(id)].vector = vector;
  return vector;
}

// i64 sums and products that stay `base + step * lane`.
bool BodyEmitter::LaneBlock::TakeAffine(const ir::Op& op, Lane* result) {
  const ir::Type& type = o_.context_.type(op.type);
  if (type.dtype != ir::DType::kI64 || (op.kind != OpKind::kAdd && op.kind != OpKind::kSub && op.kind != OpKind::kMul)) return false;
  const Lane a = Get(op.args[0]), c = Get(op.args[1]);
  if (a.base == nullptr || c.base == nullptr) return false;
  Value* zero = b_.getInt64(0);
  Value *a_step = a.step == nullptr ? zero : a.step, *c_step = c.step == nullptr ? zero : c.step;
  switch (op.kind) {
    case OpKind::kAdd:
      *result = {b_.CreateAdd(a.base, c.base), b_.CreateAdd(a_step, c_step), nullptr};
      return true;
    case OpKind::kSub:
      *result = {b_.CreateSub(a.base, c.base), b_.CreateSub(a_step, c_step), nullptr};
      return true;
    default:
      break;
  }
  if (a.step != nullptr && c.step != nullptr) return false;
  Value* factor = a.step == nullptr ? a.base : c.base;
  *result = {b_.CreateMul(a.base, c.base), b_.CreateMul(a.step == nullptr ? c_step : a_step, factor), nullptr};
  return true;
}

void BodyEmitter::LaneBlock::EmitVarying(ir::ValueId id) {
  const ir::Op& op = o_.body_[id];
  Lane lane;
  if (op.kind == OpKind::kLoad) {
    lane.vector = Load(op);
  } else if (op.kind == OpKind::kCheckIndex) {
    lane = CheckIndex(op);
  } else if (op.kind == OpKind::kCheckDivisor) {
    lane = CheckDivisor(op);
  } else if (op.kind == OpKind::kStickyIf) {
    SetSticky(static_cast<int>(op.imm), Vector(op.args[0]));
    return;
  } else if (!TakeAffine(op, &lane)) {
    llvm::SmallVector<Value*, 3> args;
    for (const ir::ValueId arg : op.args) args.push_back(Vector(arg));
    const ir::DType dtype = o_.TypeOf(op.args[op.kind == OpKind::kSelect ? 1 : 0]).dtype;
    lane.vector = EmitScalarOp(b_, op.kind, dtype, o_.context_.type(op.type).dtype, args);
  }
  lanes_[static_cast<uint32_t>(id)] = lane;
}

void BodyEmitter::LaneBlock::SetSticky(int code, Value* lanes) {
  if (count_ != nullptr) {  // lanes past the end do not count, whatever stands in them
    Value* numbers = b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), n_));
    lanes = b_.CreateAnd(lanes, b_.CreateICmpULT(numbers, b_.CreateVectorSplat(n_, count_)));
  }
  o_.SetSticky(code, b_.CreateOrReduce(lanes));
}

// A run of consecutive indices needs two comparisons, and stays a run. When it does not fit, the task has failed already and the lanes only
// have to stay out of other memory: nothing more is loaded in this turn.
BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::CheckIndex(const ir::Op& op) {
  const Lane index = Get(op.args[0]), extent = Get(op.args[1]);
  const bool is_run = index.base != nullptr && index.step == b_.getInt64(1) && extent.base != nullptr && extent.step == nullptr;
  if (!is_run) {
    Value* fits = b_.CreateICmpULT(Vector(op.args[0]), Vector(op.args[1]));
    SetSticky(7001, b_.CreateNot(fits));
    mask_ = b_.CreateAnd(Mask(), fits);
    Value* vector = Vector(op.args[0]);
    return {nullptr, nullptr, b_.CreateSelect(fits, vector, llvm::Constant::getNullValue(vector->getType()))};
  }
  Value* count = count_ == nullptr ? b_.getInt64(n_) : count_;
  Value* starts = b_.CreateICmpULT(index.base, extent.base);
  Value* ends = b_.CreateICmpULE(count, b_.CreateSub(extent.base, index.base));
  Value* fits = b_.CreateSelect(starts, ends, b_.getFalse());
  o_.SetSticky(7001, b_.CreateNot(fits));
  mask_ = b_.CreateAnd(Mask(), b_.CreateVectorSplat(n_, fits));
  return {b_.CreateSelect(fits, index.base, b_.getInt64(0)), index.step, nullptr};
}

BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::CheckDivisor(const ir::Op& op) {
  Value* divisor = Vector(op.args[0]);
  Value* is_zero = b_.CreateICmpEQ(divisor, llvm::Constant::getNullValue(divisor->getType()));
  SetSticky(7002, is_zero);
  return {nullptr, nullptr, b_.CreateSelect(is_zero, llvm::ConstantInt::get(divisor->getType(), 1), divisor)};
}

Value* BodyEmitter::LaneBlock::Load(const ir::Op& op) {
  const Leaves tensor = o_.Get(op.args[0]);
  const size_t rank = op.args.size() - 1;
  const ir::DType dtype = o_.TypeOf(op.args[0]).dtype;
  llvm::Type* element = o_.context_.Memory(dtype);
  auto* type = llvm::FixedVectorType::get(element, n_);
  const llvm::Align align(ir::SizeOf(dtype));
  bool is_run = Get(op.args[rank]).step == b_.getInt64(1);
  for (size_t axis = 0; axis + 1 < rank; ++axis) is_run &= !Varies(op.args[1 + axis]);
  llvm::Instruction* load = nullptr;
  if (is_run) {
    llvm::SmallVector<Value*, 8> at;
    for (size_t i = 1; i <= rank; ++i) at.push_back(Get(op.args[i]).base);
    Value* address = b_.CreateInBoundsGEP(element, tensor[0], o_.ElementOffset(tensor, at));
    Value* mask = mask_;
    if (Value* some = o_.HasElements(op); some != nullptr) mask = b_.CreateAnd(Mask(), b_.CreateVectorSplat(n_, some));
    load = mask == nullptr ? static_cast<llvm::Instruction*>(b_.CreateAlignedLoad(type, address, align))
                           : b_.CreateMaskedLoad(type, address, align, mask, llvm::Constant::getNullValue(type));
  } else {
    Value* offset = nullptr;
    for (size_t axis = 0; axis < rank; ++axis) {
      Value* step = Vector(op.args[1 + axis]);
      if (axis + 1 < rank) step = b_.CreateMul(step, b_.CreateVectorSplat(n_, tensor[1 + rank + axis]));
      offset = offset == nullptr ? step : b_.CreateAdd(offset, step);
    }
    Value* addresses = b_.CreateInBoundsGEP(element, tensor[0], offset);
    load = b_.CreateMaskedGather(type, addresses, align, Mask(), llvm::Constant::getNullValue(type));
  }
  o_.TagLoad(load);
  return dtype == ir::DType::kBool ? b_.CreateICmpNE(load, llvm::Constant::getNullValue(type)) : load;
}

}  // namespace wf::lower
