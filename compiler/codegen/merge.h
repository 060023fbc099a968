#pragma once

#include <llvm/IR/PassManager.h>

namespace wf::codegen {

// Of functions that are the same one is kept: bodies of nodes that do the same, parsers of requests with the same members. Takes those
// whose address nobody compares. LLVM's MergeFunctions replaces them one by one, and makes each table that names one anew for each.
// Cost: linear, times the depth of calls.
bool MergeEqual(llvm::Module& module);  // true: it changed something

struct MergeEqualPass : llvm::PassInfoMixin<MergeEqualPass> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace wf::codegen
