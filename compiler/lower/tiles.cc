#include "compiler/lower/tiles.h"

#include <algorithm>
#include <bit>

#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"
#include "compiler/lower/arms.h"
#include "compiler/lower/scalar.h"

namespace wf::lower {

using ir::OpKind;
using ir::ValueId;
using llvm::Value;

namespace {
constexpr size_t kMostTermOps = 16;          // of the element that is summed: a tile writes them sixteen times
constexpr size_t kMostOpsAround = 32;        // around the sum
constexpr uint64_t kPanelBytes = 256 << 10;  // a part of the cache of a core, whose second level has 256 KiB to 2 MiB
constexpr unsigned kFewRows = 2;             // of a tile of columns, where there are no more
constexpr uint64_t kPackedLaneBits = 2;      // of a turn that is four lanes: which partial sums they are added to is then known for three

uint64_t Reversed(uint64_t number, uint64_t bits) {
  uint64_t reversed = 0;
  for (uint64_t bit = 0; bit < bits; ++bit) reversed |= (number >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

bool IsPlainKind(OpKind kind) {
  return ir::IsScalarArithmetic(kind) || ir::IsMath(kind) || kind == OpKind::kLoad || kind == OpKind::kScalar || kind == OpKind::kExtent ||
         kind == OpKind::kDim;
}
}  // namespace

bool BodyEmitter::EmitTiles(const Nest& nest, Value* offset, llvm::SmallVector<Value*, 8>& at) {
  if (!has_lanes_ || nest.apart != ValueId::kNone || (nest.extents.size() > 1 && at.size() + 2 != nest.extents.size())) return false;
  Tiles tiles(*this, nest);
  if (!tiles.is_worth_it()) return false;
  const llvm::SmallVector<Value*, 8> outer(at);
  EmitEither(tiles.HasRoom(), [&] { tiles.Emit(offset, outer); }, [&] { EmitAxis(nest, offset, at); });
  return true;
}

BodyEmitter::Tiles::Tiles(BodyEmitter& outer, const Nest& nest)
    : o_(outer), nest_(nest), b_(outer.b_), block_(outer.body_[nest.op.blocks[0]]), has_rows_(nest.extents.size() > 1) {
  sum_ = FindSum();
  if (sum_ != ValueId::kNone) Choose();
}

// The one sum of the block, if all around it can be written for several elements in turn; kNone otherwise.
ValueId BodyEmitter::Tiles::FindSum() const {
  ValueId sum = ValueId::kNone;
  for (const ValueId id : block_.ops) {
    if (o_.body_[id].kind == OpKind::kReduce) sum = id;
  }
  if (sum == ValueId::kNone || block_.ops.size() > kMostOpsAround || !IsPlain(block_, sum)) return ValueId::kNone;
  const ir::Op& op = o_.body_[sum];
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  if (!ir::IsFloat(o_.context_.type(op.type).dtype) || (kind != ir::ReduceKind::kSum && kind != ir::ReduceKind::kProd))
    return ValueId::kNone;
  const ir::Block& term = o_.body_[op.blocks[0]];
  if (term.ops.size() > kMostTermOps || !IsPlain(term, ValueId::kNone)) return ValueId::kNone;
  if (std::find(block_.ops.begin(), block_.ops.end(), op.args[0]) != block_.ops.end()) return ValueId::kNone;
  const ir::Op& count = o_.body_[op.args[0]];
  const bool is_short = count.kind == OpKind::kScalar && count.imm <= ir::ReduceLanes(o_.context_.type(op.type).dtype);
  return is_short ? ValueId::kNone : sum;
}

bool BodyEmitter::Tiles::IsPlain(const ir::Block& block, ValueId but) const {
  const Arms arms(o_.body_, block);
  return std::all_of(block.ops.begin(), block.ops.end(), [&](ValueId id) {
    return id == but ||
           (IsPlainKind(o_.body_[id].kind) && !arms.Has(id) && o_.context_.type(o_.body_[id].type).kind == ir::TypeKind::kScalar);
  });
}

// The form, and how large a tile is: up to 8 accumulators keep the adders busy. Of columns there are 16 in long vectors, since four rows
// read a column half as often from the second cache, which is where it lies in sums of more than some hundred.
void BodyEmitter::Tiles::Choose() {
  const ir::Op& sum = o_.body_[sum_];
  const ir::Block& term = o_.body_[sum.blocks[0]];
  const ValueId column = block_.params.back();
  const LaneBlock::Row columns = LaneBlock::Inspect(o_.context_, o_.body_, {nest_.op.blocks[0], column, 16, false, true});
  const LaneBlock::Row along = LaneBlock::Inspect(o_.context_, o_.body_, {sum.blocks[0], term.params[0], 16});
  has_columns_ = columns.is_worth_it && columns.scattered.empty();
  const bool has_lanes = has_columns_ || (along.is_worth_it && along.scattered.empty());
  // What the loads of the sum hang on.
  std::vector<unsigned> needs(o_.body_.ops.size(), kFromOutside);
  if (has_rows_) needs[static_cast<size_t>(block_.params[block_.params.size() - 2])] = kRow;
  needs[static_cast<size_t>(column)] = kColumn;
  needs[static_cast<size_t>(term.params[0])] = kTerm;
  bool rows_share = false, columns_share = has_columns_;
  const auto look = [&](ValueId id, bool is_term) {
    unsigned& own = needs[static_cast<size_t>(id)];
    for (const ValueId arg : o_.body_[id].args) own |= needs[static_cast<size_t>(arg)];
    if (!is_term || o_.body_[id].kind != OpKind::kLoad || (own & (has_columns_ ? kColumn : kTerm)) == 0) return;
    rows_share |= has_rows_ && (own & kRow) == 0;
    columns_share |= (own & kColumn) == 0;
  };
  for (const ValueId id : block_.ops) {
    if (id == sum_) break;
    look(id, false);
  }
  for (const ValueId id : term.ops) look(id, true);
  if (!has_lanes || (!rows_share && !columns_share)) {
    sum_ = ValueId::kNone;
    return;
  }
  const bool is_wide = o_.masks_bytes_;
  const unsigned one = is_wide ? 8 : 4;
  rows_ = rows_share ? (columns_share ? 2 : one) : 1;
  wide_ = columns_share ? (rows_share ? one / 2 : one) : 1;
  if (!has_columns_) return;
  lanes_ = columns.widest == 8 || !is_wide ? 8 : 16;
  wide_ = is_wide || !rows_share ? 4 : 2;
  rows_ = rows_share ? 4 : 1;
  if (rows_share) ChoosePacked(needs);
}

Value* BodyEmitter::Tiles::HasRoom() const {
  if (!has_columns_) return b_.getTrue();
  Value* columns = b_.CreateICmpUGE(nest_.extents.back(), b_.getInt64(lanes_));
  if (rows_ == 1) return columns;
  Value* rows = b_.CreateICmpUGE(nest_.extents[nest_.extents.size() - 2], b_.getInt64(kFewRows));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(columns); known != nullptr) return known->isOne() ? rows : columns;
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(rows); known != nullptr) return known->isOne() ? columns : rows;
  return b_.CreateAnd(rows, columns);
}

uint64_t BodyEmitter::Tiles::DeepestPanel() const {
  return kPanelBytes / (uint64_t{wide_} * lanes_ * ir::SizeOf(o_.context_.type(o_.body_[sum_].type).dtype));
}

// As many columns, in whole tiles, as the panel may have.
Value* BodyEmitter::Tiles::PanelWidth() const {
  const ir::Op& sum = o_.body_[sum_];
  const uint64_t step = uint64_t{wide_} * lanes_, most = DeepestPanel();
  Value* longest = o_.NotNegative(o_.Scalar(sum.args[0]));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(longest); known != nullptr)
    return b_.getInt64(std::max<uint64_t>(most / std::max<uint64_t>(known->getZExtValue(), 1), 1) * step);
  Value* tiles = b_.CreateUDiv(b_.getInt64(most), b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, longest, b_.getInt64(1)));
  return b_.CreateMul(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, tiles, b_.getInt64(1)), b_.getInt64(step), "panel", true, true);
}

