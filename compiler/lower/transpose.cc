// Builds that only move elements, from columns into rows: in tiles that pass through registers, of strips that stay in the cache. And those
// that mirror rows of pixels, turn their channels round, make pixels of levels, or planes of pixels.

#include <algorithm>

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/lower/body.h"
#include "compiler/lower/lanes.h"

namespace wf::lower {

using llvm::Value;

namespace {
constexpr uint64_t kMovedBytes = 16, kMostPixelBytes = 8, kMostSpread = 4, kPlaneBytes = 32;
constexpr int64_t kStripRows = 64;  // rows that are read at a time: their lines are still there for the tiles beside
constexpr int64_t kShortest = 16;   // of an axis whose extent is stated
}  // namespace

// One such build: of its axes, `across_` is the last, and moves from row to row of what is read; `along_` moves along these rows. A pixel
// is an element, or where the last axis of both is one of channels, all of these.
class BodyEmitter::Transposition {
 public:
  Transposition(BodyEmitter& emitter, const Nest& nest)
      : o_(emitter), nest_(nest), b_(emitter.b_), block_(emitter.body_[nest.op.blocks[0]]), load_(emitter.body_[block_.result]) {}
  bool Finds() { return MovesOnly() && (FindSpread() || FindPlanes() || (FindPixel() && ((!is_turned_ && FindAxes()) || FindMirror()))); }
  void Emit() {
    at_.assign(block_.params.size(), b_.getInt64(0));
    EmitOuter(0);
  }

 private:
  using Place = std::pair<Value*, Value*>;  // of a pixel: indices of across_ and along_

  bool MovesOnly() const, FindSpread(), FindPlanes(), FindPixel(), FindAxes(), FindMirror();
  std::optional<int64_t> OnlyStep(size_t param, size_t axis) const;
  size_t SourceRank() const { return load_.args.size() - 1; }
  void EmitOuter(size_t axis), EmitStrips(), EmitTile(Place first), EmitPixel(Place place), EmitMirrored(), EmitSpread(), EmitPlanes();
  void EmitMirroredVectors(Place first, uint64_t vectors);
  void ComputeIndices(Place place);
  Value *From(Place place), *To(Place place);  // addresses
  Value *Widened(Value* pixels), *Narrowed(Value* pixels);
  llvm::Type* Element() const { return o_.context_.Memory(o_.context_.type(nest_.op.type).dtype); }
  llvm::Align Alignment() const { return llvm::Align(ir::SizeOf(o_.context_.type(nest_.op.type).dtype)); }
  llvm::FixedVectorType* Bytes(uint64_t count) const { return llvm::FixedVectorType::get(b_.getInt8Ty(), static_cast<unsigned>(count)); }
  uint64_t Side() const { return kMovedBytes / unit_; }  // of a tile

