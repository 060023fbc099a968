#include <algorithm>
#include <utility>

#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr uint64_t kWorthATable =
    10;  // operations; a division, a root, what takes a float to an integer and what skips in memory count for several
constexpr uint32_t kMostTables = 8;  // of one build
constexpr uint64_t kManyRows = 8;    // that read elements side by side where they lie apart

// What a build computes of its last index alone is the same in all of its rows: where it is dear, a table of one row is made before. What
// depends on other indices only is the same in a whole row: where it is a loop, a table of them is made; the rest LLVM takes out of the
// innermost loop itself.
class Tabulator : public Rewriter {
 public:
  Tabulator(ir::Program& program, const ir::Body& old)
      : Rewriter(program, old),
        is_read_(old.ops.size()),
        varies_(old.ops.size()),
        seen_(old.ops.size()),
        role_(old.ops.size()),
        tables_(old.ops.size()) {
    for (const ir::Op& op : old.ops) {
      for (const ValueId arg : op.args) is_read_[Index(arg)] = true;
    }
    for (const ir::Block& block : old.blocks) {
      if (block.result != ValueId::kNone) is_read_[Index(block.result)] = true;
    }
  }

 private:
  using Axes = uint64_t;  // of the build, a bit each
  struct Table {
    ValueId tensor = ValueId::kNone;
    std::vector<ValueId> at;  // the indices of the build by which it is read
  };
  enum class Role : uint8_t { kNone, kNeeded, kTabulated, kDropped };

  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    if (role_[Index(id)] == Role::kDropped) return ValueId::kNone;
    if (role_[Index(id)] == Role::kTabulated) return Read(tables_[Index(id)]);
    if (op.kind == OpKind::kBuild && op.args.size() > 1) Tabulate(op);
    return Copy(id, op);
  }
  ValueId Read(const Table& table) { return b_.Load(table.tensor, Mapped(table.at)); }
  static size_t Index(ValueId id) { return static_cast<size_t>(id); }

  void Tabulate(const ir::Op& build) {
    const ir::Block& block = old_[build.blocks[0]];
    if (block.params.size() > 8 * sizeof(Axes)) return;
    const auto is_single = [&](ValueId extent) { return old_[extent].kind == OpKind::kScalar && old_[extent].imm <= 1; };
    has_rows_ = !std::all_of(build.args.begin(), build.args.end() - 1, is_single);
    has_columns_ = !is_single(build.args.back());
    n_tables_ = 0;
    has_many_rows_ = HasManyRows(build);
    for (size_t axis = 0; axis < block.params.size(); ++axis) varies_[Index(block.params[axis])] = last_ = Axes{1} << axis;
    for (const ValueId id : block.ops) varies_[Index(id)] = VariesOf(old_[id]);
    if (block.result != ValueId::kNone) Need(block.result);
    for (const ValueId id : block.ops) {
      const bool stays = !IsLink(id) || !is_read_[Index(id)];
      if (stays) NeedArgs(old_[id]);
    }
    for (const ValueId id : block.ops) {
      if (role_[Index(id)] == Role::kTabulated) MakeTable(id, build, block);
    }
    for (const ValueId param : block.params) varies_[Index(param)] = 0;
    for (const ValueId id : block.ops) varies_[Index(id)] = 0;
  }

  bool HasManyRows(const ir::Op& build) const {
    uint64_t rows = 1;
    for (size_t axis = 0; axis + 1 < build.args.size() && rows < kManyRows; ++axis) {
      const ir::Op& extent = old_[build.args[axis]];
      rows = extent.kind == OpKind::kScalar ? rows * std::min(extent.imm, kManyRows) : kManyRows;
    }
    return rows >= kManyRows;
  }

  Axes VariesOf(const ir::Op& op) const {
    Axes all = 0;
    ForEachRead(op, [&](ValueId id) { all |= varies_[Index(id)]; });
    return all;
  }
  // Every value that `op` reads, inside its blocks too.
  template <typename F>
  void ForEachRead(const ir::Op& op, const F& f) const {
    for (const ValueId arg : op.args) f(arg);
    for (const ir::BlockId nested : op.blocks) {
      for (const ValueId id : old_[nested].ops) ForEachRead(old_[id], f);
      if (old_[nested].result != ValueId::kNone) f(old_[nested].result);
    }
  }

  // ---- what the elements need of it ----
  void NeedArgs(const ir::Op& op) {
    ForEachRead(op, [&](ValueId id) { Need(id); });
  }
  void Need(ValueId id) {
    if (!IsLink(id) || role_[Index(id)] != Role::kNone) return;
    const bool is_scalar = b_.types()[old_[id].type].kind == ir::TypeKind::kScalar;
    const bool is_worth_it = is_scalar && n_tables_ < kMostTables && (IsOfLast(id) ? IsDear(id) : IsLong(id));
    role_[Index(id)] = is_worth_it ? Role::kTabulated : Role::kNeeded;
    n_tables_ += is_worth_it;
    if (!is_worth_it) NeedArgs(old_[id]);
  }
  // Depends on the last index alone, or on others alone.
  bool IsLink(ValueId id) const {
    const Axes varies = varies_[Index(id)];
    return varies != 0 && ((varies & last_) == 0 || varies == last_) && old_[id].kind != OpKind::kParam;
  }
  bool IsOfLast(ValueId id) const { return varies_[Index(id)] == last_; }
  bool IsDear(ValueId id) {
    uint64_t work = 0;
    for (const ValueId link : ChainTo(id)) work += WorkOf(old_[link]);
    return has_rows_ && work >= kWorthATable;
  }
  bool IsLong(ValueId id) {
    const std::vector<ValueId> chain = ChainTo(id);
    return has_columns_ && std::any_of(chain.begin(), chain.end(), [&](ValueId link) { return IsLoop(old_[link].kind); });
  }
  // The operations of the block that lead from its indices to a link, in no order.
  std::vector<ValueId> ChainTo(ValueId id) {
    std::vector<ValueId> chain{id};
    seen_[Index(id)] = ++stamp_;
    for (size_t i = 0; i < chain.size(); ++i) {
      ForEachRead(old_[chain[i]], [&](ValueId read) {
        if (IsLink(read) && std::exchange(seen_[Index(read)], stamp_) != stamp_) chain.push_back(read);
      });
    }
    return chain;
  }
  uint64_t WorkOf(const ir::Op& op) {
    if (!op.blocks.empty() || ir::IsMath(op.kind)) return kWorthATable;
    switch (op.kind) {
      case OpKind::kDiv:
      case OpKind::kRem:
      case OpKind::kSqrt:
        return 6;
      case OpKind::kConvert: {
        const ir::DType from = b_.types()[old_[op.args[0]].type].dtype, to = b_.types()[op.type].dtype;
        return ir::IsFloat(from) && !ir::IsFloat(to) ? 4 : 1;
      }
      case OpKind::kMin:
      case OpKind::kMax:
      case OpKind::kCheckIndex:
      case OpKind::kCheckDivisor:
        return 2;
      case OpKind::kLoad:
        return has_many_rows_ && IsScattered(op) ? kWorthATable : 1;
      default:
        return 1;
    }
  }

  // Of a load that varies with the last index alone: do its elements lie apart, so that a row of them is dear to read?
  bool IsScattered(const ir::Op& load) {
    const std::vector<int64_t>& dims = b_.types()[old_[load.args[0]].type].dims;
    size_t axis = dims.size();
    while (axis > 1 && dims[axis - 1] == 1) --axis;
    ValueId index = load.args[axis];
    for (size_t i = 1; i < load.args.size(); ++i) {
      if (i != axis && varies_[Index(load.args[i])] != 0) return true;
    }
    for (;;) {
      const ir::Op& op = old_[index];
      if (op.kind == OpKind::kParam) return false;
      const bool is_run = op.kind == OpKind::kCheckIndex || op.kind == OpKind::kAdd || op.kind == OpKind::kSub;
      if (!is_run || (varies_[Index(op.args[0])] != 0) == (varies_[Index(op.args[1])] != 0)) return true;
      if (op.kind == OpKind::kSub && varies_[Index(op.args[0])] == 0) return true;
      index = op.args[varies_[Index(op.args[0])] != 0 ? 0 : 1];
    }
  }

  // ---- the table ----
  void MakeTable(ValueId id, const ir::Op& build, const ir::Block& block) {
    const std::vector<ValueId> inside = InOrder(id, block);
    // A check in it must fail only where the build would have made it.
    const bool is_pure = std::all_of(inside.begin(), inside.end(), [&](ValueId link) { return IsPureDeep(old_, old_[link], false); });
    Table& table = tables_[Index(id)];
    std::vector<ValueId> extents, others;
    for (size_t axis = 0; axis < block.params.size(); ++axis) {
      const bool is_own = (varies_[Index(id)] >> axis & 1) != 0;
      (is_own ? extents : others).push_back(Mapped(build.args[axis]));
      if (is_own) table.at.push_back(block.params[axis]);
    }
    if (!is_pure) {
      for (const ValueId other : others) extents[0] = b_.Select(b_.Binary(OpKind::kLt, b_.I64(0), other), extents[0], b_.I64(0));
    }
    b_.Open(std::vector<ir::TypeId>(extents.size(), b_.ScalarType(ir::DType::kI64)));
    for (size_t i = 0; i < table.at.size(); ++i) Map(table.at[i], b_.Param(i));
    for (const ValueId link : inside) Map(link, IsOther(link, id) ? Read(tables_[Index(link)]) : Copy(link, old_[link]));
    const ir::BlockId row = b_.Close(Mapped(id));
    table.tensor = b_.Build(b_.types()[old_[id].type].dtype, std::move(extents), row);
    for (const ValueId link : inside) {
      if (varies_[Index(link)] != 0 && role_[Index(link)] == Role::kNone) role_[Index(link)] = Role::kDropped;
    }
  }
  // Has a table, and is not the one in question.
  bool IsOther(ValueId link, ValueId id) const { return link != id && role_[Index(link)] == Role::kTabulated; }

  // What leads to a value from the indices, from tables and from what depends on no index, in the order of the block.
  std::vector<ValueId> InOrder(ValueId id, const ir::Block& block) const {
    std::vector<bool> wanted(old_.ops.size());
    wanted[Index(id)] = true;
    std::vector<ValueId> all;
    for (size_t i = block.ops.size(); i-- > 0;) {
      const ValueId link = block.ops[i];
      if (!wanted[Index(link)]) continue;
      all.push_back(link);
      if (!IsOther(link, id)) ForEachRead(old_[link], [&](ValueId read) { wanted[Index(read)] = true; });
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  std::vector<bool> is_read_;   // by old value, as all that follow
  std::vector<Axes> varies_;    // those on whose index a value of the block depends; 0 outside the build that is looked at
  std::vector<uint32_t> seen_;  // the stamp of the last chain that it was found in
  std::vector<Role> role_;
  std::vector<Table> tables_;  // of what is tabulated
  Axes last_ = 0;
  uint32_t stamp_ = 0, n_tables_ = 0;
  bool has_rows_ = false, has_columns_ = false;  // more than one
  bool has_many_rows_ = false;
};

}  // namespace

void Tabulate(ir::Program& program) { RewriteBodies<Tabulator>(program); }

}  // namespace wf::passes
