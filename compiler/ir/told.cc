#include "compiler/ir/told.h"

#include <unordered_map>

namespace wf::ir {
namespace {

constexpr uint8_t kOfIndex = 1, kOfDivisor = 2;

class Following {
 public:
  explicit Following(const Body& body) : body_(body), of_(body.ops.size(), 0) {}

  // What the value of the block follows from; `around`: what the block does.
  uint8_t Look(BlockId block, uint8_t around) {
    for (const ValueId param : body_[block].params) of_[Index(param)] = around;
    for (const ValueId id : body_[block].ops) {
      const Op& op = body_[id];
      uint8_t of = around;
      for (const ValueId arg : op.args) of |= of_[Index(arg)];
      Count(op);
      for (const BlockId inner : op.blocks) of |= Look(inner, of);
      if (op.kind == OpKind::kCheckIndex && !IsInRange(op)) {
        index_follows = index_follows || (of & kOfDivisor) != 0;
        of |= kOfIndex;
      }
      if (op.kind == OpKind::kCheckDivisor) {
        divisor_follows = divisor_follows || (of & kOfIndex) != 0;
        of |= kOfDivisor;
      }
      of_[Index(id)] = of;
    }
    const ValueId result = body_[block].result;
    return result == ValueId::kNone ? around : of_[Index(result)];
  }

  bool index_follows = false, divisor_follows = false;

 private:
  static size_t Index(ValueId id) { return static_cast<size_t>(id); }

  // Notes how many turns the loops have that `op` is.
  void Count(const Op& op) {
    if (op.blocks.empty()) return;
    const std::vector<ValueId>& params = body_[op.blocks[0]].params;
    switch (op.kind) {
      case OpKind::kBuild:
        for (size_t axis = 0; axis < params.size(); ++axis) turns_[params[axis]] = op.args[axis];
        return;
      case OpKind::kReduce:
      case OpKind::kFold:
      case OpKind::kListBuild:
      case OpKind::kListFilter:
        turns_[params[0]] = op.args[0];
        return;
      default:
        return;
    }
  }

  // An index that counts to the extent of its axis fails never.
  bool IsInRange(const Op& check) const {
    const auto turns = turns_.find(check.args[0]);
    return turns != turns_.end() && AreOne(turns->second, check.args[1]);
  }
  bool AreOne(ValueId a, ValueId b) const {
    const Op &one = body_[a], &other = body_[b];
    return a == b || (one.kind == OpKind::kDim && other.kind == OpKind::kDim && one.imm == other.imm && one.args == other.args);
  }

  const Body& body_;
  std::vector<uint8_t> of_;                     // of each value: what it follows from
  std::unordered_map<ValueId, ValueId> turns_;  // of the parameters of loops that count
};

}  // namespace

bool IsDivisorFirst(const Body& body) {
  if (body.empty()) return false;
  Following following(body);
  following.Look(BlockId{0}, 0);
  return following.index_follows && !following.divisor_follows;
}

}  // namespace wf::ir
