#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::BlockId;
using ir::OpKind;
using ir::ValueId;

constexpr uint64_t kMostMerged = 16;  // elements of the last axis: beyond, it fills vectors by itself

// A build that sums for each of its elements, or copies from a start on, and reads the last two axes of tensors as they lie, `x[.., column,
// channel]` or `x[.., column - start, channel]`, has one axis in place of the two, and so have the tensors: what is side by side in memory
// becomes lanes, where 3 channels would fill no vector. Where columns are compared, so is the axis: `column < start` as `both < start *
// channels`.
class AxisMerger : public Rewriter {
 public:
  AxisMerger(ir::Program& program, const ir::Body& old) : Rewriter(program, old) {}

 private:
  struct Merged {
    ValueId columns, channels;           // the old indices
    ValueId both = ValueId::kNone;       // the new one
    ValueId extent = ValueId::kNone;     // of `channels`, new
    std::map<ValueId, ValueId> tensors;  // old to new
    std::set<ValueId> lines;             // the old values that are such a column, moved or checked
    std::set<ValueId> choices;           // and those that compare `columns`
  };

  // What a build would be merged into; nothing where it cannot.
  bool Survey(const ir::Op& build, Merged& merged, std::set<ValueId>& tensors) const {
    const std::vector<ValueId>& params = old_[build.blocks[0]].params;
    if (params.size() < 2 || old_[build.args.back()].kind != OpKind::kScalar) return false;
    const uint64_t extent = old_[build.args.back()].imm;
    const std::vector<ValueId>& ops = old_[build.blocks[0]].ops;
    if (extent < 2 || extent > kMostMerged) return false;
    merged.columns = params[params.size() - 2];
    merged.channels = params.back();
    std::set<ValueId> inside;
    if (!SurveyBlock(build.blocks[0], merged, inside, tensors)) return false;
    const bool has_sums = std::any_of(ops.begin(), ops.end(), [&](ValueId id) { return old_[id].kind == OpKind::kReduce; });
    if (!has_sums && merged.lines.empty()) return false;
    return std::all_of(tensors.begin(), tensors.end(),
                       [&](ValueId tensor) { return inside.count(tensor) == 0 && Dims(tensor).back() == static_cast<int64_t>(extent); });
  }
  bool SurveyBlock(BlockId block, Merged& merged, std::set<ValueId>& inside, std::set<ValueId>& tensors) const {
    const auto is_merged = [&](ValueId id) { return id == merged.columns || id == merged.channels || merged.lines.contains(id); };
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      inside.insert(id);
      if (ReadsAsItLies(op, merged)) {
        tensors.insert(op.args[0]);
        if (std::any_of(op.args.begin(), op.args.end() - 2, is_merged)) return false;
      } else if (const ValueId other = OtherOf(op, merged); other != ValueId::kNone) {
        if (is_merged(other)) return false;
        (op.kind == OpKind::kLt || op.kind == OpKind::kLe ? merged.choices : merged.lines).insert(id);
      } else if (std::any_of(op.args.begin(), op.args.end(), is_merged)) {
        return false;
      }
      for (const BlockId nested : op.blocks) {
        if (!SurveyBlock(nested, merged, inside, tensors)) return false;
      }
    }
    return !is_merged(old_[block].result);  // now that its lines are known
  }
  // What a column is moved by, checked against or compared with, kNone where the operation is none of these.
  ValueId OtherOf(const ir::Op& op, const Merged& merged) const {
    const auto is_column = [&](size_t arg) { return op.args[arg] == merged.columns; };
    switch (op.kind) {
      case OpKind::kAdd:
        return is_column(0) ? op.args[1] : is_column(1) ? op.args[0] : ValueId::kNone;
      case OpKind::kSub:
      case OpKind::kLt:
        return is_column(0) ? op.args[1] : ValueId::kNone;
      case OpKind::kLe:
        return is_column(1) ? op.args[0] : ValueId::kNone;
      case OpKind::kCheckIndex:
        return is_column(0) || merged.lines.contains(op.args[0]) ? op.args[1] : ValueId::kNone;
      default:
        return ValueId::kNone;
    }
  }
  bool ReadsAsItLies(const ir::Op& op, const Merged& merged) const {
    const size_t n = op.args.size();
    if (op.kind != OpKind::kLoad || n < 3 || op.args[n - 1] != merged.channels) return false;
    return op.args[n - 2] == merged.columns || merged.lines.contains(op.args[n - 2]);
  }
  const std::vector<int64_t>& Dims(ValueId tensor) const { return const_cast<AxisMerger*>(this)->b_.types()[old_[tensor].type].dims; }

  // The extents of a tensor with its last two as one.
  std::vector<ValueId> Joined(std::vector<ValueId> extents) {
    const ValueId last = extents.back();
    extents.pop_back();
    extents.back() = b_.Mul(extents.back(), last);
    return extents;
  }

  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    const auto reader = std::find_if(merged_.rbegin(), merged_.rend(), [&](const Merged& each) { return ReadsAsItLies(op, each); });
    if (reader != merged_.rend()) {
      std::vector<ValueId> indices;
      for (size_t i = 1; i + 2 < op.args.size(); ++i) indices.push_back(Mapped(op.args[i]));
      indices.push_back(Along(op.args[op.args.size() - 2], *reader));
      return b_.Load(reader->tensors.at(op.args[0]), std::move(indices));
    }
    for (const Merged& each : merged_) {
      if (each.lines.contains(id) || each.choices.contains(id)) return OfBoth(op, each);
    }
    Merged merged;
    std::set<ValueId> tensors;
    if (op.kind != OpKind::kBuild || !Survey(op, merged, tensors)) return Copy(id, op);
    for (const ValueId tensor : tensors) {
      std::vector<ValueId> extents;
      for (size_t axis = 0; axis < Dims(tensor).size(); ++axis) extents.push_back(b_.Dim(Mapped(tensor), axis));
      merged.tensors[tensor] = b_.Reshape(Mapped(tensor), Joined(std::move(extents)));
    }
    return Merge(op, std::move(merged));
  }

  // What a column or a line has become.
  ValueId Along(ValueId line, const Merged& merged) { return line == merged.columns ? merged.both : Mapped(line); }

  // The same of the new axis. No tensor has 2^40 columns: what is beyond is as far as that, so that no product wraps.
  ValueId OfBoth(const ir::Op& op, const Merged& merged) {
    constexpr int64_t kBeyond = int64_t{1} << 40;
    const ValueId other = OtherOf(op, merged);
    const ValueId near = b_.Binary(OpKind::kMax, b_.Binary(OpKind::kMin, Mapped(other), b_.I64(kBeyond)), b_.I64(-kBeyond));
    const ValueId scaled = b_.Mul(near, merged.extent);
    if (op.kind == OpKind::kCheckIndex) return b_.CheckIndex(Along(op.args[0], merged), scaled);
    if (op.kind == OpKind::kLe) return b_.Binary(op.kind, scaled, merged.both);
    return b_.Binary(op.kind, merged.both, scaled);
  }

  ValueId Merge(const ir::Op& op, Merged merged) {
    const std::vector<ValueId> whole = Mapped(op.args);
    merged.extent = whole.back();
    std::vector<ValueId> extents = Joined(whole);
    b_.Open(std::vector<ir::TypeId>(extents.size(), b_.ScalarType(ir::DType::kI64)));
    std::vector<ValueId> params;
    for (size_t i = 0; i < extents.size(); ++i) params.push_back(b_.Param(i));
    merged.both = params.back();
    params.pop_back();
    merged_.push_back(std::move(merged));
    const ValueId result = Inline(op.blocks[0], params);
    merged_.pop_back();
    const BlockId block = b_.Close(result);
    return b_.Reshape(b_.Build(b_.types()[op.type].dtype, std::move(extents), block), whole);
  }

  std::vector<Merged> merged_;  // builds around the operation, the innermost last
};

}  // namespace

void MergeAxes(ir::Program& program) { RewriteBodies<AxisMerger>(program); }

}  // namespace wf::passes