  BodyEmitter& o_;
  const Nest& nest_;
  llvm::IRBuilder<>& b_;
  const ir::Block& block_;
  const ir::Op& load_;
  size_t across_ = 0, along_ = 0, row_axis_ = 0;  // row_axis_: of what is read; across_ is along_: rows are mirrored
  int64_t across_step_ = 0, along_step_ = 0;      // -1: backwards
  uint64_t channels_ = 1, pixel_ = 0, unit_ = 0;  // bytes; unit_: of a pixel in a vector
  bool is_turned_ = false;                        // the channels of a pixel are written from the last to the first
  bool is_spread_ = false;                        // each element is read for all channels
  bool has_planes_ = false;                       // along_ is the axis of channels, of which each has a plane
  llvm::SmallVector<Value*, 8> at_;
};

bool BodyEmitter::Transposition::MovesOnly() const {
  if (load_.kind != ir::OpKind::kLoad || std::find(block_.ops.begin(), block_.ops.end(), block_.result) == block_.ops.end()) return false;
  for (const ir::ValueId id : block_.ops) {
    if (id == load_.args[0]) return false;
    const ir::OpKind kind = o_.body_[id].kind;
    const bool is_sum = kind == ir::OpKind::kAdd || kind == ir::OpKind::kSub || kind == ir::OpKind::kMul;
    const bool is_number = kind == ir::OpKind::kScalar || kind == ir::OpKind::kExtent || kind == ir::OpKind::kDim;
    if (id != block_.result && !is_sum && !is_number) return false;
  }
  return std::all_of(load_.args.begin() + 1, load_.args.end(), [&](ir::ValueId index) { return o_.IsLoopIndex(index); });
}

// By how much an index grows with a parameter that no other index depends on.
std::optional<int64_t> BodyEmitter::Transposition::OnlyStep(size_t param, size_t axis) const {
  const std::vector<std::optional<int64_t>> steps = LaneBlock::StepsOf(o_.body_, block_, block_.params[param]);
  for (size_t other = 0; other < SourceRank(); ++other) {
    if (other != axis && steps[static_cast<size_t>(load_.args[1 + other])] != 0) return std::nullopt;
  }
  return steps[static_cast<size_t>(load_.args[1 + axis])];
}

// Do the bytes of a row stand for all channels of a pixel each?
bool BodyEmitter::Transposition::FindSpread() {
  const size_t rank = nest_.extents.size();
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(nest_.extents.back());
  if (ir::SizeOf(o_.context_.type(nest_.op.type).dtype) != 1 || count == nullptr || nest_.target.strides[rank - 2] != count) return false;
  const uint64_t channels = count->getZExtValue();
  const std::vector<std::optional<int64_t>> by_channel = LaneBlock::StepsOf(o_.body_, block_, block_.params.back());
  const auto is_same = [&](ir::ValueId index) { return by_channel[static_cast<size_t>(index)] == 0; };
  if (channels < 2 || channels > kMostSpread || !std::all_of(load_.args.begin() + 1, load_.args.end(), is_same)) return false;
  if (OnlyStep(rank - 2, SourceRank() - 1) != 1) return false;
  channels_ = channels;
  across_ = along_ = rank - 2;
  return is_spread_ = true;
}

// Do whole pixels, side by side in what is read, go to a plane for each channel? Then they are read once for all of these.
bool BodyEmitter::Transposition::FindPlanes() {
  const size_t rank = nest_.extents.size();
  if (rank < 2 || SourceRank() < 2 || OnlyStep(rank - 1, SourceRank() - 2) != 1) return false;
  size_t channel = 0;
  while (channel + 1 < rank && OnlyStep(channel, SourceRank() - 1) != 1) ++channel;
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(nest_.extents[channel]);
  if (channel + 1 == rank || count == nullptr || count->getZExtValue() < 2 || count->getZExtValue() > kMostSpread) return false;
  const Leaves& source = o_.Get(load_.args[0]);
  if (source[SourceRank()] != count || source[2 * SourceRank() - 1] != count) return false;  // constants are unique
  channels_ = count->getZExtValue();
  across_ = rank - 1;
  along_ = channel;
  return has_planes_ = true;
}

bool BodyEmitter::Transposition::FindPixel() {
  const uint64_t element = ir::SizeOf(o_.context_.type(nest_.op.type).dtype);
  const size_t rank = nest_.extents.size();
  const auto is = [](Value* value, uint64_t wanted) {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(value);
    return known != nullptr && known->getZExtValue() == wanted;
  };
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(nest_.extents.back());
  const uint64_t most = kMostPixelBytes / element;
  if (rank > 2 && SourceRank() > 2 && count != nullptr && count->getZExtValue() >= 2 && count->getZExtValue() <= most) {
    const Leaves& source = o_.Get(load_.args[0]);
    channels_ = count->getZExtValue();
    const bool is_whole =
        is(source[SourceRank()], channels_) && is(source[2 * SourceRank() - 1], channels_) && is(nest_.target.strides[rank - 2], channels_);
    const std::optional<int64_t> step = OnlyStep(rank - 1, SourceRank() - 1);
    is_turned_ = step == -1;
    if (!is_whole || (!is_turned_ && (load_.args.back() != block_.params.back() || step != 1))) return false;
  }
  pixel_ = channels_ * element;
  unit_ = pixel_ == 3 ? 4 : pixel_;
  return llvm::isPowerOf2_64(unit_);
}

bool BodyEmitter::Transposition::FindAxes() {
  const size_t inner = channels_ > 1 ? 1 : 0, rank = nest_.extents.size();
  if (rank < 2 + inner || SourceRank() < 2 + inner) return false;
  across_ = rank - 1 - inner;
  const size_t column_axis = SourceRank() - 1 - inner;
  const auto finds = [&](size_t param, size_t axis, int64_t* step) {
    *step = OnlyStep(param, axis).value_or(0);
    return *step == 1 || *step == -1;
  };
  while (row_axis_ < column_axis && !finds(across_, row_axis_, &across_step_)) ++row_axis_;
  while (along_ < across_ && !finds(along_, column_axis, &along_step_)) ++along_;
  if (row_axis_ == column_axis || along_ == across_) return false;
  const auto is_short = [&](size_t axis) {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(nest_.extents[axis]);
    return known != nullptr && known->getSExtValue() < kShortest;
  };
  return !is_short(across_) && !is_short(along_);
}

// Do pixels of several channels move along their row, backwards, or stay there with their channels turned round? Vectors of single elements
// LLVM turns round itself.
bool BodyEmitter::Transposition::FindMirror() {
  if (channels_ == 1) return false;
  across_ = along_ = nest_.extents.size() - 2;
  across_step_ = OnlyStep(across_, SourceRank() - 2).value_or(0);
  return across_step_ == -1 || (is_turned_ && across_step_ == 1);
}

void BodyEmitter::Transposition::EmitOuter(size_t axis) {
  if (axis == across_) return has_planes_ ? EmitPlanes() : is_spread_ ? EmitSpread() : across_ == along_ ? EmitMirrored() : EmitStrips();
  if (axis == along_) return EmitOuter(axis + 1);
  Value* count = nest_.extents[axis];
  for (Value* other : nest_.extents) {  // of nothing there may be very many rows
    Value* zero = b_.getInt64(0);
    count = b_.CreateSelect(b_.CreateICmpEQ(other, zero), zero, count);
  }
  o_.For(count, kUnknownWork, [&](Value* index) {
    at_[axis] = index;
    EmitOuter(axis + 1);
  });
}

// Tiles, and what is left of rows and of columns pixel by pixel.
void BodyEmitter::Transposition::EmitStrips() {
  Value *width = nest_.extents[across_], *height = nest_.extents[along_], *side = b_.getInt64(Side()), *strip = b_.getInt64(kStripRows);
  width = b_.CreateSelect(b_.CreateICmpEQ(height, b_.getInt64(0)), b_.getInt64(0), width);
  const auto plus = [&](Value* a, Value* c) { return b_.CreateAdd(a, c, "", true, true); };
  const auto times = [&](Value* a, Value* c) { return b_.CreateMul(a, c, "", true, true); };
  o_.For(b_.CreateUDiv(plus(width, b_.getInt64(kStripRows - 1)), strip), kUnknownWork, [&](Value* number) {
    Value* left = times(number, strip);
    Value* size = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(width, left, "", true, true), strip);
    Value* tiles = b_.CreateUDiv(size, side);
    const auto pixels = [&](Value* from, Value* y) {
      o_.For(b_.CreateSub(size, from, "", true, true), 0, [&](Value* x) { EmitPixel({plus(plus(left, from), x), y}); });
    };
    o_.For(b_.CreateUDiv(height, side), Side() * kStripRows, [&](Value* row) {
      Value* top = times(row, side);
      o_.For(tiles, 0, [&](Value* tile) { EmitTile({plus(left, times(tile, side)), top}); });
      o_.For(side, 0, [&](Value* y) { pixels(times(tiles, side), plus(top, y)); });
    });
    Value* rest = b_.CreateURem(height, side);
    o_.For(rest, 0, [&](Value* y) { pixels(b_.getInt64(0), plus(b_.CreateSub(height, rest, "", true, true), y)); });
  });
}

