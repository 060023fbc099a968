#include <algorithm>
#include <limits>
#include <map>

#include "compiler/ir/bounds.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

using Wide = __int128;

constexpr int64_t kMaxCoefficient = int64_t{1} << 20, kMaxConstant = int64_t{1} << 40;  // so that no sum of them wraps here
constexpr int kMaxDepth = 12;
constexpr size_t kMostFacts = 32;  // of arms in arms: each check looks at all of them
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

bool IsWithin(int64_t value, int64_t most) { return -most <= value && value <= most; }

// sum of coefficient * value, plus a constant: what the value is but for a multiple of 2^64.
struct Linear {
  std::map<ValueId, int64_t> terms;
  int64_t constant = 0;
  bool ok = true;

  void Add(const Linear& other, int64_t factor) {
    ok = ok && other.ok && IsWithin(factor, kMaxCoefficient);
    if (!ok) return;
    constant += other.constant * factor;
    for (const auto& [value, coefficient] : other.terms) {
      int64_t& own = terms[value];
      own += coefficient * factor;
      if (own == 0) terms.erase(value);
    }
    ok = IsWithin(constant, kMaxConstant);
    for (const auto& [value, coefficient] : terms) ok = ok && IsWithin(coefficient, kMaxCoefficient);
  }
};

