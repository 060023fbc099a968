// Blocks and operations: a function for each group of ops.def, with one case per row.

#include "compiler/ir/math.h"
#include "compiler/lower/body.h"
#include "compiler/lower/math.h"
#include "compiler/lower/scalar.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

Leaves BodyEmitter::EmitBlock(ir::BlockId id, llvm::ArrayRef<Value*> params) {
  llvm::SmallVector<Leaves, 4> leaves;
  for (Value* param : params) leaves.push_back({param});
  return EmitBlockLeaves(id, leaves);
}

Leaves BodyEmitter::EmitBlockLeaves(ir::BlockId id, llvm::ArrayRef<Leaves> params) {
  const ir::Block& block = body_[id];
  WF_CHECK(block.params.size() == params.size(), block.params.size(), params.size());
  for (size_t i = 0; i < params.size(); ++i) values_[static_cast<size_t>(block.params[i])] = params[i];
  Part part = parts_.Begin(b_);
  for (const ir::ValueId op : block.ops) {
    EmitOp(op);
    StoreItem(op);
    parts_.End(b_, part);
  }
  return block.result == ir::ValueId::kNone ? Leaves() : Get(block.result);
}

void BodyEmitter::EmitOp(ir::ValueId id) {
  parts_.Add(body_[id]);
  Leaves leaves = InPiece(id);
  if (leaves.empty()) leaves = Emitted(id);
  values_[static_cast<size_t>(id)] = std::move(leaves);
}

Leaves BodyEmitter::EmitScalar(const ir::Op& op) {
  llvm::SmallVector<Value*, 3> args;
  for (const ir::ValueId arg : op.args) args.push_back(Scalar(arg));
  const ir::DType arg = TypeOf(op.args[op.kind == OpKind::kSelect ? 1 : 0]).dtype;
  if (ir::IsMath(op.kind)) return {EmitMathCall(context_, b_, op.kind, arg, args)};
  return {EmitScalarOp(b_, op.kind, arg, context_.type(op.type).dtype, args)};
}

// The table of the task has its elements, and the extents that the code is not to know.
Leaves BodyEmitter::ConstantTensor(ir::ValueId id, const Leaves& leaves) {
  const std::vector<int64_t>&dims = TypeOf(id).dims, &known = context_.type(context_.program().constants[body_[id].imm].type).dims;
  llvm::SmallVector<Value*, 4> extents(leaves.begin() + 1, leaves.begin() + 1 + static_cast<ptrdiff_t>(dims.size()));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0 && known[axis] >= 0)
      extents[axis] = places_.Extent(b_, llvm::cast<llvm::ConstantInt>(extents[axis])->getZExtValue());
  }
  return DenseTensor(places_.Elements(id, llvm::cast<llvm::Constant>(leaves[0])), extents);
}

Leaves BodyEmitter::EmitLeaf(ir::ValueId id) {
  const ir::Op& op = body_[id];
  switch (op.kind) {
    case OpKind::kParam:
      return Get(id);
    case OpKind::kConstant: {
      Leaves leaves = ConstantValue(context_, b_, op.imm);
      return TypeOf(id).kind == ir::TypeKind::kTensor ? ConstantTensor(id, leaves) : leaves;
    }
    case OpKind::kSlot:
      return SlotValue(static_cast<ir::SlotId>(op.imm), op.type);
    case OpKind::kExtent:
      return {places_.Extent(b_, op.imm)};
    case OpKind::kElement:
      return {ElementIndex()};
    case OpKind::kScalar: {
      llvm::Type* type = context_.Register(context_.type(op.type).dtype);
      if (Value* place = places_.Literal(id, type, op.imm); place != nullptr) return {place};
      if (type->isIntegerTy()) return {llvm::ConstantInt::get(type, op.imm)};
      return {llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), llvm::APInt(type->getPrimitiveSizeInBits(), op.imm)))};
    }
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define LEAF_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
    break;
  }
  return Unknown(op);
}

// Checks keep their value harmless and remember the failure.
Leaves BodyEmitter::EmitCheck(const ir::Op& op) {
  Value* value = Scalar(op.args[0]);
  if (op.kind == OpKind::kStickyIf) {
    SetSticky(static_cast<int>(op.imm), value);
    return {};
  }
  if (op.kind == OpKind::kCheckIndex) {
    Value* fits = b_.CreateICmpULT(value, Scalar(op.args[1]));
    SetSticky(code::kIndex, b_.CreateNot(fits));
    return {b_.CreateSelect(fits, value, b_.getInt64(0))};
  }
  Value* is_zero = b_.CreateICmpEQ(value, llvm::Constant::getNullValue(value->getType()));
  SetSticky(code::kDivisor, is_zero);
  return {b_.CreateSelect(is_zero, llvm::ConstantInt::get(value->getType(), 1), value)};
}

