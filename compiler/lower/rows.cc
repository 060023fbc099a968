// The innermost loop of a build as vector code of our own: lanes as in reductions, and a last turn that is shorter, masked, or scalar.

#include <algorithm>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/lower/body.h"
#include "compiler/lower/lanes.h"

namespace wf::lower {

using llvm::Value;

namespace {
constexpr unsigned kMostLanes = 16;
constexpr uint64_t kShort = 64;

// A row, as a table of places is one, that is not worth a second copy of its code for the half of a vector that it ends with.
bool IsShortInFours(Value* count) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  return known != nullptr && known->getZExtValue() < kShort && known->getZExtValue() % 8 == 4;
}
constexpr uint64_t kMostChannels = 4;
}  // namespace

bool BodyEmitter::EmitLaneRow(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at) {
  if (!has_lanes_) return false;
  return EmitLanes(nest, nest.extents.back(), offset, at, false);
}

// Is the last axis one of channels, too short for lanes, with its elements side by side?
bool BodyEmitter::HasPixels(const Nest& nest) const {
  const size_t rank = nest.extents.size();
  if (rank < 2 || nest.apart != ir::ValueId::kNone || context_.type(nest.op.type).dtype == ir::DType::kBool) return false;
  const auto* channels = llvm::dyn_cast<llvm::ConstantInt>(nest.extents.back());
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(nest.target.strides[rank - 2]);
  if (channels == nullptr || stride == nullptr || channels->getZExtValue() != stride->getZExtValue()) return false;
  if (channels->getZExtValue() < 2 || channels->getZExtValue() > kMostChannels) return false;
  const ir::Block& block = body_[nest.op.blocks[0]];
  return LaneBlock::Inspect(context_, body_, {nest.op.blocks[0], block.params[rank - 2], kMostLanes, false, true}).is_worth_it;
}

// Of what these loads of a build read, the tensors whose pixels are three bytes.
llvm::SmallVector<ir::ValueId, 4> BodyEmitter::PicturesOf(const Nest& nest, llvm::ArrayRef<ir::ValueId> loads) const {
  const std::vector<ir::ValueId>& inside = body_[nest.op.blocks[0]].ops;
  llvm::SmallVector<ir::ValueId, 4> pictures;
  for (const ir::ValueId load : loads) {
    const ir::ValueId tensor = body_[load].args[0];
    const ir::Type& type = TypeOf(tensor);
    const bool is_picture = type.dtype == ir::DType::kU8 && type.dims.size() == 3 && type.dims.back() == 3;
    const bool is_new = std::find(pictures.begin(), pictures.end(), tensor) == pictures.end();
    if (is_picture && is_new && std::find(inside.begin(), inside.end(), tensor) == inside.end()) pictures.push_back(tensor);
  }
  return pictures;
}

// Does each have more than one row, apart from the others?
Value* BodyEmitter::HaveRows(llvm::ArrayRef<ir::ValueId> pictures) {
  Value* all = b_.getTrue();
  for (const ir::ValueId picture : pictures) {
    const Leaves& tensor = Get(picture);
    Value* rows = b_.CreateICmpSGT(tensor[1], b_.getInt64(1));
    all = b_.CreateAnd(all, b_.CreateAnd(rows, b_.CreateICmpSGT(tensor[4], b_.getInt64(0))));
  }
  return all;
}

