#pragma once

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Value.h>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Lists of many written items. Each item is stored when it is there: were all kept until the list is made, LLVM's time would grow with the
// square of their number.
// Borrows: body.   Cost: linear in the body.
class LongLists {
 public:
  struct Place {
    ir::ValueId list;
    uint64_t index;
  };

  explicit LongLists(const ir::Body& body);
  const std::vector<Place>& PlacesOf(ir::ValueId item) const;                              // in lists of the block that it stands in
  bool Holds(ir::ValueId list, ir::ValueId item) const;                                    // the item has places in this list
  llvm::Value*& memory(ir::ValueId list) { return memory_[static_cast<uint32_t>(list)]; }  // null: not yet made

 private:
  static constexpr size_t kMany = 64;

  llvm::DenseMap<uint32_t, std::vector<Place>> places_;  // by item
  llvm::DenseMap<uint32_t, llvm::Value*> memory_;        // by list
};

}  // namespace wf::lower