void BodyEmitter::Transposition::ComputeIndices(Place place) {
  at_[across_] = place.first;
  at_[along_] = place.second;
  for (size_t i = 0; i < at_.size(); ++i) o_.values_[static_cast<size_t>(block_.params[i])] = {at_[i]};
  if (is_turned_) o_.values_[static_cast<size_t>(block_.params.back())] = {b_.getInt64(channels_ - 1)};  // the first that is read
  for (const ir::ValueId id : block_.ops) {
    if (id != block_.result) o_.EmitOp(id);
  }
}

Value* BodyEmitter::Transposition::From(Place place) {
  ComputeIndices(place);
  llvm::SmallVector<Value*, 8> indices;
  for (size_t axis = 0; axis < SourceRank(); ++axis) indices.push_back(o_.Scalar(load_.args[1 + axis]));
  const Leaves& source = o_.Get(load_.args[0]);
  return b_.CreateInBoundsGEP(Element(), source[0], o_.ElementOffset(source, indices));
}

Value* BodyEmitter::Transposition::To(Place place) {
  at_[across_] = place.first;
  at_[along_] = place.second;
  Value* offset = b_.getInt64(0);
  for (size_t axis = 0; axis < at_.size(); ++axis) {
    Value* step = axis + 1 < at_.size() ? b_.CreateMul(at_[axis], nest_.target.strides[axis], "", true, true) : at_[axis];
    offset = b_.CreateAdd(offset, step, "", true, true);
  }
  return b_.CreateInBoundsGEP(Element(), nest_.target.data, offset);
}

