#pragma once

#include <optional>

#include <llvm/ADT/DenseMap.h>

#include "compiler/lower/arms.h"
#include "compiler/lower/body.h"

namespace wf::lower {

constexpr int64_t kMaxStride = 4;  // elements between lanes that whole vectors are shuffled for

// A block of a build or reduction, several elements at once: its operations as vector instructions. What does not depend on the index that
// runs is computed once, as a scalar; an i64 that is `base + step * lane` stays in that form until someone needs the vector, so that loads
// along the last axis are plain vector loads, or a few of them shuffled where every 2nd to 4th element is wanted. Of others, whose places
// stand in a table, elements are loaded one by one; the rest are gathers.
// In the last turn only `live` lanes may count: then their loads are masked. Dear arms of selections are skipped when no lane takes them.
// Borrows: the emitter of the body, and its builder (outlive this).   Shapes: `lanes` elements of the innermost axis.
class BodyEmitter::LaneBlock {
 public:
  // By load, whose places are those of all channels of a pixel: what is read for them, once it is.
  using Pixels = llvm::DenseMap<const ir::Op*, Value*>;
  struct Shape {
    ir::BlockId block;
    ir::ValueId index;  // the parameter that runs; the others have their values already
    unsigned lanes;
    bool is_flat = false;        // BodyEmitter::IsPointwise: every load that names a parameter reads element number `first + lane`
    bool takes_columns = false;  // reductions inside, each lane one of its own
    llvm::ArrayRef<ir::ValueId> pictures = {};  // tensors of pixels of three bytes that have more than one row
    Pixels* pixels = nullptr;                   // of blocks for one channel after the other; null: nothing is kept
  };
  // Can the block be written this way? Not with blocks inside that depend on the index, but for columns and ifs that choose one arm for all
  // lanes, nor lists or text.
  static bool Takes(Context& context, const ir::Body& body, const Shape& shape);
  // By ValueId: by how much an i64 of the block grows with each turn of an index; nothing: by no fixed amount, or not an i64.
  using Steps = std::vector<std::optional<int64_t>>;
  static Steps StepsOf(const ir::Body& body, const ir::Block& block, ir::ValueId index);
  // For builds, where LLVM's own vectoriser is the alternative: floats, whose loads are all runs, short strides or through tables; in
  // columns all runs.
  struct Row {
    bool is_worth_it = false;
    llvm::SmallVector<ir::ValueId, 8> scattered;  // loads that are no runs: none of them under a mask
    llvm::SmallVector<ir::ValueId, 8> gathered;   // those of them whose places stand in a table
    uint64_t narrowest = 8, widest = 1;           // bytes of what is loaded; of all that depends on the index
  };
  static Row Inspect(Context& context, const ir::Body& body, const Shape& shape);

  // `first`: the index of lane 0. `live`: how many lanes count; null: all.
  LaneBlock(BodyEmitter& outer, const Shape& shape, Value* first, Value* live);
  // Before Emit: what a comparison yields in all lanes.
  void Assume(ir::ValueId comparison, bool value);
  Value* Emit();  // the block's result, a vector
  // Or, in its place, the operations one by one in their order, some of whose values come from elsewhere.
  void Begin();
  void EmitOne(ir::ValueId id);
  void Give(ir::ValueId id, Value* vector) { lanes_[static_cast<uint32_t>(id)] = {nullptr, nullptr, vector}; }
  Value* EmitTerm(const ir::Block& block);  // the result of a block within, whose parameters have their values
  Value* Result() { return Vector(o_.body_[shape_.block].result); }
  Value* live() const { return mask_; }  // i1 per lane

 private:
  struct Lane {
    Value* base = nullptr;    // scalar; with step: of lane 0
    Value* step = nullptr;    // i64 per lane; null: the same in all
    Value* vector = nullptr;  // once made
    Value* run = nullptr;     // where lane 0 lies, of a load that finds the others beside it
  };
  void EmitOps(const ir::Block& block);
  void EmitArm(const Arms& arms, const Arms::Arm& arm);
  void EmitVarying(ir::ValueId id);
  Value *Choose(const ir::Op& op), *ReduceColumns(const ir::Op& op);
  bool IsVarying(const ir::Op& op) const;
  bool Varies(ir::ValueId id) const { return lanes_.count(static_cast<uint32_t>(id)) != 0; }
  Lane Get(ir::ValueId id) const;
  Value* Vector(ir::ValueId id);
  bool TakeAffine(const ir::Op& op, Lane* result);
  Value* CompareIndex(const ir::Op& op);
  Value* MinMaxOfSame(const ir::Op& op);
  Lane CheckIndex(const ir::Op& op);
  Lane CheckDivisor(const ir::Op& op);
  // lane_loads.cc
  Lane Load(const ir::Op& op);
  Value* LoadRun(const ir::Op& op, Value* address);
  Value* LoadStrided(llvm::Type* element, Value* address, unsigned step, llvm::Align align);
  bool HasThreeBytes(const ir::Op& op, const Leaves& tensor, unsigned stride) const;
  Value* LoadOfPixels(const Leaves& tensor, llvm::SmallVector<Value*, 8> at);
  bool IsOfPicture(const ir::Op& op, const Leaves& tensor) const;
  Value *LoadOfPicture(const ir::Op& op, const Leaves& tensor), *LoadWholePixels(const ir::Op& op, Value* start);
  Value* LoadScattered(const ir::Op& op, const Leaves& tensor);
  Value* LoadOneByOne(const ir::Op& op, const Leaves& tensor);
  Value* ScalarOf(ir::ValueId id, unsigned number);
  Value* LoadGathered(const ir::Op& op, const Leaves& tensor);
  std::optional<unsigned> StrideOf(const ir::Op& op) const;  // elements from lane to lane, when fixed and short
  Value* Mask();                                             // all lanes when there is none
  void SetSticky(int code, Value* lanes);

  BodyEmitter& o_;
  const Shape shape_;
  llvm::IRBuilder<>& b_;
  const unsigned n_;
  Value *first_, *count_, *mask_ = nullptr;  // mask_ null: all lanes are loaded
  llvm::DenseMap<uint32_t, Lane> lanes_;
};

}  // namespace wf::lower
