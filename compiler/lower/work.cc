#include "compiler/lower/work.h"

#include <algorithm>

#include "compiler/lower/layout.h"

namespace wf::lower {
namespace {

// Whether `id` is the integer in `slot`, perhaps widened or held above a constant.
bool IsSlot(const ir::Body& body, ir::ValueId id, ir::SlotId slot) {
  const ir::Op* op = &body[id];
  while (op->kind == ir::OpKind::kConvert || (op->kind == ir::OpKind::kMax && body[op->args[1]].kind == ir::OpKind::kScalar)) {
    op = &body[op->args[0]];
  }
  return op->kind == ir::OpKind::kSlot && static_cast<ir::SlotId>(op->imm) == slot;
}

// Whether a loop of the body runs as often as the integer in `slot` says: `sum[k < terms](..)`.
bool CountsALoop(const ir::Body& body, ir::SlotId slot) {
  return std::any_of(body.ops.begin(), body.ops.end(), [&](const ir::Op& op) {
    switch (op.kind) {
      case ir::OpKind::kBuild:
        return std::any_of(op.args.begin(), op.args.end(), [&](ir::ValueId extent) { return IsSlot(body, extent, slot); });
      case ir::OpKind::kReduce:
      case ir::OpKind::kFold:
      case ir::OpKind::kListBuild:
      case ir::OpKind::kListFilter:
        return IsSlot(body, op.args[0], slot);
      default:
        return false;
    }
  });
}

}  // namespace

llvm::Function* EmitWork(Context& context, const FrameLayout& frames, const ir::Task& task, const llvm::Twine& name) {
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I64(), {context.Ptr()}, false), name);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context.llvm(), "entry", f));
  llvm::Value* units = b.getInt64(0);
  for (const ir::SlotId slot : task.in) {
    const ir::TypeId id = context.program()[slot].type;
    const ir::Type& type = context.type(id);
    const bool is_open =
        type.kind == ir::TypeKind::kTensor && std::any_of(type.dims.begin(), type.dims.end(), [](int64_t dim) { return dim < 0; });
    const bool has_length = type.kind == ir::TypeKind::kString || type.kind == ir::TypeKind::kBytes || type.kind == ir::TypeKind::kList;
    const bool is_count = type.kind == ir::TypeKind::kScalar && (type.dtype == ir::DType::kI64 || type.dtype == ir::DType::kI32) &&
                          CountsALoop(task.body, slot);
    if (!is_open && !has_length && !is_count) continue;
    const auto up = static_cast<uint64_t>(FramesUp(context.program(), task.region, context.program()[slot].region));
    llvm::Value* frame = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), f->getArg(0), up));
    const Leaves leaves = LoadValue(context, b, id, Offset(b, frame, frames.slots[static_cast<size_t>(slot)].offset));
    if (is_count) {
      llvm::Value* count = b.CreateSExt(leaves[0], b.getInt64Ty());
      units = b.CreateAdd(units, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b.getInt64(0)));
      continue;
    }
    llvm::Value* size = leaves[1];
    for (size_t axis = 1; is_open && axis < type.dims.size(); ++axis) size = b.CreateMul(size, leaves[1 + axis]);
    units = b.CreateAdd(units, size);
  }
  b.CreateRet(units);
  return f;
}

}  // namespace wf::lower