// A row of pixels: lanes are pixels, of one channel after the other, which are stored interleaved.
bool BodyEmitter::EmitPixelRow(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at) {
  if (!has_lanes_ || !HasPixels(nest)) return false;
  const size_t rank = nest.extents.size();
  const ir::Block& block = body_[nest.op.blocks[0]];
  const uint64_t channels = llvm::cast<llvm::ConstantInt>(nest.extents.back())->getZExtValue();
  LaneBlock::Shape shape{nest.op.blocks[0], block.params[rank - 2], kMostLanes, false, true};
  const LaneBlock::Row row = LaneBlock::Inspect(context_, body_, shape);
  if (row.widest == 8 || !masks_bytes_) shape.lanes = 8;
  const llvm::SmallVector<ir::ValueId, 4> pictures = PicturesOf(nest, row.gathered);
  shape.pictures = pictures;
  LaneBlock::Pixels pixels_read;
  const LaneBlock::Steps by_channel = LaneBlock::StepsOf(body_, block, block.params.back());
  for (const ir::ValueId load : row.gathered) {
    const std::vector<ir::ValueId>& args = body_[load].args;
    const bool is_same =
        std::all_of(args.begin(), args.end() - 1, [&](ir::ValueId id) { return by_channel[static_cast<size_t>(id)] == 0; });
    if (is_same && std::find(block.ops.begin(), block.ops.end(), load) != block.ops.end()) pixels_read[&body_[load]] = nullptr;
  }
  shape.pixels = &pixels_read;
  for (size_t i = 0; i < at.size(); ++i) values_[static_cast<size_t>(block.params[i])] = {at[i]};
  Value* lanes = b_.getInt64(shape.lanes);
  const auto place = [&](Value* pixel) {
    return b_.CreateAdd(offset, b_.CreateMul(pixel, b_.getInt64(channels), "", true, true), "", true, true);
  };
  Value* count = nest.extents[rank - 2];
  const uint64_t work = WorkOf(nest.op.blocks[0]) * channels;
  Value* in_lanes = b_.CreateSelect(HaveRows(pictures), b_.CreateAnd(count, b_.getInt64(~uint64_t{shape.lanes - 1})), b_.getInt64(0));
  For(b_.CreateLShr(in_lanes, shape.lanes == 16 ? 4 : 3), shape.lanes * WorkToLookAt(nest.op.args[rank - 2], work), [&](Value* turn) {
    Value* first = b_.CreateMul(turn, lanes, "first", true, true);
    llvm::SmallVector<Value*, kMostChannels> planes;
    for (uint64_t channel = 0; channel < channels; ++channel) {
      values_[static_cast<size_t>(block.params.back())] = {b_.getInt64(channel)};
      planes.push_back(LaneBlock(*this, shape, first, nullptr).Emit());
    }
    Value* pixels = b_.CreateShuffleVector(llvm::concatenateVectors(b_, planes),
                                           llvm::createInterleaveMask(shape.lanes, static_cast<unsigned>(channels)));
    StoreLanes(nest, pixels, place(first), nullptr);
  });
  For(b_.CreateSub(count, in_lanes, "rest", true, true), WorkToLookAt(nest.op.args[rank - 2], work), [&](Value* index) {
    Value* pixel = b_.CreateAdd(in_lanes, index, "", true, true);
    for (uint64_t channel = 0; channel < channels; ++channel) {
      llvm::SmallVector<Value*, 8> where(at);
      where.append({pixel, b_.getInt64(channel)});
      EmitElement(nest, where, b_.CreateAdd(place(pixel), b_.getInt64(channel), "", true, true));
    }
  });
  return true;
}

// Are pixels moved as they are, each from a place of its own that no channel changes?
bool BodyEmitter::MovesPixels(const Nest& nest) const {
  const size_t rank = nest.extents.size();
  const ir::Block& block = body_[nest.op.blocks[0]];
  const auto is_inside = [&](ir::ValueId id) { return std::find(block.ops.begin(), block.ops.end(), id) != block.ops.end(); };
  if (rank < 2 || nest.apart != ir::ValueId::kNone || !is_inside(block.result) || body_[block.result].kind != ir::OpKind::kLoad)
    return false;
  const ir::Op& load = body_[block.result];
  const size_t source_rank = load.args.size() - 1;
  if (source_rank < 2 || is_inside(load.args[0]) || load.args.back() != block.params.back()) return false;
  const auto* channels = llvm::dyn_cast<llvm::ConstantInt>(nest.extents.back());
  if (channels == nullptr || channels->getZExtValue() < 2 || channels->getZExtValue() > kMostChannels) return false;
  if (context_.type(nest.op.type).dtype != ir::DType::kU8) return false;
  const Leaves& source = Get(load.args[0]);
  const auto has_channels = [&](Value* stride) { return stride == channels; };  // constants are unique
  if (!has_channels(source[source_rank]) || !has_channels(source[2 * source_rank - 1]) || !has_channels(nest.target.strides[rank - 2]))
    return false;
  const LaneBlock::Steps by_channel = LaneBlock::StepsOf(body_, block, block.params.back());
  const LaneBlock::Steps by_pixel = LaneBlock::StepsOf(body_, block, block.params[rank - 2]);
  if (by_pixel[static_cast<size_t>(load.args[source_rank - 1])]) return false;  // runs are for LLVM
  return std::all_of(block.ops.begin(), block.ops.end(), [&](ir::ValueId id) {
    return id == block.result || (by_channel[static_cast<size_t>(id)] == 0 && body_[id].blocks.empty());
  });
}

