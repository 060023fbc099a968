// Tensors: builds as loop nests, loads, reshapes. LLVM's loop vectoriser takes the innermost loop.

#include <llvm/IR/MDBuilder.h>

#include "compiler/lower/body.h"
#include "compiler/lower/image.h"
#include "compiler/lower/lanes.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

namespace {
constexpr uint64_t kCopyWork = 64;  // of a row
constexpr size_t kFewOps = 24;      // of an element that is written twice, for whole vectors and for the rest
}  // namespace

Leaves BodyEmitter::DenseTensor(Value* data, llvm::ArrayRef<Value*> extents) {
  Leaves leaves{data};
  leaves.append(extents.begin(), extents.end());
  llvm::SmallVector<Value*, 4> strides;
  Value* stride = b_.getInt64(1);
  for (size_t axis = extents.size(); axis-- > 1;) strides.push_back(stride = b_.CreateMul(stride, extents[axis], "stride", true, true));
  leaves.append(strides.rbegin(), strides.rend());
  return leaves;
}

Value* BodyEmitter::BuildMemory(ir::ValueId id, Value* bytes) {
  if (const auto found = two_blocks_.find(static_cast<uint32_t>(id)); found != two_blocks_.end())
    return Grown(found->second.spare, found->second.spare_bytes, bytes);
  return stays_[static_cast<size_t>(id)] ? Scratch(id, bytes) : Allocate(bytes, WF_ALIGN);
}

Leaves BodyEmitter::EmitBuild(ir::ValueId id) {
  const ir::Op& op = body_[id];
  const ir::Type& type = context_.type(op.type);
  llvm::SmallVector<Value*, 4> extents;
  for (const ir::ValueId arg : op.args) extents.push_back(NotNegative(Scalar(arg)));
  std::optional<Target> target;
  if (id == body_.blocks[0].result) target = PrepareOut(extents);
  if (!target) {
    Value* bytes = Bytes(extents, ir::SizeOf(type.dtype));
    const Leaves dense = DenseTensor(BuildMemory(id, bytes), extents);
    target = Target{dense[0], {}};
    for (size_t axis = 0; axis + 1 < extents.size(); ++axis) target->strides.push_back(dense[1 + extents.size() + axis]);
  }
  const Nest nest{op, extents, *target};
  open_targets_.push_back(llvm::MDBuilder(context_.llvm()).createAnonymousAliasScope(alias_domain_, "build"));
  // The next turn of a fold reads what this one has stored: the scope is a new one each time.
  if (folds_ > 0) b_.CreateNoAliasScopeDeclaration(llvm::MDNode::get(context_.llvm(), open_targets_.back()));
  ++tensor_blocks_;
  llvm::SmallVector<Value*, 8> at;
  if (IsPointwise(op)) {
    EmitEither(AllDense(nest), [&] { EmitFlat(nest); }, [&] { EmitNest(nest, b_.getInt64(0), at); });
  } else if (builds_.IsOnce(op.blocks[0])) {
    EmitNest(nest, b_.getInt64(0), at);
  } else if (!EmitFilled(nest)) {
    EmitUsual(nest);
  }
  --tensor_blocks_;
  open_targets_.pop_back();
  Leaves leaves{target->data};
  leaves.append(extents.begin(), extents.end());
  leaves.append(target->strides.begin(), target->strides.end());
  return leaves;
}

void BodyEmitter::EmitEither(Value* condition, const std::function<void()>& yes, const std::function<void()>& no) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known != nullptr) return known->isOne() ? yes() : no();
  Block* then = Block::Create(context_.llvm(), "yes", function_);
  Block* otherwise = Block::Create(context_.llvm(), "no", function_);
  Block* done = Block::Create(context_.llvm(), "either", function_);
  b_.CreateCondBr(condition, then, otherwise);
  b_.SetInsertPoint(then);
  yes();
  b_.CreateBr(done);
  b_.SetInsertPoint(otherwise);
  no();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// What is almost surely so: rows are not padded, so that strides inside known extents are constants and every third byte of an image is
