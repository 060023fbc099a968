#include <algorithm>
#include <optional>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr size_t kMostSplitOps = 100;  // of a build that is written twice

// A build that reads at `start + index`, as a crop does, checks whole axes before it runs: where they are inside, elements need no checks,
// and what lies side by side is read so. Where they are not, it runs as it stands, and fails as it did.
class CheckSplitter : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  struct Span {
    ValueId start;   // kNone: 0
    ValueId count;   // of indices
    ValueId extent;  // of what is read
  };

  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kCheckIndex && proved_.contains(id)) return Mapped(op.args[0]);
    if (op.kind != OpKind::kBuild || IsInLoop() || CountOps(op.blocks[0]) > kMostSplitOps) return Copy(id, op);
    const ir::Block& block = old_[op.blocks[0]];
    std::set<ValueId> inside(block.params.begin(), block.params.end());
    std::vector<Span> spans;
    for (const ValueId each : block.ops) {
      const ir::Op& check = old_[each];
      if (const std::optional<Span> span = check.kind == OpKind::kCheckIndex ? SpanOf(check, op, inside) : std::nullopt) {
        spans.push_back(*span);
        proved_.insert(each);
      }
      inside.insert(each);
    }
    if (spans.empty()) return Copy(id, op);
    ValueId fits = b_.Bool(true);
    for (const Span& span : spans) fits = b_.Binary(OpKind::kAnd, fits, Fits(span));
    if (b_.IsConstant(fits)) {
      if (b_.IsConstant(fits, 0)) proved_.clear();
      const ValueId copy = Copy(id, op);
      proved_.clear();
      return copy;
    }
    const ir::BlockId then = b_.Open({});
    const ValueId unchecked = Copy(id, op);
    b_.Close(unchecked);
    proved_.clear();
    const ir::BlockId otherwise = b_.Open({});
    b_.Close(Copy(id, op));
    return b_.If(fits, b_.TypeOf(unchecked), then, otherwise);
  }

  bool IsInLoop() const {
    for (size_t depth = 1; depth <= b_.depth(); ++depth) {
      if (IsLoop(OwnerAt(depth))) return true;
    }
    return false;
  }

  size_t CountOps(ir::BlockId block) const {
    size_t count = old_[block].ops.size();
    for (const ValueId id : old_[block].ops) {
      for (const ir::BlockId nested : old_[id].blocks) count += CountOps(nested);
    }
    return count;
  }

  std::optional<Span> SpanOf(const ir::Op& check, const ir::Op& build, const std::set<ValueId>& inside) const {
    const std::vector<ValueId>& params = old_[build.blocks[0]].params;
    if (inside.contains(check.args[1])) return {};
    const auto count_of = [&](ValueId value) {
      const auto found = std::find(params.begin(), params.end(), value);
      return found == params.end() ? ValueId::kNone : Mapped(build.args[static_cast<size_t>(found - params.begin())]);
    };
    const ir::Op& index = old_[check.args[0]];
    if (const ValueId count = count_of(check.args[0]); count != ValueId::kNone) return Span{ValueId::kNone, count, Mapped(check.args[1])};
    if (index.kind != OpKind::kAdd) return {};
    for (const size_t side : {0, 1}) {
      const ValueId count = count_of(index.args[side]), start = index.args[1 - side];
      if (count != ValueId::kNone && !inside.contains(start)) return Span{Mapped(start), count, Mapped(check.args[1])};
    }
    return {};
  }

  // Nothing wraps: from 0 on, `extent - start` does not.
  ValueId Fits(const Span& span) {
    const auto is_at_most = [&](ValueId a, ValueId b) { return b_.Binary(OpKind::kLe, a, b); };
    if (span.start == ValueId::kNone) return is_at_most(span.count, span.extent);
    return b_.Binary(OpKind::kAnd, is_at_most(b_.I64(0), span.start), is_at_most(span.count, b_.Sub(span.extent, span.start)));
  }

  std::set<ValueId> proved_;  // checks of the build that is being copied
};

}  // namespace

void SplitChecks(ir::Program& program) { RewriteBodies<CheckSplitter>(program); }

}  // namespace wf::passes