// A row of such pixels, each as one number: left to LLVM, their bytes go one by one through vectors.
bool BodyEmitter::EmitMovedPixels(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at) {
  if (!has_lanes_ || piece_ != nullptr || !MovesPixels(nest)) return false;
  const size_t rank = nest.extents.size();
  const ir::Block& block = body_[nest.op.blocks[0]];
  const ir::Op& load = body_[block.result];
  Value* some = HasElements(load);
  for (size_t i = 0; i < at.size(); ++i) values_[static_cast<size_t>(block.params[i])] = {at[i]};
  Value* channels = nest.extents.back();
  llvm::Type* type = b_.getIntNTy(8 * static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(channels)->getZExtValue()));
  For(nest.extents[rank - 2], WorkToLookAt(nest.op.args[rank - 2], WorkOf(nest.op.blocks[0])), [&](Value* pixel) {
    values_[static_cast<size_t>(block.params[rank - 2])] = {pixel};
    for (const ir::ValueId id : block.ops) {
      if (id != block.result) EmitOp(id);
    }
    llvm::SmallVector<Value*, 8> from;
    for (size_t i = 1; i + 1 < load.args.size(); ++i) from.push_back(Scalar(load.args[i]));
    from.push_back(b_.getInt64(0));
    const Leaves& source = Get(load.args[0]);
    Value* address = b_.CreateInBoundsGEP(b_.getInt8Ty(), source[0], ElementOffset(source, from));
    Value* place = b_.CreateAdd(offset, b_.CreateMul(pixel, channels, "", true, true), "", true, true);
    Value* to = b_.CreateInBoundsGEP(b_.getInt8Ty(), nest.target.data, place);
    if (some != nullptr) address = b_.CreateSelect(some, address, to);  // of nothing, an index has failed
    llvm::LoadInst* moved = b_.CreateAlignedLoad(type, address, llvm::Align(1));
    if (some == nullptr) TagLoad(moved);
    TagStore(b_.CreateAlignedStore(moved, to, llvm::Align(1)));
  });
  return true;
}

void BodyEmitter::StoreLanes(const Nest& nest, Value* lanes, Value* offset, Value* mask) {
  const ir::DType dtype = context_.type(nest.op.type).dtype;
  llvm::Type* element = context_.Memory(dtype);
  if (dtype == ir::DType::kBool) lanes = b_.CreateZExt(lanes, lanes->getType()->getWithNewType(element));
  Value* address = b_.CreateInBoundsGEP(element, nest.target.data, offset);
  const llvm::Align align(ir::SizeOf(dtype));
  TagStore(mask == nullptr ? static_cast<llvm::Instruction*>(b_.CreateAlignedStore(lanes, address, align))
                           : b_.CreateMaskedStore(lanes, address, align, mask));
}

// The comparison by which one element of a row differs from all others, as that of a one-hot row does; kNone: there is none.
ir::ValueId BodyEmitter::FindApart(const ir::Block& block) const {
  const auto is_inside = [&](ir::ValueId id) { return std::find(block.ops.begin(), block.ops.end(), id) != block.ops.end(); };
  const auto is_ready = [&](ir::ValueId id) { return id != block.params.back() && !is_inside(id); };
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body_[id];
    if (op.kind != ir::OpKind::kEq && op.kind != ir::OpKind::kNe) continue;
    const bool is_first = op.args[0] == block.params.back();
    if (is_first == (op.args[1] == block.params.back())) continue;
    const ir::ValueId other = op.args[is_first ? 1 : 0];
    const std::vector<ir::ValueId>& reads = body_[other].args;
    const bool is_load = body_[other].kind == ir::OpKind::kLoad && std::all_of(reads.begin(), reads.end(), is_ready);
    if (is_ready(other) || is_load) return id;
  }
  return ir::ValueId::kNone;
}

