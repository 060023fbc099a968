#include "compiler/lower/lanes.h"

#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"
#include "compiler/lower/math.h"
#include "compiler/lower/scalar.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

namespace {

// By ValueId; 0: it does not depend on the index.
using Steps = std::vector<std::optional<int64_t>>;

std::optional<int64_t> StepOf(const Steps& steps, ir::ValueId id) { return steps[static_cast<size_t>(id)]; }

std::optional<int64_t> StepThrough(const ir::Body& body, const Steps& steps, const ir::Op& op) {
  if (op.kind == OpKind::kCheckIndex)
    return StepOf(steps, op.args[0]) == 1 && StepOf(steps, op.args[1]) == 0 ? std::optional<int64_t>(1) : std::nullopt;
  if (op.kind != OpKind::kAdd && op.kind != OpKind::kSub && op.kind != OpKind::kMul) return std::nullopt;
  const auto a = StepOf(steps, op.args[0]), c = StepOf(steps, op.args[1]);
  if (!a || !c || std::abs(*a) > kMaxStride || std::abs(*c) > kMaxStride) return std::nullopt;
  if (op.kind == OpKind::kAdd) return *a + *c;
  if (op.kind == OpKind::kSub) return *a - *c;
  const ir::Op& factor = body[op.args[*a == 0 ? 0 : 1]];
  if (factor.kind != OpKind::kScalar || factor.imm > kMaxStride) return std::nullopt;
  return static_cast<int64_t>(factor.imm) * (*a == 0 ? *c : *a);
}

// Elements from one turn's to the next, when a single axis runs and the extents inside it are known; the strides are then, too, unless rows
// are padded.
std::optional<int64_t> LoadStride(const Steps& steps, const ir::Op& op, const ir::Type& tensor) {
  std::optional<int64_t> stride;
  int64_t inner = 1;
  for (size_t axis = tensor.dims.size(); axis-- > 0;) {
    const auto step = StepOf(steps, op.args[1 + axis]);
    if (step != 0) {
      if (stride || !step || *step < 1 || inner < 1 || *step * inner > kMaxStride) return std::nullopt;
      stride = *step * inner;
    }
    inner = tensor.dims[axis] < 0 || inner < 0 || tensor.dims[axis] > kMaxStride ? -1 : inner * tensor.dims[axis];
  }
  return stride;
}

bool BlocksUse(const ir::Body& body, const ir::Op& op, const std::vector<bool>& varies) {
  for (const ir::BlockId block : op.blocks) {
    if (const ir::ValueId result = body[block].result; result != ir::ValueId::kNone && varies[static_cast<size_t>(result)]) return true;
    for (const ir::ValueId id : body[block].ops) {
      for (const ir::ValueId arg : body[id].args) {
        if (varies[static_cast<size_t>(arg)]) return true;
      }
      if (BlocksUse(body, body[id], varies)) return true;
    }
  }
  return false;
}

bool TakesOps(Context& context, const ir::Body& body, const ir::Block& block, bool takes_columns, std::vector<bool>& varies);

// Does it choose one arm for all lanes? Arms hold no checks: they would stop lanes of what comes behind them.
bool TakesChoice(Context& context, const ir::Body& body, const ir::Op& op, std::vector<bool>& varies) {
  if (op.kind != OpKind::kIf || varies[static_cast<size_t>(op.args[0])] || op.type == ir::TypeId::kNone) return false;
  if (context.type(op.type).kind != ir::TypeKind::kScalar) return false;
  return std::all_of(op.blocks.begin(), op.blocks.end(), [&](ir::BlockId arm) {
    const auto is_check = [&](ir::ValueId id) {
      const OpKind kind = body[id].kind;
      return kind == OpKind::kCheckIndex || kind == OpKind::kCheckDivisor || kind == OpKind::kStickyIf;
    };
    const std::vector<ir::ValueId>& ops = body[arm].ops;
    return std::none_of(ops.begin(), ops.end(), is_check) && TakesOps(context, body, body[arm], /*takes_columns=*/false, varies);
  });
}

// Sums and products: of floats in the lanes' order, over more elements than are written out.
bool TakesColumns(Context& context, const ir::Body& body, const ir::Op& op, std::vector<bool>& varies) {
  if (op.kind != OpKind::kReduce || varies[static_cast<size_t>(op.args[0])]) return false;
  const ir::DType dtype = context.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  if (dtype == ir::DType::kBool || (kind != ir::ReduceKind::kSum && kind != ir::ReduceKind::kProd)) return false;
  const ir::Op& count = body[op.args[0]];
  if (ir::IsFloat(dtype) && count.kind == OpKind::kScalar && count.imm <= ir::ReduceLanes(dtype)) return false;
  const ir::Block& block = body[op.blocks[0]];
  return TakesOps(context, body, block, /*takes_columns=*/false, varies) && varies[static_cast<size_t>(block.result)];
}

bool TakesOps(Context& context, const ir::Body& body, const ir::Block& block, bool takes_columns, std::vector<bool>& varies) {
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body[id];
    if (BlocksUse(body, op, varies)) {
      if (!TakesChoice(context, body, op, varies) && !(takes_columns && TakesColumns(context, body, op, varies))) return false;
      varies[static_cast<size_t>(id)] = true;
      continue;
    }
    bool any = false;
    for (const ir::ValueId arg : op.args) any |= varies[static_cast<size_t>(arg)];
    if (!any) continue;
    const bool is_check = op.kind == OpKind::kCheckIndex || op.kind == OpKind::kCheckDivisor || op.kind == OpKind::kStickyIf;
    const bool is_load = op.kind == OpKind::kLoad && !varies[static_cast<size_t>(op.args[0])];
    const bool is_arithmetic = ir::IsScalarArithmetic(op.kind) || ir::IsMath(op.kind);
    if (!op.blocks.empty() || !(is_arithmetic || is_check || is_load)) return false;
    if (is_arithmetic && context.type(op.type).kind != ir::TypeKind::kScalar) return false;
    varies[static_cast<size_t>(id)] = true;
  }
  return true;
}

