// Index-set splitting of a build's innermost loop. The bounds of pieces are computed as the row is run, since they hang on extents and
// parameters. Each piece is a loop without the conditions, which LLVM makes a copy or vectors; where an index may be outside, the piece is
// run as the row would be, and fails as it would.

#include "compiler/lower/pieces.h"

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "compiler/lower/body.h"

namespace wf::lower {

using ir::OpKind;
using ir::ValueId;
using llvm::Value;

namespace {
constexpr size_t kMostOps = 32;                          // of a block that is written several times
constexpr size_t kMostChoices = 2;                       // each doubles the loops
constexpr int64_t kShortestRow = 64;                     // of a stated length, as a stated period: pieces have a price of their own
constexpr uint64_t kCopied = 16384;                      // elements between two looks at whether to stop
constexpr uint64_t kShortestPiece = 16, kStrip = 64;     // what is shorter is run with so many elements as the row would be
constexpr uint64_t kShortestCopy = 4, kFewCopied = 128;  // such a piece where it is copied; bytes that no call is made for
}  // namespace

Pieces::Pieces(const ir::TypeTable& types, const ir::Body& body, const ir::Block& block)
    : types_(types), body_(body), roles_(body.ops.size(), Role::kSteady), changes_(body.ops.size()) {
  if (block.params.empty() || block.ops.size() > kMostOps) return;
  roles_[static_cast<size_t>(block.params.back())] = Role::kLine;
  Read(block);
  const bool splits = std::any_of(known_.begin(), known_.end(), [&](ValueId id) {
    const OpKind kind = body_[id].kind;
    return (kind == OpKind::kRem || kind == OpKind::kDiv) && IsLine(body_[id].args[0]);
  });
  is_worth_it_ = is_plain_ && ops_ <= kMostOps && choices_.size() <= kMostChoices && (splits || !choices_.empty());
}

void Pieces::Read(const ir::Block& block) {
  ops_ += block.ops.size();
  for (const ValueId id : block.ops) {
    if (!is_plain_ || ops_ > kMostOps) return;
    is_plain_ = ReadOp(id);
  }
}

// Is the operation one that stands in pieces?
bool Pieces::ReadOp(ValueId id) {
  const ir::Op& op = body_[id];
  Role& role = roles_[static_cast<size_t>(id)];
  if (op.kind == OpKind::kIf) {
    role = Role::kVaries;
    if (!IsSteady(op.args[0])) return false;
    AddChoice(op.args[0]);
    for (const size_t arm : {0, 1}) {
      path_.emplace_back(op.args[0], arm == 0);
      Read(body_[op.blocks[arm]]);
      path_.pop_back();
    }
    return true;
  }
  if (op.kind == OpKind::kLoad) {
    if (std::any_of(op.args.begin() + 1, op.args.end(), [&](ValueId arg) { return Of(arg) == Role::kVaries; })) return false;
    const bool is_steady = path_.empty() && std::all_of(op.args.begin(), op.args.end(), [&](ValueId arg) { return IsSteady(arg); });
    if (!is_steady) {
      role = Role::kVaries;
      return true;
    }
  }
  const bool is_known_kind = ir::IsScalarArithmetic(op.kind) || op.kind == OpKind::kScalar || op.kind == OpKind::kExtent ||
                             op.kind == OpKind::kDim || op.kind == OpKind::kLoad || op.kind == OpKind::kCheckIndex ||
                             op.kind == OpKind::kCheckDivisor;
  if (!is_known_kind) return false;
  role = RoleOf(op);
  if (op.kind == OpKind::kSelect && changes_[static_cast<size_t>(op.args[0])] && role == Role::kVaries) AddChoice(op.args[0]);
  if (op.kind == OpKind::kCheckIndex) {
    if (role == Role::kVaries) return false;
    if (role == Role::kLine || !path_.empty()) checks_.push_back({id, path_});  // else it fails for all elements or for none
  }
  if (op.kind == OpKind::kCheckDivisor && (role != Role::kSteady || !path_.empty())) return false;
  if (role == Role::kVaries) return true;
  known_.push_back(id);
  const auto changes = [&](ValueId arg) { return IsLine(arg) || changes_[static_cast<size_t>(arg)]; };
  changes_[static_cast<size_t>(id)] = role == Role::kSteady && std::any_of(op.args.begin(), op.args.end(), changes);
  return true;
}

// What is known outside of the block is left to LLVM.
void Pieces::AddChoice(ValueId condition) {
  const auto is_in = [&](const std::vector<ValueId>& ids) { return std::find(ids.begin(), ids.end(), condition) != ids.end(); };
  if (is_in(known_) && !is_in(choices_)) choices_.push_back(condition);
}

Pieces::Role Pieces::RoleOf(const ir::Op& op) {
  if (std::all_of(op.args.begin(), op.args.end(), [&](ValueId arg) { return IsSteady(arg); })) return Role::kSteady;
  const ir::Type& type = types_[body_[op.args.back()].type];
  if (type.kind != ir::TypeKind::kScalar || type.dtype != ir::DType::kI64) return Role::kVaries;
  if (op.kind == OpKind::kSelect) return IsSteady(op.args[0]) && IsLine(op.args[1]) && IsLine(op.args[2]) ? Role::kLine : Role::kVaries;
  return op.args.size() == 2 ? RoleOfBinary(op) : Role::kVaries;
}

bool Pieces::IsChecked(ValueId id) const {
  return std::any_of(checks_.begin(), checks_.end(), [&](const Check& check) { return check.id == id; });
}

// Of a line and a steady value.
Pieces::Role Pieces::RoleOfBinary(const ir::Op& op) {
  const bool is_first = IsLine(op.args[0]) && IsSteady(op.args[1]), is_second = IsSteady(op.args[0]) && IsLine(op.args[1]);
  switch (op.kind) {
    case OpKind::kAdd:
      return is_first || is_second ? Role::kLine : Role::kVaries;
    case OpKind::kSub:
    case OpKind::kCheckIndex:
      return is_first ? Role::kLine : Role::kVaries;
    case OpKind::kRem:
    case OpKind::kDiv: {
      const ir::Op& period = body_[op.args[1]];
      const bool is_short = period.kind == OpKind::kScalar && static_cast<int64_t>(period.imm) < kShortestRow;
      if (!is_first || is_short) return Role::kVaries;
      return op.kind == OpKind::kRem ? Role::kLine : Role::kSteady;
    }
    case OpKind::kLt:
    case OpKind::kLe:
      return is_first || is_second ? Role::kSteady : Role::kVaries;
    default:
      return Role::kVaries;
  }
}

// What holds from a first element of a row on, for `more` elements after it.
class BodyEmitter::Piece {
 public:
  // Computes what is known all over the piece at its first element, which the row's index stands for; at most `most` follow.
  Piece(BodyEmitter& emitter, const Pieces& pieces, Value* most);
  static void EmitRow(BodyEmitter& o, const Pieces& pieces, const Nest& nest, Value* offset, const Indices& at);
  Value* more() const { return more_; }  // unsigned
  Value* fits() const { return fits_; }  // no check fails
  Value* Of(ValueId id, llvm::IRBuilder<>& b) const;
  bool IsInside(ValueId id) const { return at_first_.contains(Key(id)) && (pieces_.IsChecked(id) || IsLine(id)); }
  // `each` once for each way in which the choices may fall; they are constants meanwhile.
  void Choose(size_t choice, const std::function<void()>& each);
  struct Span {
    Value *first, *size, *to;  // indices of the row, how many, and where the first is written
    uint64_t work;
  };
  bool EmitCopy(const Nest& nest, const Span& span);
  bool MayCopy(ValueId result) const;               // in one of the ways in which the choices may fall?
  void set_index(Value* index) { index_ = index; }  // from the first on, of the element being written