// Removes checks that hold: an index between 0 and its extent, a divisor other than 0, a slice inside its axis. What is proved never relies
// on a loop being run, only on the bounds of the loop's own index, so what depends on no index may be hoisted out of the loop later.
class RangeProver : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kCheckIndex || op.kind == OpKind::kIndexOrZero) {
      const ValueId index = Mapped(op.args[0]), extent = Mapped(op.args[1]);
      if (IsNatural(index, 0) && (IsBelow(index, extent, 0) || IsLearned(LinearOf(index, 0), LinearOf(extent, 0), 1))) return index;
    }
    if (op.kind == OpKind::kCheckDivisor) {
      const ValueId divisor = Mapped(op.args[0]);
      if (b_.DTypeOf(divisor) == ir::DType::kI64 && LeastOf(divisor, 0) >= 1) return divisor;
    }
    const bool compares = (op.kind == OpKind::kLt || op.kind == OpKind::kLe) && b_.DTypeOf(Mapped(op.args[0])) == ir::DType::kI64;
    if (compares && IsNever(op.kind, Mapped(op.args[0]), Mapped(op.args[1]))) return b_.Bool(false);
    if (op.kind == OpKind::kIf && !b_.IsConstant(Mapped(op.args[0]))) return Choice(op);
    const ValueId copy = Copy(id, op);
    if (op.kind == OpKind::kFailIf && b_.depth() == 0) {
      KeepEqual(At(Mapped(op.args[0])));
      if (facts_.size() < kMostFacts / 2) Learn(Mapped(op.args[0]), false);  // arms are left the rest
    }
    return copy;
  }

  // Arms know what was asked; nothing that reads memory leaves an arm.
  ValueId Choice(const ir::Op& op) {
    const ValueId condition = Mapped(op.args[0]);
    const size_t outer = facts_.size();
    const auto arm = [&](bool holds) {
      Learn(condition, holds);
      const ir::BlockId block = CloneBlock(op.blocks[holds ? 0 : 1], op, {});
      facts_.resize(outer);
      return block;
    };
    const ir::BlockId then = arm(true), otherwise = arm(false);
    return b_.If(condition, op.type, then, otherwise);
  }

  void Learn(ValueId condition, bool holds) {
    const ir::Op& op = At(condition);
    if (op.kind == OpKind::kNot) return Learn(op.args[0], !holds);
    if (op.kind == (holds ? OpKind::kAnd : OpKind::kOr)) {
      for (const ValueId part : op.args) Learn(part, holds);
    }
    if (op.kind == OpKind::kIf && b_.IsConstant(new_[op.blocks[holds ? 1 : 0]].result, holds ? 0 : 1)) {  // `a && b`, `a || b`
      Learn(op.args[0], holds);
      return Learn(new_[op.blocks[holds ? 0 : 1]].result, holds);
    }
    const bool is_order = op.kind == OpKind::kLt || op.kind == OpKind::kLe, is_equality = op.kind == OpKind::kEq || op.kind == OpKind::kNe;
    if ((!is_order && !is_equality) || b_.DTypeOf(op.args[0]) != ir::DType::kI64) return;
    Linear less = LinearOf(op.args[1], 0);
    const Linear left = LinearOf(op.args[0], 0);
    if (!IsExact(less) || !IsExact(left)) return;
    less.Add(left, -1);
    if (!less.ok || facts_.size() >= kMostFacts) return;
    if (is_equality && (op.kind == OpKind::kEq) != holds) return LearnDifferent(less);
    Linear more;
    more.Add(less, -1);
    if (is_order && !holds) std::swap(less, more);
    less.constant -= is_order && (op.kind == OpKind::kLt) == holds;
    facts_.push_back(std::move(less));
    if (is_equality) facts_.push_back(std::move(more));
  }
  // What is at least 0, and not that, is at least 1.
  void LearnDifferent(const Linear& difference) {
    for (size_t i = 0, size = facts_.size(); i < size; ++i) {
      for (const int64_t sign : {-1, 1}) {
        Linear rest = facts_[i];
        rest.Add(difference, sign);
        if (!rest.ok || !rest.terms.empty() || rest.constant != 0) continue;
        facts_.push_back(facts_[i]);
        facts_.back().constant -= 1;
      }
    }
  }
  // What its terms come to is cut by no 64 bits, so that it is the value.
  bool IsExact(const Linear& sum) {
    if (!sum.ok) return false;
    const auto [least, most] = RangeOf(sum, ValueId::kNone, kMaxDepth);
    return kLeast <= least && most <= kMost;
  }

  bool IsNatural(ValueId id, int depth) {
    if (LeastOf(id, depth) >= 0 || IsLearned({}, LinearOf(id, 0), 0)) return true;
    const ir::Op& op = At(id);
    const auto is = [&](size_t arg) { return depth < kMaxDepth && IsNatural(op.args[arg], depth + 1); };
    return (op.kind == OpKind::kMin && is(0) && is(1)) || (op.kind == OpKind::kMax && (is(0) || is(1)));
  }

  // That `more` is at least `less` plus `by`, since the arms around ask for what is no more than what is left between them.
  bool IsLearned(const Linear& less, const Linear& more, int64_t by) {
    if (facts_.empty() || !IsExact(less) || !IsExact(more)) return false;
    return std::any_of(facts_.begin(), facts_.end(), [&](const Linear& fact) {
      Linear rest = more;
      rest.constant -= by;
      rest.Add(less, -1);
      rest.Add(fact, -1);
      return rest.ok && LeastOfSum(rest, ValueId::kNone, kMaxDepth) >= 0;
    });
  }

  // That a < b, or a <= b. Only where their difference wraps nowhere is it what its parts say.
  bool IsNever(OpKind kind, ValueId a, ValueId b) {
    const bool is_le = kind == OpKind::kLe;
    if (IsNear(a) && IsNear(b) && (is_le ? IsBelow(b, a, 0) : IsAtMost(b, a))) return true;
    return IsLearned(LinearOf(b, 0), LinearOf(a, 0), is_le) || (!is_le && b_.IsConstant(b, 0) && IsNatural(a, 0));
  }

  bool IsNear(ValueId id) const {
    constexpr int64_t kNear = int64_t{1} << 61;
    const ir::Bounds bounds = BoundsOf(id);
    return -kNear <= bounds.least && bounds.most <= kNear;
  }

  // What fails where two differ is passed only where they are equal: all that follows outside of blocks, where nothing moves before it. So
  // does what a `require` asked for.
  void KeepEqual(const ir::Op& condition) {
    if (condition.kind != OpKind::kNe || b_.DTypeOf(condition.args[0]) != ir::DType::kI64) return;
    ValueId a = EqualTo(condition.args[0]), b = EqualTo(condition.args[1]);
    if (a == b) return;
    if (const OpKind kind = At(a).kind; kind == OpKind::kScalar || (OpKind::kAdd <= kind && kind <= OpKind::kMul)) std::swap(a, b);
    equal_[a] = b;
  }
  ValueId EqualTo(ValueId id) {
    const ir::Op& op = At(id);
    if (op.kind == OpKind::kDim || op.kind == OpKind::kListLen) id = extents_of_.try_emplace({op.args[0], op.imm}, id).first->second;
    for (auto next = equal_.find(id); next != equal_.end(); next = equal_.find(id)) id = next->second;
    return id;
  }

  const ir::Op& At(ValueId id) const { return b_.body()[id]; }
  ir::Bounds BoundsOf(ValueId id) const { return ir::BoundsOf(b_, extents_, id); }

  // A loop over max(n, 0) that is being run is one over n.
  void Bind(ValueId param, ValueId extent) {
    extents_[param] = extent;
    const ir::Op& op = At(extent);
    if (op.kind == OpKind::kMax && b_.IsConstant(op.args[1], 0)) unclamped_[param] = op.args[0];
  }

  Linear LinearOf(ValueId value, int depth) {
    const ValueId id = depth < kMaxDepth ? EqualTo(value) : value;
    const ir::Op& op = At(id);
    Linear sum;
    if (op.kind == OpKind::kScalar) {
      sum.constant = static_cast<int64_t>(op.imm);
      sum.ok = IsWithin(sum.constant, kMaxConstant);
      return sum;
    }
    if (depth < kMaxDepth && (op.kind == OpKind::kAdd || op.kind == OpKind::kSub)) {
      sum.Add(LinearOf(op.args[0], depth + 1), 1);
      sum.Add(LinearOf(op.args[1], depth + 1), op.kind == OpKind::kAdd ? 1 : -1);
      if (sum.ok) return sum;
    }
    if (depth < kMaxDepth && op.kind == OpKind::kMul && (b_.IsConstant(op.args[0]) || b_.IsConstant(op.args[1]))) {
      const bool second = b_.IsConstant(op.args[1]);
      sum.Add(LinearOf(op.args[second ? 0 : 1], depth + 1), static_cast<int64_t>(At(op.args[second ? 1 : 0]).imm));
      if (sum.ok) return sum;
    }
    return {.terms = {{id, 1}}, .constant = 0};
  }

  // The least value of an i64; of others kLeast.
  int64_t LeastOf(ValueId id, int depth) {
    if (b_.DTypeOf(id) != ir::DType::kI64 && b_.DTypeOf(id) != ir::DType::kI32) return kLeast;
    const int64_t least = BoundsOf(id).least;
    if (least >= 1 || depth > kMaxDepth) return least;
    return std::max(least, LeastByParts(id, depth));
  }

  // As its arguments and the loops around it say.
  int64_t LeastByParts(ValueId id, int depth) {
    const ir::Op& op = At(id);
    const auto least = [&](size_t arg) { return LeastOf(op.args[arg], depth + 1); };
    switch (op.kind) {
      case OpKind::kConvert: {
        const bool is_wider = b_.DTypeOf(op.args[0]) == ir::DType::kI32 && b_.DTypeOf(id) == ir::DType::kI64;
        return is_wider ? least(0) : kLeast;
      }
      case OpKind::kMax:
        return std::max(least(0), least(1));
      case OpKind::kMin:
        return std::min(least(0), least(1));
      case OpKind::kSelect:
        return std::min(least(1), least(2));
      case OpKind::kDiv:
      case OpKind::kRem:
        return least(0) >= 0 && least(1) >= 1 ? 0 : kLeast;
      case OpKind::kCheckDivisor:  // 1 in place of 0
        return least(0) >= 0 ? 1 : kLeast;
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kMul:
        return b_.DTypeOf(id) == ir::DType::kI64 ? LeastOfSum(LinearOf(id, 0), id, depth) : kLeast;  // others wrap soon
      default:
        return kLeast;
    }
  }

  // Terms that count down are replaced by the loop's last index, as its extent says or as that without its clamp.
  int64_t LeastOfSum(const Linear& sum, ValueId self, int depth) {
    const int64_t least = LeastWith(extents_, sum, self, depth);
    if (least >= 0 || std::none_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) { return unclamped_.contains(term.first); }))
      return least;
    ir::Counters extents = extents_;
    for (const auto& [param, extent] : unclamped_) extents[param] = extent;
    return std::max(least, LeastWith(extents, sum, self, depth));
  }

  // The sum is what is left of it when the indices are replaced, and for each a multiple of what its loop has left. Only where no number
  // beyond 64 bits may come of that is it no less.
  int64_t LeastWith(const ir::Counters& extents, Linear sum, ValueId self, int depth) {
    Wide left = 0;  // at most
    for (int replaced = 0; replaced < kMaxDepth && sum.ok; ++replaced) {
      const auto falling = std::find_if(sum.terms.begin(), sum.terms.end(),
                                        [&](const auto& term) { return term.second < 0 && extents.contains(term.first); });
      if (falling == sum.terms.end()) break;
      const auto [param, coefficient] = *falling;
      left += -Wide{coefficient} * (std::max<int64_t>(BoundsOf(extents.at(param)).most, 1) - 1);
      Linear last = LinearOf(extents.at(param), 0);
      last.constant -= 1;
      last.terms[param] -= 1;  // last - param, times the coefficient, takes the parameter out
      sum.Add(last, coefficient);
    }
    if (!sum.ok) return kLeast;
    const auto [least, most] = RangeOf(sum, self, depth);
    if (least < kLeast || left + most > kMost) return kLeast;
    constexpr Wide kNear = Wide{1} << 42;  // so that no multiple wraps
    const bool is_near = least < 0 && -kNear <= least && most <= kNear && depth < kMaxDepth;
    return is_near && IsNaturalByQuotient(extents, sum, self, depth) ? 0 : static_cast<int64_t>(least);
  }

  std::pair<Wide, Wide> RangeOf(const Linear& sum, ValueId self, int depth) {
    Wide least = sum.constant, most = sum.constant;
    for (const auto& [value, coefficient] : sum.terms) {
      const ir::Bounds bounds = BoundsOf(value);
      least += Wide{coefficient} * (coefficient < 0 ? bounds.most : value == self ? bounds.least : LeastOf(value, depth + 1));
      most += Wide{coefficient} * (coefficient < 0 ? bounds.least : bounds.most);
    }
    return {least, most};
  }

  // Where a quotient n / c is taken away, k times: c times the sum is no less than c times the rest of it, less k * n.
  bool IsNaturalByQuotient(const ir::Counters& extents, const Linear& sum, ValueId self, int depth) {
    constexpr int64_t kMostDivisor = int64_t{1} << 19;
    for (const auto& [quotient, times] : sum.terms) {
      const ir::Op& op = At(quotient);
      if (times > 0 || op.kind != OpKind::kDiv || !b_.IsConstant(op.args[1]) || LeastOf(op.args[0], depth + 1) < 0) continue;
      const auto divisor = static_cast<int64_t>(At(op.args[1]).imm);
      if (divisor < 1 || divisor > kMostDivisor) continue;
      Linear others = sum, multiple;
      others.terms.erase(quotient);
      multiple.Add(others, divisor);
      multiple.Add(LinearOf(op.args[0], 0), times);
      return LeastWith(extents, std::move(multiple), self, depth + 1) >= 0;
    }
    return false;
  }

  bool IsBelow(ValueId id, ValueId extent, int depth) {
    const ir::Op& op = At(id);
    if (depth > kMaxDepth) return false;
    if (BoundsOf(id).most < BoundsOf(extent).least) return true;
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
        if (LeastOf(op.args[1], depth + 1) >= 1 && IsAtMost(op.args[1], extent)) return true;
        if (IsPartOfProduct(op, extent)) return true;
        break;
      case OpKind::kDiv:  // of a natural: not above the dividend
        if (LeastOf(op.args[0], depth + 1) >= 0 && LeastOf(op.args[1], depth + 1) >= 1 && IsBelowQuotient(op, extent, depth)) return true;
        if (IsPartOfProduct(op, extent)) return true;
        break;
      case OpKind::kCheckIndex:
      case OpKind::kIndexOrZero:
        if (op.args[1] == extent && LeastOf(extent, depth + 1) >= 1) return true;
        break;
      case OpKind::kAdd:
        if (IsElementOfRow(op, extent)) return true;
        break;
      default:
        break;
    }
    Linear room = LinearOf(extent, 0);
    room.constant -= 1;
    room.Add(LinearOf(id, 0), -1);
    return LeastOfSum(room, ValueId::kNone, depth) >= 0;
  }

  // Of a loop over h * w, k / w is below h, and k % w below w, which may be one factor of several; so may k / .. % w. They change with the
  // index of the loop, so that they stay in it, and where it is run no factor is 0. A product that wraps is below the real one.
  bool IsPartOfProduct(const ir::Op& op, ValueId extent) {
    ValueId index = op.args[0];
    while (op.kind == OpKind::kRem && At(index).kind == OpKind::kDiv) index = At(index).args[0];
    const ir::Op& divisor_op = At(op.args[1]);
    const ValueId divisor = EqualTo(divisor_op.kind == OpKind::kCheckDivisor ? divisor_op.args[0] : op.args[1]);
    const ValueId product = ExtentOf(index);
    if (product == ValueId::kNone || LeastOf(divisor, 0) < 0) return false;
    if (op.kind == OpKind::kRem) return divisor == EqualTo(extent) && HasFactor(product, divisor, 0);
    const ir::Op& factors = At(product);
    if (factors.kind != OpKind::kMul || LeastOf(extent, 0) < 0) return false;
    const ValueId a = EqualTo(factors.args[0]), b = EqualTo(factors.args[1]), other = EqualTo(extent);
    return (a == divisor && b == other) || (b == divisor && a == other);
  }

  bool HasFactor(ValueId product, ValueId factor, int depth) {
    if (EqualTo(product) == factor) return true;
    const ir::Op& op = At(EqualTo(product));
    return op.kind == OpKind::kMul && depth < kMaxDepth &&
           (HasFactor(op.args[0], factor, depth + 1) || HasFactor(op.args[1], factor, depth + 1));
  }

  // Of the loop that the parameter counts, where that is run.
  ValueId ExtentOf(ValueId param) {
    const auto found = extents_.find(param);
    if (found == extents_.end()) return ValueId::kNone;
    const auto unclamped = unclamped_.find(param);
    return EqualTo(unclamped == unclamped_.end() ? found->second : unclamped->second);
  }

  // row * width + column, of a loop over `width` columns, is below rows * width: and that is no more than the extent where the width is
  // what this has for each of so many rows.
  bool IsElementOfRow(const ir::Op& sum, ValueId extent) {
    const auto is_row = [&](ValueId row, ValueId width) {
      const ValueId rows = ExtentOf(row);
      const ir::Op& quotient = At(width);
      if (rows == ValueId::kNone || quotient.kind != OpKind::kDiv || EqualTo(quotient.args[0]) != EqualTo(extent)) return false;
      return EqualTo(quotient.args[1]) == rows && LeastOf(extent, 0) >= 0 && LeastOf(rows, 0) >= 1;
    };
    for (const size_t side : {0, 1}) {
      const ValueId width = ExtentOf(sum.args[side]);
      const ir::Op& start = At(sum.args[1 - side]);
      if (width == ValueId::kNone || start.kind != OpKind::kMul) continue;
      for (const size_t factor : {0, 1}) {
        if (EqualTo(start.args[factor]) == width && is_row(start.args[1 - factor], width)) return true;
      }
    }
    return false;
  }

  // a / c < extent when a < extent * c.
  bool IsBelowQuotient(const ir::Op& op, ValueId extent, int depth) {
    if (IsBelow(op.args[0], extent, depth + 1)) return true;
    if (!b_.IsConstant(op.args[1])) return false;
    Linear room;
    room.Add(LinearOf(extent, 0), static_cast<int64_t>(At(op.args[1]).imm));
    room.constant -= 1;
    room.Add(LinearOf(op.args[0], 0), -1);
    return LeastOfSum(room, ValueId::kNone, depth) >= 0;
  }

  bool IsAtMost(ValueId a, ValueId b) {
    Linear room = LinearOf(b, 0);
    room.Add(LinearOf(a, 0), -1);
    return LeastOfSum(room, ValueId::kNone, 0) >= 0;
  }

  void Opened(OpKind owner, const std::vector<ValueId>& owner_args, const std::vector<ValueId>& params) override {
    switch (owner) {
      case OpKind::kBuild:
        for (size_t axis = 0; axis < params.size(); ++axis) Bind(params[axis], owner_args[axis]);
        return;
      case OpKind::kReduce:
      case OpKind::kFold:
      case OpKind::kListBuild:
      case OpKind::kListFilter:
        Bind(params[0], owner_args[0]);
        return;
      default:
        return;
    }
  }

  ir::Counters extents_;                                        // of the loops that parameters count
  ir::Counters unclamped_;                                      // n, of those that are max(n, 0)
  std::map<ValueId, ValueId> equal_;                            // what may stand for it
  std::map<std::pair<ValueId, uint64_t>, ValueId> extents_of_;  // of an axis of a tensor, of a list: the first that is read
  std::vector<Linear> facts_;                                   // at least 0: in the arms around, and behind what would have failed
};

}  // namespace

void ProveRanges(ir::Program& program) { RewriteBodies<RangeProver>(program); }

}  // namespace wf::passes