void BodyEmitter::Transposition::EmitPixel(Place place) {
  llvm::Type* type = llvm::FixedVectorType::get(Element(), static_cast<unsigned>(channels_));
  llvm::LoadInst* pixel = b_.CreateAlignedLoad(type, From(place), Alignment());
  o_.TagLoad(pixel);
  Value* moved = is_turned_ ? b_.CreateVectorReverse(pixel) : pixel;
  o_.TagStore(b_.CreateAlignedStore(moved, To(place), Alignment()));
}

Value* BodyEmitter::Transposition::Widened(Value* pixels) {
  if (pixel_ != unit_) {
    llvm::SmallVector<int, kMovedBytes> from;
    for (uint64_t i = 0; i < kMovedBytes; ++i) from.push_back(i % unit_ < pixel_ ? static_cast<int>(i / unit_ * pixel_ + i % unit_) : -1);
    pixels = b_.CreateShuffleVector(pixels, from);
  }
  return b_.CreateBitCast(pixels,
                          llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(8 * unit_)), static_cast<unsigned>(Side())));
}

Value* BodyEmitter::Transposition::Narrowed(Value* pixels) {
  pixels = b_.CreateBitCast(pixels, Bytes(kMovedBytes));
  if (pixel_ == unit_) return pixels;
  llvm::SmallVector<int, kMovedBytes> from;
  for (uint64_t i = 0; i < Side() * pixel_; ++i) from.push_back(static_cast<int>(i / pixel_ * unit_ + i % pixel_));
  return b_.CreateShuffleVector(pixels, from);
}

// Each round puts pixels of a row and of the one half a tile below in turn; after as many as double a pixel to a row, rows are columns.
void BodyEmitter::Transposition::EmitTile(Place first) {
  const uint64_t side = Side();
  Value* last_along = b_.CreateAdd(first.second, b_.getInt64(side - 1), "", true, true);
  const Place start{first.first, along_step_ > 0 ? first.second : last_along};  // so that rows are read forwards
  Value* from = From(start);
  Value* step = o_.Get(load_.args[0])[1 + SourceRank() + row_axis_];
  if (across_step_ < 0) step = b_.CreateNeg(step);
  std::vector<Value*> rows;
  for (uint64_t i = 0; i < side; ++i) {
    Value* address = b_.CreateInBoundsGEP(Element(), from, b_.CreateMul(step, b_.getInt64(i)));
    llvm::LoadInst* row = b_.CreateAlignedLoad(Bytes(side * pixel_), address, Alignment());
    o_.TagLoad(row);
    rows.push_back(Widened(row));
  }
  const auto interleaved = [&](Value* a, Value* c, uint64_t from_pixel) {
    llvm::SmallVector<int, kMovedBytes> order;
    for (uint64_t i = 0; i < side; ++i) order.push_back(static_cast<int>(from_pixel + i / 2 + i % 2 * side));
    return b_.CreateShuffleVector(a, c, order);
  };
  for (uint64_t round = 1; round < side; round *= 2) {
    std::vector<Value*> next;
    for (uint64_t i = 0; i < side / 2; ++i) {
      for (const uint64_t half : {uint64_t{0}, side / 2}) next.push_back(interleaved(rows[i], rows[i + side / 2], half));
    }
    rows = std::move(next);
  }
  for (uint64_t i = 0; i < side; ++i) {
    Value* y = b_.CreateAdd(first.second, b_.getInt64(along_step_ > 0 ? i : side - 1 - i), "", true, true);
    o_.TagStore(b_.CreateAlignedStore(Narrowed(rows[i]), To({first.first, y}), Alignment()));
  }
}

