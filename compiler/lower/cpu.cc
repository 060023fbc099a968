#include "compiler/lower/cpu.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace wf::lower {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

struct Registers {
  Value *a, *b, *c, *d;
};

// cpuid leaf 1 ecx: SSE3 SSSE3 FMA CX16 SSE4.1 SSE4.2 MOVBE POPCNT OSXSAVE AVX F16C; leaf 7 ebx: BMI1 AVX2 BMI2; 0x80000001 ecx: LAHF
// LZCNT.
constexpr uint32_t kLeaf1 =
    1u << 0 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23 | 1u << 27 | 1u << 28 | 1u << 29;
constexpr uint32_t kLeaf7 = 1u << 3 | 1u << 5 | 1u << 8;
constexpr uint32_t kExtended = 1u << 0 | 1u << 5;
// Leaf 7 ebx: AVX512 F DQ CD BW VL. The system must save the registers, too: xcr0 bits of SSE and AVX, then of the masks and the upper
// halves.
constexpr uint32_t kLeaf7Wide = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
constexpr uint32_t kSaved = 0x6, kSavedWide = 0xe6;

Registers CpuId(Builder& b, uint32_t leaf) {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32, i32, i32), {i32, i32}, false);
  auto* code = llvm::InlineAsm::get(type, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", true);
  Value* all = b.CreateCall(type, code, {b.getInt32(leaf), b.getInt32(0)});
  return {b.CreateExtractValue(all, 0), b.CreateExtractValue(all, 1), b.CreateExtractValue(all, 2), b.CreateExtractValue(all, 3)};
}

Value* SavedState(Builder& b) {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32), {i32}, false);
  auto* code = llvm::InlineAsm::get(type, "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}", true);
  return b.CreateExtractValue(b.CreateCall(type, code, {b.getInt32(0)}), 0);
}

Value* HasAll(Builder& b, Value* word, uint32_t bits) { return b.CreateICmpEQ(b.CreateAnd(word, bits), b.getInt32(bits)); }

enum class Needs { kBase, kV3, kV4 };

Needs WhatCodeNeeds(Context& context) {
  llvm::SmallVector<llvm::StringRef, 64> features;
  llvm::X86::getFeaturesForCPU(context.base_cpu(), features);
  Needs needs = Needs::kBase;
  for (const llvm::StringRef feature : features) {
    if (feature == "avx512vl") return Needs::kV4;
    if (feature == "avx2") needs = Needs::kV3;
  }
  return needs;
}

}  // namespace

llvm::GlobalVariable* WideCpuFlag(Context& context) {
  if (llvm::GlobalVariable* known = context.module().getGlobalVariable("wf_wide_cpu", true)) return known;
  return new llvm::GlobalVariable(context.module(), context.I8(), false, llvm::GlobalValue::InternalLinkage,
                                  llvm::ConstantInt::get(context.I8(), 0), "wf_wide_cpu");
}

void EmitStartUp(Context& context) {
  const Needs needs = WhatCodeNeeds(context);
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(llvm::Type::getVoidTy(context.llvm()), false), "wf_start_up");
  context.SetCpu(f, "x86-64");
  f->addFnAttr("wf-start-up");
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context.llvm(), name, f); };
  llvm::BasicBlock *entry = block("entry"), *more = block("more"), *choose = block("choose"), *old = block("old");
  Builder b(entry);
  // Leaf 7 and xgetbv must exist before they are asked.
  Value* first = b.CreateICmpUGE(CpuId(b, 0).a, b.getInt32(7));
  Value* leaf1 = HasAll(b, CpuId(b, 1).c, kLeaf1);
  b.CreateCondBr(b.CreateAnd(first, leaf1), more, needs == Needs::kBase ? choose : old);
  b.SetInsertPoint(more);
  const Registers leaf7 = CpuId(b, 7);
  Value* saved = SavedState(b);
  Value* v3 = b.CreateAnd(b.CreateAnd(HasAll(b, leaf7.b, kLeaf7), HasAll(b, CpuId(b, 0x80000001).c, kExtended)), HasAll(b, saved, kSaved));
  Value* v4 = b.CreateAnd(v3, b.CreateAnd(HasAll(b, leaf7.b, kLeaf7Wide), HasAll(b, saved, kSavedWide)));
  if (context.options().target_cpu == "generic") b.CreateStore(b.CreateZExt(v4, b.getInt8Ty()), WideCpuFlag(context));
  Value* enough = needs == Needs::kBase ? b.getTrue() : needs == Needs::kV3 ? v3 : v4;
  b.CreateCondBr(enough, choose, old);
  b.SetInsertPoint(choose);
  b.CreateRetVoid();
  b.SetInsertPoint(old);
  const std::string message =
      "this server was built for " + context.base_cpu() + ", and this CPU is older; build it with --target-cpu for this machine\n";
  const auto write = context.Libc("write", b.getInt64Ty(), {b.getInt32Ty(), b.getPtrTy(), b.getInt64Ty()});
  b.CreateCall(write, {b.getInt32(2), context.Text(message), b.getInt64(message.size())});
  b.CreateCall(context.Libc("_exit", b.getVoidTy(), {b.getInt32Ty()}), {b.getInt32(1)});
  b.CreateUnreachable();
  llvm::appendToGlobalCtors(context.module(), f, 101);  // before the constructors of the runtime
}

void EmitEntry(Context& context, llvm::Function& entry, const Versions& versions, llvm::Constant* last) {
  llvm::SmallVector<Value*, 4> args;
  for (llvm::Argument& arg : entry.args()) args.push_back(&arg);
  args.push_back(last);
  Builder b(llvm::BasicBlock::Create(context.llvm(), "entry", &entry));
  const auto hand_on = [&](llvm::Function* target) {
    llvm::CallInst* call = b.CreateCall(target, args);
    call->setTailCall();
    b.CreateRet(call);
  };
  if (versions.wide == versions.narrow) return hand_on(versions.narrow);
  llvm::BasicBlock* wide_block = llvm::BasicBlock::Create(context.llvm(), "wide", &entry);
  llvm::BasicBlock* narrow_block = llvm::BasicBlock::Create(context.llvm(), "narrow", &entry);
  b.CreateCondBr(b.CreateICmpNE(b.CreateLoad(b.getInt8Ty(), WideCpuFlag(context)), b.getInt8(0)), wide_block, narrow_block);
  b.SetInsertPoint(wide_block);
  hand_on(versions.wide);
  b.SetInsertPoint(narrow_block);
  hand_on(versions.narrow);
}

}  // namespace wf::lower
