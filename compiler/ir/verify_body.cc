#include <algorithm>

#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/verify.h"

namespace wf::ir {
namespace {

// Checks one body. Error texts say the rule; Describe adds the operation.
class BodyVerifier {
 public:
  BodyVerifier(const Program& program, const Body& body)
      : program_(program), types_(program.types), body_(body), visible_(body.ops.size()), used_block_(body.blocks.size()) {}

  std::optional<std::string> Run() {
    if (body_.empty()) return {};
    if (!body_.blocks[0].params.empty()) return "the entry block has parameters";
    CheckBlock(BlockId{0}, 0);
    return error_;
  }

 private:
  bool Error(const std::string& text) {
    if (!error_) error_ = text;
    return false;
  }

  void CheckBlock(BlockId id, size_t tensor_depth) {
    if (static_cast<size_t>(id) >= body_.blocks.size() || used_block_[static_cast<size_t>(id)]) {
      Error("a block is missing or used twice");
      return;
    }
    used_block_[static_cast<size_t>(id)] = true;
    const Block& block = body_[id];
    for (size_t i = 0; i < block.params.size(); ++i) {
      const ValueId param = block.params[i];
      if (!Define(param)) return;
      if (body_[param].kind != OpKind::kParam || body_[param].imm != i) Error("a block's parameter is not `param` of its position");
    }
    for (const ValueId op : block.ops) {
      if (error_ || !CheckOp(op, tensor_depth) || !Define(op)) return;
    }
    if (block.result != ValueId::kNone && !IsVisible(block.result)) Error("a block yields a value that is not visible");
    for (const ValueId value : block.params) visible_[static_cast<size_t>(value)] = false;
    for (const ValueId value : block.ops) visible_[static_cast<size_t>(value)] = false;
  }

  bool Define(ValueId id) {
    if (static_cast<size_t>(id) >= visible_.size()) return Error("a value is out of range");
    if (visible_[static_cast<size_t>(id)]) return Error("a value is defined twice");
    visible_[static_cast<size_t>(id)] = true;
    return true;
  }
  bool IsVisible(ValueId id) const { return static_cast<size_t>(id) < visible_.size() && visible_[static_cast<size_t>(id)]; }

  bool CheckOp(ValueId id, size_t tensor_depth) {
    if (static_cast<size_t>(id) >= body_.ops.size()) return Error("a value is out of range");
    const Op& op = body_[id];
    const OpInfo& info = InfoOf(op.kind);
    const auto fail = [&](const std::string& text) {
      return Error("%" + std::to_string(static_cast<uint32_t>(id)) + " = " + info.name + ": " + text);
    };
    if (info.arguments >= 0 && op.args.size() != static_cast<size_t>(info.arguments)) return fail("wrong number of arguments");
    if (op.blocks.size() != static_cast<size_t>(info.blocks)) return fail("wrong number of blocks");
    for (const ValueId arg : op.args) {
      if (!IsVisible(arg)) return fail("reads a value that is not visible");
      if (body_[arg].type == TypeId::kNone) return fail("reads an operation without a result");
    }
    const bool has_result = op.kind != OpKind::kStickyIf && op.kind != OpKind::kFailIf && op.kind != OpKind::kAnnotate;
    if (has_result != (op.type != TypeId::kNone) && op.kind != OpKind::kIf) return fail("a result where none is due, or none");
    if (tensor_depth > 0 && info.group == OpGroup::kEffect) return fail("an effect inside a tensor block");
    if (std::string text = RuleOf(id, op); !text.empty()) return fail(text);
    const size_t depth = tensor_depth + (op.kind == OpKind::kBuild || op.kind == OpKind::kReduce);
    for (const BlockId block : op.blocks) CheckBlock(block, depth);
    if (error_) return false;
    std::string text = ResultsOf(op);
    return text.empty() || fail(text);
  }

