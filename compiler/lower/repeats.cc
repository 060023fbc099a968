// Rows in which each element of what is read stands several times side by side, as `x[i / times]` says, or all of them do, one run behind
// the other, as `x[i % n]` says: they are written without dividing.

#include <algorithm>

#include "compiler/lower/body.h"

namespace wf::lower {

using ir::OpKind;
using ir::ValueId;
using llvm::Value;

namespace {
constexpr uint64_t kMostRepeats = 8, kRepeatLanes = 16;  // of shuffles for a known number
constexpr uint64_t kShortBytes = 16, kLongBytes = 32;    // of vectors that hold one element in all lanes
constexpr uint64_t kShortestRepeats = 64;                // of a stated length, which LLVM writes out
constexpr uint64_t kCopiedAtOnce = 16384;                // elements between two looks at whether to stop
constexpr uint64_t kRunBytes = 8192;                     // runs that are at least so long are copied as they are
}  // namespace

// One such row: of its block, all but the quotient or rest, its check and the load is the same for the whole row.
class BodyEmitter::Repeats {
 public:
  Repeats(BodyEmitter& emitter, const Nest& nest, Value* offset, const Indices& at)
      : o_(emitter),
        nest_(nest),
        b_(emitter.b_),
        block_(emitter.body_[nest.op.blocks[0]]),
        load_(emitter.body_[block_.result]),
        count_(nest.extents.back()),
        offset_(offset),
        at_(at) {}
  bool Finds() { return FindParts() && (IsShuffled() || !IsShort()); }
  void Emit() { IsShuffled() ? EmitShuffled() : EmitSpread(); }

 private:
  bool FindParts(), IsShuffled() const, IsShort() const;
  void EmitSteady(), EmitShuffled(), EmitSpread(), EmitSpans(), EmitVectors(uint64_t lanes), EmitSeveral(uint64_t lanes), EmitLast(),
      EmitRuns();
  Value* From();  // where the row begins in what is read; the steady values are there
  Value* Element(Value* number);
  Value* PlaceOf(Value* number) { return b_.CreateMul(number, times_, "", true, true); }
  Value* To(Value* place) { return b_.CreateInBoundsGEP(Type(), nest_.target.data, b_.CreateAdd(offset_, place, "", true, true)); }
  void Fill(Value* element, uint64_t lanes, Value* place);
  ir::DType DType() const { return o_.context_.type(nest_.op.type).dtype; }
  llvm::Type* Type() const { return o_.context_.Memory(DType()); }
  llvm::Align Alignment() const { return llvm::Align(ir::SizeOf(DType())); }
  uint64_t Work() const { return o_.WorkToLookAt(nest_.op.args.back(), o_.WorkOf(nest_.op.blocks[0])); }  // of an element
  uint64_t WorkOfMany() const { return Work() == 0 ? 0 : kUnknownWork; }