// What Inspect finds out on the way.
struct Findings {
  bool is_flat;  // asked, not found
  Steps steps;
  std::vector<bool> is_table;  // by ValueId: an i64 that is loaded, lane beside lane
  bool has_floats = false;
  llvm::SmallVector<ir::ValueId, 8> scattered, gathered;
  uint64_t narrowest = 8, widest = 1;
};

// Lanes read one by one, at places that a table gives.
bool IsGather(const Findings& found, const ir::Op& op) {
  bool has_table = false;
  for (size_t i = 1; i < op.args.size(); ++i) {
    const bool is_table = found.is_table[static_cast<size_t>(op.args[i])];
    if (!is_table && !StepOf(found.steps, op.args[i])) return false;
    has_table |= is_table;
  }
  return has_table;
}

// A table that serves as an index only is never a vector.
void CountTables(const ir::Op& op, Findings& found) {
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (found.is_table[static_cast<size_t>(op.args[i])] && !(op.kind == OpKind::kLoad && i > 0)) found.widest = 8;
  }
}

bool InspectLoad(Context& context, const ir::Body& body, ir::ValueId id, int64_t longest, Findings& found) {
  const ir::Op& op = body[id];
  const auto is_param = [&](ir::ValueId index) { return body[index].kind == OpKind::kParam; };
  if (found.is_flat && !std::all_of(op.args.begin() + 1, op.args.end(), is_param))
    return false;  // at a place that was read, or computed of such
  const auto stride = found.is_flat ? std::optional<int64_t>(1) : LoadStride(found.steps, op, context.type(body[op.args[0]].type));
  const bool is_near = stride && *stride <= longest;
  const bool is_gather = !is_near && longest > 1 && IsGather(found, op);
  if (!is_near && !is_gather) return false;
  const bool is_run = found.is_flat || (is_near && *stride == 1 && StepOf(found.steps, op.args.back()) != 0);
  if (!is_run) found.scattered.push_back(id);
  if (is_gather) found.gathered.push_back(id);
  const ir::DType dtype = context.type(op.type).dtype;
  found.is_table[static_cast<size_t>(id)] = dtype == ir::DType::kI64 && stride == 1;
  found.narrowest = std::min<uint64_t>(found.narrowest, ir::SizeOf(dtype));
  return true;
}

