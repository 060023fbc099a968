#include "compiler/lower/places.h"

namespace wf::lower {

bool HasLoops(const ir::Body& body) {
  for (const ir::Op& op : body.ops) {
    if (op.kind == ir::OpKind::kBuild || op.kind == ir::OpKind::kReduce || op.kind == ir::OpKind::kFold) return true;
  }
  return false;
}

Places::Places(llvm::Function& function, const TaskLiterals& literals)
    : function_(function), argument_(function.arg_size() > 2 ? function.getArg(2) : nullptr), literals_(literals) {}

llvm::Value* Places::Number(llvm::IRBuilder<>& b, uint32_t value) {
  return argument_ == nullptr ? b.getInt32(value) : Read(b.getInt32Ty(), value);
}

llvm::Value* Places::Literal(ir::ValueId id, llvm::Type* type, uint64_t bits) {
  const auto at = static_cast<uint32_t>(id);
  if (argument_ == nullptr || literals_.empty() || !literals_[at]) return nullptr;
  llvm::Value*& read = read_[at];
  if (read == nullptr) read = Read(type, bits);
  return read;
}

// As many entries as the type has words, loaded in the entry block.
llvm::Value* Places::Read(llvm::Type* type, uint64_t bits) {
  llvm::IRBuilder<> b(function_.getEntryBlock().getTerminator());
  llvm::Value* address = b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), argument_, table_.size());
  table_.push_back(static_cast<uint32_t>(bits));
  if (type->getPrimitiveSizeInBits() == 64) table_.push_back(static_cast<uint32_t>(bits >> 32));
  return b.CreateAlignedLoad(type, address, llvm::Align(sizeof(uint32_t)), "place");
}

llvm::Value* Places::Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes) {
  return b.CreateInBoundsGEP(b.getInt8Ty(), address, b.CreateZExt(Number(b, bytes), b.getInt64Ty()));
}

}  // namespace wf::lower