  BodyEmitter& o_;
  const Nest& nest_;
  llvm::IRBuilder<>& b_;
  const ir::Block& block_;
  const ir::Op& load_;
  Value *count_, *offset_;
  const Indices& at_;
  bool is_whole_ = false;                                      // what is read stands there as a whole, again and again
  ValueId divisor_ = ValueId::kNone, bound_ = ValueId::kNone;  // bound_: what the place has to be below; kNone: it is
  llvm::SmallVector<ValueId, 8> steady_;
  Value *from_ = nullptr, *times_ = nullptr, *last_ = nullptr;  // last_: the last element that is read
  llvm::AllocaInst* written_ = nullptr;                         // how many of those read are
};

bool BodyEmitter::Repeats::FindParts() {
  const auto is_inside = [&](ValueId id) { return std::find(block_.ops.begin(), block_.ops.end(), id) != block_.ops.end(); };
  if (load_.kind != OpKind::kLoad || load_.args.size() < 2 || !is_inside(block_.result) || is_inside(load_.args[0])) return false;
  const ValueId index = block_.params.back(), place = load_.args.back();
  const bool is_checked = o_.body_[place].kind == OpKind::kCheckIndex;
  const ValueId quotient = is_checked ? o_.body_[place].args[0] : place;
  const ir::Op& division = o_.body_[quotient];
  if (division.kind != OpKind::kDiv && division.kind != OpKind::kRem) return false;
  if (division.args[0] != index || !is_inside(place) || !is_inside(quotient)) return false;
  is_whole_ = division.kind == OpKind::kRem;
  divisor_ = division.args[1];
  if (is_checked) bound_ = o_.body_[place].args[1];
  for (const ValueId id : block_.ops) {
    const ir::Op& op = o_.body_[id];
    const auto is_read = [&](ValueId value, bool is_due) { return std::count(op.args.begin(), op.args.end(), value) == (is_due ? 1 : 0); };
    const bool is_fine = is_read(index, id == quotient) && is_read(place, id == block_.result) && is_read(block_.result, false) &&
                         (!is_checked || is_read(quotient, id == place));
    if (!is_fine || !op.blocks.empty()) return false;
    if (id != block_.result && id != place && id != quotient) steady_.push_back(id);
  }
  return true;
}

bool BodyEmitter::Repeats::IsShuffled() const {
  const ir::Op& times = o_.body_[divisor_];
  return !is_whole_ && times.kind == OpKind::kScalar && times.imm >= 2 && times.imm <= kMostRepeats && bound_ == ValueId::kNone;
}

bool BodyEmitter::Repeats::IsShort() const {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_);
  return known != nullptr && known->getZExtValue() < kShortestRepeats && o_.body_[divisor_].kind == OpKind::kScalar;
}

void BodyEmitter::Repeats::EmitSteady() {
  for (size_t i = 0; i < at_.size(); ++i) o_.values_[static_cast<size_t>(block_.params[i])] = {at_[i]};
  for (const ValueId id : steady_) o_.EmitOp(id);
}

Value* BodyEmitter::Repeats::From() {
  llvm::SmallVector<Value*, 8> from;
  for (size_t i = 1; i + 1 < load_.args.size(); ++i) from.push_back(o_.Scalar(load_.args[i]));
  from.push_back(b_.getInt64(0));
  return b_.CreateInBoundsGEP(Type(), o_.DataOf(load_.args[0]), o_.ElementOffset(o_.Get(load_.args[0]), from));
}

// Vectors of what is read, each element of which is shuffled to its places.
void BodyEmitter::Repeats::EmitShuffled() {
  const uint64_t times = o_.body_[divisor_].imm;
  Value *step = b_.getInt64(kRepeatLanes * times), *turns = b_.CreateUDiv(count_, step);
  if (Value* some = o_.HasElements(load_); some != nullptr) turns = b_.CreateSelect(some, turns, b_.getInt64(0));
  o_.For(turns, kRepeatLanes * times * Work(), [&](Value* turn) {
    EmitSteady();
    Value* address = b_.CreateInBoundsGEP(Type(), From(), b_.CreateMul(turn, b_.getInt64(kRepeatLanes), "", true, true));
    llvm::LoadInst* elements = b_.CreateAlignedLoad(llvm::FixedVectorType::get(Type(), kRepeatLanes), address, Alignment());
    o_.TagLoad(elements);
    Value* to = To(b_.CreateMul(turn, step, "first", true, true));
    for (uint64_t part = 0; part < times; ++part) {
      llvm::SmallVector<int, kRepeatLanes> order;
      for (uint64_t i = 0; i < kRepeatLanes; ++i) order.push_back(static_cast<int>((part * kRepeatLanes + i) / times));
      Value* there = b_.CreateInBoundsGEP(Type(), to, b_.getInt64(part * kRepeatLanes));
      o_.TagStore(b_.CreateAlignedStore(b_.CreateShuffleVector(elements, order), there, Alignment()));
    }
  });
  Value* done = b_.CreateMul(turns, step, "done", true, true);
  o_.For(b_.CreateSub(count_, done, "", true, true), Work(), [&](Value* rest) {
    llvm::SmallVector<Value*, 8> where(at_);
    where.push_back(b_.CreateAdd(done, rest, "", true, true));
    o_.EmitElement(nest_, where, b_.CreateAdd(offset_, where.back(), "", true, true));
  });
}

