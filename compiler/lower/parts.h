#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Blocks from `begin` to before `end`; control enters at `begin` alone.
struct Part {
  llvm::BasicBlock *begin = nullptr, *end = nullptr;
  uint64_t weight = 0;  // of what the function held before it
};

// Cuts a long body, while it is written, into parts that become functions: LLVM's time and memory grow faster than a function's length.
// Parts begin and end between operations of one block. Does nothing to a body of at most two parts.
// Borrows: body.   Cost: linear in the body.
class PartCutter {
 public:
  PartCutter(const ir::Body& body, uint64_t part_weight);
  bool are_needed() const { return are_needed_; }
  void Add(const ir::Op& op);                  // which is written next
  Part Begin(llvm::IRBuilder<>& b);            // at the start of a block
  void End(llvm::IRBuilder<>& b, Part& part);  // after an operation: where the part is long enough, what follows is the next one
  // Makes the parts functions, inner ones first; what others read of them goes through memory. `exits` belong to none. A part that is
  // entered from elsewhere, too, stays where it is.
  void Outline(llvm::Function& function, const std::vector<llvm::BasicBlock*>& exits) const;

 private:
  const ir::Body& body_;
  const uint64_t part_weight_;
  bool are_needed_;
  uint64_t weight_ = 0;  // of what the function holds so far
  std::vector<Part> parts_;
};

}  // namespace wf::lower
