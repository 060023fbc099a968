#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "compiler/ir/ir.h"
#include "compiler/lower/options.h"

namespace wf::lower {

// From a program that passed ir::Verify and expand_math to a module: one function for each body, the codecs, and the plan (wf_plan_main) as
// constant data laid out by runtime/abi/plan.h. Never fails: what it cannot take is our bug (WF_CHECK).
// Thread: any; one per LLVMContext.   Cost: linear in the program's operations, twice for bodies with loops when target_cpu is generic.
std::unique_ptr<llvm::Module> Lower(const ir::Program& program, llvm::LLVMContext& context, const Options& options);

// The constants that the module of Lower declares but does not hold, because LLVM is slow on big data: codegen adds them to the object.
struct BigConstant {
  std::string symbol;
  std::shared_ptr<const std::string> bytes;
};
std::vector<BigConstant> BigConstants(const ir::Program& program);

// Is `cpu` something that Options::target_cpu takes?
bool KnowsCpu(const std::string& cpu);

}  // namespace wf::lower