 private:
  static uint32_t Key(ValueId id) { return static_cast<uint32_t>(id); }
  bool IsLine(ValueId id) const { return pieces_.Of(id) == Pieces::Role::kLine; }
  Value* MoreOf(const ir::Op& op, Value* value);
  Value* Fits(const Pieces::Check& check);
  const ir::Op *CopiedLoad(ValueId result) const, *CopiedBy(const ir::Op& load) const;

  BodyEmitter& emitter_;
  const Pieces& pieces_;
  llvm::IRBuilder<>& b_;
  Value *more_, *fits_, *index_ = nullptr;
  llvm::DenseMap<uint32_t, Value*> at_first_;  // by ValueId, of what is known
};

BodyEmitter::Piece::Piece(BodyEmitter& emitter, const Pieces& pieces, Value* most)
    : emitter_(emitter), pieces_(pieces), b_(emitter.b_), more_(most), fits_(emitter.b_.getTrue()) {
  for (const ValueId id : pieces.known()) {
    const ir::Op& op = emitter_.body_[id];
    if (pieces.IsChecked(id)) {
      emitter_.values_[static_cast<size_t>(id)] = emitter_.Get(op.args[0]);  // inside, or the piece is run with its checks
    } else {
      emitter_.EmitOp(id);
    }
    Value* value = at_first_[Key(id)] = emitter_.Scalar(id);
    const bool may_end = op.kind == OpKind::kCheckIndex || op.kind == OpKind::kRem || op.kind == OpKind::kDiv || op.kind == OpKind::kLt ||
                         op.kind == OpKind::kLe;
    if (!may_end || std::none_of(op.args.begin(), op.args.end(), [&](ValueId arg) { return IsLine(arg); })) continue;
    more_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more_, MoreOf(op, value));
  }
  for (const Pieces::Check& check : pieces.checks()) fits_ = b_.CreateAnd(fits_, Fits(check));
}

