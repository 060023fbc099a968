#include "compiler/lower/work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "compiler/ir/costs.h"
#include "compiler/ir/varying.h"
#include "compiler/lower/layout.h"

namespace wf::lower {
namespace {

using ir::OpKind;

constexpr int kMostLookedAt = 256;       // operations of a body that say how often its loops run
constexpr uint64_t kFewElements = 1024;  // the work of looking at them is little beside that of a hop to the pool
constexpr double kLanes = 16;            // elements of a row that are computed at once
constexpr float kNotForALoopNs = 2e6;    // so long that no measurement of other runs (they say an eighth at least) brings it back to a loop

// The function of the runtime that says of a native's first argument how many units a call has; empty: its bytes are.
std::string_view UnitsOf(std::string_view native) {
  static constexpr std::pair<std::string_view, std::string_view> kRows[] = {
#define NATIVE_UNITS(name, function) {#name, #function},
#include "runtime/abi/runtime_symbols.def"
  };
  for (const auto& [name, function] : kRows) {
    if (name == native) return function;
  }
  return {};
}

// How often something happens, as far as what the task reads says it.
struct Count {
  llvm::Value* number = nullptr;  // double; null: it does not say it
  bool is_bounded = true;         // by what it says, or by memory: how long something is, whatever it is
  bool is_exact = false;          // else it is the most that it may be
};

// Counts in doubles: what clients choose multiplies beyond 64 bits.
// Thread: loop-confined to the compilation.   Borrows: everything.
class Counter {
 public:
  Counter(Context& context, llvm::IRBuilder<>& b, const FrameLayout& frames, const ir::Task& task, llvm::Value* frame_table)
      : context_(context), b_(b), frames_(frames), task_(task), body_(task.body), frame_table_(frame_table) {}

  llvm::Value* Number(double value) { return llvm::ConstantFP::get(b_.getDoubleTy(), value); }
  llvm::Value* Larger(llvm::Value* left, llvm::Value* right) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, left, right); }

  // Is there something whose time grows with what it is given, and not by the turns of a loop whose number the task knows?
  bool NeedsSizes() const {
    const auto takes_all = [](const ir::Op& op) {
      return op.kind == OpKind::kNative || op.kind == OpKind::kTensorOfList || op.kind == OpKind::kListOfTensor ||
             op.kind == OpKind::kListMake;
    };
    return has_unknown_length_ || std::any_of(body_.ops.begin(), body_.ops.end(), takes_all);
  }

  // Elements of the tensors that the task reads, bytes of its texts, items of its lists: of those whose size the types leave open.
  llvm::Value* Sizes() {
    llvm::Value* sum = Number(0);
    for (const ir::SlotId slot : task_.in) {
      const ir::Type& type = context_.type(context_.program()[slot].type);
      const bool has_length = type.kind == ir::TypeKind::kString || type.kind == ir::TypeKind::kBytes || type.kind == ir::TypeKind::kList;
      const bool is_open =
          type.kind == ir::TypeKind::kTensor && std::any_of(type.dims.begin(), type.dims.end(), [](int64_t dim) { return dim < 0; });
      if (!has_length && !is_open) continue;
      const Leaves& leaves = LeavesOf(slot);
      llvm::Value* size = Double(leaves[1]);
      for (size_t axis = 1; is_open && axis < type.dims.size(); ++axis) size = b_.CreateFMul(size, Double(leaves[1 + axis]));
      sum = b_.CreateFAdd(sum, size);
    }
    return sum;
  }

  // Turns of the deepest nest of loops in the block; a loop that the program itself counts is left out, which cost_ns_per_unit has.
  Count Turns(ir::BlockId block) {
    Count most;
    for (const ir::ValueId id : body_[block].ops) {
      const ir::Op& op = body_[id];
      const bool is_row = op.kind == OpKind::kBuild && op.args.size() > 1 && ir::IsFloat(context_.type(op.type).dtype);
      most = Larger(most, is_row ? TurnsOfRows(op) : TurnsOf(op));
    }
    return most;
  }

