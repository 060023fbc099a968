#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"
#include "compiler/lower/literals.h"

namespace wf::lower {

// Does the body hold loops whose speed depends on the CPU's vectors?
bool HasLoops(const ir::Body& body);

// How often what is in these loops runs, one in the other; infinity: the program does not say it.
double TurnsOfLoops(const ir::Body& body);

// What differs between tasks that do the same: slots, offsets, lines, some literals, extents and tensors. In a function with a third
// argument these are read from the table of i32 that it leads to, so that the bodies of such tasks are equal; in others they are constants.
// Borrows: the literals; the function, which has its entry block when the first is asked for.
class Places {
 public:
  // A number, or where the bytes begin, counted from the table on.
  struct Entry {
    uint32_t number;
    llvm::Constant* bytes = nullptr;
  };
  Places(llvm::Function& function, const TaskLiterals& literals);
  llvm::Value* Number(llvm::IRBuilder<>& b, uint32_t value);  // i32
  llvm::Value* Offset(llvm::IRBuilder<>& b, llvm::Value* address, uint32_t bytes);
  llvm::Value* Extent(llvm::IRBuilder<>& b, uint64_t value);  // i64
  // The scalar `id` of the body, a float; null: it is none of the literals.
  llvm::Value* Literal(ir::ValueId id, llvm::Type* type, uint64_t bits);
  // The elements of the constant tensor `id`; `bytes` where it is none of the literals.
  llvm::Value* Elements(ir::ValueId id, llvm::Constant* bytes);
  std::vector<Entry> TakeTable() { return std::move(table_); }

 private:
  bool Has(ir::ValueId id) const;
  llvm::Value* Load(llvm::IRBuilder<>& b, llvm::Type* type, std::initializer_list<Entry> entries);
  llvm::Value* Read(llvm::Type* type, uint64_t bits);

  llvm::Function& function_;
  llvm::Value* const argument_;  // null: there is no table
  const TaskLiterals& literals_;
  llvm::DenseMap<uint32_t, llvm::Value*> read_;  // of the literals, by ValueId: a block that is written more than once has it once
  std::vector<Entry> table_;
};

}  // namespace wf::lower