bool InspectOps(Context& context, const ir::Body& body, const ir::Block& block, int64_t longest, Findings& found) {
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body[id];
    CountTables(op, found);
    if (op.kind == OpKind::kReduce) {
      const ir::Block& inner = body[op.blocks[0]];
      if (!InspectOps(context, body, inner, /*longest=*/1, found)) return false;
      if (StepOf(found.steps, inner.result) == 0) continue;
      found.steps[static_cast<size_t>(id)] = std::nullopt;
      found.has_floats = true;
      continue;
    }
    bool is_uniform = std::all_of(op.args.begin(), op.args.end(), [&](ir::ValueId arg) { return StepOf(found.steps, arg) == 0; });
    for (const ir::BlockId arm : op.kind == OpKind::kIf ? op.blocks : std::vector<ir::BlockId>()) {
      if (!InspectOps(context, body, body[arm], longest, found)) return false;
      is_uniform &= StepOf(found.steps, body[arm].result) == 0;
    }
    if (is_uniform || op.type == ir::TypeId::kNone) continue;
    if (op.kind == OpKind::kLoad && !InspectLoad(context, body, id, longest, found)) return false;
    std::optional<int64_t>& own = found.steps[static_cast<size_t>(id)];
    own = StepThrough(body, found.steps, op);
    if (own || found.is_table[static_cast<size_t>(id)]) continue;
    const ir::DType dtype = context.type(op.type).dtype;
    found.has_floats |= dtype == ir::DType::kF32 || dtype == ir::DType::kF64;
    found.widest = std::max<uint64_t>(found.widest, ir::SizeOf(dtype));
  }
  return true;
}

}  // namespace

bool BodyEmitter::LaneBlock::Takes(Context& context, const ir::Body& body, const Shape& shape) {
  const ir::Block& block = body[shape.block];
  std::vector<bool> varies(body.ops.size());
  varies[static_cast<size_t>(shape.index)] = true;
  if (shape.is_flat) {
    for (const ir::ValueId param : block.params) varies[static_cast<size_t>(param)] = true;
  }
  return TakesOps(context, body, block, shape.takes_columns, varies);
}

BodyEmitter::LaneBlock::Steps BodyEmitter::LaneBlock::StepsOf(const ir::Body& body, const ir::Block& block, ir::ValueId index) {
  Steps steps(body.ops.size(), 0);
  steps[static_cast<size_t>(index)] = 1;
  for (const ir::ValueId id : block.ops) {
    const ir::Op& op = body[id];
    const bool is_same = std::all_of(op.args.begin(), op.args.end(), [&](ir::ValueId arg) { return StepOf(steps, arg) == 0; });
    if (!is_same) steps[static_cast<size_t>(id)] = StepThrough(body, steps, op);
  }
  return steps;
}

BodyEmitter::LaneBlock::Row BodyEmitter::LaneBlock::Inspect(Context& context, const ir::Body& body, const Shape& shape) {
  if (!Takes(context, body, shape)) return {};
  Findings found{.is_flat = shape.is_flat, .steps = Steps(body.ops.size(), 0), .is_table = std::vector<bool>(body.ops.size())};
  found.steps[static_cast<size_t>(shape.index)] = 1;
  const ir::Block& block = body[shape.block];
  if (!InspectOps(context, body, block, kMaxStride, found)) return {};
  if (found.is_table[static_cast<size_t>(block.result)]) found.widest = 8;
  const bool is_worth_it = found.has_floats && !StepOf(found.steps, block.result);
  return {is_worth_it, std::move(found.scattered), std::move(found.gathered), found.narrowest, found.widest};
}

