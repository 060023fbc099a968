#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/ir/ir.h"
#include "compiler/lower/build_depths.h"
#include "compiler/lower/context.h"
#include "compiler/lower/frames.h"
#include "compiler/lower/layout.h"
#include "compiler/lower/long_lists.h"
#include "compiler/lower/parts.h"
#include "compiler/lower/places.h"

namespace wf::lower {

// Writes the machine code of one body into an empty function: i32 (ctx, frames) or (ctx, frames, places) for RUN, i64 for SELECT and EACH.
// Thread: loop-confined.   Borrows: everything given.
class BodyEmitter {
 public:
  BodyEmitter(Context& context, const FrameLayout& frames, const ir::Task& task, llvm::Function* function, const TaskLiterals& literals);
  std::vector<Places::Entry> Emit();  // the table of its places, where it has one

 private:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;
  // A loop being written: BeginLoop leaves the builder in its body, EndLoop after it.
  struct Loop {
    Block* body;
    llvm::PHINode* index;
    Value* count;
    Block* exit;
  };
  // Where a build puts its elements.
  struct Target {
    Value* data;
    llvm::SmallVector<Value*, 4> strides;  // outer axes; in elements
  };
  // Memory of a fold whose accumulator is built anew each turn: `held` has the accumulator, and the next one is built in `spare`.
  struct TwoBlocks {
    llvm::AllocaInst *held, *held_bytes, *spare, *spare_bytes;
  };
  class LaneBlock;      // lanes.cc
  class FoldMemory;     // fold.cc
  class Piece;          // pieces.cc
  class Repeats;        // repeats.cc
  class Tiles;          // tiles.cc
  class Transposition;  // transpose.cc

  // ---- body.cc: prologue, results, failures ----
  const ir::Type& TypeOf(ir::ValueId id) const { return context_.type(body_[id].type); }
  const Leaves& Get(ir::ValueId id) const;
  Value* Scalar(ir::ValueId id) const { return Get(id)[0]; }
  Value* InFrame(uint32_t up, uint32_t offset);
  Value *SlotAddress(ir::SlotId slot), *ElementIndex(), *DataOf(ir::ValueId tensor);
  Leaves SlotValue(ir::SlotId slot, ir::TypeId type), ConstantTensor(ir::ValueId id, const Leaves& leaves);
  llvm::AllocaInst *Local(llvm::Type* type, const llvm::Twine& name = ""),
      *LocalBytes(uint64_t bytes, uint64_t align);               // in the entry block
  void Return(Value* code);                                      // of a runtime function: as it is, or negative for a pick function
  void FailWhen(Value* condition), FailUnlessZero(Value* code);  // WF_FAILED: recorded already; what a runtime function returned
  void Fail(Value* condition, Value* code, uint32_t line, Value* text, Value* length);
  Block* StickyFailed();
  void SetSticky(int code, Value* condition), LeaveWhenNoted(uint32_t bits), BeforeEffect();  // of effects outside tensor blocks
  void FinishRun(const Leaves& result), StoreTensorResult(const Leaves& result);
  std::optional<Target> PrepareOut(llvm::ArrayRef<Value*> extents);

  // ---- ops ----
  Leaves EmitBlock(ir::BlockId id, llvm::ArrayRef<Value*> params);
  Leaves EmitBlockLeaves(ir::BlockId id, llvm::ArrayRef<Leaves> params);
  void EmitOp(ir::ValueId id);
  Leaves Emitted(ir::ValueId id);
  Leaves InPiece(ir::ValueId id);  // what the piece knows; empty: nothing
  bool IsInPiece(ir::ValueId id) const;
  Leaves EmitScalar(const ir::Op& op), EmitLeaf(ir::ValueId id), EmitTensor(ir::ValueId id), EmitCheck(const ir::Op& op);
  Leaves EmitRecord(const ir::Op& op), EmitEffect(const ir::Op& op), EmitList(ir::ValueId id);
  static Leaves Unknown(const ir::Op& op);  // one that its group does not hold
  Leaves EmitIf(const ir::Op& op), EmitFold(const ir::Op& op);
  void EmitFailIf(const ir::Op& op);
  Leaves EmitMeta(const ir::Op& op), EmitNative(const ir::Op& op), EmitString(const ir::Op& op), EmitText(const ir::Op& op),
      EmitStringFromBytes(const ir::Op& op);
  llvm::AllocaInst* CallMemory(const ir::Layout& layout, size_t number);  // of an argument; what is there ends with the call

