#include "compiler/ir/interpret.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "compiler/ir/body_run.h"
#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/told.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::ir {
namespace {

uint64_t StepsOfRemainder(DType dtype, uint64_t a, uint64_t b) {
  const double x = F64Of(ConvertScalar(dtype, DType::kF64, a)), y = F64Of(ConvertScalar(dtype, DType::kF64, b));
  if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return 0;
  return static_cast<uint64_t>(std::max(std::ilogb(x) - std::ilogb(y), 0)) / kTurnsOfAStep;
}

}  // namespace

Outcome Interpreter::RunBody(const Body& body, std::span<const Value> slots, uint64_t element) {
  return BodyRun(*this, body, slots, element).Run();
}

std::string_view StickyText(int32_t code) {
  switch (code) {
#define PART(number, constant, text) \
  case code::constant:               \
    return text;
#include "runtime/base/error_codes.def"
    default:
      WF_CHECK(false, code);
      return "";
  }
}

Outcome BodyRun::Run() {
  if (body_.empty()) return {};
  if (!RunBlock(BlockId{0}) || !CheckSticky()) return {.value = {}, .failure = failure_};
  const ValueId result = body_.blocks[0].result;
  if (result == ValueId::kNone) return {};
  return {.value = At(result), .failure = {}};
}

bool BodyRun::Fail(int32_t code, std::string message, uint32_t line) {
  if (!failure_) failure_ = Failure{.code = code, .message = std::move(message), .line = line};
  return false;
}

bool BodyRun::CheckSticky() {
  if (sticky_ == 0) return true;
  const bool is_divisor = body_.divisor_first && (sticky_ >> kDivisorBit & 1) != 0;
  const int32_t code = is_divisor ? code::kDivisor : kFirstSticky + std::countr_zero(sticky_);
  return Fail(code, std::string(StickyText(code)), 0);
}

// What leads out of a value: a checked index before an empty list, a dimension that differs. The flag that said so fails the run; without
// one the program is not what was checked.
bool BodyRun::Holds(bool holds, uint32_t line) {
  if (holds) return true;
  WF_CHECK(sticky_ != 0, line);
  return CheckSticky();
}

bool BodyRun::Spend(uint64_t bytes) {
  if (bytes > owner_.limits_.max_bytes || owner_.bytes_ > owner_.limits_.max_bytes - bytes) {
    owner_.is_spent_ = true;
    return Fail(code::kMemoryCap, "more than " + std::to_string(owner_.limits_.max_bytes >> 20) + " MiB of values", 0);
  }
  owner_.bytes_ += bytes;
  return Step(0, bytes / kBytesOfAStep);
}

bool BodyRun::SetItems(ValueId id, std::vector<Value> items) {
  At(id) = Value::Items(std::move(items));
  return Step(0, kStepsOfItems);
}

bool BodyRun::SetText(ValueId id, std::string text) {
  if (!Spend(text.size())) return false;
  At(id) = Value::Text(std::move(text));
  return Step(0, kStepsOfAText);
}

bool BodyRun::SetTensor(ValueId id, std::vector<int64_t> dims, std::string elements) {
  At(id) = Value::Tensor(std::move(dims), std::move(elements));
  return true;
}

bool BodyRun::Step(uint32_t line, uint64_t count) {
  owner_.steps_ += count;
  if (owner_.steps_ <= owner_.limits_.max_steps) return true;
  owner_.is_spent_ = true;
  return Fail(kOutOfSteps, "more than " + std::to_string(owner_.limits_.max_steps) + " steps", line);
}

const BodyRun::Code& BodyRun::CodeOf(BlockId block) {
  std::unique_ptr<const Code>& made = code_[static_cast<size_t>(block)];
  if (made) return *made;
  auto code = std::make_unique<Code>();
  uint64_t steps = 0;
  for (const ValueId id : body_[block].ops) {
    const Op& op = body_[id];
    ++steps;
    if (InfoOf(op.kind).group == OpGroup::kLeaf) {
      SetLeaf(id, op);
    } else if (const auto scalar = IsLongRemainder(id) ? std::nullopt : ScalarOpFor(program_.types, body_, id)) {
      code->scalars.push_back(*scalar);
    } else {
      code->pieces.push_back({static_cast<uint32_t>(code->scalars.size()), std::exchange(steps, 0), id});
    }
  }
  if (steps != 0) code->pieces.push_back({static_cast<uint32_t>(code->scalars.size()), steps, ValueId::kNone});
  made = std::move(code);
  return *made;
}