// read with whole vectors; and tensors that are read here and there have elements. A copy of the nest relies on it.
void BodyEmitter::EmitUsual(const Nest& nest) {
  llvm::SmallVector<Value*, 8> at;
  const ir::Block& block = body_[nest.op.blocks[0]];
  LaneBlock::Row row;
  const size_t from_last = HasPixels(nest) ? 2 : 1;
  if (!block.params.empty())
    row = LaneBlock::Inspect(context_, body_, {nest.op.blocks[0], block.params[block.params.size() - from_last], 16, false, true});
  std::vector<std::pair<ir::ValueId, Leaves>> restore;
  const llvm::DenseSet<uint32_t> outer = filled_;
  Value* usual = b_.getTrue();
  for (const ir::ValueId id : row.is_worth_it ? row.scattered : FewLoads(block)) {
    const ir::Op& op = body_[id];
    if (std::find(block.ops.begin(), block.ops.end(), op.args[0]) != block.ops.end()) continue;
    Leaves& tensor = values_[static_cast<size_t>(op.args[0])];
    const Leaves before = tensor;
    usual = b_.CreateAnd(usual, AssumeUnpadded(TypeOf(op.args[0]), tensor));
    if (tensor != before) restore.emplace_back(op.args[0], before);
    if (!(row.is_worth_it || MovesPixels(nest)) || HasElements(op) == nullptr) continue;
    for (size_t i = 1; i < op.args.size(); ++i) usual = b_.CreateAnd(usual, b_.CreateICmpSGT(tensor[i], b_.getInt64(0)));
    filled_.insert(static_cast<uint32_t>(op.args[0]));
  }
  const auto unusual = [&] {
    for (const auto& [id, leaves] : restore) values_[static_cast<size_t>(id)] = leaves;
    filled_ = outer;
    const bool had_lanes = std::exchange(has_lanes_, false), was_cold = std::exchange(is_cold_, is_cold_ || restore.empty());
    EmitNest(nest, b_.getInt64(0), at);
    has_lanes_ = had_lanes;
    is_cold_ = was_cold;
  };
  EmitEither(usual, [&] { EmitNest(nest, b_.getInt64(0), at); }, unusual);
  filled_ = outer;
}

// The loads of an element that takes few operations, whose loop LLVM makes vectors of; none of one that is not to be written twice.
llvm::SmallVector<ir::ValueId, 8> BodyEmitter::FewLoads(const ir::Block& block) const {
  llvm::SmallVector<ir::ValueId, 8> loads;
  if (block.ops.size() > kFewOps) return {};
  for (const ir::ValueId id : block.ops) {
    if (!body_[id].blocks.empty()) return {};
    if (body_[id].kind == OpKind::kLoad) loads.push_back(id);
  }
  return loads;
}

// Makes the strides constants that are, unless rows are padded; when they are not padded is what it returns.
Value* BodyEmitter::AssumeUnpadded(const ir::Type& type, Leaves& tensor) {
  const size_t rank = type.dims.size();
  Value* unpadded = b_.getTrue();
  int64_t inner = 1;
  for (size_t axis = rank; axis-- > 1;) {
    inner = type.dims[axis] < 0 || inner < 0 || type.dims[axis] > 64 ? -1 : inner * type.dims[axis];
    Value*& stride = tensor[rank + axis];
    if (inner < 0 || llvm::isa<llvm::ConstantInt>(stride)) continue;
    unpadded = b_.CreateAnd(unpadded, b_.CreateICmpEQ(stride, b_.getInt64(static_cast<uint64_t>(inner))));
    stride = b_.getInt64(static_cast<uint64_t>(inner));
  }
  return unpadded;
}

// Of a turn of the axis: the elements that the axes within it have.
uint64_t BodyEmitter::TurnWork(const Nest& nest, size_t axis) const {
  uint64_t work = WorkOf(nest.op.blocks[0]);
  for (Value* extent : nest.extents.drop_front(axis + 1)) work = Times(work, extent);
  return work;
}

void BodyEmitter::TagStore(llvm::Instruction* store) {
  store->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context_.llvm(), open_targets_.back()));
  if (open_targets_.size() > 1) {
    const auto outer = llvm::ArrayRef<llvm::Metadata*>(open_targets_).drop_back();
    store->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context_.llvm(), outer));
  }
}

void BodyEmitter::EmitElement(const Nest& nest, llvm::ArrayRef<Value*> at, Value* offset) {
  StoreElement(nest, EmitBlock(nest.op.blocks[0], at)[0], offset);
}

