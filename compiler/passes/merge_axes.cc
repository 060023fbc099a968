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
// channel]` or `x[.., start + column, channel]`, has one axis in place of the two, and so have the tensors: what is side by side in memory
// becomes lanes, where 3 channels would fill no vector.
class AxisMerger : public Rewriter {
 public:
  AxisMerger(ir::Program& program, const ir::Body& old) : Rewriter(program, old) {}

 private:
  struct Merged {
    ValueId columns, channels;           // the old indices
    ValueId both = ValueId::kNone;       // the new one
    ValueId extent = ValueId::kNone;     // of `channels`, new
    std::map<ValueId, ValueId> tensors;  // old to new
    std::map<ValueId, ValueId> starts;   // of the old values that are such a sum with `columns`
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
    if (!has_sums && merged.starts.empty()) return false;
    return std::all_of(tensors.begin(), tensors.end(),
                       [&](ValueId tensor) { return inside.count(tensor) == 0 && Dims(tensor).back() == static_cast<int64_t>(extent); });
  }
  bool SurveyBlock(BlockId block, Merged& merged, std::set<ValueId>& inside, std::set<ValueId>& tensors) const {
    const auto is_merged = [&](ValueId id) { return id == merged.columns || id == merged.channels || merged.starts.contains(id); };
    for (const ValueId id : old_[block].ops) {
      const ir::Op& op = old_[id];
      inside.insert(id);
      if (ReadsAsItLies(op, merged)) {
        tensors.insert(op.args[0]);
        if (std::any_of(op.args.begin(), op.args.end() - 2, is_merged)) return false;
      } else if (op.kind == OpKind::kAdd && (op.args[0] == merged.columns) != (op.args[1] == merged.columns)) {
        const ValueId start = op.args[op.args[0] == merged.columns ? 1 : 0];
        if (is_merged(start)) return false;
        merged.starts[id] = start;
      } else if (std::any_of(op.args.begin(), op.args.end(), is_merged)) {
        return false;
      }
      for (const BlockId nested : op.blocks) {
        if (!SurveyBlock(nested, merged, inside, tensors)) return false;
      }
    }
    return !is_merged(old_[block].result);  // now that its sums are known
  }
  bool ReadsAsItLies(const ir::Op& op, const Merged& merged) const {
    const size_t n = op.args.size();
    if (op.kind != OpKind::kLoad || n < 3 || op.args[n - 1] != merged.channels) return false;
    return op.args[n - 2] == merged.columns || merged.starts.contains(op.args[n - 2]);
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
      const auto start = reader->starts.find(op.args[op.args.size() - 2]);
      indices.push_back(start == reader->starts.end() ? reader->both : b_.Add(b_.Mul(Mapped(start->second), reader->extent), reader->both));
      return b_.Load(reader->tensors.at(op.args[0]), std::move(indices));
    }
    if (std::any_of(merged_.begin(), merged_.end(), [&](const Merged& each) { return each.starts.contains(id); })) return ValueId::kNone;
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
