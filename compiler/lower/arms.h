#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// The dear arms of a block's selections: operations that nothing reads but the selections of one condition, on one side. Where no lane
// takes them, they need not run: the reduction of large angles, for one, in a row of small ones. An arm may have a selection with a dear
// arm among its operations.
// Thread: loop-confined.   Borrows: the body.
class Arms {
 public:
  struct Arm {
    ir::ValueId condition = ir::ValueId::kNone;
    bool is_then = false;
    std::vector<ir::ValueId> ops;            // in their order
    std::vector<ir::ValueId> results;        // those of them that the selections read
    ir::ValueId first = ir::ValueId::kNone;  // of the selections
    bool is_early = true;                    // all operations come before it
  };
  Arms(const ir::Body& body, const ir::Block& block);
  bool Has(ir::ValueId id) const { return !arms_.empty() && is_inside_[static_cast<size_t>(id)]; }
  std::vector<Arm> Reached(ir::ValueId id) const;  // the arms whose first selection is `id`

 private:
  std::vector<Arm> arms_;
  std::vector<bool> is_inside_;  // by ValueId: an operation of an arm
};

}  // namespace wf::lower
