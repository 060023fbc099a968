#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Scalar operations on values in registers (Context::Register), or on vectors of them: the same instructions, lane by lane.

// `arg` is the dtype of the arguments (of kSelect: of the second), `result` that of the result.
llvm::Value* EmitScalarOp(llvm::IRBuilder<>& b, ir::OpKind kind, ir::DType arg, ir::DType result, llvm::ArrayRef<llvm::Value*> args);

// The lesser or greater of `same`, a scalar float, and each of `lanes`.
llvm::Value* EmitMinMaxOfSame(llvm::IRBuilder<>& b, bool max, llvm::Value* same, llvm::Value* lanes);

// The register type of `dtype`, as a vector when `like` is one.
llvm::Type* ShapedType(llvm::IRBuilder<>& b, ir::DType dtype, llvm::Type* like);

// The element that a reduction starts its lanes with, and one step.
llvm::Constant* Identity(llvm::IRBuilder<>& b, ir::ReduceKind kind, ir::DType dtype);
llvm::Value* EmitReduceStep(llvm::IRBuilder<>& b, ir::ReduceKind kind, ir::DType dtype, llvm::Value* a, llvm::Value* c);

}  // namespace wf::lower
