#include "compiler/ir/builder.h"

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "runtime/base/check.h"

namespace wf::ir {

Builder::Builder(Program& program, Body& body) : program_(program), body_(body) {
  WF_CHECK(body.empty());
  body_.blocks.emplace_back();
  open_.push_back(BlockId{0});
}

ValueId Builder::Append(Op op, BlockId block, size_t depth) {
  const ValueId id{static_cast<uint32_t>(body_.ops.size())};
  const bool is_param = op.kind == OpKind::kParam;
  body_.ops.push_back(std::move(op));
  depth_.push_back(static_cast<uint32_t>(depth));
  blocks_.push_back(block);
  (is_param ? body_[block].params : body_[block].ops).push_back(id);
  return id;
}

ValueId Builder::Emit(OpKind kind, TypeId type, std::vector<ValueId> args, uint64_t imm, std::vector<BlockId> blocks) {
  Op op{.kind = kind, .type = type, .args = std::move(args), .blocks = std::move(blocks), .imm = imm, .place = place_};
  return Append(std::move(op), open_.back(), depth());
}

BlockId Builder::Open(const std::vector<TypeId>& params) {
  const BlockId block{static_cast<uint32_t>(body_.blocks.size())};
  body_.blocks.emplace_back();
  open_.push_back(block);
  for (size_t i = 0; i < params.size(); ++i) {
    Append({.kind = OpKind::kParam, .type = params[i], .args = {}, .blocks = {}, .imm = i, .place = place_}, block, depth());
  }
  return block;
}

BlockId Builder::Close(ValueId result) {
  const BlockId block = open_.back();
  body_[block].result = result;
  if (open_.size() > 1) open_.pop_back();
  return block;
}

bool Builder::IsVisible(ValueId value) const {
  const size_t depth = DepthOf(value);
  return depth < open_.size() && open_[depth] == blocks_[static_cast<size_t>(value)];
}

std::vector<BlockId> Builder::Leave(size_t depth) {
  WF_CHECK(depth < open_.size(), depth, open_.size());
  std::vector<BlockId> left(open_.begin() + static_cast<ptrdiff_t>(depth) + 1, open_.end());
  open_.resize(depth + 1);
  return left;
}

void Builder::Return(std::vector<BlockId> left) { open_.insert(open_.end(), left.begin(), left.end()); }

ValueId Builder::Leaf(OpKind kind, TypeId type, uint64_t imm, const Place& place) {
  const auto [at, is_new] = leaves_.try_emplace({kind, type, imm}, ValueId::kNone);
  if (is_new) at->second = Append({.kind = kind, .type = type, .args = {}, .blocks = {}, .imm = imm, .place = place}, BlockId{0}, 0);
  return at->second;
}

ValueId Builder::Scalar(DType dtype, uint64_t bits) { return Leaf(OpKind::kScalar, ScalarType(dtype), bits, {}); }
ValueId Builder::F32(float value) { return Scalar(DType::kF32, F32Bits(value)); }
ValueId Builder::F64(double value) { return Scalar(DType::kF64, F64Bits(value)); }
ValueId Builder::Text(const std::string& text) { return Constant(AddText(program_, text)); }

ValueId Builder::Constant(size_t index) { return Leaf(OpKind::kConstant, program_.constants[index].type, index, {}); }

ValueId Builder::Slot(SlotId slot) { return Leaf(OpKind::kSlot, program_[slot].type, static_cast<uint64_t>(slot), place_); }
bool Builder::Reads(SlotId slot) const { return leaves_.contains({OpKind::kSlot, program_[slot].type, static_cast<uint64_t>(slot)}); }

ValueId Builder::Unary(OpKind kind, ValueId a) {
  const DType dtype = DTypeOf(a);
  if (IsConstant(a) && IsScalarArithmetic(kind)) return Scalar(dtype, EvaluateScalar(kind, dtype, body_[a].imm));
  if (kind == OpKind::kNot && body_[a].kind == OpKind::kNot) return body_[a].args[0];
  return Emit(kind, TypeOf(a), {a});
}

ValueId Builder::FoldedInteger(OpKind kind, ValueId a, ValueId b) {
  const DType dtype = DTypeOf(a);
  switch (kind) {
    case OpKind::kAdd:
      return IsConstant(b, 0) ? a : IsConstant(a, 0) ? b : ValueId::kNone;
    case OpKind::kSub:
      return IsConstant(b, 0) ? a : a == b ? Scalar(dtype, 0) : ValueId::kNone;
    case OpKind::kMul:
      if (IsConstant(a, 0) || IsConstant(b, 0)) return Scalar(dtype, 0);
      return IsConstant(b, 1) ? a : IsConstant(a, 1) ? b : ValueId::kNone;
    case OpKind::kDiv:
      return IsConstant(b, 1) ? a : ValueId::kNone;
    case OpKind::kRem:
      return IsConstant(b, 1) ? Scalar(dtype, 0) : ValueId::kNone;
    case OpKind::kMin:
    case OpKind::kMax:
    case OpKind::kBitAnd:
    case OpKind::kBitOr:
      return a == b ? a : ValueId::kNone;
    case OpKind::kEq:
    case OpKind::kLe:
      return a == b ? Bool(true) : ValueId::kNone;
    case OpKind::kNe:
    case OpKind::kLt:
      return a == b ? Bool(false) : ValueId::kNone;
    default:
      return ValueId::kNone;
  }
}

ValueId Builder::Binary(OpKind kind, ValueId a, ValueId b) {
  const DType dtype = DTypeOf(a);
  const bool is_comparison = kind == OpKind::kEq || kind == OpKind::kNe || kind == OpKind::kLt || kind == OpKind::kLe;
  const DType result = is_comparison ? DType::kBool : dtype;
  WF_CHECK(Known(a).kind == TypeKind::kScalar && TypeOf(a) == TypeOf(b), InfoOf(kind).name, types().ToString(TypeOf(a)),
           types().ToString(TypeOf(b)));
  if (IsConstant(a) && IsConstant(b) && IsScalarArithmetic(kind)) {
    return Scalar(result, EvaluateScalar(kind, dtype, body_[a].imm, body_[b].imm));
  }
  if (kind == OpKind::kAnd || kind == OpKind::kOr) {
    const uint64_t neutral = kind == OpKind::kAnd;
    if (IsConstant(a)) return IsConstant(a, neutral) ? b : a;
    if (IsConstant(b)) return IsConstant(b, neutral) ? a : b;
  } else if (!IsFloat(dtype)) {
    const ValueId folded = FoldedInteger(kind, a, b);
    if (folded != ValueId::kNone) return folded;
  }
  return Emit(kind, ScalarType(result), {a, b});
}

ValueId Builder::Fma(ValueId a, ValueId b, ValueId c) {
  if (IsConstant(a) && IsConstant(b) && IsConstant(c)) {
    return Scalar(DTypeOf(a), EvaluateScalar(OpKind::kFma, DTypeOf(a), body_[a].imm, body_[b].imm, body_[c].imm));
  }
  return Emit(OpKind::kFma, TypeOf(a), {a, b, c});
}

ValueId Builder::Select(ValueId condition, ValueId then, ValueId otherwise) {
  if (IsConstant(condition)) return body_[condition].imm ? then : otherwise;
  if (then == otherwise) return then;
  return Emit(OpKind::kSelect, TypeOf(then), {condition, then, otherwise});
}

ValueId Builder::Convert(ValueId a, DType to) {
  if (DTypeOf(a) == to) return a;
  if (IsConstant(a)) return Scalar(to, ConvertScalar(DTypeOf(a), to, body_[a].imm));
  return Emit(OpKind::kConvert, ScalarType(to), {a});
}

ValueId Builder::Bitcast(ValueId a, DType to) {
  if (DTypeOf(a) == to) return a;
  if (IsConstant(a)) return Scalar(to, body_[a].imm);
  return Emit(OpKind::kBitcast, ScalarType(to), {a});
}

ValueId Builder::Dim(ValueId tensor, size_t axis) {
  const Type& type = Known(tensor);
  WF_CHECK(type.kind == TypeKind::kTensor && axis < type.dims.size(), axis);
  if (type.dims[axis] >= 0) return I64(type.dims[axis]);
  const Op& op = body_[tensor];
  if (op.kind == OpKind::kBuild) return op.args[axis];
  if (op.kind == OpKind::kReshape) return op.args[axis + 1];
  return Emit(OpKind::kDim, ScalarType(DType::kI64), {tensor}, axis);
}

TypeId Builder::TensorType(DType dtype, std::span<const ValueId> extents) {
  std::vector<int64_t> dims;
  for (const ValueId extent : extents) dims.push_back(IsConstant(extent) ? static_cast<int64_t>(body_[extent].imm) : -1);
  return types().Tensor(dtype, std::move(dims));
}

ValueId Builder::Build(DType dtype, std::vector<ValueId> extents, BlockId block) {
  const TypeId type = TensorType(dtype, extents);
  return Emit(OpKind::kBuild, type, std::move(extents), 0, {block});
}

ValueId Builder::Load(ValueId tensor, std::vector<ValueId> indices) {
  const TypeId type = ScalarType(DTypeOf(tensor));
  indices.insert(indices.begin(), tensor);
  return Emit(OpKind::kLoad, type, std::move(indices));
}

ValueId Builder::Reshape(ValueId tensor, std::vector<ValueId> extents) {
  const TypeId type = TensorType(DTypeOf(tensor), extents);
  extents.insert(extents.begin(), tensor);
  return Emit(OpKind::kReshape, type, std::move(extents));
}

ValueId Builder::Reduce(ReduceKind kind, DType dtype, ValueId extent, BlockId block) {
  return Emit(OpKind::kReduce, ScalarType(dtype), {extent}, static_cast<uint64_t>(kind), {block});
}

ValueId Builder::CheckIndex(ValueId index, ValueId extent) {
  if (IsConstant(index) && IsConstant(extent) && body_[index].imm < body_[extent].imm) return index;
  return Emit(OpKind::kCheckIndex, ScalarType(DType::kI64), {index, extent});
}

ValueId Builder::Record(TypeId type, std::vector<ValueId> fields) { return Emit(OpKind::kRecord, type, std::move(fields)); }

ValueId Builder::Field(ValueId record, size_t field) {
  const Op& op = body_[record];
  if (op.kind == OpKind::kRecord) return op.args[field];
  return Emit(OpKind::kField, Known(record).fields[field].type, {record}, field);
}

ValueId Builder::If(ValueId condition, TypeId type, BlockId then, BlockId otherwise) {
  return Emit(OpKind::kIf, type, {condition}, 0, {then, otherwise});
}

void Builder::FailIf(ValueId condition, int32_t code, BlockId message) {
  Emit(OpKind::kFailIf, TypeId::kNone, {condition}, static_cast<uint64_t>(code), {message});
}

void Builder::StickyIf(ValueId condition, int32_t code) {
  if (IsConstant(condition, 0)) return;
  Emit(OpKind::kStickyIf, TypeId::kNone, {condition}, static_cast<uint64_t>(code));
}

ValueId Builder::Zero(TypeId id) {
  const Type type = types()[id];
  switch (type.kind) {
    case TypeKind::kScalar:
      return Scalar(type.dtype, 0);
    case TypeKind::kString:
    case TypeKind::kBytes:
      return Constant(AddConstant(program_, id, Value::Text("")));
    case TypeKind::kTensor: {
      std::vector<ValueId> extents;
      for (const int64_t dim : type.dims) extents.push_back(I64(dim < 0 ? 0 : dim));
      const ValueId zero = Scalar(type.dtype, 0);
      const BlockId block = Open(std::vector<TypeId>(extents.size(), ScalarType(DType::kI64)));
      Close(zero);
      return Build(type.dtype, std::move(extents), block);
    }
    case TypeKind::kRecord: {
      std::vector<ValueId> fields;
      for (const ir::Field& field : type.fields) fields.push_back(Zero(field.type));
      return Record(id, std::move(fields));
    }
    case TypeKind::kList:
      return Emit(OpKind::kListMake, id);
    case TypeKind::kMap:
      return Constant(AddConstant(program_, id, {}));
    case TypeKind::kOptional:
      return Emit(OpKind::kNone, id);
  }
  return ValueId::kNone;
}

size_t AddConstant(Program& program, TypeId type, const Value& value) { return program.constants.Add(program.types, type, value); }

size_t AddText(Program& program, const std::string& text) { return AddConstant(program, program.types.String(), Value::Text(text)); }

size_t AddNative(Program& program, const std::string& symbol) {
  const auto found = std::find(program.natives.begin(), program.natives.end(), symbol);
  if (found != program.natives.end()) return static_cast<size_t>(found - program.natives.begin());
  program.natives.push_back(symbol);
  return program.natives.size() - 1;
}

TypeId TypeTold(const Program& program, const Body& body, const Op& call) {
  static constexpr std::pair<std::string_view, bool> kRows[] = {
#define NATIVE_TYPED(name, is_result) {#name, is_result},
#include "runtime/abi/runtime_symbols.def"
  };
  for (const auto& [name, is_result] : kRows) {
    if (name == program.natives[call.imm]) return is_result ? call.type : body[call.args[0]].type;
  }
  return TypeId::kNone;
}

}  // namespace wf::ir
