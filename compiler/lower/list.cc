// Lists and maps. Items lie one after the other in memory of the request, laid out as their type.

#include "compiler/lower/body.h"
#include "compiler/lower/helpers.h"
#include "compiler/lower/image.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::lower {

using ir::TypeKind;
using llvm::Value;

Value* BodyEmitter::ItemAddress(ir::TypeId element, Value* items, Value* index) {
  Value* offset = b_.CreateMul(index, b_.getInt64(ir::LayoutOf(context_.types(), element).size), "", true, true);
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), items, offset);
}

Value* BodyEmitter::ListMemory(const ir::Op& list) {
  const ir::Layout layout = ir::LayoutOf(context_.types(), context_.type(list.type).element);
  return Allocate(b_.getInt64(uint64_t{layout.size} * list.args.size()), layout.align);
}

// What was just written, into the long lists of its block that hold it. Blocks of tensors may be written several times.
void BodyEmitter::StoreItem(ir::ValueId id) {
  if (tensor_blocks_ > 0) return;
  for (const LongLists::Place& place : long_lists_.PlacesOf(id)) {
    const ir::Op& list = body_[place.list];
    Value*& items = long_lists_.memory(place.list);
    if (items == nullptr) items = ListMemory(list);
    const ir::TypeId element = context_.type(list.type).element;
    StoreValue(context_, b_, element, Get(id), ItemAddress(element, items, b_.getInt64(place.index)));
  }
}

Leaves BodyEmitter::EmitListMake(ir::ValueId id) {
  const ir::Op& op = body_[id];
  if (op.args.empty()) return ZeroValue(context_, op.type);
  Value* const early = tensor_blocks_ > 0 ? nullptr : long_lists_.memory(id);
  Value* const items = early != nullptr ? early : ListMemory(op);
  const ir::TypeId element = context_.type(op.type).element;
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (early != nullptr && long_lists_.Holds(id, op.args[i])) continue;
    StoreValue(context_, b_, element, Get(op.args[i]), ItemAddress(element, items, b_.getInt64(i)));
  }
  return {items, b_.getInt64(op.args.size())};
}

// An index whose check failed is 0 and may stand before an empty list: then a value of zeros is read, and the task fails later.
Leaves BodyEmitter::EmitListGet(const ir::Op& op) {
  const ir::TypeId element = context_.type(body_[op.args[0]].type).element;
  Value* address = ItemAddress(element, Get(op.args[0])[0], Scalar(op.args[1]));
  if (Value* some = HasElements(op); some != nullptr) address = b_.CreateSelect(some, address, ZeroImage(context_, element));
  return LoadValue(context_, b_, element, address);
}

Leaves BodyEmitter::EmitListBuild(const ir::Op& op) {
  const ir::TypeId element = context_.type(op.type).element;
  const ir::Layout layout = ir::LayoutOf(context_.types(), element);
  Value* count = NotNegative(Scalar(op.args[0]));
  Value* items = Allocate(Bytes({count}, layout.size), layout.align);
  For(count, WorkOf(op.blocks[0]) + 1, [&](Value* index) {
    const Leaves item = EmitBlock(op.blocks[0], {index});
    StoreValue(context_, b_, element, item, ItemAddress(element, items, index));
  });
  return {items, count};
}

Leaves BodyEmitter::EmitListFilter(const ir::Op& op) {
  const ir::TypeId element = context_.type(op.type).element;
  const ir::Layout layout = ir::LayoutOf(context_.types(), element);
  Value* count = NotNegative(Scalar(op.args[0]));
  Value* items = Allocate(Bytes({count}, layout.size), layout.align);
  llvm::AllocaInst* length = Local(b_.getInt64Ty(), "length");
  b_.CreateStore(b_.getInt64(0), length);
  For(count, WorkOf(op.blocks[0]) + WorkOf(op.blocks[1]) + 1, [&](Value* index) {
    Block* take = Block::Create(context_.llvm(), "take", function_);
    Block* next = Block::Create(context_.llvm(), "skip", function_);
    b_.CreateCondBr(EmitBlock(op.blocks[0], {index})[0], take, next);
    b_.SetInsertPoint(take);
    const Leaves item = EmitBlock(op.blocks[1], {index});
    Value* at = b_.CreateLoad(b_.getInt64Ty(), length);
    StoreValue(context_, b_, element, item, ItemAddress(element, items, at));
    b_.CreateStore(b_.CreateAdd(at, b_.getInt64(1)), length);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  });
  return {items, b_.CreateLoad(b_.getInt64Ty(), length)};
}

Leaves BodyEmitter::EmitListOfTensor(const ir::Op& op) {
  const ir::Type& type = TypeOf(op.args[0]);
  const Leaves tensor = Get(op.args[0]);
  const size_t rank = type.dims.size();
  if (rank == 1) return {tensor[0], tensor[1]};
  const ir::TypeId element = context_.type(op.type).element;
  const llvm::ArrayRef<Value*> extents = llvm::ArrayRef<Value*>(tensor).slice(2, rank - 1);
  Value* count = tensor[1];
  // Each row is a tensor of its own, so it starts at a multiple of 64 bytes.
  Value* row = Bytes(extents, ir::SizeOf(type.dtype));
  Value* rounded = b_.CreateAnd(b_.CreateIntrinsic(llvm::Intrinsic::uadd_sat, {b_.getInt64Ty()}, {row, b_.getInt64(WF_ALIGN - 1)}),
                                ~uint64_t{WF_ALIGN - 1});
  Value* data = Allocate(Bytes({rounded, count}, 1), WF_ALIGN);
  Value* items = Allocate(Bytes({count}, sizeof(wf_tensor)), alignof(wf_tensor));
  For(count, kUnknownWork, [&](Value* index) {
    const Leaves item = DenseTensor(b_.CreateInBoundsGEP(b_.getInt8Ty(), data, b_.CreateMul(index, rounded)), extents);
    Target target{item[0], {}};
    for (size_t axis = 0; axis + 2 < rank; ++axis) target.strides.push_back(item[rank + axis]);
    Leaves from{b_.CreateInBoundsGEP(context_.Memory(type.dtype), tensor[0], b_.CreateMul(index, tensor[1 + rank]))};
    from.append(extents.begin(), extents.end());
    for (size_t axis = 1; axis + 1 < rank; ++axis) from.push_back(tensor[1 + rank + axis]);
    CopyElements(element, from, target);
    StoreValue(context_, b_, element, item, ItemAddress(element, items, index));
  });
  return {items, count};
}

