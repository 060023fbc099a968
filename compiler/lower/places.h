#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Does the body hold loops whose speed depends on the CPU's vectors?
bool HasLoops(const ir::Body& body);

// What differs between tasks that do the same: slots, offsets, lines. In a function with a third argument these are read from the table of
// i32 that it leads to, so that the bodies of such tasks are equal; in others they are constants.
// Borrows: the function, which has its entry block when the first is asked for.
class Places {
 public:
  explicit Places(llvm::Function& function);
  llvm::Value* Number(llvm::IRBuilder<>& b, uint32_t value);  // i32
  llvm::Value* Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes);
  std::vector<uint32_t> TakeTable() { return std::move(table_); }

 private:
  llvm::Function& function_;
  llvm::Value* const argument_;  // null: there is no table
  std::vector<uint32_t> table_;
};

}  // namespace wf::lower