  // ---- loops and memory: loops.cc ----
  Loop BeginLoop(Value* count, const llvm::Twine& name = "loop");
  void EndLoop(const Loop& loop, bool is_cold = false);  // is_cold: LLVM leaves it as it stands
  static constexpr uint64_t kUnknownWork = 1 << 30;      // work saturates here: too much, or an extent that something open says
  uint64_t WorkOf(ir::BlockId id) const;                 // operations of a run of it, those in loops once for each turn
  // for (i = 0; i < count; ++i) each(i), where a turn does so much work. Looks at ctx->stop so often that little is done between two looks:
  // each turn where that is within the turns, else after so many that innermost loops vectorise at -O2; with work 0 never.
  void For(Value* count, uint64_t work, const std::function<void(Value*)>& each);
  static uint64_t Times(uint64_t work, Value* count), TurnsPerLook(Value* count, uint64_t work);  // per look: 0: it does not look
  uint64_t WorkToLookAt(ir::ValueId extent, uint64_t work) const;  // the work, or 0 where a loop within another can do without looks
  void CheckStop();
  Value *NotNegative(Value* count), *Bytes(llvm::ArrayRef<Value*> extents, uint64_t element);  // the latter saturates
  Value* Allocate(Value* bytes, uint64_t align);                                               // wf_alloc, failing when it does
  Value* Scratch(ir::ValueId site, Value* bytes);                                              // for what does not outlive its block
  Value* Grown(llvm::AllocaInst* memory, llvm::AllocaInst* size, Value* bytes);
  void CopyBytes(Value* to, Value* from, Value* bytes), CopyFew(Value* to, Value* from, Value* bytes, uint64_t least);

  // ---- tensors: tensor.cc, reduce.cc ----
  Leaves EmitBuild(ir::ValueId id);
  Value* BuildMemory(ir::ValueId id, Value* bytes);
  struct Nest {
    const ir::Op& op;
    llvm::ArrayRef<Value*> extents;
    const Target& target;
    ir::ValueId apart = ir::ValueId::kNone;  // what is left to write: in each row, the element for which this comparison differs
  };
  void EmitEither(Value* condition, const std::function<void()>& yes, const std::function<void()>& no);
  using Indices = llvm::SmallVector<Value*, 8>;
  void EmitUsual(const Nest& nest), EmitFlat(const Nest& nest);
  void EmitNest(const Nest& nest, Value* offset, Indices& at), EmitAxis(const Nest& nest, Value* offset, Indices& at);
  llvm::SmallVector<ir::ValueId, 8> FewLoads(const ir::Block& block) const;
  Value* AssumeUnpadded(const ir::Type& type, Leaves& tensor);
  bool IsPointwise(const ir::Op& op) const;
  Value *AllDense(const Nest& nest), *TargetIsDense(const Nest& nest),
      *AreDense(llvm::ArrayRef<Value*> strides, llvm::ArrayRef<Value*> extents), *Total(llvm::ArrayRef<Value*> extents);
  void EmitElement(const Nest& nest, llvm::ArrayRef<Value*> at, Value* offset), StoreElement(const Nest& nest, Value* value, Value* offset);
  // rows.cc
  // A row of `count` elements from `offset` on, several at once; false: nothing written, LLVM's own vectoriser will do better.
  bool EmitLaneRow(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at);
  bool HasPixels(const Nest& nest) const, MovesPixels(const Nest& nest) const;
  bool EmitPixelRow(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at);
  bool EmitMovedPixels(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at);
  llvm::SmallVector<ir::ValueId, 4> PicturesOf(const Nest& nest, llvm::ArrayRef<ir::ValueId> loads) const;
  Value* HaveRows(llvm::ArrayRef<ir::ValueId> pictures);
  ir::ValueId FindApart(const ir::Block& block) const, FindOnlyApart(const ir::Block& block) const;
  std::vector<bool> FindVarying(const ir::Block& block, ir::ValueId apart) const;
  bool EmitFilled(const Nest& nest), EmitTransposed(const Nest& nest);  // the latter: transpose.cc; false: it is no such build
  void EmitApart(const Nest& nest, Value* offset, llvm::ArrayRef<Value*> at);
  Value* ApartIndex(const ir::Block& block, ir::ValueId apart);
  void EmitTurnApart(const Nest& nest, unsigned lanes, ir::ValueId apart, Value* first, Value* offset);
  bool EmitLanes(const Nest& nest, Value* count, Value* offset, llvm::ArrayRef<Value*> at, bool is_flat);
  struct Rest {
    Value *first, *count;
  };
  void EmitScalarRest(const Nest& nest, Rest rest, Value* offset, llvm::ArrayRef<Value*> at, bool is_flat);
  bool EmitPieces(const Nest& nest, Value* offset, const Indices& at), EmitRepeated(const Nest& nest, Value* offset, const Indices& at);
  bool EmitTiles(const Nest& nest, Value* offset, Indices& at);  // tiles.cc; false: no sums for them
  void StoreLanes(const Nest& nest, Value* lanes, Value* offset, Value* mask), TagStore(llvm::Instruction* store);
  uint64_t TurnWork(const Nest& nest, size_t axis) const;
  Value *LoadElement(const ir::Op& op), *ElementOffset(const Leaves& tensor, llvm::ArrayRef<Value*> at);
  Value* HasElements(const ir::Op& op);  // of a load or list_get: have the axes elements? null: surely
  bool IsLoopIndex(ir::ValueId id) const;
  void TagLoad(llvm::Instruction* load);
  Leaves DenseTensor(Value* data, llvm::ArrayRef<Value*> extents);
  Leaves Contiguous(ir::TypeId type, const Leaves& tensor);  // a dense copy unless it is dense
  void CopyElements(ir::TypeId type, const Leaves& from, const Target& target);
  Leaves EmitReshape(const ir::Op& op);
  Value *ReduceUnrolled(const ir::Op& op, uint64_t count), *ReduceLoop(const ir::Op& op, Value* count);
  std::vector<Value*> ReduceLanes(const ir::Op& op, Value* count, size_t sums, const std::function<void(size_t)>& enter);
  Value *EmitReduce(const ir::Op& op), *ReduceBuffered(const ir::Op& op, Value* count), *ReduceKeys(const ir::Op& op, Value* count);
  std::vector<Value*> CombineLanes(const ir::Op& op, llvm::ArrayRef<Value*> lanes);