Leaves BodyEmitter::EmitTensor(ir::ValueId id) {
  const ir::Op& op = body_[id];
  switch (op.kind) {
    case OpKind::kBuild:
      return EmitBuild(id);
    case OpKind::kLoad:
      return {LoadElement(op)};
    case OpKind::kDim:
      return {Get(op.args[0])[1 + op.imm]};
    case OpKind::kReshape:
      return EmitReshape(op);
    case OpKind::kReduce:
      return {EmitReduce(op)};
    case OpKind::kCheckIndex:
    case OpKind::kCheckDivisor:
    case OpKind::kStickyIf:
      return EmitCheck(op);
    case OpKind::kFold:
      return EmitFold(op);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TENSOR_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

Leaves BodyEmitter::EmitRecord(const ir::Op& op) {
  Leaves leaves;
  switch (op.kind) {
    case OpKind::kRecord:
      for (const ir::ValueId arg : op.args) leaves.append(Get(arg));
      return leaves;
    case OpKind::kField: {
      const ir::TypeId record = body_[op.args[0]].type;
      const llvm::ArrayRef<Value*> all = Get(op.args[0]);
      const size_t first = FieldLeaf(context_.types(), record, op.imm);
      return Leaves(all.slice(first, LeafCount(context_.types(), context_.type(record).fields[op.imm].type)));
    }
    case OpKind::kNone:
      return ZeroValue(context_, op.type);
    case OpKind::kSome:
      leaves = Get(op.args[0]);
      leaves.push_back(b_.getTrue());
      return leaves;
    case OpKind::kHas:
      return {Get(op.args[0]).back()};
    case OpKind::kUnwrap:
      return Leaves(llvm::ArrayRef<Value*>(Get(op.args[0])).drop_back());
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define RECORD_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

Leaves BodyEmitter::EmitList(ir::ValueId id) {
  const ir::Op& op = body_[id];
  switch (op.kind) {
    case OpKind::kListMake:
      return EmitListMake(id);
    case OpKind::kListLen:
      return {Get(op.args[0])[1]};
    case OpKind::kListGet:
      return EmitListGet(op);
    case OpKind::kListBuild:
      return EmitListBuild(op);
    case OpKind::kListFilter:
      return EmitListFilter(op);
    case OpKind::kListOfTensor:
      return EmitListOfTensor(op);
    case OpKind::kTensorOfList:
      return EmitTensorOfList(id);
    case OpKind::kMapGet:
      return EmitMapGet(op);
    case OpKind::kMapKeys:
    case OpKind::kMapValues:
      return EmitSideOfMap(op);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define LIST_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

Leaves BodyEmitter::EmitEffect(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::kFailIf:
      EmitFailIf(op);
      return {};
    case OpKind::kMeta:
      return EmitMeta(op);
    case OpKind::kNative:
      return EmitNative(op);
    case OpKind::kAnnotate: {
      BeforeEffect();
      const Leaves &key = Get(op.args[0]), &text = Get(op.args[1]);
      FailUnlessZero(b_.CreateCall(context_.Runtime("wf_annotate"), {ctx_, key[0], key[1], text[0], text[1]}));
      return {};
    }
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define EFFECT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
    break;
  }
  return Unknown(op);
}

Leaves BodyEmitter::Emitted(ir::ValueId id) {
  const ir::Op& op = body_[id];
  switch (ir::InfoOf(op.kind).group) {
    case ir::OpGroup::kLeaf:
      return EmitLeaf(id);
    case ir::OpGroup::kIf:
      return EmitIf(op);
    case ir::OpGroup::kScalar:
    case ir::OpGroup::kMath:
      return EmitScalar(op);
    case ir::OpGroup::kTensor:
      return EmitTensor(id);
    case ir::OpGroup::kRecord:
      return EmitRecord(op);
    case ir::OpGroup::kList:
      return EmitList(id);
    case ir::OpGroup::kText:
      return EmitString(op);
    case ir::OpGroup::kEffect:
      return EmitEffect(op);
  }
  return Unknown(op);
}

Leaves BodyEmitter::Unknown(const ir::Op& op) {
  WF_CHECK(false, ir::InfoOf(op.kind).name);
  return {};
}

Leaves BodyEmitter::EmitIf(const ir::Op& op) {
  Block* then = Block::Create(context_.llvm(), "then", function_);
  Block* otherwise = Block::Create(context_.llvm(), "else", function_);
  Block* merge = Block::Create(context_.llvm(), "merge", function_);
  b_.CreateCondBr(Scalar(op.args[0]), then, otherwise);
  b_.SetInsertPoint(then);
  const Leaves a = EmitBlock(op.blocks[0], {});
  Block* then_end = b_.GetInsertBlock();
  b_.CreateBr(merge);
  b_.SetInsertPoint(otherwise);
  const Leaves c = EmitBlock(op.blocks[1], {});
  Block* otherwise_end = b_.GetInsertBlock();
  b_.CreateBr(merge);
  b_.SetInsertPoint(merge);
  Leaves result;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == c[i]) {
      result.push_back(a[i]);
      continue;
    }
    llvm::PHINode* phi = b_.CreatePHI(a[i]->getType(), 2);
    phi->addIncoming(a[i], then_end);
    phi->addIncoming(c[i], otherwise_end);
    result.push_back(phi);
  }
  return result;
}

}  // namespace wf::lower
