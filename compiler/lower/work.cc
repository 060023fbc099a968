#include "compiler/lower/work.h"

#include <algorithm>

#include "compiler/lower/layout.h"

namespace wf::lower {

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
    if (!is_open && !has_length) continue;
    const auto up = static_cast<uint64_t>(FramesUp(context.program(), task.region, context.program()[slot].region));
    llvm::Value* frame = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), f->getArg(0), up));
    const Leaves leaves = LoadValue(context, b, id, Offset(b, frame, frames.slots[static_cast<size_t>(slot)].offset));
    llvm::Value* size = leaves[1];
    for (size_t axis = 1; is_open && axis < type.dims.size(); ++axis) size = b.CreateMul(size, leaves[1 + axis]);
    units = b.CreateAdd(units, size);
  }
  b.CreateRet(units);
  return f;
}

}  // namespace wf::lower