  // ---- types ----
  const Type& TypeOf(ValueId id) const { return types_[body_[id].type]; }
  bool IsScalar(ValueId id) const { return TypeOf(id).kind == TypeKind::kScalar; }
  bool IsScalar(ValueId id, DType dtype) const { return IsScalar(id) && TypeOf(id).dtype == dtype; }
  bool IsKind(ValueId id, TypeKind kind) const { return TypeOf(id).kind == kind; }
  bool IsI64(const std::vector<ValueId>& args, size_t from) const {
    return std::all_of(args.begin() + static_cast<ptrdiff_t>(from), args.end(), [&](ValueId id) { return IsScalar(id, DType::kI64); });
  }
  bool ParamsAre(BlockId block, size_t count) const { return IsBlock(block) && body_[block].params.size() == count; }
  bool IsBlock(BlockId block) const { return static_cast<size_t>(block) < body_.blocks.size(); }
  bool IndexParams(BlockId block, size_t count) const {
    if (!ParamsAre(block, count)) return false;
    return std::all_of(body_[block].params.begin(), body_[block].params.end(), [&](ValueId id) { return IsScalar(id, DType::kI64); });
  }
  TypeId YieldOf(BlockId block) const {
    const ValueId result = body_[block].result;
    return result == ValueId::kNone ? TypeId::kNone : body_[result].type;
  }

  std::string RuleOf(ValueId id, const Op& op) const {
    switch (InfoOf(op.kind).group) {
      case OpGroup::kLeaf:
        return LeafRule(id, op);
      case OpGroup::kIf:
        return IsScalar(op.args[0], DType::kBool) && ParamsAre(op.blocks[0], 0) && ParamsAre(op.blocks[1], 0)
                   ? ""
                   : "a bool and blocks without parameters wanted";
      case OpGroup::kScalar:
      case OpGroup::kMath:
        return ScalarRule(id, op);
      case OpGroup::kTensor:
        return TensorRule(id, op);
      case OpGroup::kRecord:
      case OpGroup::kList:
        return ValueRule(id, op);
      case OpGroup::kText:
        return TextRule(id, op);
      case OpGroup::kEffect:
        return EffectRule(op);
    }
    return "no rule";
  }

