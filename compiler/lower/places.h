#pragma once

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"
#include "compiler/lower/literals.h"

namespace wf::lower {

// Does the body hold loops whose speed depends on the CPU's vectors?
bool HasLoops(const ir::Body& body);

// What differs between tasks that do the same: slots, offsets, lines, some literals. In a function with a third argument these are read
// from the table of i32 that it leads to, so that the bodies of such tasks are equal; in others they are constants.
// Borrows: the literals; the function, which has its entry block when the first is asked for.
class Places {
 public:
  Places(llvm::Function& function, const TaskLiterals& literals);
  llvm::Value* Number(llvm::IRBuilder<>& b, uint32_t value);  // i32
  llvm::Value* Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes);
  // The scalar `id` of the body, a float; null: it is none of the literals.
  llvm::Value* Literal(ir::ValueId id, llvm::Type* type, uint64_t bits);
  std::vector<uint32_t> TakeTable() { return std::move(table_); }

 private:
  llvm::Value* Read(llvm::Type* type, uint64_t bits);

  llvm::Function& function_;
  llvm::Value* const argument_;  // null: there is no table
  const TaskLiterals& literals_;
  llvm::DenseMap<uint32_t, llvm::Value*> read_;  // of the literals, by ValueId: a block that is written more than once has it once
  std::vector<uint32_t> table_;
};

}  // namespace wf::lower
