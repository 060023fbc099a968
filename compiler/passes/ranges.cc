// Drops check_index where the index is proved to lie in [0, extent): loop positions, their sums and differences with constants, and clamps.

#include <optional>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

constexpr int64_t kFar = int64_t{1} << 40;  // constants beyond this are not reasoned about: sums could wrap
constexpr int kDepthMax = 16;

class RangesBody : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  ValueId Visit(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kCheckIndex) {
      const ValueId index = Mapped(op.args[0]), extent = Mapped(op.args[1]);
      return IsBelow(index, extent, 0) && IsNotNegative(index, 0) ? index : Copy(id);
    }
    if (!IsLoop(op.kind)) return Copy(id);
    const std::vector<ValueId> extents = MappedArgs(op);
    const bool is_build = op.kind == OpKind::kBuild;
    for (size_t i = 0; i < (is_build ? extents.size() : 1); ++i) {
      for (const BlockId block : op.blocks) pending_.push_back({from_[block].params[i], extents[i]});
    }
    return Copy(id);
  }

 private:
  struct Position {
    ValueId param, extent;  // param: of the old body; extent: of the new one
  };

  std::optional<int64_t> Constant(ValueId id) const {
    if (!b_.IsConstant(id)) return {};
    const auto value = static_cast<int64_t>(to_[id].imm);
    return value > -kFar && value < kFar ? std::optional(value) : std::nullopt;
  }
  std::optional<ValueId> ExtentOf(ValueId param) const {
    if (to_[param].kind != OpKind::kParam) return {};
    for (const Position& position : pending_) {
      if (Mapped(position.param) == param) return position.extent;
    }
    return {};
  }
  bool Same(ValueId a, ValueId b) const {
    if (a == b) return true;
    const ir::Op &x = to_[a], &y = to_[b];
    return x.kind == OpKind::kDim && y.kind == OpKind::kDim && x.imm == y.imm && x.args == y.args;
  }

  // index < extent for every value that the index takes
  bool IsBelow(ValueId index, ValueId extent, int64_t slack, int depth = 0) const {
    if (depth > kDepthMax) return false;
    const auto n = Constant(extent);
    if (const auto value = Constant(index)) return n && *value + slack < *n;
    if (const auto loop = ExtentOf(index)) {
      if (slack <= 0 && Same(*loop, extent)) return true;
      const auto loop_n = Constant(*loop);
      return loop_n && n && *loop_n - 1 + slack < *n;
    }
    const ir::Op& op = to_[index];
    switch (op.kind) {
      case OpKind::kMin:
        return IsBelow(op.args[0], extent, slack, depth + 1) || IsBelow(op.args[1], extent, slack, depth + 1);
      case OpKind::kMax:
        return IsBelow(op.args[0], extent, slack, depth + 1) && IsBelow(op.args[1], extent, slack, depth + 1);
      case OpKind::kSelect:
        return IsBelow(op.args[1], extent, slack, depth + 1) && IsBelow(op.args[2], extent, slack, depth + 1);
      case OpKind::kAdd: {
        const auto right = Constant(op.args[1]);
        return right && IsBelow(op.args[0], extent, slack + *right, depth + 1);
      }
      case OpKind::kSub: {
        const auto right = Constant(op.args[1]);
        if (!right) return false;
        if (Same(op.args[0], extent)) return *right > slack;  // n - 1 < n
        return IsBelow(op.args[0], extent, slack - *right, depth + 1);
      }
      default:
        return false;
    }
  }

  // index + slack >= 0 for every value that the index takes
  bool IsNotNegative(ValueId index, int64_t slack, int depth = 0) const {
    if (depth > kDepthMax) return false;
    if (const auto value = Constant(index)) return *value + slack >= 0;
    if (ExtentOf(index)) return slack >= 0;
    const ir::Op& op = to_[index];
    switch (op.kind) {
      case OpKind::kMin:
        return IsNotNegative(op.args[0], slack, depth + 1) && IsNotNegative(op.args[1], slack, depth + 1);
      case OpKind::kMax:
        return IsNotNegative(op.args[0], slack, depth + 1) || IsNotNegative(op.args[1], slack, depth + 1);
      case OpKind::kSelect:
        return IsNotNegative(op.args[1], slack, depth + 1) && IsNotNegative(op.args[2], slack, depth + 1);
      case OpKind::kAdd: {
        const auto right = Constant(op.args[1]);
        return right && IsNotNegative(op.args[0], slack + *right, depth + 1);
      }
      case OpKind::kSub: {
        const auto right = Constant(op.args[1]);
        return right && IsNotNegative(op.args[0], slack - *right, depth + 1);
      }
      default:
        return false;
    }
  }

  std::vector<Position> pending_;  // every loop position met so far
};

}  // namespace

void ProveRanges(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return RangesBody(program, body).Run(); });
}

}  // namespace wf::passes
