#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::BlockId;
using ir::OpKind;
using ir::ValueId;

constexpr size_t kCheapOps = 8;     // a producer of no more operations is written at each of its loads
constexpr size_t kMostOps = 4'000;  // of a producer, those written into it counted: beyond, it stays a tensor

// What one producer costs to write again. Blocks of other producers that will be written into it are counted in.
struct Size {
  size_t ops = 0, loads = 0;
  bool is_heavy = false;   // loops, math, division: not to be repeated
  bool is_sticky = false;  // may set a sticky failure: every element must be computed
};

// Writes a tensor's block where its elements are loaded, when that repeats no work worth a buffer. The order of sticky failures among
// themselves does not matter: they are bits.
class Fuser : public Rewriter {
 public:
  Fuser(ir::Program& program, const ir::Body& old)
      : Rewriter(program, old),
        block_of_(old.ops.size(), BlockId::kNone),
        owner_of_(old.blocks.size(), ValueId::kNone),
        tests_before_(old.ops.size()),
        tests_after_(old.ops.size()),
        loads_(old.ops.size()),
        is_whole_(old.ops.size()),
        is_inlined_(old.ops.size()),
        sizes_(old.ops.size()) {
    Survey(BlockId{0});
    Decide(BlockId{0});
  }

 private:
  // ---- what stands where ----
  void Survey(BlockId block) {
    for (const ValueId param : old_[block].params) block_of_[Index(param)] = block;
    if (old_[block].result != ValueId::kNone) is_whole_[Index(Base(old_[block].result))] = true;
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      block_of_[Index(id)] = block;
      tests_before_[Index(id)] = n_tests_;
      for (size_t i = 0; i < op.args.size(); ++i) {
        const bool is_load = op.kind == OpKind::kLoad && i == 0;
        if (is_load) {
          loads_[Index(Base(op.args[0]))].push_back(id);
        } else if (op.kind != OpKind::kDim && !(i == 0 && IsTransparent(op))) {
          is_whole_[Index(Base(op.args[i]))] = true;
        }
      }
      for (const BlockId nested : op.blocks) {
        owner_of_[static_cast<size_t>(nested)] = id;
        Survey(nested);
      }
      n_tests_ += TestsSticky(op.kind);
      tests_after_[Index(id)] = n_tests_;
    }
  }
  static size_t Index(ValueId id) { return static_cast<size_t>(id); }

  // A reshape that only adds or drops axes of extent 1 reads through to its tensor.
  bool IsTransparent(const ir::Op& op) const { return op.kind == OpKind::kReshape && !SharedAxes(op).empty(); }
  // Pairs (axis of the tensor, axis of the reshape) of the extents other than 1; empty when they do not correspond.
  std::vector<std::pair<size_t, size_t>> SharedAxes(const ir::Op& op) const {
    const std::vector<int64_t>&from = old_types()[old_[op.args[0]].type].dims, &to = old_types()[op.type].dims;
    std::vector<std::pair<size_t, size_t>> pairs;
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      if (i < from.size() && from[i] == 1) {
        ++i;
      } else if (j < to.size() && to[j] == 1) {
        ++j;
      } else if (i < from.size() && j < to.size() && from[i] >= 0 && from[i] == to[j]) {
        pairs.emplace_back(i++, j++);
      } else {
        return {};
      }
    }
    return pairs;
  }
  const ir::TypeTable& old_types() const { return const_cast<Fuser*>(this)->b_.types(); }
  ValueId Base(ValueId id) const {
    while (IsTransparent(old_[id])) id = old_[id].args[0];
    return id;
  }

  // ---- what to write where it is read ----
  void Decide(BlockId block) {
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      for (const BlockId nested : op.blocks) Decide(nested);
      if (op.kind != OpKind::kBuild) continue;
      Size size;
      Measure(op.blocks[0], size);
      sizes_[Index(id)] = size;
      is_inlined_[Index(id)] = MayInline(id, size);
    }
  }

  void Measure(BlockId block, Size& size) const {
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      const bool is_leaf = op.kind == OpKind::kScalar || op.kind == OpKind::kSlot || op.kind == OpKind::kConstant;
      size.ops += !is_leaf && op.kind != OpKind::kConvert;
      const bool divides = op.kind == OpKind::kRem || (op.kind == OpKind::kDiv && old_[op.args[1]].kind != OpKind::kScalar);
      size.is_heavy = size.is_heavy || !op.blocks.empty() || ir::IsMath(op.kind) || divides || op.kind == OpKind::kSqrt;
      size.is_sticky = size.is_sticky || IsSticky(op.kind);
      if (op.kind == OpKind::kLoad) {
        const Size& producer = sizes_[Index(Base(op.args[0]))];
        const bool is_fused = is_inlined_[Index(Base(op.args[0]))];
        size.loads += is_fused ? producer.loads : 1;
        if (is_fused) {
          size.ops += producer.ops;
          size.is_heavy = size.is_heavy || producer.is_heavy;
          size.is_sticky = size.is_sticky || producer.is_sticky;
        }
      }
      for (const BlockId nested : op.blocks) Measure(nested, size);
    }
  }

  bool MayInline(ValueId id, const Size& size) const {
    const std::vector<ValueId>& loads = loads_[Index(id)];
    if (is_whole_[Index(id)] || loads.empty() || size.ops > kMostOps) return false;
    for (const ValueId load : loads) {
      if (!IsInRange(id, load)) return false;
    }
    const bool is_cheap = size.ops <= kCheapOps && size.loads <= 2 && !size.is_heavy && !size.is_sticky;
    if (is_cheap) return true;
    if (loads.size() != 1) return false;
    return ReadsOnce(id, loads[0], size.is_sticky) && !(size.is_sticky && IsTestedBetween(id, loads[0]));
  }

  // A failure of the producer is told before what comes after it: an effect that stands before the reader, or with it in a loop.
  bool IsTestedBetween(ValueId id, ValueId load) const {
    ValueId reader = load;
    while (block_of_[Index(reader)] != block_of_[Index(id)]) reader = owner_of_[static_cast<size_t>(block_of_[Index(reader)])];
    return tests_before_[Index(id)] != tests_after_[Index(reader)];
  }

  // The indices of a load in terms of the producer's axes; kNone: 0.
  std::vector<ValueId> IndicesOf(ValueId load) const {
    const ir::Op& op = old_[load];
    std::vector<ValueId> indices(op.args.begin() + 1, op.args.end());
    for (ValueId tensor = op.args[0]; IsTransparent(old_[tensor]); tensor = old_[tensor].args[0]) {
      std::vector<ValueId> inner(old_types()[old_[old_[tensor].args[0]].type].dims.size(), ValueId::kNone);
      for (const auto& [from, to] : SharedAxes(old_[tensor])) inner[from] = indices[to];
      indices = std::move(inner);
    }
    return indices;
  }

  // A checked index of a tensor that may be empty still points nowhere: only a load from memory copes with that.
  bool IsInRange(ValueId id, ValueId load) const {
    const std::vector<int64_t>& dims = old_types()[old_[id].type].dims;
    const std::vector<ValueId> indices = IndicesOf(load);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] > 0 || indices[axis] == ValueId::kNone) continue;
      if (DependsOnCheck(indices[axis], 0)) return false;
    }
    return true;
  }
  bool DependsOnCheck(ValueId id, int depth) const {
    const ir::Op& op = old_[id];
    if (op.kind == OpKind::kCheckIndex || op.kind == OpKind::kIndexOrZero || depth > 8) return true;
    return std::any_of(op.args.begin(), op.args.end(), [&](ValueId arg) {
      return op.kind >= OpKind::kAdd && op.kind <= OpKind::kConvert && DependsOnCheck(arg, depth + 1);
    });
  }

  // Each element is read at most once; `all`: exactly once, whatever happens.
  bool ReadsOnce(ValueId id, ValueId load, bool all) const {
    const ir::Op& producer = old_[id];
    const std::vector<ValueId> indices = IndicesOf(load);
    std::vector<ValueId> read;  // loop parameters that stand as an index of their own
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const ValueId param = indices[axis] == ValueId::kNone ? ValueId::kNone : Injective(indices[axis], all);
      const bool is_single = old_[producer.args[axis]].kind == OpKind::kScalar && old_[producer.args[axis]].imm == 1;
      if (param == ValueId::kNone) {
        if (all && !is_single) return false;
        continue;
      }
      if (std::find(read.begin(), read.end(), param) != read.end()) return false;
      if (all && !IsSameExtent(LoopExtent(param), producer.args[axis])) return false;
      read.push_back(param);
    }
    for (BlockId block = block_of_[Index(load)]; block != block_of_[Index(id)];) {
      const ValueId owner = owner_of_[static_cast<size_t>(block)];
      const OpKind kind = old_[owner].kind;
      if (all && (kind == OpKind::kIf || kind == OpKind::kListFilter || kind == OpKind::kFailIf)) return false;
      const bool loops = kind != OpKind::kIf && kind != OpKind::kFailIf;
      const size_t counters = kind == OpKind::kFold ? 1 : old_[block].params.size();
      for (size_t i = 0; loops && i < counters; ++i) {
        const ValueId param = old_[block].params[i], extent = LoopExtent(param);
        const bool is_single = extent != ValueId::kNone && old_[extent].kind == OpKind::kScalar && old_[extent].imm == 1;
        if (!is_single && std::find(read.begin(), read.end(), param) == read.end()) return false;
      }
      block = block_of_[Index(owner)];
    }
    return true;
  }

  // n - 1 - p, for p in 0..n: a picture mirrored, blue before red.
  bool IsReversed(const ir::Op& op) const {
    if (op.kind != OpKind::kSub || old_[op.args[0]].kind != OpKind::kScalar || old_[op.args[1]].kind != OpKind::kParam) return false;
    const ValueId extent = LoopExtent(op.args[1]);
    return extent != ValueId::kNone && old_[extent].kind == OpKind::kScalar && old_[extent].imm == old_[op.args[0]].imm + 1;
  }

  // The loop parameter of which this index takes each value once: p or n - 1 - p, or p + c where not all elements need be read.
  ValueId Injective(ValueId index, bool bare) const {
    const ir::Op& op = old_[index];
    if (op.kind == OpKind::kParam) return LoopExtent(index) == ValueId::kNone ? ValueId::kNone : index;
    if (IsReversed(op)) return op.args[1];
    if (bare || (op.kind != OpKind::kAdd && op.kind != OpKind::kSub)) return ValueId::kNone;
    const bool first = old_[op.args[0]].kind == OpKind::kParam, second = old_[op.args[1]].kind == OpKind::kParam;
    if (first == second) return ValueId::kNone;
    const ValueId param = op.args[first ? 0 : 1], other = op.args[first ? 1 : 0];
    const bool is_fixed = old_[other].kind == OpKind::kScalar;
    return is_fixed && LoopExtent(param) != ValueId::kNone ? param : ValueId::kNone;
  }

  ValueId LoopExtent(ValueId param) const {
    const BlockId block = block_of_[Index(param)];
    const ValueId owner = block == BlockId::kNone ? ValueId::kNone : owner_of_[static_cast<size_t>(block)];
    if (owner == ValueId::kNone) return ValueId::kNone;
    const ir::Op& op = old_[owner];
    if (op.kind == OpKind::kBuild) return op.args[old_[param].imm];
    const bool counts =
        op.kind == OpKind::kReduce || op.kind == OpKind::kFold || op.kind == OpKind::kListBuild || op.kind == OpKind::kListFilter;
    return counts && old_[param].imm == 0 ? op.args[0] : ValueId::kNone;
  }

  bool IsSameExtent(ValueId a, ValueId b) const {
    if (a == b) return true;
    if (a == ValueId::kNone) return false;
    return old_[a].kind == OpKind::kScalar && old_[b].kind == OpKind::kScalar && old_[a].imm == old_[b].imm;
  }

  // ---- the copy ----
  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kBuild && is_inlined_[Index(id)]) return ValueId::kNone;
    const bool reads_inlined = !op.args.empty() && is_inlined_[Index(Base(op.args[0]))];
    if (!reads_inlined) return Copy(id, op);
    const ValueId base = Base(op.args[0]);
    switch (op.kind) {
      case OpKind::kReshape:
        return ValueId::kNone;  // its loads and dims go to the base
      case OpKind::kDim:
        return op.args[0] == base ? Mapped(old_[base].args[op.imm]) : Mapped(old_[op.args[0]].args[op.imm + 1]);
      case OpKind::kLoad: {
        std::vector<ValueId> indices;
        for (const ValueId index : IndicesOf(id)) indices.push_back(index == ValueId::kNone ? b_.I64(0) : Mapped(index));
        return Inline(old_[base].blocks[0], indices);
      }
      default:
        return Copy(id, op);
    }
  }

  std::vector<BlockId> block_of_;  // per value
  std::vector<ValueId> owner_of_;  // per block
  // Effects that test sticky failures, in the order of the text: those before the operation, and those before its end.
  std::vector<uint32_t> tests_before_, tests_after_;
  uint32_t n_tests_ = 0;
  std::vector<std::vector<ValueId>> loads_;  // per build
  std::vector<bool> is_whole_;               // per value: read as a tensor
  std::vector<bool> is_inlined_;
  std::vector<Size> sizes_;
};

}  // namespace

void Fuse(ir::Program& program) { RewriteBodies<Fuser>(program); }

}  // namespace wf::passes
