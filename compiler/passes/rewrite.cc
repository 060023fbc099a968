#include "compiler/passes/rewrite.h"

#include <algorithm>

#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"
#include "runtime/base/check.h"

namespace wf::passes {

using ir::OpKind;
using ir::ValueId;

bool IsTensorLoop(OpKind kind) { return kind == OpKind::kBuild || kind == OpKind::kReduce; }

bool IsLoop(OpKind kind) {
  return IsTensorLoop(kind) || kind == OpKind::kFold || kind == OpKind::kListBuild || kind == OpKind::kListFilter;
}

bool IsSticky(OpKind kind) {
  return kind == OpKind::kCheckIndex || kind == OpKind::kCheckDivisor || kind == OpKind::kStickyIf || kind == OpKind::kTensorOfList;
}

bool IsPure(OpKind kind) {
  if (IsSticky(kind) || kind == OpKind::kStringFromBytes) return false;
  return kind < OpKind::kFailIf;
}

bool TestsSticky(OpKind kind) { return kind >= OpKind::kFailIf || kind == OpKind::kStringFromBytes; }

bool IsPureDeep(const ir::Body& body, const ir::Op& op, bool may_be_sticky) {
  if (!IsPure(op.kind) && !(may_be_sticky && IsSticky(op.kind))) return false;
  for (const ir::BlockId block : op.blocks) {
    for (const ValueId id : body[block].ops) {
      if (!IsPureDeep(body, body[id], may_be_sticky)) return false;
    }
  }
  return true;
}

ir::Body Rewriter::Run(ir::TypeId result) {
  b_.Close(Inline(ir::BlockId{0}, {}, result));
  new_.divisor_first = old_.divisor_first;
  return std::move(new_);
}

std::vector<ValueId> Rewriter::Mapped(const std::vector<ValueId>& old) const {
  std::vector<ValueId> mapped;
  for (const ValueId id : old) mapped.push_back(Mapped(id));
  return mapped;
}

ValueId Rewriter::Inline(ir::BlockId old, const std::vector<ValueId>& args, ir::TypeId wanted) {
  const ir::Block& block = old_[old];
  for (size_t i = 0; i < args.size(); ++i) map_[static_cast<size_t>(block.params[i])] = args[i];
  for (const ValueId id : block.ops) {
    b_.set_place(old_[id].place);
    map_[static_cast<size_t>(id)] = Rewrite(id, old_[id]);
    const bool ends = old_[id].kind == OpKind::kFailIf && b_.IsConstant(Mapped(old_[id].args[0]), 1);
    if (!ends) continue;
    if (block.result == ValueId::kNone) return ValueId::kNone;
    return b_.Zero(wanted == ir::TypeId::kNone ? old_[block.result].type : wanted);
  }
  return block.result == ValueId::kNone ? ValueId::kNone : Mapped(block.result);
}

namespace {

// What a block of the operation yields; kNone: what its result is.
ir::TypeId YieldOf(const ir::TypeTable& types, const ir::Op& owner) {
  if (owner.kind == OpKind::kIf || owner.kind == OpKind::kFold) return owner.type;
  return owner.kind == OpKind::kListBuild ? types[owner.type].element : ir::TypeId::kNone;
}

}  // namespace

ir::BlockId Rewriter::CloneBlock(ir::BlockId old, const ir::Op& owner, const std::vector<ValueId>& owner_args) {
  std::vector<ir::TypeId> types;
  for (const ValueId param : old_[old].params) types.push_back(old_[param].type);
  b_.Open(types);
  const std::vector<OpKind> outer_owners = owners_;  // a hoisted block stands less deep than the open ones
  owners_.resize(b_.depth());
  owners_.push_back(owner.kind);
  std::vector<ValueId> params;
  for (size_t i = 0; i < types.size(); ++i) params.push_back(b_.Param(i));
  Opened(owner.kind, owner_args, params);
  const ValueId result = Inline(old, params, YieldOf(b_.types(), owner));
  owners_ = outer_owners;
  return b_.Close(result);
}

ValueId Rewriter::Copy(ValueId id, const ir::Op& op) {
  if ((op.kind >= OpKind::kAdd && op.kind <= OpKind::kConvert) || op.kind == OpKind::kScalar) return CopyScalar(op);
  switch (op.kind) {
    case OpKind::kConstant:
      return b_.Constant(op.imm);
    case OpKind::kSlot:
      return b_.Slot(static_cast<ir::SlotId>(op.imm));
    case OpKind::kIf:
      return CopyIf(op);
    case OpKind::kBuild: {
      std::vector<ValueId> extents = Mapped(op.args);
      const ir::BlockId block = CloneBlock(op.blocks[0], op, extents);
      return b_.Build(b_.types()[op.type].dtype, std::move(extents), block);
    }
    case OpKind::kDim:
      return b_.Dim(Mapped(op.args[0]), op.imm);
    case OpKind::kReshape: {
      std::vector<ValueId> args = Mapped(op.args);
      return b_.Reshape(args[0], {args.begin() + 1, args.end()});
    }
    case OpKind::kCheckIndex:
      return b_.CheckIndex(Mapped(op.args[0]), Mapped(op.args[1]));
    case OpKind::kCheckDivisor: {
      const ValueId divisor = Mapped(op.args[0]);
      if (b_.IsConstant(divisor) && !b_.IsConstant(divisor, 0)) return divisor;
      return CopyGeneric(op);
    }
    case OpKind::kStickyIf:
    case OpKind::kFailIf:
      if (b_.IsConstant(Mapped(op.args[0]), 0)) return ValueId::kNone;
      return CopyGeneric(op);
    case OpKind::kField:
      return b_.Field(Mapped(op.args[0]), op.imm);
    case OpKind::kHas:
    case OpKind::kUnwrap: {
      const ir::Op& optional = b_.body()[Mapped(op.args[0])];
      if (optional.kind == OpKind::kSome) return op.kind == OpKind::kHas ? b_.Bool(true) : optional.args[0];
      if (optional.kind == OpKind::kNone && op.kind == OpKind::kHas) return b_.Bool(false);
      return CopyGeneric(op);
    }
    case OpKind::kListLen: {
      const ir::Op& list = b_.body()[Mapped(op.args[0])];
      if (list.kind == OpKind::kListMake) return b_.I64(static_cast<int64_t>(list.args.size()));
      if (list.kind == OpKind::kListBuild) return list.args[0];
      return CopyGeneric(op);
    }
    case OpKind::kListGet: {
      const ir::Op& list = b_.body()[Mapped(op.args[0])];
      const ValueId index = Mapped(op.args[1]);
      // Behind a check that fails it may point nowhere.
      const bool is_known = list.kind == OpKind::kListMake && b_.IsConstant(index) && b_.body()[index].imm < list.args.size();
      if (is_known) return list.args[b_.body()[index].imm];
      return CopyGeneric(op);
    }
    default:
      break;
  }
  (void)id;
  return CopyGeneric(op);
}

ValueId Rewriter::CopyScalar(const ir::Op& op) {
  const ir::DType dtype = b_.types()[op.type].dtype;
  switch (op.kind) {
    case OpKind::kScalar:
      return b_.Scalar(dtype, op.imm);
    case OpKind::kConvert:
      return b_.Convert(Mapped(op.args[0]), dtype);
    case OpKind::kBitcast:
      return b_.Bitcast(Mapped(op.args[0]), dtype);
    case OpKind::kSelect:
      return b_.Select(Mapped(op.args[0]), Mapped(op.args[1]), Mapped(op.args[2]));
    case OpKind::kFma:
      return b_.Fma(Mapped(op.args[0]), Mapped(op.args[1]), Mapped(op.args[2]));
    default:
      break;
  }
  if (op.args.size() == 1) return b_.Unary(op.kind, Mapped(op.args[0]));
  WF_CHECK(op.args.size() == 2, static_cast<int>(op.kind));
  return b_.Binary(op.kind, Mapped(op.args[0]), Mapped(op.args[1]));
}

ValueId Rewriter::CopyIf(const ir::Op& op) {
  const ValueId condition = Mapped(op.args[0]);
  if (b_.IsConstant(condition)) return Inline(op.blocks[b_.IsConstant(condition, 1) ? 0 : 1], {}, op.type);
  const ir::BlockId then = CloneBlock(op.blocks[0], op, {}), otherwise = CloneBlock(op.blocks[1], op, {});
  return b_.If(condition, op.type, then, otherwise);
}

namespace {

// Of what is read out of a list, an optional or a map, more may be known by now.
ir::TypeId TypeWith(ir::TypeTable& types, const ir::Op& op, const ir::Type& first) {
  switch (op.kind) {
    case OpKind::kListGet:
    case OpKind::kUnwrap:
      return first.element;
    case OpKind::kMapGet:
      return types.Optional(first.element);
    case OpKind::kMapValues:
      return types.List(first.element);
    default:
      return op.type;
  }
}

}  // namespace

ValueId Rewriter::CopyGeneric(const ir::Op& op) {
  std::vector<ValueId> args = Mapped(op.args);
  const ir::TypeId type = args.empty() || args[0] == ValueId::kNone ? op.type : TypeWith(b_.types(), op, ir::Type(b_.Known(args[0])));
  std::vector<ir::BlockId> blocks;
  for (const ir::BlockId block : op.blocks) blocks.push_back(CloneBlock(block, op, args));
  b_.set_place(op.place);
  return b_.Emit(op.kind, type, std::move(args), op.imm, std::move(blocks));
}

}  // namespace wf::passes