Value* BodyEmitter::Piece::Fits(const Pieces::Check& check) {
  const ir::Op& op = emitter_.body_[check.id];
  Value* fits = b_.CreateICmpULT(emitter_.Scalar(op.args[0]), emitter_.Scalar(op.args[1]));
  for (const auto& [condition, is_so] : check.path) {
    Value* holds = emitter_.Scalar(condition);
    fits = b_.CreateOr(fits, is_so ? b_.CreateNot(holds) : holds);
  }
  return fits;
}

Value* BodyEmitter::Piece::Of(ValueId id, llvm::IRBuilder<>& b) const {
  const auto found = at_first_.find(Key(id));
  if (found == at_first_.end()) return nullptr;
  return IsLine(id) ? b.CreateAdd(found->second, index_) : found->second;
}

// For how many elements after the first of a piece a value stays steady, or a line.
Value* BodyEmitter::Piece::MoreOf(const ir::Op& op, Value* value) {
  const bool is_second = !IsLine(op.args[0]);
  Value *line = emitter_.Scalar(op.args[is_second ? 1 : 0]), *other = emitter_.Scalar(op.args[is_second ? 0 : 1]);
  Value *one = b_.getInt64(1), *zero = b_.getInt64(0);
  Value* to_wrap = b_.CreateSub(b_.getInt64(INT64_MAX), line);
  Value* below = b_.CreateSub(other, line);  // those that are at most `other`, where the line starts there
  switch (op.kind) {
    case OpKind::kLt:
      if (is_second) return b_.CreateSelect(value, to_wrap, below);
      return b_.CreateSelect(value, b_.CreateSub(below, one), to_wrap);
    case OpKind::kLe:
      if (is_second) return b_.CreateSelect(value, to_wrap, b_.CreateSub(below, one));
      return b_.CreateSelect(value, below, to_wrap);
    case OpKind::kCheckIndex: {
      Value* to_zero = b_.CreateSub(b_.getInt64(UINT64_MAX), line);
      Value* outside = b_.CreateSelect(b_.CreateICmpSLT(line, zero), to_zero, to_wrap);
      return b_.CreateSelect(b_.CreateICmpULT(line, other), b_.CreateSub(below, one), outside);
    }
    default: {  // of the quotient: it is cut towards 0, so that periods below 0 end where they are divisible
      Value* rest = op.kind == OpKind::kRem ? value : b_.CreateSub(line, b_.CreateMul(value, other));
      Value* is_low = b_.CreateICmpSLT(b_.CreateSub(line, rest), zero);
      Value* more = b_.CreateSelect(is_low, b_.CreateNeg(rest), b_.CreateSub(b_.CreateSub(other, one), rest));
      more = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more, to_wrap);
      return b_.CreateSelect(b_.CreateICmpSGT(other, zero), more, zero);
    }
  }
}

