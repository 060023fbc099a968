#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/ir/scalar.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr size_t kMaxSelectOps = 8;  // an `if` whose arms compute no more than this becomes a `select`

// Constants are folded by the builder; this adds exact float algebra, ifs, texts, and gives equal operations one value.
class Folder : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  using Key = std::tuple<OpKind, ir::TypeId, std::vector<ValueId>, uint64_t>;

  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kIf) {
      const ValueId folded = FoldIf(op);
      return folded == ValueId::kNone ? Copy(id, op) : folded;
    }
    if (op.kind == OpKind::kText && FoldText(op, id)) return folded_text_;
    if (!op.blocks.empty() || op.args.empty() || op.type == ir::TypeId::kNone) return Copy(id, op);
    if (!IsPure(op.kind) && op.kind != OpKind::kCheckIndex && op.kind != OpKind::kCheckDivisor) return Copy(id, op);
    Key key{op.kind, op.type, Mapped(op.args), op.imm};
    if (const auto known = known_.find(key); known != known_.end() && IsInScope(known->second)) return known->second.value;
    ValueId value = FoldFloat(op);
    if (value == ValueId::kNone) value = Copy(id, op);
    known_[std::move(key)] = {value, b_.DepthOf(value), b_.DepthOf(value) <= b_.depth() ? BlockAt(b_.DepthOf(value)) : b_.current()};
    return value;
  }

  struct Known {
    ValueId value;
    size_t depth;
    ir::BlockId block;
  };
  ir::BlockId BlockAt(size_t depth) {
    std::vector<ir::BlockId> left = b_.Leave(depth);
    const ir::BlockId block = b_.current();
    b_.Return(std::move(left));
    return block;
  }
  bool IsInScope(const Known& known) { return known.depth <= b_.depth() && BlockAt(known.depth) == known.block; }

  ValueId FoldFloat(const ir::Op& op) {
    if (op.args.size() != 2 || op.type == ir::TypeId::kNone) return ValueId::kNone;
    const ir::Type& type = b_.types()[op.type];
    if (type.kind != ir::TypeKind::kScalar || (type.dtype != ir::DType::kF32 && type.dtype != ir::DType::kF64)) return ValueId::kNone;
    const ir::DType dtype = type.dtype;
    const ValueId a = Mapped(op.args[0]), b = Mapped(op.args[1]);
    if (!b_.IsConstant(b)) return ValueId::kNone;
    const double c = ir::F64Of(ir::ConvertScalar(dtype, ir::DType::kF64, b_.body()[b].imm));
    switch (op.kind) {
      case OpKind::kMul:
        return c == 1 ? a : c == -1 ? b_.Unary(OpKind::kNeg, a) : ValueId::kNone;
      case OpKind::kSub:
        return c == 0 && !std::signbit(c) ? a : ValueId::kNone;
      case OpKind::kAdd:
        return c == 0 && std::signbit(c) ? a : ValueId::kNone;
      case OpKind::kDiv: {
        int exponent = 0;
        if (c == 1) return a;
        if (!std::isfinite(c) || std::fabs(std::frexp(c, &exponent)) != 0.5 || std::abs(exponent) > 100) return ValueId::kNone;
        return b_.Mul(a, dtype == ir::DType::kF32 ? b_.F32(static_cast<float>(1 / c)) : b_.F64(1 / c));  // a power of two: exact
      }
      default:
        return ValueId::kNone;
    }
  }

  // Operations of a block that is cheap, without checks and loads; ifs inside that are cheap themselves become selections with it. Nothing:
  // it is not cheap.
  std::optional<size_t> CheapOps(ir::BlockId block) {
    size_t count = 0;
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      if (op.kind == OpKind::kScalar || op.kind == OpKind::kSlot || op.kind == OpKind::kConstant) continue;
      ++count;
      if (op.kind == OpKind::kIf && IsScalar(op.type)) {
        const std::optional<size_t> then = CheapOps(op.blocks[0]), otherwise = CheapOps(op.blocks[1]);
        if (!then || !otherwise) return std::nullopt;
        count += *then + *otherwise;
      } else if (!ir::IsScalarArithmetic(op.kind) || op.kind == OpKind::kDiv || op.kind == OpKind::kRem) {
        return std::nullopt;
      }
    }
    return count <= kMaxSelectOps ? std::optional<size_t>(count) : std::nullopt;
  }

  bool IsScalar(ir::TypeId type) { return type != ir::TypeId::kNone && b_.types()[type].kind == ir::TypeKind::kScalar; }

  // Cheap arms are both computed.
  ValueId FoldIf(const ir::Op& op) {
    if (!IsScalar(op.type) || b_.IsConstant(Mapped(op.args[0]))) return ValueId::kNone;
    const std::optional<size_t> arms[] = {CheapOps(op.blocks[0]), CheapOps(op.blocks[1])};
    if (!arms[0] || !arms[1] || *arms[0] + *arms[1] > kMaxSelectOps) return ValueId::kNone;
    const ValueId condition = Mapped(op.args[0]), then = Inline(op.blocks[0], {}), otherwise = Inline(op.blocks[1], {});
    if (b_.DTypeOf(then) == ir::DType::kBool) {
      if (b_.IsConstant(otherwise, 0)) return b_.Binary(OpKind::kAnd, condition, then);
      if (b_.IsConstant(then, 1)) return b_.Binary(OpKind::kOr, condition, otherwise);
    }
    return b_.Select(condition, then, otherwise);
  }

  bool FoldText(const ir::Op& op, ValueId) {
    const std::string format = *b_.program().constants[op.imm].value.text;
    std::string text;
    size_t from = 0;
    for (const ValueId old : op.args) {
      const ir::Op& arg = b_.body()[Mapped(old)];
      if (arg.kind != OpKind::kScalar && arg.kind != OpKind::kConstant) return false;
      const size_t hole = format.find("{}", from);
      text += format.substr(from, hole - from);
      text +=
          arg.kind == OpKind::kScalar ? ir::ScalarText(b_.types()[arg.type].dtype, arg.imm) : *b_.program().constants[arg.imm].value.text;
      from = hole + 2;
    }
    folded_text_ = b_.Text(text + format.substr(from));
    return true;
  }

  std::map<Key, Known> known_;
  ValueId folded_text_ = ValueId::kNone;
};

}  // namespace

void Fold(ir::Program& program) { RewriteBodies<Folder>(program); }

}  // namespace wf::passes