BodyEmitter::LaneBlock::LaneBlock(BodyEmitter& outer, const Shape& shape, Value* first, Value* live)
    : o_(outer), shape_(shape), b_(outer.b_), n_(shape.lanes), first_(first), count_(live) {
  if (live == nullptr) return;
  Value* numbers = b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), n_));
  mask_ = b_.CreateICmpULT(numbers, b_.CreateVectorSplat(n_, live), "live");
}

Value* BodyEmitter::LaneBlock::Mask() {
  return mask_ != nullptr ? mask_ : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(n_), b_.getTrue());
}

Value* BodyEmitter::LaneBlock::Emit() {
  Begin();
  EmitOps(o_.body_[shape_.block]);
  return Result();
}

void BodyEmitter::LaneBlock::Begin() {
  const ir::Block& block = o_.body_[shape_.block];
  lanes_[static_cast<uint32_t>(shape_.index)] = {first_, b_.getInt64(1), nullptr, nullptr};
  if (shape_.is_flat) {
    for (const ir::ValueId param : block.params) lanes_[static_cast<uint32_t>(param)] = {first_, b_.getInt64(1), nullptr, nullptr};
  }
}

void BodyEmitter::LaneBlock::EmitOne(ir::ValueId id) {
  if (IsVarying(o_.body_[id])) {
    EmitVarying(id);
  } else {
    o_.EmitOp(id);
  }
}

// What it adds to, vectors of outer values included, is not there after the loop in which the block stands.
Value* BodyEmitter::LaneBlock::EmitTerm(const ir::Block& block) {
  const auto outer = lanes_;
  Value* const outer_mask = mask_;
  EmitOps(block);
  Value* term = Vector(block.result);
  lanes_ = outer;
  mask_ = outer_mask;
  return term;
}

void BodyEmitter::LaneBlock::Assume(ir::ValueId comparison, bool value) {
  lanes_[static_cast<uint32_t>(comparison)].vector = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(n_), b_.getInt1(value));
}

bool BodyEmitter::LaneBlock::IsVarying(const ir::Op& op) const {
  const auto varies = [&](ir::ValueId arg) { return Varies(arg); };
  if (std::any_of(op.args.begin(), op.args.end(), varies)) return true;
  return std::any_of(op.blocks.begin(), op.blocks.end(), [&](ir::BlockId id) {
    const ir::Block& inner = o_.body_[id];
    return (inner.result != ir::ValueId::kNone && Varies(inner.result)) ||
           std::any_of(inner.ops.begin(), inner.ops.end(), [&](ir::ValueId op_inside) { return IsVarying(o_.body_[op_inside]); });
  });
}

void BodyEmitter::LaneBlock::EmitOps(const ir::Block& block) {
  const Arms arms(o_.body_, block);
  for (const ir::ValueId id : block.ops) {
    if (Varies(id) || arms.Has(id)) continue;  // assumed, or for later
    for (const Arms::Arm& arm : arms.Reached(id)) EmitArm(arms, arm);
    EmitOne(id);
  }
}

// Computes what only the arm of a selection reads, if any lane takes it.
void BodyEmitter::LaneBlock::EmitArm(const Arms& arms, const Arms::Arm& arm) {
  Value* taken = Vector(arm.condition);
  if (!arm.is_then) taken = b_.CreateNot(taken);
  Block* before = b_.GetInsertBlock();
  Block* some = Block::Create(o_.context_.llvm(), "some", o_.function_);
  Block* none = Block::Create(o_.context_.llvm(), "none", o_.function_);
  b_.CreateCondBr(b_.CreateOrReduce(taken), some, none);
  b_.SetInsertPoint(some);
  const auto outer = lanes_;
  for (const ir::ValueId id : arm.ops) {
    for (const Arms::Arm& inner : arms.Reached(id)) EmitArm(arms, inner);
    EmitVarying(id);
  }
  llvm::SmallVector<Value*, 4> results;
  for (const ir::ValueId id : arm.results) results.push_back(Vector(id));
  lanes_ = outer;
  Block* some_end = b_.GetInsertBlock();
  b_.CreateBr(none);
  b_.SetInsertPoint(none);
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(results[i]->getType(), 2);
    phi->addIncoming(results[i], some_end);
    phi->addIncoming(llvm::Constant::getNullValue(phi->getType()), before);
    lanes_[static_cast<uint32_t>(arm.results[i])].vector = phi;
  }
}

