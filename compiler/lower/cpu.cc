#include "compiler/lower/cpu.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <map>

#include "compiler/lower/cpu_features.h"

namespace wf::lower {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

struct Registers {
  Value *a, *b, *c, *d;
};

Registers CpuId(Builder& b, uint32_t leaf, uint32_t subleaf) {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32, i32, i32), {i32, i32}, false);
  auto* code = llvm::InlineAsm::get(type, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", true);
  Value* all = b.CreateCall(type, code, {b.getInt32(leaf), b.getInt32(subleaf)});
  return {b.CreateExtractValue(all, 0), b.CreateExtractValue(all, 1), b.CreateExtractValue(all, 2), b.CreateExtractValue(all, 3)};
}

Value* SavedState(Builder& b) {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32), {i32}, false);
  auto* code = llvm::InlineAsm::get(type, "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}", true);
  return b.CreateExtractValue(b.CreateCall(type, code, {b.getInt32(0)}), 0);
}

// Code that asks the processor for its features, each leaf once.
class Asked {
 public:
  // Leaves `b` in another block: xgetbv must exist before it is asked.
  explicit Asked(Builder& b) : b_(b) {
    llvm::BasicBlock* entry = b.GetInsertBlock();
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, entry->getParent()); };
    llvm::BasicBlock *ask = block("saved"), *known = block("known");
    constexpr uint32_t kOsxSave = 27;
    b.CreateCondBr(HasBits(Word({"", 1, 0, CpuFeature::Word::kC, 0, 0}), 1U << kOsxSave), ask, known);
    b.SetInsertPoint(ask);
    Value* saved = SavedState(b);
    b.CreateBr(known);
    b.SetInsertPoint(known);
    llvm::PHINode* either = b.CreatePHI(b.getInt32Ty(), 2);
    either->addIncoming(saved, ask);
    either->addIncoming(b.getInt32(0), entry);
    saved_ = either;
  }

  Value* Has(const CpuFeature& feature) { return b_.CreateAnd(HasBits(Word(feature), 1U << feature.bit), HasBits(saved_, feature.saved)); }

  Value* HasAll(const std::vector<CpuFeature>& features) {
    Value* all = b_.getTrue();
    for (const CpuFeature& feature : features) all = b_.CreateAnd(all, Has(feature));
    return all;
  }

 private:
  Value* HasBits(Value* word, uint32_t bits) { return b_.CreateICmpEQ(b_.CreateAnd(word, bits), b_.getInt32(bits)); }

  // 0 where the processor does not know the leaf: it may answer in its place with another.
  Value* Word(const CpuFeature& feature) {
    const auto [found, is_new] = leaves_.try_emplace({feature.leaf, feature.subleaf});
    Leaf& leaf = found->second;
    if (is_new) {
      leaf.exists = b_.CreateICmpUGE(CpuId(b_, feature.leaf & 0x80000000, 0).a, b_.getInt32(feature.leaf));
      leaf.words = CpuId(b_, feature.leaf, feature.subleaf);
    }
    Value* const words[] = {leaf.words.a, leaf.words.b, leaf.words.c, leaf.words.d};
    return b_.CreateSelect(leaf.exists, words[static_cast<size_t>(feature.word)], b_.getInt32(0));
  }

  struct Leaf {
    Value* exists;
    Registers words;
  };
  Builder& b_;
  std::map<std::pair<uint32_t, uint32_t>, Leaf> leaves_;
  Value* saved_ = nullptr;
};

// Writes the message in one piece: a part of it has no bytes where its feature is there.
void EmitRefusal(Context& context, Builder& b, const std::vector<CpuFeature>& needed, const std::vector<Value*>& has) {
  auto* piece = llvm::StructType::get(b.getPtrTy(), b.getInt64Ty());  // iovec
  const size_t n = needed.size() + 2;
  Value* pieces = b.CreateAlloca(piece, b.getInt64(n));
  const auto put = [&](size_t at, const std::string& text, Value* bytes) {
    Value* place = b.CreateConstGEP1_64(piece, pieces, at);
    b.CreateStore(context.Text(text), b.CreateStructGEP(piece, place, 0));
    b.CreateStore(bytes, b.CreateStructGEP(piece, place, 1));
  };
  const std::string first = "this server was built for " + context.base_cpu() + ", and this machine lacks";
  const std::string last = "; build it with --target-cpu for this machine\n";
  put(0, first, b.getInt64(first.size()));
  for (size_t i = 0; i < needed.size(); ++i) {
    const std::string name = " " + std::string(needed[i].name);
    put(i + 1, name, b.CreateSelect(has[i], b.getInt64(0), b.getInt64(name.size())));
  }
  put(n - 1, last, b.getInt64(last.size()));
  const auto write = context.Libc("writev", b.getInt64Ty(), {b.getInt32Ty(), b.getPtrTy(), b.getInt32Ty()});
  b.CreateCall(write, {b.getInt32(2), pieces, b.getInt32(static_cast<uint32_t>(n))});
  b.CreateCall(context.Libc("_exit", b.getVoidTy(), {b.getInt32Ty()}), {b.getInt32(1)});
  b.CreateUnreachable();
}

}  // namespace

llvm::GlobalVariable* WideCpuFlag(Context& context) {
  if (llvm::GlobalVariable* known = context.module().getGlobalVariable("wf_wide_cpu", true)) return known;
  return new llvm::GlobalVariable(context.module(), context.I8(), false, llvm::GlobalValue::InternalLinkage,
                                  llvm::ConstantInt::get(context.I8(), 0), "wf_wide_cpu");
}

void EmitStartUp(Context& context) {
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(llvm::Type::getVoidTy(context.llvm()), false), "wf_start_up");
  context.SetCpu(f, "x86-64");
  f->addFnAttr("wf-start-up");
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::OptimizeNone);  // it runs once; optimising it was a tenth of the time of a small program's code
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context.llvm(), name, f); };
  llvm::BasicBlock *entry = block("entry"), *fine = block("fine"), *lacks = block("lacks");
  Builder b(entry);
  Asked asked(b);
  const bool is_generic = context.options().target_cpu == "generic";
  if (is_generic) b.CreateStore(b.CreateZExt(asked.HasAll(FeaturesOf("x86-64-v4")), b.getInt8Ty()), WideCpuFlag(context));
  const std::vector<CpuFeature> needed = context.NeededFeatures();
  std::vector<Value*> has;
  Value* all = b.getTrue();
  for (const CpuFeature& feature : needed) all = b.CreateAnd(all, has.emplace_back(asked.Has(feature)));
  b.CreateCondBr(all, fine, lacks);
  b.SetInsertPoint(fine);
  b.CreateRetVoid();
  b.SetInsertPoint(lacks);
  EmitRefusal(context, b, needed, has);
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