 private:
  static bool IsLoop(OpKind kind) {
    return kind == OpKind::kBuild || kind == OpKind::kReduce || kind == OpKind::kFold || kind == OpKind::kListBuild ||
           kind == OpKind::kListFilter;
  }
  static bool IsNumber(OpKind kind) { return kind == OpKind::kScalar || kind == OpKind::kExtent; }
  static bool IsLength(OpKind kind) { return kind == OpKind::kDim || kind == OpKind::kListLen || kind == OpKind::kStringLen; }
  llvm::Value* Double(llvm::Value* integer) { return b_.CreateSIToFP(integer, b_.getDoubleTy()); }

  Count TurnsOf(const ir::Op& op) {
    Count own;
    if (IsLoop(op.kind)) own = OwnTurns(op, op.kind == OpKind::kBuild ? op.args.size() : 1);
    if (op.kind == OpKind::kNative) own = Larger(UnitsOfCall(op), TurnsOfCall(op));
    if (op.kind == OpKind::kText) own = BytesOfText(op);
    Count inside;
    for (const ir::BlockId nested : op.blocks) inside = Larger(inside, Turns(nested));
    return Product(own, inside);
  }

  // Of a build of floats, where loops that are the same for all elements of a row run once for as many as are computed at once.
  Count TurnsOfRows(const ir::Op& op) {
    const ir::Block& block = body_[op.blocks[0]];
    const std::set<ir::ValueId> varying = ir::FindVarying(body_, op.blocks[0], block.params.back());
    const Count rows = OwnTurns(op, op.args.size() - 1), all = OwnTurns(op, op.args.size());
    Count last = IsNumber(body_[op.args.back()].kind) ? Count{} : CountOf(op.args.back());
    if (last.number != nullptr) last.number = b_.CreateFMul(Larger(last.number, Number(kLanes)), Number(1 / kLanes));
    Count most = all;
    for (const ir::ValueId id : block.ops) {
      const Count inside = TurnsOf(body_[id]);
      most = Larger(most, Product(varying.contains(id) ? all : Product(rows, last), inside));
    }
    return most;
  }

