// What a block of lanes reads: runs, short strides, single elements.

#include <algorithm>

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/lower/lanes.h"

namespace wf::lower {

using llvm::Value;

namespace {
constexpr unsigned kPixelBytes = 3, kVectorBytes = 16;
}  // namespace

std::optional<unsigned> BodyEmitter::LaneBlock::StrideOf(const ir::Op& op) const {
  const Leaves& tensor = o_.Get(op.args[0]);
  const size_t rank = op.args.size() - 1;
  int64_t stride = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (!Varies(op.args[1 + axis])) continue;
    const auto* step = llvm::dyn_cast_or_null<llvm::ConstantInt>(Get(op.args[1 + axis]).step);
    const auto* inner = axis + 1 < rank ? llvm::dyn_cast<llvm::ConstantInt>(tensor[1 + rank + axis]) : b_.getInt64(1);
    if (stride != 0 || step == nullptr || inner == nullptr || step->getSExtValue() < 1 || step->getSExtValue() > kMaxStride)
      return std::nullopt;
    if (inner->getSExtValue() < 1 || inner->getSExtValue() > kMaxStride) return std::nullopt;
    stride = step->getSExtValue() * inner->getSExtValue();
  }
  if (stride < 1 || stride > kMaxStride) return std::nullopt;
  if (stride > 1 && (mask_ != nullptr || o_.HasElements(op) != nullptr)) return std::nullopt;
  return static_cast<unsigned>(stride);
}

BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::Load(const ir::Op& op) {
  const Leaves tensor = o_.Get(op.args[0]);
  const size_t rank = op.args.size() - 1;
  const ir::DType dtype = o_.TypeOf(op.args[0]).dtype;
  llvm::Type* element = o_.context_.Memory(dtype);
  Lane lane;
  if (shape_.is_flat) {
    lane.run = b_.CreateInBoundsGEP(element, o_.DataOf(op.args[0]), first_);
  } else if (const auto stride = StrideOf(op); !stride) {
    lane.vector = LoadScattered(op, tensor);
  } else {
    llvm::SmallVector<Value*, 8> at;
    for (size_t i = 1; i <= rank; ++i) at.push_back(Get(op.args[i]).base);
    if (HasThreeBytes(op, tensor, *stride)) {
      lane.vector = LoadOfPixels(tensor, at);
      return lane;
    }
    Value* address = b_.CreateInBoundsGEP(element, o_.DataOf(op.args[0]), o_.ElementOffset(tensor, at));
    if (*stride == 1) {
      lane.run = address;
    } else {
      lane.vector = LoadStrided(element, address, *stride, llvm::Align(ir::SizeOf(dtype)));
    }
  }
  if (lane.run != nullptr) lane.vector = LoadRun(op, lane.run);
  if (mask_ != nullptr || o_.HasElements(op) != nullptr) lane.run = nullptr;
  if (dtype == ir::DType::kBool) lane.vector = b_.CreateICmpNE(lane.vector, llvm::Constant::getNullValue(lane.vector->getType()));
  return lane;
}

Value* BodyEmitter::LaneBlock::LoadRun(const ir::Op& op, Value* address) {
  const ir::DType dtype = o_.TypeOf(op.args[0]).dtype;
  auto* type = llvm::FixedVectorType::get(o_.context_.Memory(dtype), n_);
  const llvm::Align align(ir::SizeOf(dtype));
  Value* mask = mask_;
  if (Value* some = o_.HasElements(op); some != nullptr) mask = b_.CreateAnd(Mask(), b_.CreateVectorSplat(n_, some));
  llvm::Instruction* load = mask == nullptr ? static_cast<llvm::Instruction*>(b_.CreateAlignedLoad(type, address, align))
                                            : b_.CreateMaskedLoad(type, address, align, mask, llvm::Constant::getNullValue(type));
  o_.TagLoad(load);
  return load;
}

// Whole vectors that together reach from the first element to the last and no further, and of each the elements that are wanted.
Value* BodyEmitter::LaneBlock::LoadStrided(llvm::Type* element, Value* address, unsigned step, llvm::Align align) {
  auto* type = llvm::FixedVectorType::get(element, n_);
  const unsigned reach = (n_ - 1) * step + 1;
  Value* result = nullptr;
  for (unsigned piece = 0; piece < step; ++piece) {
    const unsigned at = std::min(piece * n_, reach - n_);
    llvm::LoadInst* load = b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(element, address, at), align);
    o_.TagLoad(load);
    llvm::SmallVector<int, 16> from;
    for (unsigned lane = 0; lane < n_; ++lane) {
      const unsigned wanted = lane * step;
      const bool is_here = wanted >= piece * n_ && wanted < (piece + 1) * n_;
      from.push_back(is_here ? static_cast<int>(n_ + wanted - at) : static_cast<int>(lane));
    }
    result = b_.CreateShuffleVector(result == nullptr ? static_cast<Value*>(load) : result, load, from);
  }
  return result;
}