// A step by itself: a loop over a block without operations ends too.
bool BodyRun::RunBlock(BlockId block) {
  const Code& code = CodeOf(block);
  Value* const values = values_.data();
  if (!Step(0)) return false;
  const ScalarOp* scalar = code.scalars.data();
  for (const Piece& piece : code.pieces) {
    if (!Step(piece.last == ValueId::kNone ? 0 : body_[piece.last].place.line, piece.steps)) return false;
    for (const ScalarOp* const end = code.scalars.data() + piece.end; scalar != end; ++scalar) {
      values[scalar->out].bits = scalar->Of(values[scalar->a].bits, values[scalar->b].bits, values[scalar->c].bits);
    }
    if (piece.last != ValueId::kNone && !Execute(piece.last)) return false;
  }
  return true;
}

bool BodyRun::Execute(ValueId id) {
  const Op& op = body_[id];
  switch (InfoOf(op.kind).group) {
    case OpGroup::kLeaf:
      break;  // set when the block was first run
    case OpGroup::kIf:
      return RunIf(id, op);
    case OpGroup::kScalar:
    case OpGroup::kMath:
      return RunScalar(id, op);
    case OpGroup::kTensor:
      return RunTensor(id, op);
    case OpGroup::kRecord:
      return RunRecord(id, op);
    case OpGroup::kList:
      return RunList(id, op);
    case OpGroup::kText:
      return RunText(id, op);
    case OpGroup::kEffect:
      return RunEffect(id, op);
  }
  return Unknown(op);
}

// How long it takes depends on its operands.
bool BodyRun::IsLongRemainder(ValueId id) const { return body_[id].kind == OpKind::kRem && IsFloat(TypeOf(id).dtype); }

bool BodyRun::RunScalar(ValueId id, const Op& op) {
  const auto arg = [&](size_t i) { return i < op.args.size() ? Arg(op, i).bits : 0; };
  if (IsLongRemainder(id) && !Step(op.place.line, StepsOfRemainder(TypeOf(id).dtype, arg(0), arg(1)))) return false;
  if (IsMath(op.kind)) {
    Set(id, owner_.Math(op.kind, TypeOf(id).dtype, arg(0), arg(1)));  // and its steps, which the next one looks at
  } else {
    const size_t typed = op.kind == OpKind::kSelect ? 1 : 0;
    Set(id, EvaluateScalar(op.kind, TypeOf(op.args[typed]).dtype, arg(0), arg(1), arg(2)));
  }
  return true;
}

bool BodyRun::Unknown(const Op& op) {
  WF_CHECK(false, InfoOf(op.kind).name);
  return false;
}

