#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace wf::codegen {

// A module cut into parts that threads can make code of at once. Bodies of nodes go into other parts; their entries, the codecs and all
// tables stay. The cut follows from the module alone, so that a program gives the same objects on every machine.
// Symbols that parts share are hidden: the linker binds them, and nobody else sees them.
class Parts {
 public:
  // `module` keeps the first part. At most `most` parts, as many as have `least` instructions on average.
  // Cost: linear, and the bitcode of the whole in memory where there are others.
  Parts(llvm::Module& module, size_t most, size_t least);

  size_t others() const { return others_.size(); }

  // One of the others, in a context of the caller's.   Thread: any, several at once.
  std::unique_ptr<llvm::Module> Read(size_t other, llvm::LLVMContext& context) const;

 private:
  using Names = llvm::StringSet<>;  // of bodies

  std::vector<Names> others_;
  llvm::SmallVector<char, 0> bitcode_;  // of the whole
};

}  // namespace wf::codegen