  std::string LeafRule(ValueId id, const Op& op) const {
    switch (op.kind) {
      case OpKind::kParam:
        return "stands among operations";
      case OpKind::kScalar:
        if (!IsScalar(id)) return "not of a scalar type";
        return MaskTo(TypeOf(id).dtype, op.imm) == op.imm ? "" : "bits beyond the dtype's width";
      case OpKind::kConstant:
        return op.imm < program_.constants.size() && Fits(types_, program_.constants[op.imm].type, op.type) ? ""
                                                                                                            : "not of its constant's type";
      case OpKind::kSlot:
        return op.imm < program_.slots.size() && Fits(types_, program_.slots[op.imm].type, op.type) ? "" : "not of its slot's type";
      case OpKind::kElement:
      case OpKind::kExtent:
        return IsScalar(id, DType::kI64) ? "" : "i64 wanted";
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define LEAF_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  std::string ScalarRule(ValueId id, const Op& op) const {
    for (const ValueId arg : op.args) {
      if (!IsScalar(arg)) return "scalars wanted";
    }
    if (!IsScalar(id)) return "a scalar result wanted";
    const DType result = TypeOf(id).dtype, first = TypeOf(op.args[0]).dtype;
    const auto same = [&](size_t from) {
      return std::all_of(op.args.begin() + static_cast<ptrdiff_t>(from), op.args.end(),
                         [&](ValueId arg) { return TypeOf(arg).dtype == TypeOf(op.args[from]).dtype; });
    };
    const bool is_arithmetic = same(0) && first == result && !IsStorageOnly(result) && result != DType::kBool;
    const char* const arithmetic = is_arithmetic ? "" : "arguments of the result's arithmetic dtype wanted";
    switch (op.kind) {
      case OpKind::kConvert:
        return "";
      case OpKind::kBitcast:
        return SizeOf(result) == SizeOf(first) && !IsStorageOnly(result) && !IsStorageOnly(first) ? "" : "dtypes of equal width wanted";
      case OpKind::kSelect:
        return first == DType::kBool && same(1) && TypeOf(op.args[1]).dtype == result ? "" : "bool, and two of the result's dtype wanted";
      case OpKind::kEq:
      case OpKind::kNe:
        return same(0) && result == DType::kBool ? "" : "two of one dtype, to bool wanted";
      case OpKind::kLt:
      case OpKind::kLe:
        return same(0) && result == DType::kBool && !IsStorageOnly(first) ? "" : "two of one arithmetic dtype, to bool wanted";
      case OpKind::kNot:
      case OpKind::kAnd:
      case OpKind::kOr:
        return same(0) && first == DType::kBool && result == first ? "" : "bool wanted";
      case OpKind::kFma:
      case OpKind::kSqrt:
#define OP(enumerator, name, arguments, blocks)
#define MATH_OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#include "compiler/ir/ops.def"
#undef OP
        return is_arithmetic && !IsFloat(result) ? "wrong class of dtype" : arithmetic;
      case OpKind::kIndexOrZero:
        return is_arithmetic && result == DType::kI64 ? "" : "i64 wanted";
      case OpKind::kShl:
      case OpKind::kShr:
      case OpKind::kBitAnd:
      case OpKind::kBitOr:
        return is_arithmetic && IsFloat(result) ? "wrong class of dtype" : arithmetic;
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kMul:
      case OpKind::kDiv:
      case OpKind::kRem:
      case OpKind::kNeg:
      case OpKind::kMin:
      case OpKind::kMax:
      case OpKind::kAbs:
      case OpKind::kFloor:
      case OpKind::kCeil:
      case OpKind::kRint:
      case OpKind::kTrunc:
        return arithmetic;
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define SCALAR_OP(enumerator, name, arguments, blocks)
#define MATH_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  std::string TensorRule(ValueId id, const Op& op) const {
    switch (op.kind) {
      case OpKind::kBuild:
        if (!IsKind(id, TypeKind::kTensor) || !IsI64(op.args, 0) || !IndexParams(op.blocks[0], op.args.size())) {
          return "a tensor, i64 extents and an i64 parameter for each wanted";
        }
        return ExtentsFit(TypeOf(id).dims, op.args, 0);
      case OpKind::kLoad:
        if (op.args.empty() || !IsKind(op.args[0], TypeKind::kTensor) || !IsI64(op.args, 1)) return "a tensor and i64 indices wanted";
        if (TypeOf(op.args[0]).dims.size() + 1 != op.args.size()) return "an index for each axis wanted";
        return IsScalar(id, TypeOf(op.args[0]).dtype) ? "" : "the element's type wanted";
      case OpKind::kDim:
        return IsKind(op.args[0], TypeKind::kTensor) && op.imm < TypeOf(op.args[0]).dims.size() && IsScalar(id, DType::kI64)
                   ? ""
                   : "an axis of a tensor wanted";
      case OpKind::kReshape:
        if (op.args.empty() || !IsKind(op.args[0], TypeKind::kTensor) || !IsKind(id, TypeKind::kTensor) || !IsI64(op.args, 1)) {
          return "a tensor and i64 extents wanted";
        }
        if (TypeOf(id).dtype != TypeOf(op.args[0]).dtype) return "the tensor's dtype wanted";
        return ExtentsFit(TypeOf(id).dims, op.args, 1);
      case OpKind::kReduce:
        return IsScalar(op.args[0], DType::kI64) && IndexParams(op.blocks[0], 1) && IsScalar(id) && op.imm <= 5
                   ? ""
                   : "an i64 extent, one i64 parameter and a scalar wanted";
      case OpKind::kCheckIndex:
        return IsI64(op.args, 0) && IsScalar(id, DType::kI64) ? "" : "i64 wanted";
      case OpKind::kCheckDivisor:
        return IsScalar(op.args[0]) && !IsFloat(TypeOf(op.args[0]).dtype) && op.type == body_[op.args[0]].type ? "" : "an integer wanted";
      case OpKind::kStickyIf:
        return IsScalar(op.args[0], DType::kBool) && op.imm >= kFirstSticky && op.imm <= kLastSticky ? ""
                                                                                                     : "a bool and a sticky code wanted";
      case OpKind::kFold:
        if (!IsScalar(op.args[0], DType::kI64) || !ParamsAre(op.blocks[0], 2)) return "an i64 count and two parameters wanted";
        if (!IsScalar(body_[op.blocks[0]].params[0], DType::kI64) || body_[body_[op.blocks[0]].params[1]].type != op.type) {
          return "parameters (i64, accumulator) wanted";
        }
        return Fits(types_, body_[op.args[1]].type, op.type) ? "" : "the initial value does not fit";
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TENSOR_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  std::string ExtentsFit(const std::vector<int64_t>& dims, const std::vector<ValueId>& args, size_t from) const {
    if (dims.size() + from != args.size()) return "an extent for each axis wanted";
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Op& extent = body_[args[axis + from]];
      const bool is_static = extent.kind == OpKind::kScalar;
      if (is_static && static_cast<int64_t>(extent.imm) < 0) return "an extent below 0";
      if (dims[axis] >= 0 && (!is_static || static_cast<int64_t>(extent.imm) != dims[axis])) return "a static extent that is not constant";
    }
    return "";
  }

  std::string ValueRule(ValueId id, const Op& op) const {
    const auto arg = [&](size_t i) -> const Type& { return TypeOf(op.args[i]); };
    const auto when = [](bool holds, const char* text) { return std::string(holds ? "" : text); };
    const TypeId element = op.type == TypeId::kNone ? TypeId::kNone : TypeOf(id).element;
    switch (op.kind) {
      case OpKind::kRecord: {
        if (!IsKind(id, TypeKind::kRecord) || TypeOf(id).fields.size() != op.args.size()) return "a value for each field wanted";
        for (size_t i = 0; i < op.args.size(); ++i) {
          if (!Fits(types_, body_[op.args[i]].type, TypeOf(id).fields[i].type)) return "field " + std::to_string(i) + " does not fit";
        }
        return "";
      }
      case OpKind::kField:
        return when(arg(0).kind == TypeKind::kRecord && op.imm < arg(0).fields.size() && arg(0).fields[op.imm].type == op.type,
                    "a field of a record wanted");
      case OpKind::kNone:
        return when(IsKind(id, TypeKind::kOptional), "an optional wanted");
      case OpKind::kSome:
        return when(IsKind(id, TypeKind::kOptional) && Fits(types_, body_[op.args[0]].type, element), "an optional of the value wanted");
      case OpKind::kHas:
        return when(arg(0).kind == TypeKind::kOptional && IsScalar(id, DType::kBool), "an optional, to bool wanted");
      case OpKind::kUnwrap:
        return when(arg(0).kind == TypeKind::kOptional && arg(0).element == op.type, "an optional of the result wanted");
      case OpKind::kListMake:
        for (const ValueId item : op.args) {
          if (!IsKind(id, TypeKind::kList) || !Fits(types_, body_[item].type, element)) return "items of the list's element wanted";
        }
        return when(IsKind(id, TypeKind::kList), "a list wanted");
      case OpKind::kListLen:
        return when((arg(0).kind == TypeKind::kList || arg(0).kind == TypeKind::kMap) && IsScalar(id, DType::kI64), "a list wanted");
      case OpKind::kListGet:
        return when(arg(0).kind == TypeKind::kList && IsI64(op.args, 1) && arg(0).element == op.type, "a list, i64, to its element wanted");
      case OpKind::kListBuild:
      case OpKind::kListFilter:
        for (const BlockId block : op.blocks) {
          if (!IndexParams(block, 1)) return "an i64 parameter wanted";
        }
        return when(IsKind(id, TypeKind::kList) && IsI64(op.args, 0), "an i64 count, to a list wanted");
      case OpKind::kListOfTensor:
        return when(arg(0).kind == TypeKind::kTensor && !arg(0).dims.empty() && IsKind(id, TypeKind::kList), "a tensor, to a list wanted");
      case OpKind::kTensorOfList:
        return when(arg(0).kind == TypeKind::kList && IsKind(id, TypeKind::kTensor), "a list, to a tensor wanted");
      case OpKind::kMapGet:
        return when(arg(0).kind == TypeKind::kMap && arg(1).kind == TypeKind::kString && IsKind(id, TypeKind::kOptional) &&
                        arg(0).element == element,
                    "a map and a string, to its optional wanted");
      case OpKind::kMapKeys:
        return when(arg(0).kind == TypeKind::kMap && IsKind(id, TypeKind::kList), "a map, to a list wanted");
      case OpKind::kMapValues:
        return when(arg(0).kind == TypeKind::kMap && IsKind(id, TypeKind::kList) && arg(0).element == element,
                    "a map, to a list of its values wanted");
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define RECORD_OP(enumerator, name, arguments, blocks)
#define LIST_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  std::string TextRule(ValueId id, const Op& op) const {
    const auto is_text = [&](size_t i) { return IsKind(op.args[i], TypeKind::kString) || IsKind(op.args[i], TypeKind::kBytes); };
    const auto when = [](bool holds, const char* text) { return std::string(holds ? "" : text); };
    switch (op.kind) {
      case OpKind::kStringLen:
        return when(is_text(0) && IsScalar(id, DType::kI64), "text, to i64 wanted");
      case OpKind::kStringEqual:
        return when(is_text(0) && is_text(1) && IsScalar(id, DType::kBool), "two texts, to bool wanted");
      case OpKind::kText: {
        if (!IsKind(id, TypeKind::kString) || op.imm >= program_.constants.size()) return "a constant format, to string wanted";
        for (size_t i = 0; i < op.args.size(); ++i) {
          if (!IsScalar(op.args[i]) && !IsKind(op.args[i], TypeKind::kString)) return "scalars and strings wanted";
        }
        const std::string& format = *program_.constants[op.imm].value.text;
        size_t holes = 0;
        for (size_t at = format.find("{}"); at != std::string::npos; at = format.find("{}", at + 2)) ++holes;
        return when(holes >= op.args.size(), "fewer holes than arguments");
      }
      case OpKind::kStringFromBytes:
        return when(is_text(0) && IsKind(id, TypeKind::kString), "bytes, to string wanted");
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TEXT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  std::string EffectRule(const Op& op) const {
    switch (op.kind) {
      case OpKind::kFailIf: {
        const bool holds = IsScalar(op.args[0], DType::kBool) && ParamsAre(op.blocks[0], 0);
        return holds ? "" : "a bool and a block without parameters wanted";
      }
      case OpKind::kMeta: {
        const bool holds = IsKind(op.args[0], TypeKind::kString) && body_[op.args[1]].type == op.type;
        return holds ? "" : "a key and a default of the result wanted";
      }
      case OpKind::kAnnotate:
        return IsKind(op.args[0], TypeKind::kString) && IsKind(op.args[1], TypeKind::kString) ? "" : "two strings wanted";
      case OpKind::kNative:
        return op.imm < program_.natives.size() ? "" : "not a native";
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define EFFECT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
        break;
    }
    return "no rule";
  }

  // What the blocks yield, checked once their values have been.
  std::string ResultsOf(const Op& op) const {
    const auto yields = [&](size_t block, TypeId type) {
      const TypeId yielded = YieldOf(op.blocks[block]);
      return type == TypeId::kNone || (yielded != TypeId::kNone && Fits(types_, yielded, type));
    };
    const auto scalar = [&](DType dtype) {
      for (uint32_t i = 0; i < types_.size(); ++i) {
        const Type& type = types_[TypeId{i}];
        if (type.kind == TypeKind::kScalar && type.dtype == dtype) return TypeId{i};
      }
      return TypeId::kNone;
    };
    bool holds = true;
    switch (op.kind) {
      case OpKind::kIf:
        holds = yields(0, op.type) && yields(1, op.type);
        break;
      case OpKind::kBuild: {
        const TypeId yielded = YieldOf(op.blocks[0]);
        holds = yielded != TypeId::kNone && types_[yielded].kind == TypeKind::kScalar && types_[yielded].dtype == types_[op.type].dtype;
        break;
      }
      case OpKind::kReduce:
      case OpKind::kFold:
        holds = yields(0, op.type);
        break;
      case OpKind::kListBuild:
        holds = yields(0, types_[op.type].element);
        break;
      case OpKind::kListFilter:
        holds = yields(0, scalar(DType::kBool)) && yields(1, types_[op.type].element);
        break;
      case OpKind::kFailIf:
        holds = YieldOf(op.blocks[0]) != TypeId::kNone && types_[YieldOf(op.blocks[0])].kind == TypeKind::kString;
        break;
#define WITH_0(enumerator) case OpKind::enumerator:
#define WITH_1(enumerator)
#define WITH_2(enumerator)
#define OP(enumerator, name, arguments, blocks) WITH_##blocks(enumerator)
#include "compiler/ir/ops.def"
#undef OP
#undef WITH_0
#undef WITH_1
#undef WITH_2
        break;
    }
    return holds ? "" : "a block yields another type";
  }

  const Program& program_;
  const TypeTable& types_;
  const Body& body_;
  std::vector<bool> visible_, used_block_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> VerifyBody(const Program& program, const Body& body) { return BodyVerifier(program, body).Run(); }

}  // namespace wf::ir