// One arm for all lanes: what is known, as that of a channel of pixels is, needs no branch.
Value* BodyEmitter::LaneBlock::Choose(const ir::Op& op) {
  const auto outer = lanes_;
  const auto emit_arm = [&](size_t arm) {
    const ir::Block& block = o_.body_[op.blocks[arm]];
    EmitOps(block);
    Value* result = Vector(block.result);
    lanes_ = outer;
    return result;
  };
  Value* condition = o_.Scalar(op.args[0]);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known != nullptr) return emit_arm(known->isOne() ? 0 : 1);
  Value* results[2];
  Block* ends[2];
  const auto arm_of = [&](size_t arm) {
    return [&, arm] {
      results[arm] = emit_arm(arm);
      ends[arm] = b_.GetInsertBlock();
    };
  };
  o_.EmitEither(condition, arm_of(0), arm_of(1));
  llvm::PHINode* phi = b_.CreatePHI(results[0]->getType(), 2);
  for (size_t arm = 0; arm < 2; ++arm) phi->addIncoming(results[arm], ends[arm]);
  return phi;
}

// A reduction for each lane of the row. Its own lanes, whose order fixes the bits (reduce.cc), lie below each other in memory, a vector
// each: what would walk down a column of a matrix for one element reads whole rows for all.
Value* BodyEmitter::LaneBlock::ReduceColumns(const ir::Op& op) {
  const ir::DType dtype = o_.context_.type(op.type).dtype;
  const auto kind = static_cast<ir::ReduceKind>(op.imm);
  const size_t depth = ir::IsFloat(dtype) ? ir::ReduceLanes(dtype) : 1;  // the order of integers is free
  const ir::Block& block = o_.body_[op.blocks[0]];
  llvm::Constant* identity = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(n_), Identity(b_, kind, dtype));
  llvm::Type* type = identity->getType();
  llvm::AllocaInst* sums = o_.Local(llvm::ArrayType::get(type, depth), "columns");
  const auto place = [&](Value* lane) { return b_.CreateInBoundsGEP(type, sums, lane); };
  for (size_t lane = 0; lane < depth; ++lane) b_.CreateStore(identity, place(b_.getInt64(lane)));
  o_.For(o_.NotNegative(o_.Scalar(op.args[0])), n_ * o_.WorkToLookAt(op.args[0], o_.WorkOf(op.blocks[0])), [&](Value* index) {
    o_.values_[static_cast<size_t>(block.params[0])] = {index};
    Value* element = EmitTerm(block);
    Value* address = place(b_.CreateAnd(index, b_.getInt64(depth - 1)));
    b_.CreateStore(EmitReduceStep(b_, kind, dtype, b_.CreateLoad(type, address), element), address);
  });
  std::vector<Value*> parts;
  for (size_t lane = 0; lane < depth; ++lane) parts.push_back(b_.CreateLoad(type, place(b_.getInt64(lane))));
  for (size_t half = depth / 2; half >= 1; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) parts[lane] = EmitReduceStep(b_, kind, dtype, parts[lane], parts[lane + half]);
  }
  return parts[0];
}

BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::Get(ir::ValueId id) const {
  const auto found = lanes_.find(static_cast<uint32_t>(id));
  return found != lanes_.end() ? found->second : Lane{o_.Scalar(id), nullptr, nullptr, nullptr};
}

