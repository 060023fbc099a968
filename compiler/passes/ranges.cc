#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/scalar.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr int64_t kMaxCoefficient = int64_t{1} << 20,
                  kMaxConstant = int64_t{1} << 40;  // no sum of these wraps over extents, which are at most abi::kMostExtent
constexpr int kMaxDepth = 12, kMaxLarge = 2;

// sum of coefficient * value, plus a constant.
struct Linear {
  std::map<ValueId, int64_t> terms;
  int64_t constant = 0;
  bool ok = true;

  void Add(const Linear& other, int64_t factor) {
    ok = ok && other.ok && std::abs(factor) <= kMaxCoefficient;
    if (!ok) return;
    constant += other.constant * factor;
    for (const auto& [value, coefficient] : other.terms) {
      int64_t& own = terms[value];
      own += coefficient * factor;
      if (own == 0) terms.erase(value);
    }
    ok = std::abs(constant) <= kMaxConstant;
    for (const auto& [value, coefficient] : terms) ok = ok && std::abs(coefficient) <= kMaxCoefficient;
  }
};

// Removes checks that hold: an index between 0 and its extent, a divisor other than 0. What is proved never relies on a loop being run,
// only on the bounds of the loop's own index, so what depends on no index may be hoisted out of the loop later.
class RangeProver : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kCheckIndex) {
      const ValueId index = Mapped(op.args[0]), extent = Mapped(op.args[1]);
      if (IsNatural(index, 0) && IsBelow(index, extent, 0)) return index;
    }
    if (op.kind == OpKind::kCheckDivisor) {
      const ValueId divisor = Mapped(op.args[0]);
      if (b_.DTypeOf(divisor) == ir::DType::kI64 && LowerBound(divisor, 0).value_or(0) >= 1) return divisor;
    }
    return Copy(id, op);
  }

  const ir::Op& At(ValueId id) const { return b_.body()[id]; }

  // At most about abi::kMostExtent, whatever the sign: an extent of a tensor, a position, what is made of few bits.
  bool IsSmall(ValueId id, int depth) const {
    const ir::Op& op = At(id);
    switch (op.kind) {
      case OpKind::kDim:
      case OpKind::kListLen:
      case OpKind::kStringLen:
      case OpKind::kElement:
        return true;
      case OpKind::kParam:
        return extents_.contains(id);  // no loop runs for longer
      case OpKind::kConvert: {
        const ir::DType from = b_.DTypeOf(op.args[0]);
        return !ir::IsFloat(from) && ir::SizeOf(from) <= 4;
      }
      case OpKind::kMin:
      case OpKind::kMax:
        return depth < kMaxDepth && IsSmall(op.args[0], depth + 1) && IsSmall(op.args[1], depth + 1);
      case OpKind::kSelect:
        return depth < kMaxDepth && IsSmall(op.args[1], depth + 1) && IsSmall(op.args[2], depth + 1);
      case OpKind::kDiv:
      case OpKind::kCheckDivisor:
        return depth < kMaxDepth && IsSmall(op.args[0], depth + 1);
      case OpKind::kRem:
      case OpKind::kCheckIndex:  // below the extent
        return depth < kMaxDepth && IsSmall(op.args[1], depth + 1);
      default:
        return false;
    }
  }

  // Nothing in it wraps unseen. Of what may be any number, as parameters may, no multiple is taken and few are added: an extent that is
  // such a sum is that of a tensor, so that it did not wrap, whereas 4 * n is 0 where n is 2^62.
  bool IsSound(const Linear& sum) const { return sum.ok && CountLarge(sum) <= kMaxLarge; }

  // Terms that may be any number; more than kMaxLarge where a multiple of one is taken.
  int CountLarge(const Linear& sum) const {
    int large = 0;
    for (const auto& [value, coefficient] : sum.terms) {
      if (!IsSmall(value, 0)) large += std::abs(coefficient) > 1 ? kMaxLarge + 1 : 1;
    }
    return large;
  }

  // A loop over max(n, 0) that is being run is one over n.
  void Bind(ValueId param, ValueId extent) {
    extents_[param] = extent;
    const ir::Op& op = At(extent);
    if (op.kind == OpKind::kMax && b_.IsConstant(op.args[1], 0)) unclamped_[param] = op.args[0];
  }

  Linear LinearOf(ValueId id, int depth) {
    const ir::Op& op = At(id);
    Linear sum;
    if (op.kind == OpKind::kScalar) {
      sum.constant = static_cast<int64_t>(op.imm);
      sum.ok = std::abs(sum.constant) <= kMaxConstant;
      return sum;
    }
    if (depth < kMaxDepth && (op.kind == OpKind::kAdd || op.kind == OpKind::kSub)) {
      sum.Add(LinearOf(op.args[0], depth + 1), 1);
      sum.Add(LinearOf(op.args[1], depth + 1), op.kind == OpKind::kAdd ? 1 : -1);
      if (IsSound(sum)) return sum;
    }
    if (depth < kMaxDepth && op.kind == OpKind::kMul && (b_.IsConstant(op.args[0]) || b_.IsConstant(op.args[1]))) {
      const bool second = b_.IsConstant(op.args[1]);
      sum = {};
      sum.Add(LinearOf(op.args[second ? 0 : 1], depth + 1), static_cast<int64_t>(At(op.args[second ? 1 : 0]).imm));
      if (IsSound(sum)) return sum;
    }
    return {.terms = {{id, 1}}, .constant = 0};
  }

  // The least value, where one is known.
  std::optional<int64_t> LowerBound(ValueId id, int depth) {
    const ir::Op& op = At(id);
    if (depth > kMaxDepth) return {};
    switch (op.kind) {
      case OpKind::kScalar:
        return b_.DTypeOf(id) == ir::DType::kI64 ? std::optional(static_cast<int64_t>(op.imm)) : std::nullopt;
      case OpKind::kDim:
      case OpKind::kListLen:
      case OpKind::kStringLen:
      case OpKind::kElement:
      case OpKind::kCheckIndex:
        return 0;
      case OpKind::kParam:
        return extents_.contains(id) ? std::optional<int64_t>(0) : std::nullopt;
      case OpKind::kConvert: {
        const ir::DType from = b_.DTypeOf(op.args[0]), to = b_.DTypeOf(id);
        if (ir::SizeOf(to) <= ir::SizeOf(from)) return {};  // i32 of a u32 may be below 0
        if (from == ir::DType::kBool || from == ir::DType::kU8 || from == ir::DType::kU16 || from == ir::DType::kU32) return 0;
        return from == ir::DType::kI32 && to == ir::DType::kI64 ? LowerBound(op.args[0], depth + 1) : std::nullopt;
      }
      case OpKind::kMax: {
        const auto a = LowerBound(op.args[0], depth + 1), b = LowerBound(op.args[1], depth + 1);
        return a && b ? std::max(*a, *b) : a ? a : b;
      }
      case OpKind::kMin: {
        const auto a = LowerBound(op.args[0], depth + 1), b = LowerBound(op.args[1], depth + 1);
        return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
      }
      case OpKind::kSelect: {
        const auto a = LowerBound(op.args[1], depth + 1), b = LowerBound(op.args[2], depth + 1);
        return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
      }
      case OpKind::kDiv:
      case OpKind::kRem: {
        const auto a = LowerBound(op.args[0], depth + 1), b = LowerBound(op.args[1], depth + 1);
        return a && b && *a >= 0 && *b >= 1 ? std::optional<int64_t>(0) : std::nullopt;
      }
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kMul:
        if (b_.DTypeOf(id) != ir::DType::kI64) return {};  // wraps soon
        return LowerBoundOf(LinearOf(id, 0), id, depth);
      default:
        return {};
    }
  }

  // Terms that count down are replaced by the loop's last index, as its extent says or as that without its clamp.
  std::optional<int64_t> LowerBoundOf(const Linear& sum, ValueId self, int depth) {
    const auto bound = LowerBoundWith(extents_, sum, self, depth);
    if (bound || std::none_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) { return unclamped_.contains(term.first); }))
      return bound;
    std::unordered_map<ValueId, ValueId> extents = extents_;
    for (const auto& [param, extent] : unclamped_) extents[param] = extent;
    return LowerBoundWith(extents, sum, self, depth);
  }

  std::optional<int64_t> LowerBoundWith(const std::unordered_map<ValueId, ValueId>& extents, Linear sum, ValueId self, int depth) {
    int replaced = 0;
    bool is_endless = false;  // a loop that makes nothing may count to any number
    for (; replaced < kMaxDepth && IsSound(sum); ++replaced) {
      const auto falling = std::find_if(sum.terms.begin(), sum.terms.end(),
                                        [&](const auto& term) { return term.second < 0 && extents.contains(term.first); });
      if (falling == sum.terms.end()) break;
      const auto [param, coefficient] = *falling;
      if (counts_only_.contains(param) && !IsSmall(extents.at(param), 0)) {
        if (coefficient != -1) return {};
        is_endless = true;
      }
      Linear last = LinearOf(extents.at(param), 0);
      last.constant -= 1;
      last.terms[param] -= 1;  // last - param, times the coefficient, takes the parameter out
      sum.Add(last, coefficient);
    }
    if (!DoesNotWrap(sum, replaced, is_endless)) return {};
    int64_t bound = sum.constant;
    for (const auto& [value, coefficient] : sum.terms) {
      if (value == self || coefficient < 0) return {};
      const std::optional<int64_t> least = LowerBound(value, depth + 1);
      if (!least || std::abs(*least) > kMaxConstant) return {};
      bound += *least * coefficient;
    }
    return bound;
  }

  // Whether what `sum` is a bound of is no less. It is that, and for each loop whose index was replaced a multiple of what the loop has
  // left: small, but for one that only counts.
  bool DoesNotWrap(const Linear& sum, int replaced, bool is_endless) const {
    if (!sum.ok) return false;
    if (is_endless) return replaced == 1 && sum.terms.empty() && sum.constant == 0;  // n - 1 - i
    const int large = CountLarge(sum);
    return large == 0 || (large == 1 && replaced == 0 && sum.terms.size() == 1 && sum.constant <= 0);
  }

  bool IsNatural(ValueId id, int depth) { return LowerBound(id, depth).value_or(-1) >= 0; }

  bool IsBelow(ValueId id, ValueId extent, int depth) {
    const ir::Op& op = At(id);
    if (depth > kMaxDepth) return false;
    switch (op.kind) {
      case OpKind::kMin:
        if (IsBelow(op.args[0], extent, depth + 1) || IsBelow(op.args[1], extent, depth + 1)) return true;
        break;
      case OpKind::kMax:
        if (IsBelow(op.args[0], extent, depth + 1) && IsBelow(op.args[1], extent, depth + 1)) return true;
        break;
      case OpKind::kSelect:
        if (IsBelow(op.args[1], extent, depth + 1) && IsBelow(op.args[2], extent, depth + 1)) return true;
        break;
      case OpKind::kRem:  // below its divisor, whatever the sign
        if (LowerBound(op.args[1], depth + 1).value_or(0) >= 1 && IsAtMost(op.args[1], extent)) return true;
        break;
      case OpKind::kDiv:  // of a natural: not above the dividend
        if (IsNatural(op.args[0], depth + 1) && LowerBound(op.args[1], depth + 1).value_or(0) >= 1 && IsBelowQuotient(op, extent, depth)) {
          return true;
        }
        break;
      case OpKind::kCheckIndex:
        if (op.args[1] == extent && LowerBound(extent, depth + 1).value_or(0) >= 1) return true;
        break;
      case OpKind::kConvert:
        if (b_.DTypeOf(op.args[0]) == ir::DType::kU8 && LowerBound(extent, depth + 1).value_or(0) >= 256) return true;
        break;
      default:
        break;
    }
    Linear room = LinearOf(extent, 0);
    room.constant -= 1;
    room.Add(LinearOf(id, 0), -1);
    return LowerBoundOf(std::move(room), ValueId::kNone, depth).value_or(-1) >= 0;
  }

  // a / c < extent when a < extent * c.
  bool IsBelowQuotient(const ir::Op& op, ValueId extent, int depth) {
    if (IsBelow(op.args[0], extent, depth + 1)) return true;
    if (!b_.IsConstant(op.args[1])) return false;
    Linear room;
    room.Add(LinearOf(extent, 0), static_cast<int64_t>(At(op.args[1]).imm));
    room.constant -= 1;
    room.Add(LinearOf(op.args[0], 0), -1);
    return LowerBoundOf(std::move(room), ValueId::kNone, depth).value_or(-1) >= 0;
  }

  bool IsAtMost(ValueId a, ValueId b) {
    Linear room = LinearOf(b, 0);
    room.Add(LinearOf(a, 0), -1);
    return LowerBoundOf(std::move(room), ValueId::kNone, 0).value_or(-1) >= 0;
  }

  void Opened(OpKind owner, const std::vector<ValueId>& owner_args, const std::vector<ValueId>& params) override {
    switch (owner) {
      case OpKind::kBuild:
        for (size_t axis = 0; axis < params.size(); ++axis) Bind(params[axis], owner_args[axis]);
        return;
      case OpKind::kReduce:
      case OpKind::kFold:
        counts_only_.insert(params[0]);
        [[fallthrough]];
      case OpKind::kListBuild:
      case OpKind::kListFilter:
        Bind(params[0], owner_args[0]);
        return;
      default:
        return;
    }
  }

  std::unordered_map<ValueId, ValueId> extents_;    // of the loops that parameters count
  std::unordered_map<ValueId, ValueId> unclamped_;  // n, of those that are max(n, 0)
  std::unordered_set<ValueId> counts_only_;         // parameters of loops that make nothing, so that nothing bounds how long they run
};

}  // namespace

void ProveRanges(ir::Program& program) { RewriteBodies<RangeProver>(program); }

}  // namespace wf::passes
