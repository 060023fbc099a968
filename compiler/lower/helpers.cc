#include "compiler/lower/helpers.h"

#include <array>

#include "compiler/lower/image.h"
#include "compiler/lower/layout.h"

namespace wf::lower {
namespace {

using llvm::Value;

struct TextValue {
  Value *data, *length;
};

// -1, 0 or 1 as the first text stands before the second: bytes first, then length.
Value* CompareTexts(Context& context, llvm::IRBuilder<>& b, TextValue one, TextValue other) {
  const auto memcmp_ = context.Libc("memcmp", b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()});
  Value* shorter = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, one.length, other.length);
  Value* order = b.CreateCall(memcmp_, {one.data, other.data, shorter});
  Value* by_length = b.CreateSelect(b.CreateICmpULT(one.length, other.length), b.getInt32(static_cast<uint32_t>(-1)),
                                    b.CreateZExt(b.CreateICmpUGT(one.length, other.length), b.getInt32Ty()));
  return b.CreateSelect(b.CreateICmpEQ(order, b.getInt32(0)), by_length, order);
}

constexpr int kAccept = 0, kReject = 8, kStates = 9;

// States: 0 between characters; 1, 2, 3 that many bytes to come; 4 after E0, 5 after ED, 6 after F0, 7 after F4 (whose next byte is
// limited).
int NextState(int state, int byte) {
  const auto within = [&](int low, int high, int next) { return byte >= low && byte <= high ? next : kReject; };
  switch (state) {
    case 0:
      if (byte < 0x80) return kAccept;
      if (byte < 0xc2 || byte > 0xf4) return kReject;
      if (byte < 0xe0) return 1;
      if (byte < 0xf0) return byte == 0xe0 ? 4 : byte == 0xed ? 5 : 2;
      return byte == 0xf0 ? 6 : byte == 0xf4 ? 7 : 3;
    case 1:
      return within(0x80, 0xbf, kAccept);
    case 2:
      return within(0x80, 0xbf, 1);
    case 3:
      return within(0x80, 0xbf, 2);
    case 4:
      return within(0xa0, 0xbf, 1);
    case 5:
      return within(0x80, 0x9f, 1);
    case 6:
      return within(0x90, 0xbf, 2);
    case 7:
      return within(0x80, 0x8f, 2);
    default:
      return kReject;
  }
}

ir::Value ZeroOf(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  if (type.kind == ir::TypeKind::kTensor) {
    std::vector<int64_t> dims;
    size_t elements = 1;
    for (const int64_t dim : type.dims) {
      dims.push_back(std::max<int64_t>(dim, 0));
      elements *= static_cast<size_t>(dims.back());
    }
    return ir::Value::Tensor(dims, std::string(elements * ir::SizeOf(type.dtype), '\0'));
  }
  if (type.kind != ir::TypeKind::kRecord) return {};
  std::vector<ir::Value> fields;
  for (const ir::Field& field : type.fields) fields.push_back(ZeroOf(types, field.type));
  return ir::Value::Items(std::move(fields));
}

}  // namespace

llvm::Function* FindKey(Context& context) {
  if (llvm::Function* known = context.module().getFunction("wf_find_key")) return known;
  llvm::Type *ptr = context.Ptr(), *i64 = context.I64();
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(ptr, {ptr, i64, i64, ptr, i64}, false), "wf_find_key");
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context.llvm(), name, f); };
  llvm::BasicBlock *entry = block("entry"), *head = block("head"), *look = block("look"), *move = block("move"), *found = block("found"),
                   *absent = block("absent");
  llvm::IRBuilder<> b(entry);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode *low = b.CreatePHI(i64, 2, "low"), *high = b.CreatePHI(i64, 2, "high");
  b.CreateCondBr(b.CreateICmpULT(low, high), look, absent);
  b.SetInsertPoint(look);
  Value* middle = b.CreateAdd(low, b.CreateLShr(b.CreateSub(high, low), 1));
  Value* at = b.CreateInBoundsGEP(b.getInt8Ty(), f->getArg(0), b.CreateMul(middle, f->getArg(2)));
  Value* key = b.CreateLoad(ptr, at);
  Value* order = CompareTexts(context, b, {key, b.CreateLoad(i64, Offset(b, at, 8))}, {f->getArg(3), f->getArg(4)});
  b.CreateCondBr(b.CreateICmpEQ(order, b.getInt32(0)), found, move);
  b.SetInsertPoint(move);
  Value* is_before = b.CreateICmpSLT(order, b.getInt32(0));
  low->addIncoming(b.getInt64(0), entry);
  low->addIncoming(b.CreateSelect(is_before, b.CreateAdd(middle, b.getInt64(1)), low), move);
  high->addIncoming(f->getArg(1), entry);
  high->addIncoming(b.CreateSelect(is_before, high, middle), move);
  b.CreateBr(head);
  b.SetInsertPoint(found);
  b.CreateRet(at);
  b.SetInsertPoint(absent);
  b.CreateRet(llvm::ConstantPointerNull::get(context.Ptr()));
  return f;
}

llvm::Function* IsUtf8(Context& context) {
  if (llvm::Function* known = context.module().getFunction("wf_is_utf8")) return known;
  std::array<uint8_t, kStates * 256> table{};
  for (int state = 0; state < kStates; ++state) {
    for (int byte = 0; byte < 256; ++byte) table[static_cast<size_t>(state * 256 + byte)] = static_cast<uint8_t>(NextState(state, byte));
  }
  Image image;
  image.Add(table);
  llvm::GlobalVariable* states = image.Global(context.module(), "utf8");
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I1(), {context.Ptr(), context.I64()}, false), "wf_is_utf8");
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context.llvm(), name, f); };
  llvm::BasicBlock *entry = block("entry"), *loop = block("loop"), *done = block("done");
  llvm::IRBuilder<> b(entry);
  b.CreateCondBr(b.CreateICmpEQ(f->getArg(1), b.getInt64(0)), done, loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2, "i"), *state = b.CreatePHI(b.getInt64Ty(), 2, "state");
  Value* byte = b.CreateLoad(b.getInt8Ty(), b.CreateInBoundsGEP(b.getInt8Ty(), f->getArg(0), index));
  Value* cell = b.CreateAdd(b.CreateShl(state, 8), b.CreateZExt(byte, b.getInt64Ty()));
  Value* next = b.CreateZExt(b.CreateLoad(b.getInt8Ty(), b.CreateInBoundsGEP(b.getInt8Ty(), states, cell)), b.getInt64Ty());
  Value* after = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(b.getInt64(0), entry);
  index->addIncoming(after, loop);
  state->addIncoming(b.getInt64(kAccept), entry);
  state->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpULT(after, f->getArg(1)), loop, done);
  b.SetInsertPoint(done);
  llvm::PHINode* last = b.CreatePHI(b.getInt64Ty(), 2);
  last->addIncoming(b.getInt64(kAccept), entry);
  last->addIncoming(next, loop);
  b.CreateRet(b.CreateICmpEQ(last, b.getInt64(kAccept)));
  return f;
}

llvm::Constant* ZeroImage(Context& context, ir::TypeId type) { return context.Constant(type, ZeroOf(context.types(), type)); }

}  // namespace wf::lower
