#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"

namespace wf::passes {

using ir::BlockId;
using ir::OpKind;
using ir::ValueId;

// Copies one body into a new one, operation by operation, through the folding builder. A pass overrides Visit.
// Thread: loop-confined.   Borrows: program, body.   Cost: linear in the body.
class Rewriter {
 public:
  Rewriter(ir::Program& program, const ir::Body& from) : from_(from), b_(program, to_), map_(from.ops.size(), ValueId::kNone) {}
  virtual ~Rewriter() = default;
  ir::Body Run();  // once

 protected:
  // What stands for `op` in the new body; kNone for an operation without a result, or one that nothing copied reads.
  virtual ValueId Visit(ValueId id, const ir::Op& op) {
    (void)op;
    return Copy(id);
  }

  ValueId Copy(ValueId id);           // the operation as it is, its arguments mapped, its types refined where extents became known
  ValueId CopyBlock(BlockId block);   // its operations into the open block; the mapped result
  BlockId CopyNested(BlockId block);  // as a block of its own, parameters mapped
  ValueId InlineBlock(BlockId block, const std::vector<ValueId>& params);  // as CopyBlock, with these values for its parameters
  ValueId Mapped(ValueId id) const { return map_[static_cast<size_t>(id)]; }
  void Map(ValueId id, ValueId to) { map_[static_cast<size_t>(id)] = to; }
  std::vector<ValueId> MappedArgs(const ir::Op& op) const;

  const ir::Body& from_;
  ir::Body to_;
  ir::Builder b_;

 private:
  ValueId CopyScalar(const ir::Op& op, const std::vector<ValueId>& args);
  std::vector<ValueId> map_;
};

// Replaces every body of the program by what `pass` makes of it.
void RewriteBodies(ir::Program& program, const std::function<ir::Body(const ir::Body&)>& pass);

bool IsLoop(OpKind kind);        // build, reduce, fold, list_build, list_filter: the blocks run once per element
bool IsTensorLoop(OpKind kind);  // build, reduce
bool MayFail(OpKind kind);       // sets a sticky failure, fails, or acts on the world: must not be dropped, moved or repeated
bool HasEffects(const ir::Body& body, ValueId id);  // the operation or anything in its blocks may fail

}  // namespace wf::passes