Value* BodyEmitter::LaneBlock::Vector(ir::ValueId id) {
  const Lane lane = Get(id);
  if (lane.vector != nullptr) return lane.vector;
  Value* vector = b_.CreateVectorSplat(n_, lane.base);
  if (lane.step == nullptr) return vector;
  Value* numbers = b_.CreateStepVector(vector->getType());
  vector = b_.CreateAdd(vector, b_.CreateMul(numbers, b_.CreateVectorSplat(n_, lane.step)));
  lanes_[static_cast<uint32_t>(id)].vector = vector;
  return vector;
}

// i64 sums and products that stay `base + step * lane`.
bool BodyEmitter::LaneBlock::TakeAffine(const ir::Op& op, Lane* result) {
  const ir::Type& type = o_.context_.type(op.type);
  if (type.dtype != ir::DType::kI64 || (op.kind != OpKind::kAdd && op.kind != OpKind::kSub && op.kind != OpKind::kMul)) return false;
  const Lane a = Get(op.args[0]), c = Get(op.args[1]);
  if (a.base == nullptr || c.base == nullptr) return false;
  Value* zero = b_.getInt64(0);
  Value *a_step = a.step == nullptr ? zero : a.step, *c_step = c.step == nullptr ? zero : c.step;
  switch (op.kind) {
    case OpKind::kAdd:
      *result = {b_.CreateAdd(a.base, c.base), b_.CreateAdd(a_step, c_step), nullptr};
      return true;
    case OpKind::kSub:
      *result = {b_.CreateSub(a.base, c.base), b_.CreateSub(a_step, c_step), nullptr};
      return true;
    default:
      break;
  }
  if (a.step != nullptr && c.step != nullptr) return false;
  Value* factor = a.step == nullptr ? a.base : c.base;
  *result = {b_.CreateMul(a.base, c.base), b_.CreateMul(a.step == nullptr ? c_step : a_step, factor), nullptr};
  return true;
}

// The index that runs against what does not change with it: lane numbers against their distance, in 32 bits and not in 64. Null: neither.
Value* BodyEmitter::LaneBlock::CompareIndex(const ir::Op& op) {
  const bool is_equality = op.kind == OpKind::kEq || op.kind == OpKind::kNe;
  if (!is_equality && op.kind != OpKind::kLt && op.kind != OpKind::kLe) return nullptr;
  const bool is_first = op.args[0] == shape_.index;
  if (is_first == (op.args[1] == shape_.index) || Varies(op.args[is_first ? 1 : 0])) return nullptr;
  Value *least = b_.getInt64(static_cast<uint64_t>(-1)), *most = b_.getInt64(n_);
  Value* other = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, o_.Scalar(op.args[is_first ? 1 : 0]), least);
  Value* distance = b_.CreateSub(other, first_, "distance", false, true);
  distance = is_equality
                 ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, distance, most)
                 : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, least), most);
  Value* numbers = b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt32Ty(), n_));
  Value* splat = b_.CreateVectorSplat(n_, b_.CreateTrunc(distance, b_.getInt32Ty()));
  return EmitScalarOp(b_, op.kind, ir::DType::kI32, ir::DType::kBool,
                      is_first ? llvm::ArrayRef<Value*>{numbers, splat} : llvm::ArrayRef<Value*>{splat, numbers});
}

// Floats against one that is the same in all lanes. Null: something else.
Value* BodyEmitter::LaneBlock::MinMaxOfSame(const ir::Op& op) {
  if ((op.kind != OpKind::kMin && op.kind != OpKind::kMax) || !ir::IsFloat(o_.context_.type(op.type).dtype)) return nullptr;
  const bool is_first = !Varies(op.args[0]);
  if (!is_first && Varies(op.args[1])) return nullptr;
  return EmitMinMaxOfSame(b_, op.kind == OpKind::kMax, o_.Scalar(op.args[is_first ? 0 : 1]), Vector(op.args[is_first ? 1 : 0]));
}