// What is steady is computed once, and the greatest place checked for all. Where it is outside, or the number is none of times, the row is
// run as it stands, and fails as it would.
void BodyEmitter::Repeats::EmitSpread() {
  Value *zero = b_.getInt64(0), *one = b_.getInt64(1);
  const auto as_it_stands = [&] {
    Indices at(at_);
    const bool was_cold = std::exchange(o_.is_cold_, true);
    o_.EmitAxis(nest_, offset_, at);
    o_.is_cold_ = was_cold;
  };
  const auto row = [&] {
    EmitSteady();
    times_ = o_.Scalar(divisor_);
    Value* fits = b_.CreateICmpSGT(times_, zero);
    Value *end = b_.CreateSub(count_, one, "", true, true), *times = b_.CreateSelect(fits, times_, one);
    last_ = is_whole_ ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(times, one), end) : b_.CreateUDiv(end, times, "last");
    if (bound_ != ValueId::kNone) fits = b_.CreateAnd(fits, b_.CreateICmpULT(last_, o_.Scalar(bound_)));
    if (Value* some = o_.HasElements(load_); some != nullptr) fits = b_.CreateAnd(fits, some);
    o_.EmitEither(fits, [&] { is_whole_ ? EmitRuns() : EmitSpans(); }, as_it_stands);
  };
  o_.EmitEither(b_.CreateICmpSGT(count_, zero), row, [] {});
}

void BodyEmitter::Repeats::EmitSpans() {
  const uint64_t size = ir::SizeOf(DType());
  from_ = From();
  written_ = o_.Local(b_.getInt64Ty(), "written");
  const auto is_within = [&](uint64_t bytes) { return b_.CreateICmpULE(times_, b_.getInt64(bytes / size)); };
  const auto longer = [&] {
    o_.EmitEither(is_within(kLongBytes), [&] { EmitVectors(kLongBytes / size); }, [&] { EmitSeveral(kLongBytes / size); });
  };
  o_.EmitEither(is_within(kShortBytes), [&] { EmitVectors(kShortBytes / size); }, longer);
  EmitLast();
}

Value* BodyEmitter::Repeats::Element(Value* number) {
  llvm::LoadInst* element = b_.CreateLoad(Type(), b_.CreateInBoundsGEP(Type(), from_, number));
  o_.TagLoad(element);
  return element;
}

void BodyEmitter::Repeats::Fill(Value* element, uint64_t lanes, Value* place) {
  Value* vector = b_.CreateVectorSplat(static_cast<unsigned>(lanes), element);
  o_.TagStore(b_.CreateAlignedStore(vector, To(place), Alignment()));
}

// A vector for each element, as long as there is room for all of it: what is too much the next ones write over.
void BodyEmitter::Repeats::EmitVectors(uint64_t lanes) {
  Value* most = b_.CreateAdd(b_.CreateUDiv(b_.CreateSub(count_, b_.getInt64(lanes)), times_), b_.getInt64(1));
  Value* whole = b_.CreateSelect(b_.CreateICmpUGE(count_, b_.getInt64(lanes)), most, b_.getInt64(0), "whole");
  b_.CreateStore(whole, written_);
  o_.For(whole, lanes * Work(), [&](Value* number) { Fill(Element(number), lanes, PlaceOf(number)); });
}

// Several vectors for each, of which the last one begins before the end of the one before it.
void BodyEmitter::Repeats::EmitSeveral(uint64_t lanes) {
  Value* whole = b_.CreateUDiv(count_, times_, "whole");
  Value* turns = b_.CreateUDiv(b_.CreateSub(times_, b_.getInt64(1), "", true, true), b_.getInt64(lanes));
  b_.CreateStore(whole, written_);
  o_.For(whole, WorkOfMany(), [&](Value* number) {
    Value *element = Element(number), *first = PlaceOf(number);
    o_.For(turns, lanes * Work(), [&](Value* turn) {
      Fill(element, lanes, b_.CreateAdd(first, b_.CreateMul(turn, b_.getInt64(lanes), "", true, true), "", true, true));
    });
    Fill(element, lanes, b_.CreateAdd(first, b_.CreateSub(times_, b_.getInt64(lanes), "", true, true), "", true, true));
  });
}