void BodyEmitter::StoreElement(const Nest& nest, Value* value, Value* offset) {
  const ir::DType dtype = context_.type(nest.op.type).dtype;
  llvm::Type* type = context_.Memory(dtype);
  if (dtype == ir::DType::kBool) value = b_.CreateZExt(value, type);
  TagStore(b_.CreateStore(value, b_.CreateInBoundsGEP(type, nest.target.data, offset)));
}

void BodyEmitter::EmitNest(const Nest& nest, Value* offset, llvm::SmallVector<Value*, 8>& at) {
  const size_t axis = at.size(), rank = nest.extents.size();
  if (rank == 0) {
    EmitElement(nest, at, offset);
    return;
  }
  if (builds_.IsOnce(nest.op.blocks[0])) return EmitAxis(nest, offset, at);
  if (axis == 0 && EmitTransposed(nest)) return;
  const bool has_row = axis + 1 == rank;
  if (has_row && nest.apart != ir::ValueId::kNone) return EmitApart(nest, offset, at);
  if (has_row && (EmitRepeated(nest, offset, at) || EmitPieces(nest, offset, at) || EmitLaneRow(nest, offset, at))) return;
  if (axis + 2 == rank && (EmitPixelRow(nest, offset, at) || EmitMovedPixels(nest, offset, at))) return;
  if (axis + 2 >= rank && EmitTiles(nest, offset, at)) return;
  EmitAxis(nest, offset, at);
}

void BodyEmitter::EmitAxis(const Nest& nest, Value* offset, llvm::SmallVector<Value*, 8>& at) {
  const size_t axis = at.size(), rank = nest.extents.size();
  const bool has_row = axis + 1 == rank;
  Value* count = nest.extents[axis];
  for (size_t inner = 1; axis == 0 && inner < rank; ++inner) {  // of nothing there may be very many rows
    Value* zero = b_.getInt64(0);
    count = b_.CreateSelect(b_.CreateICmpEQ(nest.extents[inner], zero), zero, count);
  }
  For(count, WorkToLookAt(nest.op.args[axis], TurnWork(nest, axis)), [&](Value* index) {
    Value* step = has_row ? index : b_.CreateMul(index, nest.target.strides[axis], "", true, true);
    Value* to = axis == 0 ? step : b_.CreateAdd(offset, step, "", true, true);
    at.push_back(index);
    if (has_row) {
      EmitElement(nest, at, to);
    } else {
      EmitNest(nest, to, at);
    }
    at.pop_back();
  });
}

// ---- one loop over all elements, where every tensor read is read at exactly the element's place ----

bool BodyEmitter::IsPointwise(const ir::Op& op) const {
  const ir::Block& block = body_[op.blocks[0]];
  if (block.params.size() < 2) return false;
  const auto is_param = [&](ir::ValueId id) { return std::find(block.params.begin(), block.params.end(), id) != block.params.end(); };
  const auto defined_here = [&](ir::ValueId id) { return std::find(block.ops.begin(), block.ops.end(), id) != block.ops.end(); };
  if (is_param(block.result)) return false;
  std::vector<bool> fine(body_.ops.size());
  for (const ir::ValueId id : block.ops) {
    const ir::Op& inner = body_[id];
    if (!inner.blocks.empty()) return false;  // what a nested block reads is not worth the search
    if (inner.kind != OpKind::kLoad || inner.args.size() != block.params.size() + 1) continue;
    if (!std::equal(block.params.begin(), block.params.end(), inner.args.begin() + 1)) continue;
    fine[static_cast<size_t>(id)] = !defined_here(inner.args[0]);
  }
  for (const ir::ValueId id : block.ops) {
    if (fine[static_cast<size_t>(id)]) continue;
    for (const ir::ValueId arg : body_[id].args) {
      if (is_param(arg)) return false;
    }
  }
  return true;
}

Value* BodyEmitter::AllDense(const Nest& nest) {
  const ir::Block& block = body_[nest.op.blocks[0]];
  const size_t rank = nest.extents.size();
  Value* dense = TargetIsDense(nest);
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body_[id];
    if (op.kind != OpKind::kLoad || op.args.size() != rank + 1 || op.args[1] != block.params[0]) continue;
    dense = b_.CreateAnd(dense, AreDense(llvm::ArrayRef<Value*>(Get(op.args[0])).drop_front(1 + rank), nest.extents));
  }
  return dense;
}