// A loop, unless it is known that there is nothing to do: rests of known extents are often none, and a tile is much code.
void BodyEmitter::Tiles::For(Value* count, uint64_t work, const std::function<void(Value*)>& each) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (known == nullptr || !known->isZero()) o_.For(count, work, each);
}

void BodyEmitter::Tiles::Emit(Value* offset, llvm::ArrayRef<Value*> at) {
  offset_ = offset;
  at_ = at;
  Value *zero = b_.getInt64(0), *columns = nest_.extents.back();
  if (!has_rows_) return EmitStrip(zero, 1, zero, columns);
  Value *rows = nest_.extents[nest_.extents.size() - 2], *width = PanelWidth();
  const auto *known = llvm::dyn_cast<llvm::ConstantInt>(columns), *most = llvm::dyn_cast<llvm::ConstantInt>(width);
  // Of nothing there may be very many.
  if (known == nullptr || known->isZero()) rows = b_.CreateSelect(b_.CreateICmpEQ(columns, zero), zero, rows);
  if (rows_ == 1 || (known != nullptr && most != nullptr && known->getZExtValue() <= most->getZExtValue()))
    return EmitPanel(rows, zero, columns);
  columns = b_.CreateSelect(b_.CreateICmpEQ(rows, zero), zero, columns);
  Value* panels = b_.CreateUDiv(b_.CreateAdd(columns, b_.CreateSub(width, b_.getInt64(1))), width);
  o_.For(panels, kUnknownWork, [&](Value* index) {
    Value* from = b_.CreateMul(index, width, "from", true, true);
    EmitPanel(rows, from, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(from, width, "", true, true), columns));
  });
}