void BodyEmitter::Piece::Choose(size_t choice, const std::function<void()>& each) {
  const std::vector<ValueId>& choices = pieces_.choices();
  if (choice == choices.size()) return each();
  const uint32_t key = Key(choices[choice]);
  Value* condition = at_first_[key];
  const auto when = [&](bool holds) {
    at_first_[key] = b_.getInt1(holds);
    Choose(choice + 1, each);
  };
  emitter_.EmitEither(condition, [&] { when(true); }, [&] { when(false); });
  at_first_[key] = condition;
}

Leaves BodyEmitter::InPiece(ValueId id) {
  Value* known = piece_ == nullptr ? nullptr : piece_->Of(id, b_);
  return known == nullptr ? Leaves() : Leaves{known};
}

// Such an index is inside its axis: its check was seen to hold, or proved for the loop's own index.
bool BodyEmitter::IsInPiece(ValueId id) const { return piece_ != nullptr && piece_->IsInside(id); }

// Of the block's result, where the choices have been made, what is loaded from side by side; null: it is computed.
const ir::Op* BodyEmitter::Piece::CopiedLoad(ValueId result) const {
  while (emitter_.body_[result].kind == OpKind::kIf || emitter_.body_[result].kind == OpKind::kSelect) {
    const ir::Op& choice = emitter_.body_[result];
    const auto* condition = llvm::dyn_cast_or_null<llvm::ConstantInt>(at_first_.lookup(Key(choice.args[0])));
    if (condition == nullptr) return nullptr;
    const size_t arm = condition->isOne() ? 0 : 1;
    result = choice.kind == OpKind::kIf ? emitter_.body_[choice.blocks[arm]].result : choice.args[1 + arm];
  }
  return CopiedBy(emitter_.body_[result]);
}

const ir::Op* BodyEmitter::Piece::CopiedBy(const ir::Op& load) const {
  if (load.kind != OpKind::kLoad || load.args.size() < 2 || !IsLine(load.args.back())) return nullptr;
  const bool is_run =
      std::all_of(load.args.begin(), load.args.end() - 1, [&](ValueId arg) { return pieces_.Of(arg) == Pieces::Role::kSteady; });
  return is_run && emitter_.HasElements(load) == nullptr ? &load : nullptr;
}

bool BodyEmitter::Piece::MayCopy(ValueId result) const {
  const ir::Op& op = emitter_.body_[result];
  if (op.kind == OpKind::kIf) {
    return std::any_of(op.blocks.begin(), op.blocks.end(), [&](ir::BlockId arm) { return MayCopy(emitter_.body_[arm].result); });
  }
  if (op.kind == OpKind::kSelect) return MayCopy(op.args[1]) || MayCopy(op.args[2]);
  return CopiedBy(op) != nullptr;
}

// As memory is copied, which is faster than any loop where it is long; false: the piece does more than that.
bool BodyEmitter::Piece::EmitCopy(const Nest& nest, const Span& span) {
  const ir::Block& block = emitter_.body_[nest.op.blocks[0]];
  const ir::Op* load = CopiedLoad(block.result);
  if (load == nullptr) return false;
  llvm::SmallVector<Value*, 8> from;
  for (auto index = load->args.begin() + 1; index != load->args.end(); ++index) {
    Value* known = *index == block.params.back() ? span.first : at_first_.lookup(Key(*index));
    from.push_back(known != nullptr ? known : emitter_.Scalar(*index));
  }
  const ir::DType dtype = emitter_.context_.type(nest.op.type).dtype;
  llvm::Type* element = emitter_.context_.Memory(dtype);
  const auto at = [&](Value* data, Value* offset) { return b_.CreateInBoundsGEP(element, data, offset); };
  Value* source = at(emitter_.DataOf(load->args[0]), emitter_.ElementOffset(emitter_.Get(load->args[0]), from));
  Value *target = at(nest.target.data, span.to), *step = b_.getInt64(kCopied);
  const uint64_t size = ir::SizeOf(dtype);
  Value* bytes = b_.CreateMul(span.size, b_.getInt64(size), "", true, true);
  const auto few = [&] { emitter_.CopyFew(target, source, bytes, kShortestCopy * size); };
  const auto many = [&] {
    Value* turns = b_.CreateUDiv(b_.CreateAdd(span.size, b_.getInt64(kCopied - 1)), step);
    emitter_.For(turns, kCopied * span.work, [&](Value* turn) {
      Value* done = b_.CreateMul(turn, step, "", true, true);
      Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(span.size, done), step);
      emitter_.CopyBytes(at(target, done), at(source, done), b_.CreateMul(count, b_.getInt64(size), "", true, true));
    });
  };
  emitter_.EmitEither(b_.CreateICmpULE(bytes, b_.getInt64(kFewCopied)), few, many);
  return true;
}