Value* BodyEmitter::TargetIsDense(const Nest& nest) { return AreDense(nest.target.strides, nest.extents); }

Value* BodyEmitter::AreDense(llvm::ArrayRef<Value*> strides, llvm::ArrayRef<Value*> extents) {
  Value *dense = b_.getTrue(), *wanted = b_.getInt64(1);
  for (size_t axis = strides.size(); axis-- > 0;) {
    wanted = b_.CreateMul(wanted, extents[axis + 1], "", true, true);
    if (strides[axis] != wanted) dense = b_.CreateAnd(dense, b_.CreateICmpEQ(strides[axis], wanted));
  }
  return dense;
}

Value* BodyEmitter::Total(llvm::ArrayRef<Value*> extents) {
  Value* total = b_.getInt64(1);
  for (Value* extent : extents) total = b_.CreateMul(total, extent, "total", true, true);
  return total;
}

void BodyEmitter::EmitFlat(const Nest& nest) {
  Value* total = Total(nest.extents);
  const llvm::SmallVector<Value*, 8> nowhere(nest.extents.size(), b_.getInt64(0));  // the loads go by the element's number
  if (EmitLanes(nest, total, b_.getInt64(0), nowhere, /*is_flat=*/true)) return;
  const ir::Block* outer_block = std::exchange(flat_block_, &body_[nest.op.blocks[0]]);
  Value* outer = flat_;
  For(total, WorkOf(nest.op.blocks[0]), [&](Value* index) {
    flat_ = index;
    EmitElement(nest, nowhere, index);
  });
  flat_ = outer;
  flat_block_ = outer_block;
}

// ---- reading ----

Value* BodyEmitter::ElementOffset(const Leaves& tensor, llvm::ArrayRef<Value*> at) {
  const size_t rank = at.size();
  if (rank == 0) return b_.getInt64(0);
  Value* offset = nullptr;
  for (size_t axis = 0; axis < rank; ++axis) {
    Value* step = axis + 1 < rank ? b_.CreateMul(at[axis], tensor[1 + rank + axis], "", false, true) : at[axis];
    offset = offset == nullptr ? step : b_.CreateAdd(offset, step, "", false, true);
  }
  return offset;
}

// Sums and products of loop indices and extents, and sums of a loop index and whatever it is: such an index is computed only where there
// are elements, since it is in range where its loop runs. One that was checked, or read from somewhere, may stand before an axis without
// any.
bool BodyEmitter::IsLoopIndex(ir::ValueId id) const {
  const ir::Op& op = body_[id];
  if (op.kind == OpKind::kParam || op.kind == OpKind::kScalar || op.kind == OpKind::kExtent || op.kind == OpKind::kDim) return true;
  const bool is_sum = op.kind == OpKind::kAdd || op.kind == OpKind::kSub || op.kind == OpKind::kMul;
  if (!is_sum) return false;
  const auto is_param = [&](ir::ValueId arg) { return body_[arg].kind == OpKind::kParam; };
  if (op.kind == OpKind::kAdd && (is_param(op.args[0]) || is_param(op.args[1]))) return true;
  return IsLoopIndex(op.args[0]) && IsLoopIndex(op.args[1]);
}

Value* BodyEmitter::HasElements(const ir::Op& op) {
  if (filled_.contains(static_cast<uint32_t>(op.args[0]))) return nullptr;
  const Leaves& indexed = Get(op.args[0]);
  Value* some = nullptr;
  for (size_t i = 1; i < op.args.size(); ++i) {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(indexed[i]);
    if (IsInPiece(op.args[i]) || IsLoopIndex(op.args[i]) || (known != nullptr && known->getSExtValue() > 0)) continue;
    Value* has = b_.CreateICmpSGT(indexed[i], b_.getInt64(0));
    some = some == nullptr ? has : b_.CreateAnd(some, has);
  }
  return some;
}

void BodyEmitter::TagLoad(llvm::Instruction* load) {
  if (!open_targets_.empty()) load->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context_.llvm(), open_targets_));
}

