// Operators, builds, reductions, parts of tensors.

#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/ir/builder.h"
#include "compiler/ir/math.h"
#include "compiler/sema/builtins.h"
#include "runtime/base/error_codes.h"
#include "tests/diff/oracle.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {
namespace {

DType WideOf(DType dtype) {
  if (!ir::IsStorageOnly(dtype)) return dtype;
  if (ir::IsFloat(dtype)) return DType::kF32;
  return ir::IsSigned(dtype) ? DType::kI32 : DType::kU32;
}

bool IsOne(TypeRef type, size_t axis) { return type->dims[axis].constant() == 1; }
bool IsTensor(TypeRef type) { return type->kind == sema::TypeKind::kTensor; }

// Goes through all places of a shape in the order of its elements.
template <typename F>
void ForEachPlace(const std::vector<int64_t>& dims, const F& f) {
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t k = 0, count = CountOf(dims); k < count; ++k) {
    f(at);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace

uint64_t ElementAt(const ir::Value& tensor, DType dtype, int64_t place) {
  uint64_t bits = 0;
  const size_t size = ir::SizeOf(dtype);
  if (!tensor.text->empty()) std::memcpy(&bits, tensor.text->data() + static_cast<size_t>(place) * size, size);
  return bits;
}

uint64_t TreeMath::Of(ir::OpKind kind, DType dtype, uint64_t x, uint64_t y) {
  std::unique_ptr<One>& one = made_[{kind, dtype}];
  if (!one) {
    one = std::make_unique<One>();
    const ir::TypeId type = one->program.types.Scalar(dtype);
    one->program.slots = {{.name = "x", .type = type}, {.name = "y", .type = type}};
    ir::Builder builder(one->program, one->body);
    const ir::ValueId a = builder.Slot(ir::SlotId{0}), b = kind == ir::OpKind::kPow ? builder.Slot(ir::SlotId{1}) : ir::ValueId::kNone;
    builder.Close(ir::EmitMath(builder, kind, a, b));
    one->interpreter =
        std::make_unique<ir::Interpreter>(one->program, ir::Hooks{}, ir::Limits{.max_steps = ~uint64_t{0}, .max_bytes = ~uint64_t{0}});
  }
  const std::array<ir::Value, 2> slots{ir::Value::Scalar(x), ir::Value::Scalar(y)};
  return one->interpreter->RunBody(one->body, slots).value->bits;
}

// ---- element by element ----

// An axis broadcasts where it is absent or 1 by its type; all others are as long.
Made TreeRun::Elementwise(const Expr& expr, const std::vector<ir::Value>& args, const ScalarOf& f) {
  Made made;
  size_t rank = 0;
  for (size_t i = 0; i < args.size(); ++i)
    if (IsTensor(expr.args[i]->type)) rank = std::max(rank, args[i].dims.size());
  std::vector<int64_t> dims(rank, 1);
  for (size_t i = 0; i < args.size(); ++i) {
    const TypeRef type = expr.args[i]->type;
    for (size_t axis = 0; IsTensor(type) && axis < args[i].dims.size(); ++axis) {
      const int64_t own = args[i].dims[axis];
      int64_t& dim = dims[axis + rank - args[i].dims.size()];
      if (IsOne(type, axis) ? own != 1 : dim != 1 && own != dim) Note(made, code::kDimension);
      if (!IsOne(type, axis)) dim = own;
    }
  }
  for (size_t axis = 0; axis < rank; ++axis)  // one that is 1 when it runs does not broadcast
    for (size_t i = 0; i < args.size(); ++i) {
      const TypeRef type = expr.args[i]->type;
      if (!IsTensor(type) || axis + args[i].dims.size() < rank) continue;
      const size_t own = axis + args[i].dims.size() - rank;
      if (!IsOne(type, own) && args[i].dims[own] != dims[axis]) Note(made, code::kDimension);
    }
  if (!made.codes.empty()) return made;
  std::vector<uint64_t> x(args.size());
  const size_t size = ir::SizeOf(expr.type->dtype);
  if (!Step(static_cast<size_t>(CountOf(dims)))) return {};
  std::string elements;
  ForEachPlace(dims, [&](const std::vector<int64_t>& at) {
    for (size_t i = 0; i < args.size(); ++i) {
      x[i] = args[i].bits;
      if (!IsTensor(expr.args[i]->type)) continue;
      int64_t place = 0;
      const size_t missing = rank - args[i].dims.size();
      for (size_t axis = 0; axis < args[i].dims.size(); ++axis)
        place = place * args[i].dims[axis] + (IsOne(expr.args[i]->type, axis) ? 0 : at[axis + missing]);
      x[i] = ElementAt(args[i], expr.args[i]->type->dtype, place);
    }
    const uint64_t bits = f(x, made.codes);
    elements.append(reinterpret_cast<const char*>(&bits), size);
  });
  made.value = rank == 0 ? ir::Value::Scalar(0) : ir::Value::Tensor(dims, std::move(elements));
  if (rank == 0) std::memcpy(&made.value->bits, elements.data(), size);
  return made;
}

Made TreeRun::OfUnary(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  const ir::OpKind kind = expr.unary == sema::UnaryOp::kNot ? ir::OpKind::kNot : ir::OpKind::kNeg;
  Made value = Elementwise(expr, args, [&](const std::vector<uint64_t>& x, std::set<int32_t>&) {
    return ir::EvaluateScalar(kind, expr.args[0]->type->dtype, x[0]);
  });
  value.Take(made);
  return value;
}

Made TreeRun::OfConvert(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  Made value = Elementwise(expr, args, [&](const std::vector<uint64_t>& x, std::set<int32_t>&) {
    return ir::ConvertScalar(expr.args[0]->type->dtype, expr.type->dtype, x[0]);
  });
  value.Take(made);
  return value;
}

namespace {

uint64_t Arithmetic(sema::BinaryOp op, DType dtype, uint64_t a, uint64_t b, std::set<int32_t>& codes) {
  static constexpr ir::OpKind kKinds[] = {ir::OpKind::kAdd, ir::OpKind::kSub, ir::OpKind::kMul, ir::OpKind::kDiv,
                                          ir::OpKind::kRem, ir::OpKind::kEq,  ir::OpKind::kNe,  ir::OpKind::kLt,
                                          ir::OpKind::kLe,  ir::OpKind::kLt,  ir::OpKind::kLe};
  const bool is_equality = op == sema::BinaryOp::kEq || op == sema::BinaryOp::kNe;
  const DType wide = is_equality ? dtype : WideOf(dtype);
  a = ir::ConvertScalar(dtype, wide, a);
  b = ir::ConvertScalar(dtype, wide, b);
  if (op == sema::BinaryOp::kGt || op == sema::BinaryOp::kGe) std::swap(a, b);
  const bool divides = op == sema::BinaryOp::kDiv || op == sema::BinaryOp::kRem;
  if (divides && !ir::IsFloat(dtype) && b == 0) {
    codes.insert(code::kDivisor);
    b = 1;
  }
  return ir::EvaluateScalar(kKinds[static_cast<size_t>(op)], wide, a, b);
}

}  // namespace

bool TreeRun::IsEqual(TypeRef type, const ir::Value& a, const ir::Value& b) {
  switch (type->kind) {
    case sema::TypeKind::kScalar:
      return ir::EvaluateScalar(ir::OpKind::kEq, type->dtype, a.bits, b.bits) != 0;
    case sema::TypeKind::kString:
    case sema::TypeKind::kBytes:
      return *a.text == *b.text;
    case sema::TypeKind::kRecord:
      for (size_t i = 0; i < type->fields.size(); ++i)
        if (!IsEqual(type->fields[i].type, ItemsOf(a)[i], ItemsOf(b)[i])) return false;
      return true;
    case sema::TypeKind::kOptional:
      return a.bits == b.bits && (a.bits == 0 || IsEqual(type->element, ItemsOf(a)[0], ItemsOf(b)[0]));
    case sema::TypeKind::kList:
      return std::equal(ItemsOf(a).begin(), ItemsOf(a).end(), ItemsOf(b).begin(), ItemsOf(b).end(),
                        [&](const ir::Value& x, const ir::Value& y) { return IsEqual(type->element, x, y); });
    default:
      Unknown("equality of " + sema::ToString(type));
      return false;
  }
}

Made TreeRun::OfBinary(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  const TypeRef type = expr.args[0]->type;
  if (type->kind != sema::TypeKind::kScalar && type->kind != sema::TypeKind::kTensor) {
    const bool is_equal = IsEqual(type, args[0], args[1]);
    made.value = ir::Value::Scalar(is_equal == (expr.binary == sema::BinaryOp::kEq));
    return made;
  }
  Made value = Elementwise(expr, args, [&](const std::vector<uint64_t>& x, std::set<int32_t>& codes) {
    return Arithmetic(expr.binary, type->dtype, x[0], x[1], codes);
  });
  value.Take(made);
  return value;
}

Made TreeRun::OfMath(const Expr& expr, const std::vector<ir::Value>& args) {
  static constexpr ir::OpKind kKinds[] = {ir::OpKind::kAbs,  ir::OpKind::kMin,   ir::OpKind::kMax,  ir::OpKind::kFloor, ir::OpKind::kCeil,
                                          ir::OpKind::kRint, ir::OpKind::kTrunc, ir::OpKind::kSqrt, ir::OpKind::kExp,   ir::OpKind::kLog,
                                          ir::OpKind::kTanh, ir::OpKind::kErf,   ir::OpKind::kSin,  ir::OpKind::kCos,   ir::OpKind::kPow};
  const ir::OpKind kind = kKinds[expr.index - static_cast<uint32_t>(sema::Builtin::kAbs)];
  const DType dtype = expr.type->dtype, wide = WideOf(dtype);
  return Elementwise(expr, args, [&](const std::vector<uint64_t>& x, std::set<int32_t>&) {
    if (kind == ir::OpKind::kAbs && !ir::IsSigned(wide)) return x[0];
    const uint64_t a = ir::ConvertScalar(dtype, wide, x[0]), b = x.size() > 1 ? ir::ConvertScalar(dtype, wide, x[1]) : 0;
    return ir::ConvertScalar(wide, dtype, ir::IsMath(kind) ? math_.Of(kind, wide, a, b) : ir::EvaluateScalar(kind, wide, a, b));
  });
}

// ---- loops over elements ----

bool TreeRun::Extents(const Expr& expr, std::vector<int64_t>& extents, Made& made) {
  bool is_there = true;
  for (const sema::ExprPtr& written : expr.extents) {
    int64_t extent = 0;
    is_there = TakeI64(*written, extent, made) && is_there;
    if (extent < 0) made.codes.insert(code::kDimension);
    if (extent < 0 && tensor_depth_ == 0) is_there = false;
    extents.push_back(std::max<int64_t>(extent, 0));
  }
  return is_there;
}

Made TreeRun::OfBuild(const Expr& expr) {
  Made made;
  std::vector<int64_t> dims;
  if (!Extents(expr, dims, made)) return made;
  const size_t size = ir::SizeOf(expr.type->dtype);
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(dim);
  if (count > 1e6) return Unknown("steps");
  std::string elements;
  bool is_there = true;
  ++tensor_depth_;
  ForEachPlace(dims, [&](const std::vector<int64_t>& at) {
    if (stopped()) return;
    for (size_t axis = 0; axis < at.size(); ++axis) Bind(expr.index_locals[axis], {I64(at[axis]), {}}, true);
    ir::Value element;
    is_there = Take(*expr.args[0], element, made) && is_there;
    elements.append(reinterpret_cast<const char*>(&element.bits), size);
  });
  --tensor_depth_;
  if (is_there && !stopped()) made.value = ir::Value::Tensor(dims, std::move(elements));
  return made;
}

// Floats go in lanes, which one tree combines (docs/semantics.md 32).
Made TreeRun::OfReduce(const Expr& expr) {
  Made made;
  std::vector<int64_t> extents;
  if (!Extents(expr, extents, made)) return made;
  const DType dtype = expr.type->dtype;
  const bool has_least = expr.reduce == ir::ReduceKind::kMin || expr.reduce == ir::ReduceKind::kMax;
  if (has_least && extents[0] == 0) made.codes.insert(code::kEmpty);
  const ir::OpKind operation = ir::ReduceOperation(expr.reduce);
  const size_t lanes = ir::ReduceLanes(dtype);
  std::array<uint64_t, 16> lane;
  lane.fill(ir::ReduceIdentity(expr.reduce, dtype));
  bool is_there = true;
  ++tensor_depth_;
  for (int64_t k = 0; k < extents[0] && !stopped(); ++k) {
    Bind(expr.index_locals[0], {I64(k), {}}, true);
    ir::Value element;
    is_there = Take(*expr.args[0], element, made) && is_there;
    uint64_t& sum = lane[static_cast<size_t>(k) % lanes];
    sum = ir::EvaluateScalar(operation, dtype, sum, element.bits);
  }
  --tensor_depth_;
  for (size_t half = lanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lane[i] = ir::EvaluateScalar(operation, dtype, lane[i], lane[i + half]);
  if (is_there && !stopped()) made.value = ir::Value::Scalar(lane[0]);
  return made;
}

// ---- parts ----

Made TreeRun::OfIndex(const Expr& expr) {
  Made storage, made;
  const Made& tensor = Ref(*expr.args[0], storage);
  made.codes = tensor.codes;
  const bool has_slice = std::any_of(expr.subscripts.begin(), expr.subscripts.end(), [](const sema::Subscript& s) { return s.is_slice; });
  if (has_slice || !tensor.value || expr.subscripts.size() < tensor.value->dims.size())
    return OfSlice(expr, tensor.value ? *tensor.value : ir::Value{}, std::move(made));
  int64_t place = 0;
  bool is_there = true;
  for (size_t axis = 0; axis < expr.subscripts.size(); ++axis) {
    int64_t index = 0;
    is_there = TakeI64(*expr.subscripts[axis].first, index, made) && is_there;
    const int64_t extent = tensor.value->dims[axis];
    if (index < 0 || index >= extent) {
      made.codes.insert(code::kIndex);
      is_there = is_there && tensor_depth_ + loop_depth_ > 0;
      index = 0;
    }
    place = place * extent + index;
  }
  if (is_there) made.value = ir::Value::Scalar(ElementAt(*tensor.value, expr.type->dtype, place));
  return made;
}

Made TreeRun::OfSlice(const Expr& expr, const ir::Value& tensor, Made made) {
  std::vector<int64_t> dims, starts;
  std::vector<bool> is_kept;
  bool is_there = tensor.text != nullptr;
  for (size_t axis = 0; axis < expr.args[0]->type->dims.size(); ++axis) {
    const sema::Subscript* const at = axis < expr.subscripts.size() ? &expr.subscripts[axis] : nullptr;
    const int64_t extent = is_there || axis < tensor.dims.size() ? tensor.dims[axis] : 0;
    int64_t first = 0, last = extent;
    is_kept.push_back(at == nullptr || at->is_slice);
    if (at != nullptr && at->first) is_there = TakeI64(*at->first, first, made) && is_there;
    if (at != nullptr && at->last) is_there = TakeI64(*at->last, last, made) && is_there;
    const bool is_out = is_kept.back() ? last < first || first < 0 || last > extent : first < 0 || first >= extent;
    starts.push_back(is_out && !is_kept.back() ? 0 : first);
    if (is_kept.back()) dims.push_back(std::max<int64_t>(last - first, 0));
    if (!is_out || tensor.text == nullptr) continue;
    made.codes.insert(code::kIndex);
    const bool goes_on = tensor_depth_ > 0 || (!is_kept.back() && loop_depth_ > 0);
    is_there = is_there && goes_on;
  }
  if (!is_there || !Step(static_cast<size_t>(std::min<int64_t>(CountOf(dims), 1'000'000)))) return made;
  std::string elements;
  const DType dtype = expr.type->dtype;
  ForEachPlace(dims, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t axis = 0, kept = 0; axis < tensor.dims.size(); ++axis) {
      const int64_t index = starts[axis] + (is_kept[axis] ? at[kept++] : 0);
      place = place * tensor.dims[axis] + (index >= 0 && index < tensor.dims[axis] ? index : 0);
    }
    const uint64_t bits = ElementAt(tensor, dtype, place);
    elements.append(reinterpret_cast<const char*>(&bits), ir::SizeOf(dtype));
  });
  made.value = ir::Value::Tensor(dims, std::move(elements));
  return made;
}

}  // namespace wf::diff
