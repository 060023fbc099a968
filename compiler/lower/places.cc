#include "compiler/lower/places.h"

#include <algorithm>
#include <limits>

namespace wf::lower {
namespace {

using ir::OpKind;

bool IsLoop(const ir::Op& op) { return op.kind == OpKind::kBuild || op.kind == OpKind::kReduce || op.kind == OpKind::kFold; }
bool IsLoopOfList(const ir::Op& op) { return op.kind == OpKind::kListBuild || op.kind == OpKind::kListFilter; }

double TurnsIn(const ir::Body& body, ir::BlockId block) {
  double turns = 0;
  for (const ir::ValueId id : body[block].ops) {
    const ir::Op& op = body[id];
    double inside = 0;
    for (const ir::BlockId nested : op.blocks) inside += TurnsIn(body, nested);
    if (IsLoop(op)) inside = std::max(inside, 1.0);
    const size_t axes = op.kind == OpKind::kBuild ? op.args.size() : IsLoop(op) || IsLoopOfList(op) ? 1 : 0;
    for (size_t i = 0; i < axes && inside > 0; ++i) {
      const ir::Op& extent = body[op.args[i]];
      const bool is_known = extent.kind == OpKind::kScalar || extent.kind == OpKind::kExtent;
      inside *= is_known ? std::max(static_cast<double>(static_cast<int64_t>(extent.imm)), 1.0) : std::numeric_limits<double>::infinity();
    }
    turns += inside;
  }
  return turns;
}

}  // namespace

bool HasLoops(const ir::Body& body) { return std::any_of(body.ops.begin(), body.ops.end(), IsLoop); }

double TurnsOfLoops(const ir::Body& body) { return TurnsIn(body, ir::BlockId{0}); }

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