// All rows of the columns from `from` to before `to`. Where there is room, the last rows may begin before their place, as vectors may.
void BodyEmitter::Tiles::EmitPanel(Value* rows, Value* from, Value* to) {
  Value* most = b_.getInt64(rows_);
  const auto first = [&](Value* index) { return b_.CreateMul(index, most, "row", true, true); };
  if (has_columns_ && rows_ == 1) return For(rows, kUnknownWork, [&](Value* row) { EmitStrip(row, 1, from, to); });
  if (has_columns_) {
    const auto tiles_of = [&](unsigned count) {
      Value* tiles = b_.CreateUDiv(b_.CreateAdd(rows, b_.getInt64(count - 1), "", true, true), b_.getInt64(count));
      Value* last = b_.CreateSub(rows, b_.getInt64(count));
      For(tiles, kUnknownWork, [&](Value* index) {
        Value* row = b_.CreateMul(index, b_.getInt64(count), "row", true, true);
        EmitStrip(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, last), count, from, to);
      });
    };
    const auto packed = [&] {
      Pack(from, to);
      tiles_of(rows_);
      panel_ = nullptr;
    };
    const auto many = [&] { o_.EmitEither(IsWorthPacking(rows), packed, [&] { tiles_of(rows_); }); };
    return o_.EmitEither(b_.CreateICmpUGE(rows, most), many, [&] { tiles_of(kFewRows); });
  }
  Value *tiles = b_.CreateUDiv(rows, most), *done = b_.CreateMul(tiles, most, "", true, true);
  For(tiles, kUnknownWork, [&](Value* index) { EmitStrip(first(index), rows_, from, to); });
  if (rows_ == 1) return;
  For(b_.CreateSub(rows, done, "", true, true), kUnknownWork,
      [&](Value* index) { EmitStrip(b_.CreateAdd(done, index, "row", true, true), 1, from, to); });
}

// Some rows of the columns from `from` to before `to`. The last vector may begin before its place: what it writes again is the same.
void BodyEmitter::Tiles::EmitStrip(Value* row, unsigned rows, Value* from, Value* to) {
  const uint64_t step = uint64_t{wide_} * lanes_;
  const uint64_t work = rows * o_.WorkOf(nest_.op.blocks[0]);  // of one vector or column
  Value* tiles = b_.CreateUDiv(b_.CreateSub(to, from, "", true, true), b_.getInt64(step));
  For(tiles, wide_ * work, [&](Value* index) {
    packed_tile_ = TileOfPanel(index);
    EmitTile({row, b_.CreateAdd(from, b_.CreateMul(index, b_.getInt64(step), "", true, true), "column", true, true)}, rows, wide_);
  });
  packed_tile_ = nullptr;
  Value* next = b_.CreateAdd(from, b_.CreateMul(tiles, b_.getInt64(step), "", true, true), "", true, true);
  Value* left = b_.CreateSub(to, next, "left", true, true);
  Value* vectors = b_.CreateUDiv(b_.CreateAdd(left, b_.getInt64(lanes_ - 1), "", true, true), b_.getInt64(lanes_));
  For(vectors, work, [&](Value* index) {
    Value* column = b_.CreateAdd(next, b_.CreateMul(index, b_.getInt64(lanes_), "", true, true), "column", true, true);
    if (lanes_ > 1) {
      Value* last = b_.CreateSub(nest_.extents.back(), b_.getInt64(lanes_), "", true, true);
      column = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, column, last);
    }
    EmitTile({row, column}, rows, 1);
  });
}