// Those that are not written yet, one place after the other.
void BodyEmitter::Repeats::EmitLast() {
  Value* first = b_.CreateLoad(b_.getInt64Ty(), written_);
  const bool was_cold = std::exchange(o_.is_cold_, true);
  o_.For(b_.CreateSub(b_.CreateAdd(last_, b_.getInt64(1)), first), WorkOfMany(), [&](Value* index) {
    Value* number = b_.CreateAdd(first, index, "", true, true);
    Value *element = Element(number), *begins = PlaceOf(number);
    Value* here = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, times_, b_.CreateSub(count_, begins, "", true, true));
    o_.For(here, Work(),
           [&](Value* more) { o_.TagStore(b_.CreateAlignedStore(element, To(b_.CreateAdd(begins, more, "", true, true)), Alignment())); });
  });
  o_.is_cold_ = was_cold;
}

// What is read, once. From then on runs of what is written, which grow to twice their length as soon as there is so much.
void BodyEmitter::Repeats::EmitRuns() {
  const uint64_t size = ir::SizeOf(DType());
  Value *step = b_.getInt64(kCopiedAtOnce), *read = b_.CreateAdd(last_, b_.getInt64(1), "", true, true), *from = From();
  Value *to = To(b_.getInt64(0)), *bytes = b_.getInt64(size);
  const auto copy = [&](Value* target, Value* source, Value* count) {
    o_.CopyBytes(b_.CreateInBoundsGEP(Type(), to, target), source, b_.CreateMul(count, bytes, "", true, true));
  };
  const auto umin = [&](Value* a, Value* c) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, c); };
  o_.For(b_.CreateUDiv(b_.CreateAdd(read, b_.getInt64(kCopiedAtOnce - 1)), step), kCopiedAtOnce * Work(), [&](Value* turn) {
    Value* done = b_.CreateMul(turn, step, "", true, true);
    copy(done, b_.CreateInBoundsGEP(Type(), from, done), umin(b_.CreateSub(read, done, "", true, true), step));
  });
  llvm::BasicBlock *before = b_.GetInsertBlock(), *body = Block::Create(o_.context_.llvm(), "run", o_.function_),
                   *after = Block::Create(o_.context_.llvm(), "runs", o_.function_);
  b_.CreateCondBr(b_.CreateICmpULT(read, count_), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode *done = b_.CreatePHI(b_.getInt64Ty(), 2, "done"), *run = b_.CreatePHI(b_.getInt64Ty(), 2, "run");
  done->addIncoming(read, before);
  run->addIncoming(read, before);
  if (Work() != 0) o_.CheckStop();
  Value* here = umin(umin(run, step), b_.CreateSub(count_, done, "", true, true));
  copy(done, b_.CreateInBoundsGEP(Type(), to, b_.CreateSub(done, run, "", true, true)), here);
  Value *next = b_.CreateAdd(done, here, "", true, true), *twice = b_.CreateShl(run, 1);
  Value* grows = b_.CreateAnd(b_.CreateICmpULE(twice, next), b_.CreateICmpULT(run, b_.getInt64(kRunBytes / size)));
  done->addIncoming(next, b_.GetInsertBlock());
  run->addIncoming(b_.CreateSelect(grows, twice, run), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, count_), body, after);
  b_.SetInsertPoint(after);
}

bool BodyEmitter::EmitRepeated(const Nest& nest, Value* offset, const Indices& at) {
  if (!has_lanes_ || piece_ != nullptr) return false;
  Repeats repeats(*this, nest, offset, at);
  if (!repeats.Finds()) return false;
  repeats.Emit();
  return true;
}

}  // namespace wf::lower