// Of `vectors` that hold whole pixels, and perhaps bytes of one more, those to write: byte by byte the one that comes there.
void BodyEmitter::Transposition::EmitMirroredVectors(Place first, uint64_t vectors) {
  const uint64_t bytes = vectors * kMovedBytes, side = bytes / pixel_, element = Alignment().value();
  const bool is_mirrored = across_step_ < 0;
  Value* read = is_mirrored ? b_.CreateAdd(first.first, b_.getInt64(side - 1), "", true, true) : first.first;
  const uint64_t before = is_mirrored ? bytes % pixel_ : 0;
  Value* from = b_.CreateInBoundsGEP(b_.getInt8Ty(), From({read, read}), b_.getInt64(-before));
  std::vector<Value*> in, out;
  for (uint64_t i = 0; i < vectors; ++i) {
    Value* address = b_.CreateInBoundsGEP(b_.getInt8Ty(), from, b_.getInt64(i * kMovedBytes));
    llvm::LoadInst* vector = b_.CreateAlignedLoad(Bytes(kMovedBytes), address, llvm::Align(1));
    o_.TagLoad(vector);
    in.push_back(vector);
  }
  for (uint64_t i = 0; i < vectors; ++i) {
    Value* made = nullptr;
    for (uint64_t k = 0; k < vectors; ++k) {
      llvm::SmallVector<int, kMovedBytes> order;  // the bytes that come from vector k, those that there are, or none in particular
      bool has_any = false;
      for (uint64_t byte = 0; byte < kMovedBytes; ++byte) {
        const uint64_t to = i * kMovedBytes + byte, pixel = to / pixel_, channel = to % pixel_ / element;
        const uint64_t source = (is_mirrored ? side - 1 - pixel : pixel) * channels_ + (is_turned_ ? channels_ - 1 - channel : channel);
        const uint64_t at = before + source * element + to % element;
        const bool is_here = pixel < side && at / kMovedBytes == k;
        has_any |= is_here;
        const int there = made == nullptr ? -1 : static_cast<int>(byte);
        order.push_back(is_here ? static_cast<int>((made == nullptr ? 0 : kMovedBytes) + at % kMovedBytes) : there);
      }
      if (has_any) made = made == nullptr ? b_.CreateShuffleVector(in[k], order) : b_.CreateShuffleVector(made, in[k], order);
    }
    out.push_back(made);
  }
  Value* to = To(first);
  for (uint64_t i = 0; i < vectors; ++i) {
    Value* address = b_.CreateInBoundsGEP(b_.getInt8Ty(), to, b_.getInt64(i * kMovedBytes));
    o_.TagStore(b_.CreateAlignedStore(out[i], address, llvm::Align(1)));
  }
}

// Pixels of three bytes fill three vectors. The rest goes by one: the bytes in it beyond whole pixels are read, and written where the next
// turn writes over them, so that the last pixels of a row, one at least, are for themselves. Not all by one: what is loaded would lie where
// something was stored just before but for a multiple of 4 KiB, which CPUs take for the same.
void BodyEmitter::Transposition::EmitMirrored() {
  Value *count = nest_.extents[across_], *done = b_.getInt64(0);
  const auto turns_of = [&](uint64_t vectors, Value* left) {
    const uint64_t side = vectors * kMovedBytes / pixel_;
    Value *turns = b_.CreateUDiv(left, b_.getInt64(side)), *start = done;
    o_.For(turns, o_.WorkToLookAt(nest_.op.args[across_], side), [&](Value* turn) {
      Value* first = b_.CreateAdd(start, b_.CreateMul(turn, b_.getInt64(side), "", true, true), "", true, true);
      EmitMirroredVectors({first, first}, vectors);
    });
    done = b_.CreateAdd(start, b_.CreateMul(turns, b_.getInt64(side), "", true, true), "", true, true);
  };
  if (kMovedBytes % pixel_ != 0) turns_of(pixel_, count);
  Value* left = b_.CreateSub(count, done, "", true, true);
  turns_of(1, kMovedBytes % pixel_ == 0 ? left : b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, left, b_.getInt64(1)));
  Value* start = done;
  o_.For(b_.CreateSub(count, start, "", true, true), 0, [&](Value* pixel) {
    Value* x = b_.CreateAdd(start, pixel, "", true, true);
    EmitPixel({x, x});
  });
}