void BodyEmitter::Tiles::EmitTile(Corner corner, unsigned rows, unsigned columns) {
  std::vector<Sum> sums(size_t{rows} * columns);
  const ir::Op& op = nest_.op;
  for (size_t i = 0; i < sums.size(); ++i) {
    Sum& sum = sums[i];
    sum.offset = offset_;
    for (size_t axis = 0; axis < at_.size(); ++axis) sum.values.emplace_back(block_.params[axis], Leaves{at_[axis]});
    if (has_rows_) {
      Value* row = b_.CreateAdd(corner.row, b_.getInt64(i / columns), "", true, true);
      sum.values.emplace_back(block_.params[block_.params.size() - 2], Leaves{row});
      sum.offset = b_.CreateAdd(sum.offset, b_.CreateMul(row, nest_.target.strides[nest_.target.strides.size() - 1], "", true, true), "",
                                true, true);
    }
    Value* column = b_.CreateAdd(corner.column, b_.getInt64(i % columns * lanes_), "", true, true);
    sum.offset = b_.CreateAdd(sum.offset, column, "", true, true);
    if (has_columns_) {
      sum.lanes.emplace(o_, LaneBlock::Shape{op.blocks[0], block_.params.back(), lanes_, false, true}, column, nullptr);
      sum.lanes->Begin();
    } else {
      sum.values.emplace_back(block_.params.back(), Leaves{column});
    }
  }
  for (const ValueId id : block_.ops) {
    if (id == sum_) {
      has_columns_ ? EmitSumsOfColumns(sums, columns) : EmitSums(sums);
      continue;
    }
    for (Sum& sum : sums) EmitOf(sum, id);
  }
  for (Sum& sum : sums) {
    Enter(sum);
    if (has_columns_) {
      o_.StoreLanes(nest_, sum.lanes->Result(), sum.offset, nullptr);
    } else {
      o_.StoreElement(nest_, o_.Scalar(block_.result), sum.offset);
    }
  }
}

void BodyEmitter::Tiles::Enter(const Sum& sum) {
  for (const auto& [id, leaves] : sum.values) o_.values_[static_cast<size_t>(id)] = leaves;
}

void BodyEmitter::Tiles::EmitOf(Sum& sum, ValueId id) {
  Enter(sum);
  if (has_columns_) {
    sum.lanes->EmitOne(id);
  } else {
    o_.EmitOp(id);
  }
  if (const Leaves& made = o_.values_[static_cast<size_t>(id)]; !made.empty()) sum.values.emplace_back(id, made);
}

void BodyEmitter::Tiles::EmitSums(std::vector<Sum>& sums) {
  const ir::Op& op = o_.body_[sum_];
  Value* count = o_.NotNegative(o_.Scalar(op.args[0]));
  const std::vector<Value*> results = o_.ReduceLanes(op, count, sums.size(), [&](size_t i) { Enter(sums[i]); });
  for (size_t i = 0; i < sums.size(); ++i) sums[i].values.emplace_back(sum_, Leaves{results[i]});
}

// The elements of the sums at `at`, which is number `index` of what is summed in that turn.
void BodyEmitter::Tiles::EmitTerms(ColumnSums& of, Value* at, Value* turn, Value* index, const ColumnSums::Each& each) {
  const ir::Block& term = o_.body_[o_.body_[sum_].blocks[0]];
  const std::vector<Value*> packed = PackedVectors(turn, index, of.columns);
  for (size_t i = 0; i < of.sums.size(); ++i) {
    Enter(of.sums[i]);
    o_.values_[static_cast<size_t>(term.params[0])] = {at};
    if (!packed.empty()) of.sums[i].lanes->Give(packed_, packed[i % of.columns]);
    each(of.sums[i].lanes->EmitTerm(term), of.accumulators[i]);
  }
}

// Begins from the first element and not from 0, which changes nothing but the sign of a sum that is 0: adding 0 to all in the end makes
// that positive.
void BodyEmitter::Tiles::EmitLane(ColumnSums& of, Value* turn, Value* lane) {
  const ir::Op& op = o_.body_[sum_];
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const ir::DType dtype = o_.context_.type(op.type).dtype;
  const uint64_t depth = ir::ReduceLanes(dtype), bits = std::countr_zero(depth);
  Value* count = o_.NotNegative(o_.Scalar(op.args[0]));
  Value* turns = b_.CreateLShr(b_.CreateSub(b_.CreateAdd(count, b_.getInt64(depth - 1), "", true, true), lane, "", true, true), bits);
  const auto begin = [&] {
    EmitTerms(of, lane, turn, b_.getInt64(0), [&](Value* element, Value* accumulator) { b_.CreateStore(element, accumulator); });
  };
  const auto none = [&] {
    for (llvm::AllocaInst* accumulator : of.accumulators) b_.CreateStore(of.identity, accumulator);
  };
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  const bool has_all = packed_tile_ != nullptr || (known != nullptr && known->getZExtValue() >= depth);
  o_.EmitEither(has_all ? b_.getTrue() : b_.CreateICmpULT(lane, count), begin, none);
  o_.For(b_.CreateSub(turns, b_.getInt64(1)), of.sums.size() * o_.WorkOf(op.blocks[0]), [&](Value* index) {
    Value* next = b_.CreateAdd(index, b_.getInt64(1), "", true, true);
    Value* at = b_.CreateAdd(b_.CreateShl(next, bits, "", true, true), lane, "k", true, true);
    EmitTerms(of, at, turn, next, [&](Value* element, Value* accumulator) {
      Value* old = b_.CreateLoad(of.identity->getType(), accumulator);
      b_.CreateStore(EmitReduceStep(b_, kind, dtype, old, element), accumulator);
    });
  });
}

