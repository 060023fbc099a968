#pragma once

#include <optional>

#include "compiler/lower/body.h"
#include "compiler/lower/lanes.h"

namespace wf::lower {

// What a value of a tile hangs on.
constexpr unsigned kFromOutside = 0, kRow = 1, kColumn = 2, kTerm = 4;

// A build whose elements are sums over one axis, as those of a product of matrices are: some rows and columns of it at a time, each sum in
// registers of its own, so that what several of them read is loaded once. The bits are those of each element alone: every sum keeps its
// lanes and their order (reduce.cc).
// There are two forms. Where the sum reads rows, `a[i, k] * b[j, k]`, vectors are the sum's own lanes. Where it reads columns, as
// `a[i, k] * b[k, j]` does of b, vectors are elements side by side, and the lanes of their sums come one after the other.
// Columns are taken in panels, of which what the sums read stays in the cache for all rows. Where there are some rows, a load that they
// share is copied before, in the order in which sums read it (panels.cc). Borrows: the emitter of the body, and the nest (outlive this).
class BodyEmitter::Tiles {
 public:
  Tiles(BodyEmitter& outer, const Nest& nest);
  bool is_worth_it() const { return sum_ != ir::ValueId::kNone; }
  Value* HasRoom() const;  // for a vector of columns, and all rows of a tile
  // All rows and columns. `at`: the indices of the axes before these, from whose element at `offset` on they are written.
  void Emit(Value* offset, llvm::ArrayRef<Value*> at);

 private:
  // A sum, or in columns a vector of them.
  struct Sum {
    llvm::SmallVector<std::pair<ir::ValueId, Leaves>, 8> values;  // of the block, once computed
    std::optional<LaneBlock> lanes;                               // in columns
    Value* offset;
  };
  struct Corner {
    Value *row, *column;
  };
  // The sums of a tile of columns, while they are written.
  struct ColumnSums {
    using Each = std::function<void(Value* element, Value* accumulator)>;
    using Place = std::function<Value*(size_t)>;
    std::vector<Sum>& sums;
    unsigned columns;
    llvm::Constant* identity;
    llvm::SmallVector<llvm::AllocaInst*, 16> accumulators;
  };
  ir::ValueId FindSum() const;
  bool IsPlain(const ir::Block& block, ir::ValueId but) const;
  void Choose();
  uint64_t DeepestPanel() const;  // of one tile
  Value* PanelWidth() const;
  void For(Value* count, uint64_t work, const std::function<void(Value*)>& each);
  void EmitPanel(Value* rows, Value* from, Value* to);
  void EmitStrip(Value* row, unsigned rows, Value* from, Value* to);
  void EmitTile(Corner corner, unsigned rows, unsigned columns);
  void Enter(const Sum& sum);
  void EmitOf(Sum& sum, ir::ValueId id);
  void EmitSums(std::vector<Sum>& sums), EmitSumsOfColumns(std::vector<Sum>& sums, unsigned columns);
  void EmitTerms(ColumnSums& of, Value* at, Value* turn, Value* index, const ColumnSums::Each& each);
  void EmitLane(ColumnSums& of, Value* turn, Value* lane);
  void AddUp(ColumnSums& of, const ColumnSums::Place& kept);
  void Keep(ColumnSums& of, const ColumnSums::Place& to);
  // panels.cc
  bool IsPlace(ir::ValueId id, const ir::Block& term) const;
  void ChoosePacked(const std::vector<unsigned>& needs);
  Value* IsWorthPacking(Value* rows);
  void Pack(Value* from, Value* to);
  Value* TileOfPanel(Value* number);
  Value* LaneLength();                                                             // of a sum, at most
  Value* LaneOf(Value* turn, uint64_t bits);                                       // that is summed in that turn; and the other way round
  std::vector<Value*> PackedVectors(Value* turn, Value* index, unsigned columns);  // of a term; empty: they are not packed

  BodyEmitter& o_;
  const Nest& nest_;
  llvm::IRBuilder<>& b_;
  const ir::Block& block_;
  const bool has_rows_;
  ir::ValueId sum_ = ir::ValueId::kNone;
  bool has_columns_ = false;                         // the form
  unsigned rows_ = 1, wide_ = 1;                     // of a tile; columns in vectors
  unsigned lanes_ = 1;                               // columns of a vector
  ir::ValueId packed_ = ir::ValueId::kNone;          // the load that may be
  Value *panel_ = nullptr, *packed_tile_ = nullptr;  // where it is, of the panel and of the tile being written; null: it is not
  Value* offset_ = nullptr;
  llvm::ArrayRef<Value*> at_;
};

}  // namespace wf::lower
