#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/lower/context.h"

namespace wf::lower {

// How a value of the language lives in registers: a flat list of leaves.
//   scalar: itself. string, bytes, list, map: pointer, length. tensor: data, each extent, each stride but the last (which is 1).
//   record: the leaves of its fields. optional: the leaves of its value, then whether it has one (i1).
// Extents that the type knows are constants wherever the value came from.
using Leaves = llvm::SmallVector<llvm::Value*, 4>;

void AppendLeafTypes(Context& context, ir::TypeId type, llvm::SmallVectorImpl<llvm::Type*>& types);
size_t LeafCount(const ir::TypeTable& types, ir::TypeId type);
// The leaves of field `field` within those of its record.
size_t FieldLeaf(const ir::TypeTable& types, ir::TypeId record, size_t field);

// Reads or writes the value's fixed part, laid out by runtime/abi/values.h.
Leaves LoadValue(Context& context, llvm::IRBuilder<>& b, ir::TypeId type, llvm::Value* address);
void StoreValue(Context& context, llvm::IRBuilder<>& b, ir::TypeId type, llvm::ArrayRef<llvm::Value*> leaves, llvm::Value* address);
// Zeros of every leaf: `none`, and what stands in for a value that is never looked at.
Leaves ZeroValue(Context& context, ir::TypeId type);
// Of a program's constant.
Leaves ConstantValue(Context& context, llvm::IRBuilder<>& b, size_t constant);

// address + bytes
llvm::Value* Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint64_t bytes);

}  // namespace wf::lower