  // ---- lists, maps: list.cc ----
  Value* ListMemory(const ir::Op& list);
  void StoreItem(ir::ValueId id);
  Leaves EmitListMake(ir::ValueId id), EmitListBuild(const ir::Op& op), EmitListFilter(const ir::Op& op);
  Leaves EmitTensorOfList(ir::ValueId id), StackTensors(ir::ValueId id, const Leaves& list);
  Leaves EmitListGet(const ir::Op& op), EmitListOfTensor(const ir::Op& op), EmitMapGet(const ir::Op& op), EmitSideOfMap(const ir::Op& op);
  Value* ItemAddress(ir::TypeId element, Value* items, Value* index);

  Context& context_;
  const FrameLayout& frames_;
  const ir::Task& task_;
  const ir::Body& body_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Value *ctx_, *frame_array_, *stop_ = nullptr;  // stop_: what ctx->stop is, once wanted
  Places places_;
  bool is_pick_, masks_bytes_;         // masks_bytes_: the CPU loads and stores bytes under a mask
  uint32_t noted_ = 0, decisive_ = 0;  // sticky bits: those that some operation sets; the one that is told whatever else there is
  bool has_many_tensors_ = false, has_lanes_ = true, is_cold_ = false;  // may rows be lanes? is this hardly ever run?
  PartCutter parts_;
  LongLists long_lists_;
  BuildDepths builds_;
  Block *entry_ = nullptr, *failed_ = nullptr, *sticky_failed_ = nullptr, *left_ = nullptr;  // left_: where there are parts
  llvm::AllocaInst *sticky_ = nullptr, *code_ = nullptr;
  int loops_ = 0, folds_ = 0, tensor_blocks_ = 0;    // how deep the builder stands
  std::vector<Leaves> values_;                       // by ValueId
  std::vector<bool> stays_;                          // by ValueId: a build whose elements nobody keeps beyond its block
  std::vector<Leaves> slots_;                        // by SlotId, once loaded
  llvm::DenseMap<uint32_t, Value*> frames_of_many_;  // by RegionId
  llvm::DenseSet<uint32_t> filled_;                  // tensors that surely have elements, while a nest that relies on it is written
  llvm::DenseMap<uint32_t, std::pair<llvm::AllocaInst*, llvm::AllocaInst*>> scratch_;
  std::map<std::tuple<uint32_t, uint32_t, size_t>, llvm::AllocaInst*> call_memory_;
  llvm::DenseMap<uint32_t, TwoBlocks> two_blocks_;  // by the build that makes the next accumulator
  llvm::MDNode* alias_domain_ = nullptr;
  llvm::SmallVector<llvm::Metadata*, 4> open_targets_;  // alias scopes of the builds being written
  const Piece* piece_ = nullptr;                        // while its loop is written, without checks
  Value* flat_ = nullptr;                               // the element's number, while a pointwise build runs as one loop ..
  const ir::Block* flat_block_ = nullptr;               // .. over this block
};

}  // namespace wf::lower
