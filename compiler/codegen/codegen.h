#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/options.h"
#include "runtime/base/status.h"

namespace wf::codegen {

// Optimises `module` in place and appends its object file (or text) to `out`. The same module and options give the same bytes.
// Errors: kUnimplemented when this LLVM has no x86-64, kInternal when it cannot emit. Thread: any, one module per LLVMContext at a time.
base::Status EmitObject(llvm::Module& module, const Options& options, llvm::SmallVectorImpl<char>& out);

// As EmitObject, into objects that are to be linked together, each made in a thread and an LLVMContext of its own (parts.h).
// REQUIRES: `emit` is kObject.   Cost: at most Options::most_objects threads, and the module once more for each.
base::Result<std::vector<std::string>> EmitObjects(llvm::Module& module, const Options& options);

// From now on LLVM's profiler writes down what the calling thread does; what it has others do comes with that.
void StartTrace();

}  // namespace wf::codegen
