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

llvm::Value* Places::Extent(llvm::IRBuilder<>& b, uint64_t value) {
  return argument_ == nullptr ? b.getInt64(value) : Read(b.getInt64Ty(), value);
}

bool Places::Has(ir::ValueId id) const { return argument_ != nullptr && !literals_.empty() && literals_[static_cast<size_t>(id)]; }

llvm::Value* Places::Literal(ir::ValueId id, llvm::Type* type, uint64_t bits) {
  if (!Has(id)) return nullptr;
  llvm::Value*& read = read_[static_cast<uint32_t>(id)];
  if (read == nullptr) read = Read(type, bits);
  return read;
}

llvm::Value* Places::Elements(ir::ValueId id, llvm::Constant* bytes) {
  if (!Has(id)) return bytes;
  llvm::Value*& read = read_[static_cast<uint32_t>(id)];
  if (read != nullptr) return read;
  llvm::IRBuilder<> b(function_.getEntryBlock().getTerminator());
  llvm::Value* from_here = b.CreateSExt(Load(b, b.getInt32Ty(), {{0, bytes}}), b.getInt64Ty());
  return read = b.CreateGEP(b.getInt8Ty(), argument_, from_here, "elements");
}

llvm::Value* Places::Read(llvm::Type* type, uint64_t bits) {
  llvm::IRBuilder<> b(function_.getEntryBlock().getTerminator());
  const Entry low{static_cast<uint32_t>(bits)};
  return type->getPrimitiveSizeInBits() == 64 ? Load(b, type, {low, {static_cast<uint32_t>(bits >> 32)}}) : Load(b, type, {low});
}

llvm::Value* Places::Load(llvm::IRBuilder<>& b, llvm::Type* type, std::initializer_list<Entry> entries) {
  llvm::Value* address = b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), argument_, table_.size());
  table_.insert(table_.end(), entries);
  return b.CreateAlignedLoad(type, address, llvm::Align(sizeof(uint32_t)), "place");
}

llvm::Value* Places::Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes) {
  return b.CreateInBoundsGEP(b.getInt8Ty(), address, b.CreateZExt(Number(b, bytes), b.getInt64Ty()));
}

}  // namespace wf::lower
