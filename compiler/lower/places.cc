#include "compiler/lower/places.h"

namespace wf::lower {

bool HasLoops(const ir::Body& body) {
  for (const ir::Op& op : body.ops) {
    if (op.kind == ir::OpKind::kBuild || op.kind == ir::OpKind::kReduce || op.kind == ir::OpKind::kFold) return true;
  }
  return false;
}

Places::Places(llvm::Function& function) : function_(function), argument_(function.arg_size() > 2 ? function.getArg(2) : nullptr) {}

llvm::Value* Places::Number(llvm::IRBuilder<>& b, uint32_t value) {
  if (argument_ == nullptr) return b.getInt32(value);
  const llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(function_.getEntryBlock().getTerminator());
  table_.push_back(value);
  return b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), argument_, table_.size() - 1), "place");
}

llvm::Value* Places::Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes) {
  return b.CreateInBoundsGEP(b.getInt8Ty(), address, b.CreateZExt(Number(b, bytes), b.getInt64Ty()));
}

}  // namespace wf::lower
