// Panels of what the rows of tiles share: `b[k, j]` of `a[i, k] * b[k, j]`, tile by tile of columns, of each one lane of the sums after the
// other. So read, vectors lie side by side; where they stand, some columns of many rows, they are in each other's way in the cache.

#include <algorithm>
#include <bit>

#include "compiler/ir/scalar.h"
#include "compiler/lower/tiles.h"

namespace wf::lower {

using ir::OpKind;
using ir::ValueId;
using llvm::Value;

namespace {
constexpr uint64_t kRowsToPack = 16;  // fewer read a panel too seldom
}  // namespace

// An index of a load that is there before any operation of the build is written.
bool BodyEmitter::Tiles::IsPlace(ValueId id, const ir::Block& term) const {
  const auto is_in = [&](const std::vector<ValueId>& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  return !is_in(block_.ops) && !is_in(term.ops);
}

// The only load of the terms that all rows share and that is another for each column.
void BodyEmitter::Tiles::ChoosePacked(const std::vector<unsigned>& needs) {
  const ir::Op& sum = o_.body_[sum_];
  const ir::Block& term = o_.body_[sum.blocks[0]];
  for (const ValueId id : term.ops) {
    const ir::Op& op = o_.body_[id];
    if (op.kind != OpKind::kLoad || needs[static_cast<size_t>(id)] != (kColumn | kTerm)) continue;
    const bool is_plain = std::all_of(op.args.begin(), op.args.end(), [&](ValueId arg) { return IsPlace(arg, term); });
    if (packed_ != ValueId::kNone || !is_plain || o_.context_.type(op.type).dtype != o_.context_.type(sum.type).dtype) {
      packed_ = ValueId::kNone;
      return;
    }
    packed_ = id;
  }
}

Value* BodyEmitter::Tiles::IsWorthPacking(Value* rows) {
  if (packed_ == ValueId::kNone) return b_.getFalse();
  Value* are_many = b_.CreateICmpUGE(rows, b_.getInt64(kRowsToPack));
  // Each lane of the sums has an element.
  const uint64_t least = ir::ReduceLanes(o_.context_.type(o_.body_[sum_].type).dtype);
  Value* beyond = b_.CreateSub(o_.NotNegative(o_.Scalar(o_.body_[sum_].args[0])), b_.getInt64(least));
  Value* fits = b_.CreateICmpULE(beyond, b_.getInt64(DeepestPanel() - least));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(are_many); known != nullptr) return known->isOne() ? fits : are_many;
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(fits); known != nullptr) return known->isOne() ? are_many : fits;
  return b_.CreateAnd(are_many, fits);
}

Value* BodyEmitter::Tiles::LaneLength() {
  const ir::Op& sum = o_.body_[sum_];
  const uint64_t lanes = ir::ReduceLanes(o_.context_.type(sum.type).dtype);
  Value* count = o_.NotNegative(o_.Scalar(sum.args[0]));
  return b_.CreateUDiv(b_.CreateAdd(count, b_.getInt64(lanes - 1), "", true, true), b_.getInt64(lanes));
}

// In eight bits: one shift of 64 LLVM would join with that of an index, so that no address goes up by a step.
Value* BodyEmitter::Tiles::LaneOf(Value* turn, uint64_t bits) {
  Value* reversed = b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, b_.CreateTrunc(turn, b_.getInt8Ty()));
  return b_.CreateZExt(b_.CreateLShr(reversed, 8 - bits), b_.getInt64Ty(), "lane");
}

// The whole tiles of these columns. What is read goes by rows.
void BodyEmitter::Tiles::Pack(Value* from, Value* to) {
  const ir::Op& sum = o_.body_[sum_];
  const ir::DType dtype = o_.context_.type(sum.type).dtype;
  const uint64_t step = uint64_t{wide_} * lanes_, lanes = ir::ReduceLanes(dtype), size = ir::SizeOf(dtype);
  Value *tiles = b_.CreateUDiv(b_.CreateSub(to, from, "", true, true), b_.getInt64(step)), *length = LaneLength();
  panel_ = o_.Scratch(sum_, o_.Bytes({tiles, length}, lanes * step * size));
  const ir::Block& term = o_.body_[sum.blocks[0]];
  ir::Block load;
  load.ops = {packed_};
  load.result = packed_;
  for (size_t axis = 0; axis < at_.size(); ++axis) o_.values_[static_cast<size_t>(block_.params[axis])] = {at_[axis]};
  o_.For(o_.NotNegative(o_.Scalar(sum.args[0])), kUnknownWork, [&](Value* k) {
    o_.values_[static_cast<size_t>(term.params[0])] = {k};
    Value* turn = LaneOf(b_.CreateAnd(k, b_.getInt64(lanes - 1)), std::countr_zero(lanes));
    Value* slot = b_.CreateAdd(b_.CreateMul(turn, length, "", true, true), b_.CreateUDiv(k, b_.getInt64(lanes)), "", true, true);
    o_.For(tiles, step, [&](Value* tile) {
      Value* address =
          b_.CreateInBoundsGEP(o_.context_.Memory(dtype), TileOfPanel(tile), b_.CreateMul(slot, b_.getInt64(step), "", true, true));
      for (unsigned i = 0; i < wide_; ++i) {
        Value* column = b_.CreateAdd(b_.CreateMul(tile, b_.getInt64(step), "", true, true), b_.getInt64(i * lanes_), "", true, true);
        column = b_.CreateAdd(from, column, "", true, true);
        LaneBlock block(o_, {nest_.op.blocks[0], block_.params.back(), lanes_, false, true}, column, nullptr);
        block.Begin();
        Value* there = b_.CreateInBoundsGEP(o_.context_.Memory(dtype), address, b_.getInt64(i * lanes_));
        b_.CreateAlignedStore(block.EmitTerm(load), there, llvm::Align(size));
      }
    });
  });
}

Value* BodyEmitter::Tiles::TileOfPanel(Value* number) {
  if (panel_ == nullptr) return nullptr;
  const ir::DType dtype = o_.context_.type(o_.body_[sum_].type).dtype;
  Value* length = b_.CreateMul(LaneLength(), b_.getInt64(ir::ReduceLanes(dtype) * wide_ * lanes_), "", true, true);
  return b_.CreateInBoundsGEP(o_.context_.Memory(dtype), panel_, b_.CreateMul(number, length, "", true, true));
}

std::vector<Value*> BodyEmitter::Tiles::PackedVectors(Value* turn, Value* index, unsigned columns) {
  if (packed_tile_ == nullptr) return {};
  const ir::DType dtype = o_.context_.type(o_.body_[sum_].type).dtype;
  llvm::Type* element = o_.context_.Memory(dtype);
  Value* slot = b_.CreateAdd(b_.CreateMul(turn, LaneLength(), "", true, true), index, "", true, true);
  Value* first = b_.CreateMul(slot, b_.getInt64(uint64_t{wide_} * lanes_), "", true, true);
  std::vector<Value*> vectors;
  for (unsigned i = 0; i < columns; ++i) {
    Value* there = b_.CreateAdd(first, b_.getInt64(i * lanes_), "", true, true);
    llvm::LoadInst* vector = b_.CreateAlignedLoad(llvm::FixedVectorType::get(element, lanes_),
                                                  b_.CreateInBoundsGEP(element, packed_tile_, there), llvm::Align(ir::SizeOf(dtype)));
    o_.TagLoad(vector);
    vectors.push_back(vector);
  }
  return vectors;
}

}  // namespace wf::lower