// Is it one of the three bytes of pixels that lie side by side, a vector's bytes of them?
bool BodyEmitter::LaneBlock::HasThreeBytes(const ir::Op& op, const Leaves& tensor, unsigned stride) const {
  const size_t rank = op.args.size() - 1;
  const auto* channels = llvm::dyn_cast<llvm::ConstantInt>(tensor[rank]);
  const auto* channel = llvm::dyn_cast_or_null<llvm::ConstantInt>(Get(op.args.back()).base);
  const bool is_known = rank > 1 && !Varies(op.args.back()) && channels != nullptr && channel != nullptr;
  if (!is_known || stride != kPixelBytes || n_ != kVectorBytes || o_.TypeOf(op.args[0]).dtype != ir::DType::kU8) return false;
  return channels->getZExtValue() == kPixelBytes && channel->getZExtValue() < kPixelBytes;
}

// Each pixel is spread to 32 bits, once for all its channels, in which a byte is a shift away from the integer that is most often wanted.
Value* BodyEmitter::LaneBlock::LoadOfPixels(const Leaves& tensor, llvm::SmallVector<Value*, 8> at) {
  const uint64_t channel = llvm::cast<llvm::ConstantInt>(at.back())->getZExtValue();
  at.back() = b_.getInt64(0);
  Value* first = b_.CreateInBoundsGEP(b_.getInt8Ty(), tensor[0], o_.ElementOffset(tensor, at));
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), kVectorBytes);
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned pixel = 0; pixel < n_; pixel += 4) {
    const unsigned begin = pixel * kPixelBytes, from = std::min(begin, n_ * kPixelBytes - kVectorBytes);  // not beyond the last pixel
    llvm::LoadInst* load = b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), first, from), llvm::Align(1));
    o_.TagLoad(load);
    llvm::SmallVector<int, kVectorBytes> order;
    for (unsigned i = 0; i < kVectorBytes; ++i) {
      const unsigned byte = begin - from + i / 4 * kPixelBytes + i % 4;
      order.push_back(static_cast<int>(i % 4 < kPixelBytes ? byte : kVectorBytes));  // 0
    }
    parts.push_back(b_.CreateShuffleVector(load, llvm::Constant::getNullValue(type), order));
  }
  Value* pixels = b_.CreateBitCast(llvm::concatenateVectors(b_, parts), llvm::FixedVectorType::get(b_.getInt32Ty(), n_));
  return b_.CreateTrunc(b_.CreateLShr(pixels, 8 * channel), type);
}

// Is it one of the three bytes of pixels that lie apart in one row of a picture?
bool BodyEmitter::LaneBlock::IsOfPicture(const ir::Op& op, const Leaves& tensor) const {
  if (std::find(shape_.pictures.begin(), shape_.pictures.end(), op.args[0]) == shape_.pictures.end()) return false;
  const size_t rank = op.args.size() - 1;
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(tensor[2 * rank - 1]);
  const auto* channel = llvm::dyn_cast_or_null<llvm::ConstantInt>(Get(op.args.back()).base);
  if (stride == nullptr || stride->getZExtValue() != kPixelBytes || channel == nullptr || channel->getZExtValue() >= kPixelBytes)
    return false;
  const auto varies = [&](size_t axis) { return Varies(op.args[1 + axis]); };
  for (size_t axis = 0; axis < rank; ++axis) {
    if (varies(axis) != (axis + 2 == rank)) return false;
  }
  return true;
}

// Of each lane the four bytes that begin with its pixel's place behind `start`. LLVM finds what is read again for the next channel, but not
// in a long function: there it would be read for each.
Value* BodyEmitter::LaneBlock::LoadWholePixels(const ir::Op& op, Value* start) {
  Value** const kept = shape_.pixels != nullptr && shape_.pixels->count(&op) != 0 ? &(*shape_.pixels)[&op] : nullptr;
  if (kept != nullptr && *kept != nullptr) {
    const auto* known = llvm::dyn_cast<llvm::Instruction>(*kept);
    if (known != nullptr && known->getParent() == b_.GetInsertBlock()) return *kept;
  }
  // As vectors of bytes: of integers LLVM would make a gather, which takes twice as long.
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), 4);
  llvm::SmallVector<Value*, 16> parts;
  for (unsigned lane = 0; lane < n_; ++lane) {
    Value* pixel = b_.CreateMul(ScalarOf(op.args[op.args.size() - 2], lane), b_.getInt64(kPixelBytes), "", false, true);
    llvm::LoadInst* load = b_.CreateAlignedLoad(type, b_.CreateInBoundsGEP(b_.getInt8Ty(), start, pixel), llvm::Align(1));
    o_.TagLoad(load);
    parts.push_back(load);
  }
  Value* pixels = b_.CreateBitCast(llvm::concatenateVectors(b_, parts), llvm::FixedVectorType::get(b_.getInt32Ty(), n_));
  if (kept != nullptr) *kept = pixels;
  return pixels;
}

