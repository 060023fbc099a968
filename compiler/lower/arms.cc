#include "compiler/lower/arms.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "compiler/ir/math.h"
#include "compiler/ir/scalar.h"

namespace wf::lower {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr size_t kDearOps = 48;  // several times what a branch costs that is not foreseen

bool IsComputed(OpKind kind) { return ir::IsScalarArithmetic(kind) || ir::IsMath(kind); }
size_t WeightOf(OpKind kind) { return ir::IsMath(kind) ? ir::kMathOps : 1; }

template <typename Ids>
bool AreDear(const ir::Body& body, const Ids& ids) {
  size_t weight = 0;
  for (const ValueId id : ids) weight += WeightOf(body[id].kind);
  return weight >= kDearOps;
}

constexpr size_t kUnread = SIZE_MAX, kOthers = 0;

// The selections of one condition, on one side, that stand on the side `within` themselves.
struct Side {
  ValueId condition;
  bool is_then;
  size_t within;
  auto operator<=>(const Side&) const = default;
};

// Who reads the values of a block: one side, by number, or others, too.
class Readers {
 public:
  Readers(const ir::Body& body, const ir::Block& block) : body_(body), of_(body.ops.size(), kUnread) {
    if (block.result != ValueId::kNone) Read(block.result, kOthers);
    for (size_t i = block.ops.size(); i-- > 0;) ReadArgs(block.ops[i]);
  }
  size_t Of(ValueId id) const { return of_[static_cast<size_t>(id)]; }
  // The side that an argument of this selection is on.
  size_t SideOf(const ir::Op& select, size_t arg, size_t own) {
    return numbers_.try_emplace({select.args[0], arg == 1, own}, numbers_.size() + 1).first->second;
  }
  const std::map<Side, size_t>& numbers() const { return numbers_; }

 private:
  void Read(ValueId id, size_t side) {
    size_t& own = of_[static_cast<size_t>(id)];
    own = own == kUnread || own == side ? side : kOthers;
  }
  void ReadArgs(ValueId id) {
    const ir::Op& op = body_[id];
    size_t& own = of_[static_cast<size_t>(id)];
    if (own == kUnread || !IsComputed(op.kind)) own = kOthers;
    for (size_t i = 0; i < op.args.size(); ++i) Read(op.args[i], op.kind == OpKind::kSelect && i > 0 ? SideOf(op, i, own) : own);
    for (const ir::BlockId nested : op.blocks) ReadBlock(body_[nested]);
  }
  void ReadBlock(const ir::Block& block) {
    if (block.result != ValueId::kNone) Read(block.result, kOthers);
    for (const ValueId id : block.ops) {
      for (const ValueId arg : body_[id].args) Read(arg, kOthers);
      for (const ir::BlockId nested : body_[id].blocks) ReadBlock(body_[nested]);
    }
  }

  const ir::Body& body_;
  std::vector<size_t> of_;  // by ValueId
  std::map<Side, size_t> numbers_;
};

}  // namespace

Arms::Arms(const ir::Body& body, const ir::Block& block) {
  if (!AreDear(body, block.ops)) return;
  Readers readers(body, block);
  std::vector<Arm> sides(readers.numbers().size() + 1);
  for (const auto& [side, number] : readers.numbers()) sides[number].condition = side.condition, sides[number].is_then = side.is_then;
  for (const ValueId id : block.ops) {
    const ir::Op& op = body[id];
    const size_t own = readers.Of(id);
    for (size_t arg = 1; op.kind == OpKind::kSelect && arg <= 2; ++arg) {
      Arm& arm = sides[readers.SideOf(op, arg, own)];
      if (arm.first == ValueId::kNone) arm.first = id;
      const bool is_inside = std::find(arm.ops.begin(), arm.ops.end(), op.args[arg]) != arm.ops.end();
      const bool is_known = std::find(arm.results.begin(), arm.results.end(), op.args[arg]) != arm.results.end();
      if (is_inside && !is_known) arm.results.push_back(op.args[arg]);
    }
    if (own == kOthers) continue;
    sides[own].ops.push_back(id);
    sides[own].is_early &= sides[own].first == ValueId::kNone;
  }
  is_inside_.resize(body.ops.size());
  for (Arm& arm : sides) {
    if (!AreDear(body, arm.ops) || !arm.is_early) continue;
    for (const ValueId id : arm.ops) is_inside_[static_cast<size_t>(id)] = true;
    arms_.push_back(std::move(arm));
  }
}

std::vector<Arms::Arm> Arms::Reached(ValueId id) const {
  std::vector<Arm> reached;
  std::copy_if(arms_.begin(), arms_.end(), std::back_inserter(reached), [&](const Arm& arm) { return arm.first == id; });
  return reached;
}

}  // namespace wf::lower
