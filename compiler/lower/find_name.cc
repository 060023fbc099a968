#include "compiler/lower/find_name.h"

#include "compiler/lower/image.h"
#include "compiler/lower/layout.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using llvm::Value;
constexpr uint32_t kPrime = 0x01000193;

}  // namespace

uint32_t PerfectHash::CellOf(std::string_view name) const {
  uint32_t hash = seed ^ static_cast<uint32_t>(name.size());
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * kPrime;
  return (hash ^ (hash >> 15)) & mask;
}

PerfectHash FindPerfectHash(const std::vector<std::string>& names) {
  PerfectHash hash;
  for (uint32_t size = 1;; size *= 2) {
    if (size < names.size()) continue;
    WF_CHECK(size < (1u << 24), "names are not distinct", names.size());
    for (uint32_t seed = 0; seed < 1000; ++seed) {
      hash = {seed, size - 1, std::vector<int16_t>(size, -1)};
      bool fits = true;
      for (size_t i = 0; i < names.size() && fits; ++i) {
        int16_t& cell = hash.table[hash.CellOf(names[i])];
        fits = cell < 0;
        cell = static_cast<int16_t>(i);
      }
      if (fits) return hash;
    }
  }
}

llvm::Function* EmitFindName(Context& context, const std::vector<std::string>& names) {
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), {context.Ptr(), context.I64()}, false), "find_in");
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context.llvm(), name, f); };
  llvm::BasicBlock *entry = block("entry"), *loop = block("loop"), *look = block("look"), *compare = block("compare"),
                   *none = block("none");
  llvm::IRBuilder<> b(none);
  b.CreateRet(b.getInt32(static_cast<uint32_t>(-1)));
  b.SetInsertPoint(entry);
  if (names.empty()) {
    b.CreateBr(none);
    for (llvm::BasicBlock* unused : {loop, look, compare}) unused->eraseFromParent();
    return f;
  }
  const PerfectHash hash = FindPerfectHash(names);
  Value *text = f->getArg(0), *length = f->getArg(1);
  Value* start = b.CreateXor(b.CreateTrunc(length, b.getInt32Ty()), hash.seed);
  uint64_t longest = 0;
  for (const std::string& name : names) longest = std::max<uint64_t>(longest, name.size());
  // Names longer than all of ours are not even hashed.
  b.CreateCondBr(b.CreateICmpULT(b.CreateSub(length, b.getInt64(1)), b.getInt64(longest)), loop, none);
  b.SetInsertPoint(loop);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2), *state = b.CreatePHI(b.getInt32Ty(), 2);
  Value* byte = b.CreateZExt(b.CreateLoad(b.getInt8Ty(), b.CreateInBoundsGEP(b.getInt8Ty(), text, index)), b.getInt32Ty());
  Value* next_state = b.CreateMul(b.CreateXor(state, byte), b.getInt32(kPrime));
  Value* next = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(b.getInt64(0), entry);
  index->addIncoming(next, loop);
  state->addIncoming(start, entry);
  state->addIncoming(next_state, loop);
  b.CreateCondBr(b.CreateICmpULT(next, length), loop, look);
  b.SetInsertPoint(look);
  Value* cell = b.CreateAnd(b.CreateXor(next_state, b.CreateLShr(next_state, 15)), hash.mask);
  Image cells, texts;
  for (const int16_t number : hash.table) cells.Add(number);
  for (const std::string& name : names) {
    const size_t at = texts.Add(wf_bytes{nullptr, name.size()});
    texts.Pointer(at, context.Text(name));
  }
  Value* number =
      b.CreateLoad(b.getInt16Ty(), b.CreateInBoundsGEP(b.getInt16Ty(), context.Shared(cells, "cells"), b.CreateZExt(cell, b.getInt64Ty())));
  b.CreateCondBr(b.CreateICmpSLT(number, b.getInt16(0)), none, compare);
  b.SetInsertPoint(compare);
  Value* known = b.CreateInBoundsGEP(b.getInt8Ty(), context.Shared(texts, "names"),
                                     b.CreateMul(b.CreateZExt(number, b.getInt64Ty()), b.getInt64(sizeof(wf_bytes))));
  Value* same_length = b.CreateICmpEQ(b.CreateLoad(b.getInt64Ty(), Offset(b, known, 8)), length);
  const auto memcmp_ = context.Libc("memcmp", b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()});
  Value* order = b.CreateCall(memcmp_, {b.CreateLoad(b.getPtrTy(), known), text, b.CreateSelect(same_length, length, b.getInt64(0))});
  Value* same = b.CreateAnd(same_length, b.CreateICmpEQ(order, b.getInt32(0)));
  b.CreateRet(b.CreateSelect(same, b.CreateSExt(number, b.getInt32Ty()), b.getInt32(static_cast<uint32_t>(-1))));
  return f;
}

}  // namespace wf::lower