Value* BodyEmitter::LoadElement(const ir::Op& op) {
  const Leaves tensor = Get(op.args[0]);
  const ir::DType dtype = TypeOf(op.args[0]).dtype;
  llvm::SmallVector<Value*, 8> at;
  for (size_t i = 1; i < op.args.size(); ++i) at.push_back(Scalar(op.args[i]));
  const bool is_flat = flat_block_ != nullptr && !at.empty() && op.args[1] == flat_block_->params[0];
  Value* offset = is_flat ? flat_ : ElementOffset(tensor, at);
  llvm::Type* type = context_.Memory(dtype);
  Value* address = b_.CreateInBoundsGEP(type, DataOf(op.args[0]), offset);
  if (Value* some = HasElements(op); some != nullptr) address = b_.CreateSelect(some, address, context_.TensorData({}));
  llvm::LoadInst* load = b_.CreateLoad(type, address);
  TagLoad(load);
  return dtype == ir::DType::kBool ? b_.CreateICmpNE(load, b_.getInt8(0)) : load;
}

// ---- whole tensors ----

void BodyEmitter::CopyElements(ir::TypeId id, const Leaves& from, const Target& target) {
  const ir::Type& type = context_.type(id);
  const size_t rank = type.dims.size();
  llvm::Type* element = context_.Memory(type.dtype);
  const std::function<void(size_t, Value*, Value*)> copy = [&](size_t axis, Value* source, Value* to) {
    Value* from_at = b_.CreateInBoundsGEP(element, from[0], source);
    if (axis + 1 >= rank) {
      Value* bytes =
          rank == 0 ? b_.getInt64(ir::SizeOf(type.dtype)) : b_.CreateMul(from[rank], b_.getInt64(ir::SizeOf(type.dtype)), "", true, true);
      CopyBytes(b_.CreateInBoundsGEP(element, target.data, to), from_at, bytes);
      return;
    }
    For(from[1 + axis], axis + 2 < rank ? kUnknownWork : kCopyWork, [&](Value* index) {
      copy(axis + 1, b_.CreateAdd(source, b_.CreateMul(index, from[1 + rank + axis])),
           b_.CreateAdd(to, b_.CreateMul(index, target.strides[axis])));
    });
  };
  copy(0, b_.getInt64(0), b_.getInt64(0));
}

Leaves BodyEmitter::Contiguous(ir::TypeId id, const Leaves& tensor) {
  const ir::Type& type = context_.type(id);
  const size_t rank = type.dims.size();
  const llvm::ArrayRef<Value*> extents = llvm::ArrayRef<Value*>(tensor).slice(1, rank);
  const Leaves dense = DenseTensor(tensor[0], extents);
  Value* padded = b_.getFalse();
  for (size_t axis = 0; axis + 1 < rank; ++axis) {
    Value *is = tensor[1 + rank + axis], *wanted = dense[1 + rank + axis];
    if (is != wanted) padded = b_.CreateOr(padded, b_.CreateICmpNE(is, wanted));
  }
  if (padded == b_.getFalse()) return dense;
  Block* before = b_.GetInsertBlock();
  Block* copy = Block::Create(context_.llvm(), "copy", function_);
  Block* done = Block::Create(context_.llvm(), "dense", function_);
  b_.CreateCondBr(padded, copy, done);
  b_.SetInsertPoint(copy);
  Target target{Allocate(Bytes(extents, ir::SizeOf(type.dtype)), WF_ALIGN), {}};
  target.strides.append(dense.begin() + static_cast<ptrdiff_t>(1 + rank), dense.end());
  CopyElements(id, tensor, target);
  Block* copied = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* data = b_.CreatePHI(b_.getPtrTy(), 2, "data");
  data->addIncoming(tensor[0], before);
  data->addIncoming(target.data, copied);
  Leaves result = dense;
  result[0] = data;
  return result;
}

Leaves BodyEmitter::EmitReshape(const ir::Op& op) {
  const Leaves source = Contiguous(body_[op.args[0]].type, Get(op.args[0]));
  llvm::SmallVector<Value*, 4> extents;
  for (size_t i = 1; i < op.args.size(); ++i) extents.push_back(Scalar(op.args[i]));
  return DenseTensor(source[0], extents);
}

}  // namespace wf::lower