// To the lane, what was kept before.
void BodyEmitter::Tiles::AddUp(ColumnSums& of, const ColumnSums::Place& kept) {
  const ir::Op& op = o_.body_[sum_];
  for (size_t i = 0; i < of.sums.size(); ++i) {
    Value* first = b_.CreateLoad(of.identity->getType(), kept(i));
    Value* second = b_.CreateLoad(of.identity->getType(), of.accumulators[i]);
    b_.CreateStore(EmitReduceStep(b_, static_cast<ir::ReduceKind>(op.imm), o_.context_.type(op.type).dtype, first, second),
                   of.accumulators[i]);
  }
}

void BodyEmitter::Tiles::Keep(ColumnSums& of, const ColumnSums::Place& to) {
  for (size_t i = 0; i < of.sums.size(); ++i) b_.CreateStore(b_.CreateLoad(of.identity->getType(), of.accumulators[i]), to(i));
}

// The lanes of the sums come in an order in which each is added to what it belongs to as soon as both are there: 0, 8, 4, 12, 2 and so on,
// so that few partial sums wait. Of what is packed a turn is four lanes.
void BodyEmitter::Tiles::EmitSumsOfColumns(std::vector<Sum>& sums, unsigned columns) {
  const ir::Op& op = o_.body_[sum_];
  const ir::DType dtype = o_.context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const uint64_t together_bits = packed_tile_ != nullptr ? kPackedLaneBits : 0, together = uint64_t{1} << together_bits;
  const uint64_t depth = ir::ReduceLanes(dtype), bits = std::countr_zero(depth), group_bits = bits - together_bits;
  llvm::Constant* identity = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), Identity(b_, kind, dtype));
  ColumnSums of{sums, columns, identity, {}};
  llvm::Type* row_type = llvm::ArrayType::get(identity->getType(), sums.size());
  llvm::AllocaInst* partial = o_.Local(llvm::ArrayType::get(row_type, group_bits + 1), "partial");
  const auto place = [&](Value* level) {
    return [&, level](size_t i) { return b_.CreateInBoundsGEP(row_type, partial, {level, b_.getInt64(i)}); };
  };
  std::vector<llvm::AllocaInst*> lower;  // partial sums of a turn
  const auto of_turn = [&](uint64_t level) { return [&, level](size_t i) -> Value* { return lower[level * sums.size() + i]; }; };
  for (size_t i = 0; i < sums.size(); ++i) of.accumulators.push_back(o_.Local(identity->getType(), "lane"));
  for (size_t i = 0; i < together_bits * sums.size(); ++i) lower.push_back(o_.Local(identity->getType(), "lower"));
  o_.For(b_.getInt64(depth / together), together * sums.size() * o_.WorkOf(op.blocks[0]), [&](Value* group) {
    Value* least = LaneOf(group, group_bits);
    for (uint64_t member = 0; member < together; ++member) {
      Value* turn = b_.CreateAdd(b_.CreateShl(group, together_bits, "", true, true), b_.getInt64(member), "", true, true);
      const uint64_t more = Reversed(member, together_bits) << group_bits, levels = std::countr_one(member);
      EmitLane(of, turn, b_.CreateAdd(least, b_.getInt64(more), "lane", true, true));
      for (uint64_t level = 0; level < levels; ++level) AddUp(of, of_turn(level));
      if (member + 1 < together) Keep(of, of_turn(levels));
    }
    Value* level = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateNot(group), b_.getTrue());
    o_.For(level, 0, [&](Value* index) { AddUp(of, place(index)); });
    Keep(of, place(level));
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    Enter(sums[i]);
    Value* result = b_.CreateLoad(identity->getType(), place(b_.getInt64(group_bits))(i));
    sums[i].lanes->Give(sum_, EmitReduceStep(b_, kind, dtype, result, identity));
  }
}

}  // namespace wf::lower
