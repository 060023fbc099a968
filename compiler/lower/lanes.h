#pragma once

#include <llvm/ADT/DenseMap.h>

#include "compiler/lower/body.h"

namespace wf::lower {

// One turn of a float reduction, all its lanes at once: the block's operations as vector instructions. What does not depend on the index is
// computed once, as a scalar; an i64 that is `base + step * lane` stays in that form until someone needs the vector, so that loads along
// the last axis are plain vector loads; other loads are gathers. In the last turn only `live` lanes count: their loads are masked.
class BodyEmitter::LaneBlock {
 public:
  // Can the block be written this way? Not with blocks inside that depend on the index, nor lists or text.
  static bool Takes(Context& context, const ir::Body& body, const ir::Op& reduce);

  // `first`: the index of lane 0. `live`: how many lanes count; null: all.
  LaneBlock(BodyEmitter& outer, const ir::Op& reduce, Value* first, Value* live);
  Value* Emit();                         // the block's result, a vector
  Value* live() const { return mask_; }  // i1 per lane

 private:
  struct Lane {
    Value* base = nullptr;    // scalar; with step: of lane 0
    Value* step = nullptr;    // i64 per lane; null: the same in all
    Value* vector = nullptr;  // once made
  };
  void EmitVarying(ir::ValueId id);
  bool Varies(ir::ValueId id) const { return lanes_.count(static_cast<uint32_t>(id)) != 0; }
  Lane Get(ir::ValueId id) const;
  Value* Vector(ir::ValueId id);
  bool TakeAffine(const ir::Op& op, Lane* result);
  Lane CheckIndex(const ir::Op& op);
  Lane CheckDivisor(const ir::Op& op);
  Value* Load(const ir::Op& op);
  Value* Mask();  // all lanes when there is none
  void SetSticky(int code, Value* lanes);

  BodyEmitter& o_;
  const ir::Op& reduce_;
  llvm::IRBuilder<>& b_;
  unsigned n_;
  Value *first_, *count_, *mask_ = nullptr;  // mask_ null: all lanes are loaded
  llvm::DenseMap<uint32_t, Lane> lanes_;
};

}  // namespace wf::lower