// By value of the block: does it depend on the indices otherwise than through `apart`?
std::vector<bool> BodyEmitter::FindVarying(const ir::Block& block, ir::ValueId apart) const {
  std::vector<bool> varies(body_.ops.size());
  const auto does = [&](ir::ValueId id) { return varies[static_cast<size_t>(id)]; };
  for (const ir::ValueId param : block.params) varies[static_cast<size_t>(param)] = true;
  for (const ir::ValueId id : block.ops)
    varies[static_cast<size_t>(id)] = id != apart && std::any_of(body_[id].args.begin(), body_[id].args.end(), does);
  return varies;
}

// Of a tensor that has one value everywhere but for one element in each row, the comparison that tells that element; kNone otherwise.
ir::ValueId BodyEmitter::FindOnlyApart(const ir::Block& block) const {
  const ir::ValueId apart = block.params.empty() ? ir::ValueId::kNone : FindApart(block);
  if (apart == ir::ValueId::kNone || FindVarying(block, apart)[static_cast<size_t>(block.result)]) return ir::ValueId::kNone;
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body_[id];
    const bool may_run = id != apart && std::find(op.args.begin(), op.args.end(), block.params.back()) != op.args.end();
    const bool is_check = op.kind == ir::OpKind::kCheckIndex || op.kind == ir::OpKind::kCheckDivisor || op.kind == ir::OpKind::kStickyIf;
    if (may_run || is_check || !op.blocks.empty()) return ir::ValueId::kNone;
  }
  return apart;
}

// Writes such a tensor as one run of memory and goes back for the elements apart: about as fast as memory is filled.
bool BodyEmitter::EmitFilled(const Nest& nest) {
  const ir::Block& block = body_[nest.op.blocks[0]];
  const ir::ValueId apart = FindOnlyApart(block);
  if (apart == ir::ValueId::kNone) return false;
  const auto fill = [&] {
    values_[static_cast<size_t>(apart)] = {b_.getInt1(body_[apart].kind == ir::OpKind::kNe)};
    const std::vector<bool> varies = FindVarying(block, apart);
    for (const ir::ValueId id : block.ops) {
      if (id != apart && !varies[static_cast<size_t>(id)]) EmitOp(id);
    }
    Value* value = Scalar(block.result);
    For(Total(nest.extents), 1, [&](Value* index) { StoreElement(nest, value, index); });
    llvm::SmallVector<Value*, 8> at;
    Nest rest = nest;
    rest.apart = apart;
    EmitNest(rest, b_.getInt64(0), at);
  };
  EmitEither(TargetIsDense(nest), fill, [&] { EmitUsual(nest); });
  return true;
}

// The element apart of a row whose others are written.
void BodyEmitter::EmitApart(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at) {
  const ir::Block& block = body_[nest.op.blocks[0]];
  for (size_t i = 0; i < at.size(); ++i) values_[static_cast<size_t>(block.params[i])] = {at[i]};
  Value* place = ApartIndex(block, nest.apart);
  EmitEither(
      b_.CreateICmpULT(place, nest.extents.back()),
      [&] {
        llvm::SmallVector<Value*, 8> there(at);
        there.push_back(place);
        EmitElement(nest, there, b_.CreateAdd(offset, place, "", true, true));
      },
      [] {});
}

// Where the element apart stands, perhaps outside the row; the outer indices have their values.
Value* BodyEmitter::ApartIndex(const ir::Block& block, ir::ValueId apart) {
  const ir::Op& op = body_[apart];
  const ir::ValueId other = op.args[op.args[0] == block.params.back() ? 1 : 0];
  if (std::find(block.ops.begin(), block.ops.end(), other) != block.ops.end()) EmitOp(other);
  return Scalar(other);
}

// A turn of such a row. Where it cannot hold that element, nothing is compared.
void BodyEmitter::EmitTurnApart(const Nest& nest, unsigned lanes, ir::ValueId apart, Value* first, Value* offset) {
  const ir::Block& block = body_[nest.op.blocks[0]];
  const LaneBlock::Shape shape{nest.op.blocks[0], block.params.back(), lanes, false, true};
  Value* place = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, ApartIndex(block, apart), b_.getInt64(static_cast<uint64_t>(-1)));
  Value* is_here = b_.CreateICmpULT(b_.CreateSub(place, first, "", false, true), b_.getInt64(lanes));
  EmitEither(
      is_here, [&] { StoreLanes(nest, LaneBlock(*this, shape, first, nullptr).Emit(), offset, nullptr); },
      [&] {
        LaneBlock elsewhere(*this, shape, first, nullptr);
        elsewhere.Assume(apart, body_[apart].kind == ir::OpKind::kNe);
        StoreLanes(nest, elsewhere.Emit(), offset, nullptr);
      });
}