void BodyEmitter::LaneBlock::EmitVarying(ir::ValueId id) {
  const ir::Op& op = o_.body_[id];
  Lane lane;
  if (op.kind == OpKind::kReduce) {
    lane.vector = ReduceColumns(op);
  } else if (op.kind == OpKind::kIf) {
    lane.vector = Choose(op);
  } else if (op.kind == OpKind::kLoad) {
    lane = Load(op);
  } else if (op.kind == OpKind::kCheckIndex) {
    lane = CheckIndex(op);
  } else if (op.kind == OpKind::kCheckDivisor) {
    lane = CheckDivisor(op);
  } else if (op.kind == OpKind::kStickyIf) {
    SetSticky(static_cast<int>(op.imm), Vector(op.args[0]));
    return;
  } else if (Value* compared = CompareIndex(op); compared != nullptr) {
    lane.vector = compared;
  } else if (Value* bounded = MinMaxOfSame(op); bounded != nullptr) {
    lane.vector = bounded;
  } else if (!TakeAffine(op, &lane)) {
    llvm::SmallVector<Value*, 3> args;
    for (const ir::ValueId arg : op.args) args.push_back(Vector(arg));
    const ir::DType dtype = o_.TypeOf(op.args[op.kind == OpKind::kSelect ? 1 : 0]).dtype;
    lane.vector = ir::IsMath(op.kind) ? EmitMathCall(o_.context_, b_, op.kind, dtype, args)
                                      : EmitScalarOp(b_, op.kind, dtype, o_.context_.type(op.type).dtype, args);
  }
  lanes_[static_cast<uint32_t>(id)] = lane;
}

void BodyEmitter::LaneBlock::SetSticky(int code, Value* lanes) {
  if (count_ != nullptr) {  // lanes past the end do not count, whatever stands in them
    Value* numbers = b_.CreateStepVector(llvm::FixedVectorType::get(b_.getInt64Ty(), n_));
    lanes = b_.CreateAnd(lanes, b_.CreateICmpULT(numbers, b_.CreateVectorSplat(n_, count_)));
  }
  o_.SetSticky(code, b_.CreateOrReduce(lanes));
}

// A run of consecutive indices needs two comparisons, and stays a run. When it does not fit, the task has failed already and the lanes only
// have to stay out of other memory: nothing more is loaded in this turn.
BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::CheckIndex(const ir::Op& op) {
  const Lane index = Get(op.args[0]), extent = Get(op.args[1]);
  const bool is_run = index.base != nullptr && index.step == b_.getInt64(1) && extent.base != nullptr && extent.step == nullptr;
  if (!is_run) {
    Value* fits = b_.CreateICmpULT(Vector(op.args[0]), Vector(op.args[1]));
    SetSticky(code::kIndex, b_.CreateNot(fits));
    mask_ = b_.CreateAnd(Mask(), fits);
    Value* vector = Vector(op.args[0]);
    return {nullptr, nullptr, b_.CreateSelect(fits, vector, llvm::Constant::getNullValue(vector->getType()))};
  }
  Value* count = count_ == nullptr ? b_.getInt64(n_) : count_;
  Value* starts = b_.CreateICmpULT(index.base, extent.base);
  Value* ends = b_.CreateICmpULE(count, b_.CreateSub(extent.base, index.base));
  Value* fits = b_.CreateSelect(starts, ends, b_.getFalse());
  o_.SetSticky(code::kIndex, b_.CreateNot(fits));
  mask_ = b_.CreateAnd(Mask(), b_.CreateVectorSplat(n_, fits));
  return {b_.CreateSelect(fits, index.base, b_.getInt64(0)), index.step, nullptr};
}

BodyEmitter::LaneBlock::Lane BodyEmitter::LaneBlock::CheckDivisor(const ir::Op& op) {
  Value* divisor = Vector(op.args[0]);
  Value* is_zero = b_.CreateICmpEQ(divisor, llvm::Constant::getNullValue(divisor->getType()));
  SetSticky(code::kDivisor, is_zero);
  return {nullptr, nullptr, b_.CreateSelect(is_zero, llvm::ConstantInt::get(divisor->getType(), 1), divisor)};
}

}  // namespace wf::lower