  Count Larger(const Count& left, const Count& right) {
    const bool is_bounded = left.is_bounded && right.is_bounded;
    if (left.number == nullptr || right.number == nullptr) return {left.number == nullptr ? right.number : left.number, is_bounded};
    return {Larger(left.number, right.number), is_bounded};
  }
  Count Smaller(const Count& left, const Count& right) {
    const bool is_bounded = left.is_bounded || right.is_bounded;
    if (left.number == nullptr || right.number == nullptr) return {left.number == nullptr ? right.number : left.number, is_bounded};
    return {b_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, left.number, right.number), is_bounded};
  }
  // Of loops, one in the other: a loop that does not run takes the time of one turn.
  Count Product(const Count& outer, const Count& inner) {
    const bool is_bounded = outer.is_bounded && inner.is_bounded;
    if (outer.number == nullptr || inner.number == nullptr) return {outer.number == nullptr ? inner.number : outer.number, is_bounded};
    return {b_.CreateFMul(Larger(outer.number, Number(1)), Larger(inner.number, Number(1))), is_bounded};
  }

  // A native that says itself what is to be done is asked of what the task reads; nobody knows that of what the task makes first.
  Count UnitsOfCall(const ir::Op& call) {
    const std::string_view function = UnitsOf(context_.program().natives[call.imm]);
    if (function.empty()) return {};
    const Leaves bytes = LeavesOf(call.args[0]);
    if (bytes.empty()) return {nullptr, false};
    return {b_.CreateUIToFP(b_.CreateCall(context_.Runtime(function), {bytes[0], bytes[1]}), b_.getDoubleTy())};
  }

  // In units of the task, whose cost is that of all that is in it.
  Count Scaled(Count count, float ns_per_unit) {
    if (count.number != nullptr) count.number = b_.CreateFMul(count.number, Number(ns_per_unit / task_.cost_ns_per_unit));
    return count;
  }

  // What a native does over and over (NATIVE_TURNS). Extents that nobody knows before are left out; such a number is not.
  Count TurnsOfCall(const ir::Op& call) {
    const std::string_view native = context_.program().natives[call.imm];
    llvm::SmallVector<llvm::StringRef> factors;
    llvm::StringRef(ir::TurnsOfNative(native)).split(factors, ' ', -1, false);
    Count product;
    for (llvm::StringRef factor : factors) {
      const bool divides = factor.consume_front("/");
      const auto [argument, axis] = factor.split('.');
      const ir::ValueId value = call.args[static_cast<size_t>(argument[0] - '0')];
      const Count count = axis.empty() ? CountOf(value) : ExtentOf(value, static_cast<size_t>(axis[0] - '0'));
      if (divides) {
        if (product.number != nullptr && count.is_exact) product.number = b_.CreateFDiv(product.number, Larger(count.number, Number(1)));
      } else {
        product = Product(product, count);
      }
    }
    return Scaled(product, ir::CostOfNative(native).ns_per_unit);
  }

  // Of a tensor, or of a string: its bytes.
  Count ExtentOf(ir::ValueId id, size_t axis) {
    const ir::Op& op = body_[id];
    const ir::Type& type = context_.type(op.type);
    const bool is_string = type.kind == ir::TypeKind::kString;
    if (!is_string && axis >= type.dims.size()) return {Number(1), true, true};
    if (!is_string && type.dims[axis] >= 0) return {Number(static_cast<double>(type.dims[axis])), true, true};
    if (const Leaves leaves = LeavesOf(id); !leaves.empty()) return {Double(leaves[1 + axis]), true, true};
    if (op.kind == OpKind::kBuild && axis < op.args.size()) return CountOf(op.args[axis]);
    return {};
  }

  // A text is as long as the strings in it, as far as the task reads them.
  Count BytesOfText(const ir::Op& text) {
    Count bytes;
    for (const ir::ValueId part : text.args) {
      if (context_.type(body_[part].type).kind != ir::TypeKind::kString) continue;
      const Count own = ExtentOf(part, 0);
      if (own.number == nullptr) continue;
      bytes.number = bytes.number == nullptr ? own.number : b_.CreateFAdd(bytes.number, own.number);
    }
    return Scaled(bytes, ir::kTextNsPerByte);
  }

  Count OwnTurns(const ir::Op& op, size_t axes) {
    Count turns;
    for (size_t i = 0; i < axes; ++i) {
      const Count extent = CountOf(op.args[i]);
      for (const ir::BlockId block : op.blocks) counts_[body_[block].params[i]] = MostOf(extent);  // an index is less
      if (!IsNumber(body_[op.args[i]].kind)) turns = Product(turns, extent);
    }
    return turns;
  }

  Count CountOf(ir::ValueId id) {
    if (const auto known = counts_.find(id); known != counts_.end()) return known->second;
    const Count count = ++looked_at_ > kMostLookedAt ? Count{nullptr, false} : Computed(id);
    counts_.emplace(id, count);
    return count;
  }

  Count Computed(ir::ValueId id) {
    const ir::Op& op = body_[id];
    if (IsNumber(op.kind)) return {Number(static_cast<double>(static_cast<int64_t>(op.imm))), true, true};
    if (op.kind == OpKind::kConvert) return Wrapped(CountOf(op.args[0]), context_.type(op.type).dtype);
    if (op.kind == OpKind::kCheckDivisor) return CountOf(op.args[0]);
    if (op.kind == OpKind::kCheckIndex || op.kind == OpKind::kRem) return MostOf(CountOf(op.args[1]));
    if (op.kind == OpKind::kMin) return Smaller(CountOf(op.args[0]), CountOf(op.args[1]));
    if (op.kind == OpKind::kMax) return Larger(CountOf(op.args[0]), CountOf(op.args[1]));
    if (op.kind == OpKind::kSelect) return Larger(CountOf(op.args[1]), CountOf(op.args[2]));
    if (op.kind == OpKind::kIf) return Larger(CountOf(body_[op.blocks[0]].result), CountOf(body_[op.blocks[1]].result));
    if (op.kind == OpKind::kLoad) return LargestOf(op);
    if (op.kind == OpKind::kAdd || op.kind == OpKind::kSub || op.kind == OpKind::kMul || op.kind == OpKind::kDiv) return Arithmetic(op);
    if (IsLength(op.kind) || op.kind == OpKind::kElement) {
      const Leaves leaves = op.args.empty() ? Leaves() : LeavesOf(op.args[0]);
      has_unknown_length_ |= leaves.empty();
      return {leaves.empty() ? nullptr : Double(leaves[op.kind == OpKind::kDim ? 1 + op.imm : 1]), true, !leaves.empty()};
    }
    const Leaves leaves = LeavesOf(id);
    const ir::DType dtype = context_.type(op.type).dtype;
    if (leaves.size() != 1 || ir::IsFloat(dtype) || dtype == ir::DType::kBool) return {nullptr, false};
    return {ir::IsSigned(dtype) ? Double(leaves[0]) : b_.CreateUIToFP(leaves[0], b_.getDoubleTy()), true, true};
  }

  // Any element of a vector of integers that the task reads: they are looked at, where they are few.
  Count LargestOf(const ir::Op& load) {
    const Leaves leaves = LeavesOf(load.args[0]);
    const ir::DType dtype = context_.type(load.type).dtype;
    if (leaves.empty() || load.args.size() != 2 || ir::IsFloat(dtype) || dtype == ir::DType::kBool) return {nullptr, false};
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::Function* f = before->getParent();
    auto* look = llvm::BasicBlock::Create(context_.llvm(), "look", f);
    auto* done = llvm::BasicBlock::Create(context_.llvm(), "looked", f);
    llvm::Value* unknown = b_.CreateSelect(b_.CreateIsNull(leaves[1]), Number(0), Number(std::ldexp(1.0, 63)));
    b_.CreateCondBr(b_.CreateICmpULT(b_.CreateSub(leaves[1], b_.getInt64(1)), b_.getInt64(kFewElements)), look, done);
    b_.SetInsertPoint(look);
    llvm::PHINode *index = b_.CreatePHI(b_.getInt64Ty(), 2), *most = b_.CreatePHI(b_.getDoubleTy(), 2);
    llvm::Type* type = context_.Memory(dtype);
    llvm::Value* element = b_.CreateLoad(type, b_.CreateInBoundsGEP(type, leaves[0], index));
    element = ir::IsSigned(dtype) ? Double(element) : b_.CreateUIToFP(element, b_.getDoubleTy());
    llvm::Value *larger = Larger(most, element), *next = b_.CreateAdd(index, b_.getInt64(1));
    b_.CreateCondBr(b_.CreateICmpULT(next, leaves[1]), look, done);
    b_.SetInsertPoint(done);
    index->addIncoming(b_.getInt64(0), before);
    index->addIncoming(next, look);
    most->addIncoming(Number(0), before);
    most->addIncoming(larger, look);
    llvm::PHINode* result = b_.CreatePHI(b_.getDoubleTy(), 2);
    result->addIncoming(unknown, before);
    result->addIncoming(larger, look);
    return {result, true};
  }

  // Lengths are not below 0, so that what is less or more by one that nobody knows is still held; what is times it is not.
  Count Arithmetic(const ir::Op& op) {
    const Count left = CountOf(op.args[0]), right = CountOf(op.args[1]);
    const bool are_known = left.number != nullptr && right.number != nullptr, are_exact = left.is_exact && right.is_exact;
    Count result{nullptr, left.is_bounded && right.is_bounded, are_exact};
    if (op.kind == OpKind::kAdd) {
      result.number = are_known ? b_.CreateFAdd(left.number, right.number) : Larger(left, right).number;
    } else if (op.kind == OpKind::kMul) {
      result.number = are_known ? b_.CreateFMul(left.number, right.number) : nullptr;
      result.is_bounded &= are_known;
    } else {
      result.number = left.number;
      if (are_known && right.is_exact)
        result.number = op.kind == OpKind::kSub ? b_.CreateFSub(left.number, right.number) : b_.CreateFDiv(left.number, right.number);
    }
    return Wrapped(result, context_.type(op.type).dtype);
  }

  static Count MostOf(Count count) {
    count.is_exact = false;
    return count;
  }

  // A number that its type does not hold becomes another one of it, perhaps the largest. The ends of 64 bits are no doubles: one of them
  // may stand for what is beyond.
  Count Wrapped(Count count, ir::DType dtype) {
    if (count.number == nullptr || ir::IsFloat(dtype) || dtype == ir::DType::kBool) return count;
    const auto bits = static_cast<int>(8 * ir::SizeOf(dtype)) - (ir::IsSigned(dtype) ? 1 : 0);
    const double end = std::ldexp(1.0, bits);
    llvm::Value* is_low = b_.CreateFCmpOLE(count.number, Number(ir::IsSigned(dtype) ? -end : -1));
    llvm::Value* is_high = b_.CreateFCmpOGE(count.number, Number(end));
    count.number = b_.CreateSelect(b_.CreateOr(is_low, is_high), Number(end), count.number);
    return count;
  }

  // Of what the task reads, and of parts of it; of everything else none.
  Leaves LeavesOf(ir::ValueId id) {
    const ir::Op& op = body_[id];
    if (op.kind == OpKind::kSlot) {
      const auto slot = static_cast<ir::SlotId>(op.imm);
      return std::find(task_.in.begin(), task_.in.end(), slot) == task_.in.end() ? Leaves() : LeavesOf(slot);
    }
    if (op.kind != OpKind::kField && op.kind != OpKind::kUnwrap) return {};
    const Leaves whole = LeavesOf(op.args[0]);
    if (whole.empty()) return {};
    const size_t first = op.kind == OpKind::kField ? FieldLeaf(context_.program().types, body_[op.args[0]].type, op.imm) : 0;
    const auto part = llvm::ArrayRef(whole).slice(first, LeafCount(context_.program().types, op.type));
    return Leaves(part.begin(), part.end());
  }

  const Leaves& LeavesOf(ir::SlotId slot) {
    Leaves& leaves = slots_[slot];
    if (!leaves.empty()) return leaves;
    const ir::Program& program = context_.program();
    const auto up = static_cast<uint64_t>(FramesUp(program, task_.region, program[slot].region));
    llvm::Value* frame = b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), frame_table_, up));
    leaves = LoadValue(context_, b_, program[slot].type, Offset(b_, frame, frames_.slots[static_cast<size_t>(slot)].offset));
    return leaves;
  }

  Context& context_;
  llvm::IRBuilder<>& b_;
  const FrameLayout& frames_;
  const ir::Task& task_;
  const ir::Body& body_;
  llvm::Value* const frame_table_;
  std::map<ir::ValueId, Count> counts_;
  std::map<ir::SlotId, Leaves> slots_;
  int looked_at_ = 0;
  bool has_unknown_length_ = false;  // found on the way
};

}  // namespace

llvm::Function* EmitWork(Context& context, const FrameLayout& frames, const ir::Task& task, const llvm::Twine& name) {
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I64(), {context.Ptr()}, false), name);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context.llvm(), "entry", f));
  Counter counter(context, b, frames, task, f->getArg(0));
  const Count turns = counter.Turns(ir::BlockId{0});
  llvm::Value* units = turns.number == nullptr ? counter.Sizes() : turns.number;
  if (turns.number != nullptr && counter.NeedsSizes()) units = counter.Larger(units, counter.Sizes());
  if (!turns.is_bounded) units = counter.Larger(units, counter.Number(kNotForALoopNs / task.cost_ns_per_unit));
  b.CreateRet(b.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {b.getInt64Ty(), b.getDoubleTy()}, {units}));
  return f;
}

}  // namespace wf::lower