bool BodyEmitter::EmitLanes(const Nest& nest, Value* count, Value* offset, llvm::ArrayRef<Value*> at, bool is_flat) {
  const ir::Block& block = body_[nest.op.blocks[0]];
  LaneBlock::Shape shape{nest.op.blocks[0], block.params.back(), 16, is_flat, !is_flat};
  const LaneBlock::Row row = LaneBlock::Inspect(context_, body_, shape);
  if (!row.is_worth_it) return false;
  if (row.widest == 8 || !masks_bytes_) shape.lanes = 8;
  if (row.widest == 8 && row.scattered.empty() && IsShortInFours(count)) shape.lanes = 4;
  for (size_t i = 0; i < at.size() && i + 1 < block.params.size(); ++i) values_[static_cast<size_t>(block.params[i])] = {at[i]};
  const uint64_t stored = ir::SizeOf(context_.type(nest.op.type).dtype);
  const auto place = [&](Value* first) { return b_.CreateAdd(offset, first, "", true, true); };
  Value* lanes = b_.getInt64(shape.lanes);
  const ir::ValueId apart = is_flat ? ir::ValueId::kNone : FindApart(block);
  For(b_.CreateLShr(count, llvm::Log2_32(shape.lanes)), shape.lanes * WorkToLookAt(nest.op.args.back(), WorkOf(nest.op.blocks[0])),
      [&](Value* turn) {
        Value* first = b_.CreateMul(turn, lanes, "first", true, true);
        if (apart != ir::ValueId::kNone) return EmitTurnApart(nest, shape.lanes, apart, first, place(first));
        StoreLanes(nest, LaneBlock(*this, shape, first, nullptr).Emit(), place(first), nullptr);
      });
  Value* rest = b_.CreateAnd(count, b_.getInt64(shape.lanes - 1));
  Value* first = b_.CreateSub(count, rest, "first", true, true);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(rest); known != nullptr) {
    shape.lanes = static_cast<unsigned>(known->getZExtValue());
    if (shape.lanes != 0) StoreLanes(nest, LaneBlock(*this, shape, first, nullptr).Emit(), place(first), nullptr);
    return true;
  }
  if (!row.scattered.empty() || (!masks_bytes_ && std::min(row.narrowest, stored) < 4)) {
    EmitScalarRest(nest, {first, rest}, offset, at, is_flat);
    return true;
  }
  Block* tail = Block::Create(context_.llvm(), "tail", function_);
  Block* done = Block::Create(context_.llvm(), "done", function_);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), tail, done);
  b_.SetInsertPoint(tail);
  LaneBlock last(*this, shape, first, rest);
  Value* live = last.live();
  StoreLanes(nest, last.Emit(), place(first), live);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  return true;
}

// Fewer elements than lanes, one by one: not worth vectorising again.
void BodyEmitter::EmitScalarRest(const Nest& nest, Rest rest, Value* offset, llvm::ArrayRef<Value*> at, bool is_flat) {
  const ir::Block* outer_block = flat_block_;
  Value* outer = flat_;
  const Loop loop = BeginLoop(rest.count, "rest");
  if (TurnsPerLook(rest.count, WorkOf(nest.op.blocks[0])) < kMostLanes) CheckStop();
  Value* index = b_.CreateAdd(rest.first, loop.index, "", true, true);
  llvm::SmallVector<Value*, 8> where(at);
  if (is_flat) {
    flat_block_ = &body_[nest.op.blocks[0]];
    flat_ = index;
  } else {
    where.push_back(index);
  }
  EmitElement(nest, where, b_.CreateAdd(offset, index, "", true, true));
  EndLoop(loop, true);
  flat_block_ = outer_block;
  flat_ = outer;
}

}  // namespace wf::lower
