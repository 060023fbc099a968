#include "compiler/passes/rewriter.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace wf::passes {

using ir::Op;
using ir::TypeId;

ir::Body Rewriter::Run() {
  WF_CHECK(!from_.empty());
  b_.Close(CopyBlock(BlockId{0}));
  return std::move(to_);
}

std::vector<ValueId> Rewriter::MappedArgs(const Op& op) const {
  std::vector<ValueId> args;
  args.reserve(op.args.size());
  for (const ValueId arg : op.args) args.push_back(Mapped(arg));
  return args;
}

ValueId Rewriter::CopyBlock(BlockId block) {
  for (const ValueId id : from_[block].ops) {
    b_.set_line(from_[id].line);
    Map(id, Visit(id, from_[id]));
  }
  const ValueId result = from_[block].result;
  return result == ValueId::kNone ? result : Mapped(result);
}

ValueId Rewriter::InlineBlock(BlockId block, const std::vector<ValueId>& params) {
  for (size_t i = 0; i < params.size(); ++i) Map(from_[block].params[i], params[i]);
  return CopyBlock(block);
}

BlockId Rewriter::CopyNested(BlockId block) {
  std::vector<TypeId> types;
  for (const ValueId param : from_[block].params) types.push_back(from_[param].type);
  b_.Open(types);
  for (size_t i = 0; i < types.size(); ++i) Map(from_[block].params[i], b_.Param(i));
  return b_.Close(CopyBlock(block));
}

ValueId Rewriter::Copy(ValueId id) {
  const Op& op = from_[id];
  const std::vector<ValueId> args = MappedArgs(op);
  switch (op.kind) {
    case OpKind::kScalar:
      return b_.Scalar(b_.types()[op.type].dtype, op.imm);
    case OpKind::kConstant:
      return b_.Constant(op.imm);
    case OpKind::kSlot:
      return b_.Slot(static_cast<ir::SlotId>(op.imm));
    case OpKind::kDim:
      return b_.Dim(args[0], op.imm);
    case OpKind::kField:
      return b_.Field(args[0], op.imm);
    case OpKind::kCheckIndex:
      return b_.CheckIndex(args[0], args[1]);
    case OpKind::kBuild:
      return b_.Build(b_.types()[op.type].dtype, args, CopyNested(op.blocks[0]));
    case OpKind::kReshape:
      return b_.Reshape(args[0], {args.begin() + 1, args.end()});
    default:
      break;
  }
  if (op.kind >= OpKind::kAdd && op.kind <= OpKind::kConvert) return CopyScalar(op, args);
  std::vector<BlockId> blocks;
  for (const BlockId block : op.blocks) blocks.push_back(CopyNested(block));
  b_.set_line(op.line);
  return b_.Emit(op.kind, op.type, args, op.imm, std::move(blocks));
}

ValueId Rewriter::CopyScalar(const Op& op, const std::vector<ValueId>& args) {
  switch (op.kind) {
    case OpKind::kFma:
      return b_.Fma(args[0], args[1], args[2]);
    case OpKind::kSelect:
      return b_.Select(args[0], args[1], args[2]);
    case OpKind::kConvert:
      return b_.Convert(args[0], b_.types()[op.type].dtype);
    case OpKind::kBitcast:
      return b_.Bitcast(args[0], b_.types()[op.type].dtype);
    default:
      break;
  }
  return args.size() == 1 ? b_.Unary(op.kind, args[0]) : b_.Binary(op.kind, args[0], args[1]);
}

void RewriteBodies(ir::Program& program, const std::function<ir::Body(const ir::Body&)>& pass) {
  for (ir::Task& task : program.tasks) {
    if (!task.body.empty()) task.body = pass(task.body);
  }
}

bool IsTensorLoop(OpKind kind) { return kind == OpKind::kBuild || kind == OpKind::kReduce; }
bool IsLoop(OpKind kind) {
  return IsTensorLoop(kind) || kind == OpKind::kFold || kind == OpKind::kListBuild || kind == OpKind::kListFilter;
}

bool MayFail(OpKind kind) {
  switch (kind) {
    case OpKind::kCheckIndex:
    case OpKind::kCheckDivisor:
    case OpKind::kStickyIf:
    case OpKind::kTensorOfList:
    case OpKind::kStringFromBytes:
    case OpKind::kFailIf:
    case OpKind::kMeta:
    case OpKind::kAnnotate:
    case OpKind::kNative:
      return true;
    default:
      return false;
  }
}

bool HasEffects(const ir::Body& body, ValueId id) {
  const Op& op = body[id];
  if (MayFail(op.kind)) return true;
  return std::any_of(op.blocks.begin(), op.blocks.end(), [&](BlockId block) {
    const auto& ops = body[block].ops;
    return std::any_of(ops.begin(), ops.end(), [&](ValueId inner) { return HasEffects(body, inner); });
  });
}

}  // namespace wf::passes