// Vector by vector of what is written: each is one shuffle of what is read.
void BodyEmitter::Transposition::EmitSpread() {
  const auto spread = [&](Value* x, uint64_t bytes) {
    llvm::LoadInst* levels = b_.CreateAlignedLoad(Bytes(bytes), From({x, x}), llvm::Align(1));
    o_.TagLoad(levels);
    Value* to = To({x, x});
    for (uint64_t first = 0; first < bytes * channels_; first += kMovedBytes) {
      llvm::SmallVector<int, kMovedBytes> from;
      for (uint64_t i = first; i < std::min(first + kMovedBytes, bytes * channels_); ++i) from.push_back(static_cast<int>(i / channels_));
      Value* there = b_.CreateInBoundsGEP(b_.getInt8Ty(), to, b_.getInt64(first));
      o_.TagStore(b_.CreateAlignedStore(b_.CreateShuffleVector(levels, from), there, llvm::Align(1)));
    }
  };
  Value *count = nest_.extents[across_], *side = b_.getInt64(kMovedBytes);
  Value *turns = b_.CreateUDiv(count, side), *done = b_.CreateMul(turns, side, "", true, true);
  o_.For(turns, o_.WorkToLookAt(nest_.op.args[across_], kMovedBytes),
         [&](Value* turn) { spread(b_.CreateMul(turn, side, "", true, true), kMovedBytes); });
  o_.For(b_.CreateSub(count, done, "", true, true), 0, [&](Value* rest) { spread(b_.CreateAdd(done, rest, "", true, true), 1); });
}

// LLVM knows how to take vectors of every 2nd to 4th element out of one that holds all of them.
void BodyEmitter::Transposition::EmitPlanes() {
  const uint64_t lanes = kPlaneBytes / Alignment().value();
  const auto move = [&](Value* x, uint64_t pixels) {
    auto* type = llvm::FixedVectorType::get(Element(), static_cast<unsigned>(pixels * channels_));
    llvm::LoadInst* all = b_.CreateAlignedLoad(type, From({x, b_.getInt64(0)}), Alignment());
    o_.TagLoad(all);
    for (uint64_t channel = 0; channel < channels_; ++channel) {
      const auto mask =
          llvm::createStrideMask(static_cast<unsigned>(channel), static_cast<unsigned>(channels_), static_cast<unsigned>(pixels));
      Value* plane = b_.CreateShuffleVector(all, mask);
      o_.TagStore(b_.CreateAlignedStore(plane, To({x, b_.getInt64(channel)}), Alignment()));
    }
  };
  Value *count = nest_.extents[across_], *side = b_.getInt64(lanes);
  Value *turns = b_.CreateUDiv(count, side), *done = b_.CreateMul(turns, side, "", true, true);
  o_.For(turns, o_.WorkToLookAt(nest_.op.args[across_], lanes * channels_),
         [&](Value* turn) { move(b_.CreateMul(turn, side, "", true, true), lanes); });
  o_.For(b_.CreateSub(count, done, "", true, true), 0, [&](Value* rest) { move(b_.CreateAdd(done, rest, "", true, true), 1); });
}

bool BodyEmitter::EmitTransposed(const Nest& nest) {
  if (!has_lanes_ || piece_ != nullptr || nest.apart != ir::ValueId::kNone || nest.extents.size() < 2) return false;
  Transposition transposition(*this, nest);
  if (!transposition.Finds()) return false;
  transposition.Emit();
  return true;
}

}  // namespace wf::lower
