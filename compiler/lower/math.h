#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/lower/context.h"

namespace wf::lower {

// exp .. pow of scalars or lanes, as a call: one function of the module for each of them, type, number of lanes and CPU, of the operations
// that expand_math writes where it is inlined. The bits are the same.
llvm::Value* EmitMathCall(Context& context, llvm::IRBuilder<>& b, ir::OpKind kind, ir::DType dtype, llvm::ArrayRef<llvm::Value*> args);

}  // namespace wf::lower