void BodyEmitter::Piece::EmitRow(BodyEmitter& o, const Pieces& pieces, const Nest& nest, Value* offset, const Indices& at) {
  llvm::IRBuilder<>& b = o.b_;
  const ir::Block& block = o.body_[nest.op.blocks[0]];
  Value* count = nest.extents.back();
  const uint64_t work = o.WorkToLookAt(nest.op.args.back(), o.WorkOf(nest.op.blocks[0]));
  const Loop loop = o.BeginLoop(count, "piece");
  Value* first = loop.index;
  if (work != 0) o.CheckStop();
  for (size_t i = 0; i < at.size(); ++i) o.values_[static_cast<size_t>(block.params[i])] = {at[i]};
  o.values_[static_cast<size_t>(block.params.back())] = {first};
  Value* left = b.CreateSub(count, first, "left", true, true);
  Piece piece(o, pieces, b.CreateSub(left, b.getInt64(1)));
  const uint64_t shortest = piece.MayCopy(block.result) ? kShortestCopy : kShortestPiece;
  Value* is_short = b.CreateICmpULT(piece.more(), b.getInt64(shortest - 1));
  Value* strip = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b.getInt64(kStrip));
  Value* size = b.CreateSelect(is_short, strip, b.CreateAdd(piece.more(), b.getInt64(1)), "size");
  const auto row = [&] {
    o.For(size, work, [&](Value* index) {
      llvm::SmallVector<Value*, 8> where(at);
      where.push_back(b.CreateAdd(first, index, "", true, true));
      piece.set_index(index);
      o.EmitElement(nest, where, at.empty() ? where.back() : b.CreateAdd(offset, where.back(), "", true, true));
    });
  };
  const auto unchecked = [&] {
    const Piece* outer = std::exchange(o.piece_, &piece);
    Value* to = at.empty() ? first : b.CreateAdd(offset, first, "", true, true);
    if (!piece.EmitCopy(nest, {first, size, to, work})) row();
    o.piece_ = outer;
  };
  o.EmitEither(b.CreateAnd(piece.fits(), b.CreateNot(is_short)), [&] { piece.Choose(0, unchecked); }, row);
  Value* next = b.CreateAdd(first, size, "next", true, true);
  loop.index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, count), loop.body, loop.exit);
  b.SetInsertPoint(loop.exit);
  --o.loops_;
}

bool BodyEmitter::EmitPieces(const Nest& nest, Value* offset, const Indices& at) {
  Value* count = nest.extents.back();
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (known != nullptr && known->getSExtValue() < kShortestRow) return false;
  const Pieces pieces(context_.types(), body_, body_[nest.op.blocks[0]]);
  if (!pieces.is_worth_it()) return false;
  if (known != nullptr || at.empty()) {
    Piece::EmitRow(*this, pieces, nest, offset, at);
    return true;
  }
  const auto as_it_stands = [&] {
    Indices where(at);
    const bool was_cold = std::exchange(is_cold_, true);
    EmitAxis(nest, offset, where);
    is_cold_ = was_cold;
  };
  EmitEither(b_.CreateICmpULT(count, b_.getInt64(2 * kShortestCopy)), as_it_stands,
             [&] { Piece::EmitRow(*this, pieces, nest, offset, at); });
  return true;
}

}  // namespace wf::lower