// Four bytes are read at once, for all channels of a pixel: its own and the one behind it or, but in the first row, before it. So none is
// outside of a picture that has more than one row.
Value* BodyEmitter::LaneBlock::LoadOfPicture(const ir::Op& op, const Leaves& tensor) {
  const size_t rank = op.args.size() - 1;
  Value* row = b_.getInt64(0);
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    row = b_.CreateAdd(row, b_.CreateMul(Get(op.args[1 + axis]).base, tensor[1 + rank + axis], "", false, true), "", false, true);
  Value* before = b_.CreateZExt(b_.CreateICmpNE(row, b_.getInt64(0)), b_.getInt64Ty());
  Value* pixels = LoadWholePixels(op, b_.CreateInBoundsGEP(b_.getInt8Ty(), tensor[0], b_.CreateSub(row, before)));
  const uint64_t channel = llvm::cast<llvm::ConstantInt>(Get(op.args.back()).base)->getZExtValue();
  Value* bits = b_.CreateTrunc(b_.CreateMul(b_.CreateAdd(before, b_.getInt64(channel)), b_.getInt64(8)), b_.getInt32Ty());
  return b_.CreateTrunc(b_.CreateLShr(pixels, b_.CreateVectorSplat(n_, bits)), llvm::FixedVectorType::get(b_.getInt8Ty(), n_));
}

Value* BodyEmitter::LaneBlock::LoadScattered(const ir::Op& op, const Leaves& tensor) {
  if (mask_ != nullptr || o_.HasElements(op) != nullptr) return LoadGathered(op, tensor);
  const bool has_scalars = std::all_of(op.args.begin() + 1, op.args.end(), [&](ir::ValueId index) {
    const Lane lane = Get(index);
    return lane.base != nullptr || lane.run != nullptr;
  });
  if (!has_scalars) return LoadGathered(op, tensor);
  return IsOfPicture(op, tensor) ? LoadOfPicture(op, tensor) : LoadOneByOne(op, tensor);
}

// Where the index of each lane is a scalar, addresses need not go through vectors: CPUs gather no bytes, and wider elements no faster.
Value* BodyEmitter::LaneBlock::LoadOneByOne(const ir::Op& op, const Leaves& tensor) {
  const size_t rank = op.args.size() - 1;
  const ir::DType dtype = o_.TypeOf(op.args[0]).dtype;
  auto* type = llvm::FixedVectorType::get(o_.context_.Memory(dtype), n_);
  const auto offset = [&](bool varies, unsigned lane) {
    Value* sum = b_.getInt64(0);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (Varies(op.args[1 + axis]) != varies) continue;
      Value* step = ScalarOf(op.args[1 + axis], lane);
      if (axis + 1 < rank) step = b_.CreateMul(step, tensor[1 + rank + axis], "", false, true);
      sum = b_.CreateAdd(sum, step, "", false, true);
    }
    return sum;
  };
  Value* start = b_.CreateInBoundsGEP(type->getElementType(), tensor[0], offset(false, 0));
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < n_; ++lane) {
    Value* address = b_.CreateInBoundsGEP(type->getElementType(), start, offset(true, lane));
    llvm::LoadInst* load = b_.CreateLoad(type->getElementType(), address);
    o_.TagLoad(load);
    result = b_.CreateInsertElement(result, load, lane);
  }
  return result;
}

// Of an i64 that has a base or lies in memory.
Value* BodyEmitter::LaneBlock::ScalarOf(ir::ValueId id, unsigned number) {
  const Lane lane = Get(id);
  if (lane.run != nullptr) {
    llvm::LoadInst* load = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), lane.run, number));
    o_.TagLoad(load);
    return load;
  }
  return lane.step == nullptr ? lane.base : b_.CreateAdd(lane.base, b_.CreateMul(lane.step, b_.getInt64(number)));
}

Value* BodyEmitter::LaneBlock::LoadGathered(const ir::Op& op, const Leaves& tensor) {
  const size_t rank = op.args.size() - 1;
  const ir::DType dtype = o_.TypeOf(op.args[0]).dtype;
  auto* type = llvm::FixedVectorType::get(o_.context_.Memory(dtype), n_);
  Value* offset = nullptr;
  for (size_t axis = 0; axis < rank; ++axis) {
    Value* step = Vector(op.args[1 + axis]);
    if (axis + 1 < rank) step = b_.CreateMul(step, b_.CreateVectorSplat(n_, tensor[1 + rank + axis]));
    offset = offset == nullptr ? step : b_.CreateAdd(offset, step);
  }
  Value* addresses = b_.CreateInBoundsGEP(type->getElementType(), tensor[0], offset);
  llvm::Instruction* load =
      b_.CreateMaskedGather(type, addresses, llvm::Align(ir::SizeOf(dtype)), Mask(), llvm::Constant::getNullValue(type));
  o_.TagLoad(load);
  return load;
}

}  // namespace wf::lower
