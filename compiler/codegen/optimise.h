#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/codegen/codegen.h"

namespace wf::codegen {

// Runs LLVM's pipeline of the level, then the sanitizer's pass.
void Optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options);

}  // namespace wf::codegen