Leaves BodyEmitter::EmitTensorOfList(ir::ValueId id) {
  const ir::Op& op = body_[id];
  const ir::Type& type = context_.type(op.type);
  const Leaves list = Get(op.args[0]);
  const bool is_known = type.dims[0] >= 0;
  Value* length = is_known ? static_cast<Value*>(b_.getInt64(static_cast<uint64_t>(type.dims[0]))) : list[1];
  if (is_known) SetSticky(code::kDimension, b_.CreateICmpNE(list[1], length));
  if (TypeOf(op.args[0]).element != ir::TypeId::kNone && context_.type(TypeOf(op.args[0]).element).kind == TypeKind::kTensor) {
    return StackTensors(id, {list[0], list[1], length});
  }
  const uint64_t size = ir::SizeOf(type.dtype);
  Value* data = Allocate(Bytes({length}, size), WF_ALIGN);
  Value* shorter = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, length, list[1]);
  CopyBytes(data, list[0], b_.CreateMul(shorter, b_.getInt64(size)));
  return {data, length};
}

// list: items, their number, extent of the new axis.
Leaves BodyEmitter::StackTensors(ir::ValueId id, const Leaves& list) {
  const ir::Op& op = body_[id];
  const ir::Type& type = context_.type(op.type);
  const ir::TypeId element = TypeOf(op.args[0]).element;
  const size_t rank = type.dims.size();
  Value* any = b_.CreateICmpNE(list[1], b_.getInt64(0));
  const Leaves first = LoadValue(context_, b_, element, b_.CreateSelect(any, list[0], ZeroImage(context_, element)));
  llvm::SmallVector<Value*, 4> extents{list[2]};
  for (size_t axis = 1; axis < rank; ++axis) {
    extents.push_back(type.dims[axis] < 0 ? first[axis] : b_.getInt64(static_cast<uint64_t>(type.dims[axis])));
  }
  const Leaves result = DenseTensor(Allocate(Bytes(extents, ir::SizeOf(type.dtype)), WF_ALIGN), extents);
  Target target{nullptr, {}};
  for (size_t axis = 1; axis + 1 < rank; ++axis) target.strides.push_back(result[1 + rank + axis]);
  Value* row = rank > 1 ? result[1 + rank] : b_.getInt64(1);
  For(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, list[1], list[2]), kUnknownWork, [&](Value* index) {
    const Leaves item = LoadValue(context_, b_, element, ItemAddress(element, list[0], index));
    Value* differs = b_.getFalse();
    for (size_t axis = 1; axis < rank; ++axis) differs = b_.CreateOr(differs, b_.CreateICmpNE(item[axis], extents[axis]));
    SetSticky(code::kDimension, differs);
    Block* copy = Block::Create(context_.llvm(), "copy", function_);
    Block* next = Block::Create(context_.llvm(), "next", function_);
    b_.CreateCondBr(differs, next, copy);
    b_.SetInsertPoint(copy);
    target.data = b_.CreateInBoundsGEP(context_.Memory(type.dtype), result[0], b_.CreateMul(index, row));
    CopyElements(element, item, target);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  });
  return result;
}

Leaves BodyEmitter::EmitMapGet(const ir::Op& op) {
  const ir::TypeId element = TypeOf(op.args[0]).element;
  const ir::EntryLayout entry = ir::MapEntry(context_.types(), element);
  const Leaves &map = Get(op.args[0]), &key = Get(op.args[1]);
  Value* found = b_.CreateCall(FindKey(context_), {map[0], map[1], b_.getInt64(entry.size), key[0], key[1]}, "entry");
  Value* has = b_.CreateIsNotNull(found);
  Leaves leaves =
      LoadValue(context_, b_, element, b_.CreateSelect(has, Offset(b_, found, entry.value_offset), ZeroImage(context_, element)));
  leaves.push_back(has);
  return leaves;
}

// Its keys, or its values.
Leaves BodyEmitter::EmitSideOfMap(const ir::Op& op) {
  const ir::TypeId item = context_.type(op.type).element;
  const ir::EntryLayout entry = ir::MapEntry(context_.types(), TypeOf(op.args[0]).element);
  const ir::Layout layout = ir::LayoutOf(context_.types(), item);
  const uint64_t offset = op.kind == ir::OpKind::kMapKeys ? 0 : entry.value_offset;
  const Leaves map = Get(op.args[0]);
  Value* items = Allocate(Bytes({map[1]}, layout.size), layout.align);
  For(map[1], 1, [&](Value* index) {
    Value* from = b_.CreateInBoundsGEP(b_.getInt8Ty(), map[0], b_.CreateMul(index, b_.getInt64(entry.size), "", true, true));
    StoreValue(context_, b_, item, LoadValue(context_, b_, item, Offset(b_, from, offset)), ItemAddress(item, items, index));
  });
  return {items, map[1]};
}

}  // namespace wf::lower
