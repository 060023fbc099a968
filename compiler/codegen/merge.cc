#include "compiler/codegen/merge.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/StructuralHash.h>
#include <llvm/Transforms/Utils/FunctionComparator.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace wf::codegen {
namespace {

using Replaced = std::vector<std::pair<llvm::Function*, llvm::Function*>>;  // by the second

Replaced FindEqual(llvm::Module& module) {
  std::map<uint64_t, std::vector<llvm::Function*>> alike;
  for (llvm::Function& function : module) {
    const bool is_ours = !function.isDeclaration() && function.hasLocalLinkage() && function.hasGlobalUnnamedAddr();
    if (is_ours) alike[llvm::StructuralHash(function)].push_back(&function);
  }
  Replaced replaced;
  llvm::GlobalNumberState numbers;
  const auto is_less = [&numbers](const llvm::Function* a, const llvm::Function* b) {
    return llvm::FunctionComparator(a, b, &numbers).compare() < 0;
  };
  for (const auto& [hash, functions] : alike) {
    std::set<llvm::Function*, decltype(is_less)> kept(is_less);
    for (llvm::Function* function : functions) {
      const auto [first, is_new] = kept.insert(function);
      if (!is_new) replaced.emplace_back(function, *first);
    }
  }
  return replaced;
}

// In all tables at once: a constant is not changed but made anew.
void ReplaceInTables(llvm::Module& module, const Replaced& replaced) {
  llvm::ValueToValueMapTy kept;
  for (const auto& [function, first] : replaced) kept[function] = first;
  llvm::ValueMapper mapper(kept);
  for (llvm::GlobalVariable& table : module.globals()) {
    if (table.hasInitializer()) table.setInitializer(mapper.mapConstant(*table.getInitializer()));
  }
}

// False: nothing was left out, and another round would find the same.
bool Replace(llvm::Module& module, const Replaced& replaced) {
  for (const auto& [function, first] : replaced) {
    if (first->hasFnAttribute("wf-body")) {  // or nodes would have it anew, by their tables
      first->addFnAttr(llvm::Attribute::NoInline);
      first->addFnAttr(llvm::Attribute::NoDuplicate);
    }
    function->replaceUsesWithIf(first, [](const llvm::Use& use) { return llvm::isa<llvm::Instruction>(use.getUser()); });
  }
  ReplaceInTables(module, replaced);
  bool left_out = false;
  for (const auto& [function, first] : replaced) {
    function->removeDeadConstantUsers();
    if (!function->use_empty()) continue;
    function->eraseFromParent();
    left_out = true;
  }
  return left_out;
}

}  // namespace

bool MergeEqual(llvm::Module& module) {
  bool changed = false;
  for (Replaced found = FindEqual(module); !found.empty(); found = FindEqual(module)) {  // callers may be equal now
    changed = true;
    if (!Replace(module, found)) break;
  }
  return changed;
}

llvm::PreservedAnalyses MergeEqualPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return MergeEqual(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace wf::codegen