// What reads nothing is the same each time.
void BodyRun::SetLeaf(ValueId id, const Op& op) {
  switch (op.kind) {
    case OpKind::kParam:
      return;
    case OpKind::kScalar:
    case OpKind::kExtent:
      return Set(id, op.imm);
    case OpKind::kConstant:
      At(id) = program_.constants[op.imm].value;
      return;
    case OpKind::kSlot:
      WF_CHECK(op.imm < slots_.size(), op.imm, slots_.size());
      At(id) = slots_[op.imm];
      return;
    case OpKind::kElement:
      return Set(id, element_);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define LEAF_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  Unknown(op);
}

void BodyRun::Copy(ValueId from, ValueId to) {
  if (TypeOf(from).kind == TypeKind::kScalar) {
    Set(to, At(from).bits);
  } else {
    At(to) = Value(At(from));
  }
}

bool BodyRun::RunIf(ValueId id, const Op& op) {
  const BlockId taken = op.blocks[Arg(op, 0).bits ? 0 : 1];
  if (!RunBlock(taken)) return false;
  if (op.type == TypeId::kNone) return true;
  Copy(body_[taken].result, id);
  return true;
}

// Elements of a shape; nothing where they are more than a number holds.
static std::optional<int64_t> ElementsOf(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  for (const int64_t dim : dims)
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  return product;
}

bool BodyRun::RunTensor(ValueId id, const Op& op) {
  switch (op.kind) {
    case OpKind::kBuild:
      return RunBuild(id, op);
    case OpKind::kLoad:
      return RunLoad(id, op);
    case OpKind::kDim:
      Set(id, static_cast<uint64_t>(Arg(op, 0).dims[op.imm]));
      return true;
    case OpKind::kReshape: {
      std::vector<int64_t> dims;
      for (size_t i = 1; i < op.args.size(); ++i) dims.push_back(Integer(op.args[i]));
      if (!Holds(ElementsOf(dims) == ElementsOf(Arg(op, 0).dims), op.place.line)) return false;
      Value reshaped = Arg(op, 0);
      reshaped.dims = std::move(dims);
      At(id) = std::move(reshaped);
      return true;
    }
    case OpKind::kReduce:
      return RunReduce(id, op);
    case OpKind::kFold:
      return RunFold(id, op);
    case OpKind::kCheckIndex: {
      const int64_t index = Integer(op.args[0]), extent = Integer(op.args[1]);
      const bool is_in = index >= 0 && index < extent;
      if (!is_in) sticky_ |= 1;
      Set(id, static_cast<uint64_t>(is_in ? index : 0));
      return true;
    }
    case OpKind::kCheckDivisor:
      if (Arg(op, 0).bits == 0) sticky_ |= 2;
      Set(id, Arg(op, 0).bits == 0 ? 1 : Arg(op, 0).bits);
      return true;
    case OpKind::kStickyIf:
      if (Arg(op, 0).bits) sticky_ |= 1u << (op.imm - kFirstSticky);
      return true;
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TENSOR_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

bool BodyRun::RunBuild(ValueId id, const Op& op) {
  const BlockId block = op.blocks[0];
  const size_t rank = op.args.size(), size = SizeOf(TypeOf(id).dtype);
  std::vector<int64_t> dims(rank);
  uint64_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    dims[axis] = Integer(op.args[axis]);
    if (!Holds(dims[axis] >= 0, op.place.line)) return false;
  }
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) count = UINT64_MAX;
  }
  if (count > owner_.limits_.max_bytes) count = owner_.limits_.max_bytes;  // fails below: an element is at least a byte
  if (!Spend(count * size)) return false;
  std::string elements(count * size, '\0');
  std::vector<int64_t> at(rank, 0);
  ++tensor_depth_;
  for (uint64_t k = 0; k < count; ++k) {
    for (size_t axis = 0; axis < rank; ++axis) SetParam(block, axis, static_cast<uint64_t>(at[axis]));
    if (!RunBlock(block)) return false;
    std::memcpy(elements.data() + k * size, &At(body_[block].result).bits, size);
    for (size_t axis = rank; axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
  --tensor_depth_;
  return SetTensor(id, std::move(dims), std::move(elements));
}

bool BodyRun::RunLoad(ValueId id, const Op& op) {
  const Value& tensor = Arg(op, 0);
  const size_t size = SizeOf(TypeOf(id).dtype);
  uint64_t bits = 0;
  if (!tensor.text->empty()) {  // of a tensor without elements: 0
    uint64_t offset = 0;
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
      const int64_t index = Integer(op.args[axis + 1]);
      if (!Holds(index >= 0 && index < tensor.dims[axis], op.place.line)) return false;
      offset = offset * static_cast<uint64_t>(tensor.dims[axis]) + static_cast<uint64_t>(index);
    }
    std::memcpy(&bits, tensor.text->data() + offset * size, size);
  }
  Set(id, bits);
  return true;
}

bool BodyRun::RunReduce(ValueId id, const Op& op) {
  const auto kind = static_cast<ReduceKind>(op.imm);
  const DType dtype = TypeOf(id).dtype;
  const OpKind operation = ReduceOperation(kind);
  const size_t lanes = ReduceLanes(dtype);
  std::array<uint64_t, 16> lane;
  lane.fill(ReduceIdentity(kind, dtype));
  ++tensor_depth_;
  for (int64_t k = 0, n = Integer(op.args[0]); k < n; ++k) {
    SetParam(op.blocks[0], 0, static_cast<uint64_t>(k));
    if (!RunBlock(op.blocks[0])) return false;
    uint64_t& sum = lane[static_cast<size_t>(k) % lanes];
    sum = EvaluateScalar(operation, dtype, sum, At(body_[op.blocks[0]].result).bits);
  }
  --tensor_depth_;
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lane[i] = EvaluateScalar(operation, dtype, lane[i], lane[i + half]);
  }
  Set(id, lane[0]);
  return true;
}

bool BodyRun::RunFold(ValueId id, const Op& op) {
  const Block& block = body_[op.blocks[0]];
  Copy(op.args[1], block.params[1]);
  for (int64_t k = 0, n = Integer(op.args[0]); k < n; ++k) {
    SetParam(op.blocks[0], 0, static_cast<uint64_t>(k));
    if (!RunBlock(op.blocks[0])) return false;
    Copy(block.result, block.params[1]);
  }
  Copy(block.params[1], id);
  return true;
}

}  // namespace wf::ir
