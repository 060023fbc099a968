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
constexpr size_t kMostGrowth = 4;    // of a body: builds that nest may double again and again
constexpr uint64_t kManyRows = 8;    // that read elements side by side where they lie apart
constexpr uint64_t kMostChannels = 4;

// What a build computes of its last index alone is the same in all of its rows: where it is dear, a table of one row is made before.
// (Behind it there may be a short axis of channels: a row is then one of pixels.) What depends on other indices only is the same in a whole
// row: where it is a loop, a table of them is made; the rest LLVM takes out of the innermost loop itself. Tables are empty where the build
// is. Builds nest, and a block may be copied several times: what is known of a build stands in its Nest, and by value only under its stamp.
class Tabulator : public Rewriter {
 public:
  Tabulator(ir::Program& program, const ir::Body& old)
      : Rewriter(program, old), is_read_(old.ops.size()), values_(old.ops.size()), tables_(old.ops.size()) {
    for (const ir::Op& op : old.ops) {
      for (const ValueId arg : op.args) is_read_[Index(arg)] = true;
    }
    for (const ir::Block& block : old.blocks) {
      if (block.result != ValueId::kNone) is_read_[Index(block.result)] = true;
    }
  }

 private:
  using Axes = uint64_t;  // of a build, a bit each
  struct Table {
    ValueId tensor = ValueId::kNone;
    std::vector<ValueId> at;  // the indices of the build by which it is read
  };
  enum class Role : uint8_t { kNone, kNeeded, kTabulated, kDropped };
  // Of an old value in the block of a build.
  struct Known {
    uint32_t nest = 0;       // the stamp of the build
    Axes varies = 0;         // those on whose index it depends
    bool is_loop = false;    // or holds one
    bool is_walked = false;  // the loops that lead to it have tables
    Role role = Role::kNone;
    uint32_t seen = 0;  // the stamp of the last walk that came by
  };
  struct Nest {
    const ir::Op& build;
    const ir::Block& block;
    uint32_t stamp;
    Axes last;                   // the bit of the axis along rows
    bool has_rows, has_columns;  // more than one
    bool has_many_rows;
    uint32_t n_tables = 0;
    std::vector<ValueId> open = {};  // needed, and not yet looked at
  };

  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    const Role role = values_[Index(id)].role;
    if (role == Role::kDropped) return ValueId::kNone;
    if (role == Role::kTabulated) return Read(tables_[Index(id)]);
    return CopyWithTables(id, op);
  }
  ValueId CopyWithTables(ValueId id, const ir::Op& op) {
    if (op.kind == OpKind::kBuild && op.args.size() > 1) Tabulate(op);
    return Copy(id, op);
  }
  ValueId Read(const Table& table) { return b_.Load(table.tensor, Mapped(table.at)); }
  static size_t Index(ValueId id) { return static_cast<size_t>(id); }

  void Tabulate(const ir::Op& build) {
    const ir::Block& block = old_[build.blocks[0]];
    if (block.params.size() > 8 * sizeof(Axes)) return;
    const auto is_single = [&](ValueId extent) { return old_[extent].kind == OpKind::kScalar && old_[extent].imm <= 1; };
    const size_t along = AxisAlongRows(build);
    std::vector<ValueId> others = build.args;
    others.erase(others.begin() + static_cast<ptrdiff_t>(along));
    Nest nest{.build = build,
              .block = block,
              .stamp = ++stamp_,
              .last = Axes{1} << along,
              .has_rows = !std::all_of(others.begin(), others.end(), is_single),
              .has_columns = !is_single(build.args[along]),
              .has_many_rows = HasManyRows(others)};
    for (size_t axis = 0; axis < block.params.size(); ++axis) values_[Index(block.params[axis])] = {nest.stamp, Axes{1} << axis};
    for (const ValueId id : block.ops) values_[Index(id)] = KnownOf(nest, old_[id]);
    FindTables(nest);
    for (const ValueId id : block.ops) {
      if (values_[Index(id)].role == Role::kTabulated) MakeTable(nest, id);
    }
  }

  size_t AxisAlongRows(const ir::Op& build) const {
    const ir::Op& last = old_[build.args.back()];
    const bool has_channels = last.kind == OpKind::kScalar && last.imm >= 2 && last.imm <= kMostChannels;
    return build.args.size() - (has_channels ? 2 : 1);
  }

  bool HasManyRows(const std::vector<ValueId>& others) const {
    uint64_t rows = 1;
    for (size_t axis = 0; axis < others.size() && rows < kManyRows; ++axis) {
      const ir::Op& extent = old_[others[axis]];
      rows = extent.kind == OpKind::kScalar ? rows * std::min(extent.imm, kManyRows) : kManyRows;
    }
    return rows >= kManyRows;
  }

  Known KnownOf(const Nest& nest, const ir::Op& op) const {
    Known known{.nest = nest.stamp, .is_loop = HasLoop(op)};
    ForEachRead(op, [&](ValueId id) { known.varies |= VariesIn(nest, id); });
    return known;
  }
  bool HasLoop(const ir::Op& op) const {
    if (IsLoop(op.kind)) return true;
    return std::any_of(op.blocks.begin(), op.blocks.end(), [&](ir::BlockId nested) {
      const std::vector<ValueId>& ops = old_[nested].ops;
      return std::any_of(ops.begin(), ops.end(), [&](ValueId id) { return HasLoop(old_[id]); });
    });
  }
  // 0 for what stands outside of the build's block, or in a block within it.
  Axes VariesIn(const Nest& nest, ValueId id) const {
    const Known& known = values_[Index(id)];
    return known.nest == nest.stamp ? known.varies : 0;
  }
  // Depends on the last index alone, or on others alone.
  bool IsLink(const Nest& nest, ValueId id) const {
    const Axes varies = VariesIn(nest, id);
    return varies != 0 && ((varies & nest.last) == 0 || varies == nest.last) && old_[id].kind != OpKind::kParam;
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
  // From the result, and from what stays in the loop, down to what a table is worth: what leads to that is needed by the table alone.
  void FindTables(Nest& nest) {
    const auto need_args = [&](ValueId of) { ForEachRead(old_[of], [&](ValueId id) { Need(nest, id); }); };
    if (nest.block.result != ValueId::kNone) Need(nest, nest.block.result);
    for (size_t i = 0; i < nest.block.ops.size() || !nest.open.empty();) {
      if (!nest.open.empty()) {
        const ValueId id = nest.open.back();
        nest.open.pop_back();
        need_args(id);
        continue;
      }
      const ValueId id = nest.block.ops[i++];
      const bool stays = !IsLink(nest, id) || !is_read_[Index(id)];
      if (stays) need_args(id);
    }
  }
  void Need(Nest& nest, ValueId id) {
    Known& known = values_[Index(id)];
    if (!IsLink(nest, id) || known.role != Role::kNone) return;
    const bool is_worth_it = known.varies == nest.last ? nest.has_rows && IsDear(nest, id) : nest.has_columns && known.is_loop;
    if (is_worth_it && TakeTable(nest, id)) return TakeTablesOfLoops(nest, id);
    known.role = Role::kNeeded;
    nest.open.push_back(id);
  }
  bool TakeTable(Nest& nest, ValueId id) {
    const bool is_scalar = b_.types()[old_[id].type].kind == ir::TypeKind::kScalar;
    if (!is_scalar || nest.n_tables == kMostTables || new_.ops.size() > kMostGrowth * old_.ops.size()) return false;
    ++nest.n_tables;
    values_[Index(id)].role = Role::kTabulated;
    return true;
  }
  // What leads to a table may lead to others: a loop in it is to run once for all of them.
  void TakeTablesOfLoops(Nest& nest, ValueId id) {
    std::vector<ValueId> open{id};
    while (!open.empty()) {
      const ir::Op& op = old_[open.back()];
      open.pop_back();
      ForEachRead(op, [&](ValueId read) {
        Known& known = values_[Index(read)];
        if (!IsLink(nest, read) || std::exchange(known.is_walked, true)) return;
        if (known.is_loop && known.role != Role::kTabulated) TakeTable(nest, read);
        open.push_back(read);
      });
    }
  }
  // Each operation counts for one at least, so that few are looked at.
  bool IsDear(const Nest& nest, ValueId id) {
    uint64_t work = 0;
    std::vector<ValueId> chain{id};
    const uint32_t walk = ++stamp_;
    values_[Index(id)].seen = walk;
    for (size_t i = 0; i < chain.size(); ++i) {
      const ir::Op& op = old_[chain[i]];
      work += WorkOf(nest, op);
      if (work >= kWorthATable) return true;
      for (const ValueId arg : op.args) {
        if (IsLink(nest, arg) && std::exchange(values_[Index(arg)].seen, walk) != walk) chain.push_back(arg);
      }
    }
    return false;
  }
  uint64_t WorkOf(const Nest& nest, const ir::Op& op) {
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
        return nest.has_many_rows && IsScattered(nest, op) ? kWorthATable : 1;
      default:
        return 1;
    }
  }

  // Of a load that varies with the last index alone: do its elements lie apart, so that a row of them is dear to read?
  bool IsScattered(const Nest& nest, const ir::Op& load) {
    const auto varies = [&](ValueId id) { return VariesIn(nest, id) != 0; };
    const std::vector<int64_t>& dims = b_.types()[old_[load.args[0]].type].dims;
    size_t axis = dims.size();
    while (axis > 1 && dims[axis - 1] == 1) --axis;
    ValueId index = load.args[axis];
    for (size_t i = 1; i < load.args.size(); ++i) {
      if (i != axis && varies(load.args[i])) return true;
    }
    for (;;) {
      const ir::Op& op = old_[index];
      if (op.kind == OpKind::kParam) return false;
      const bool is_run = op.kind == OpKind::kCheckIndex || op.kind == OpKind::kAdd || op.kind == OpKind::kSub;
      if (!is_run || varies(op.args[0]) == varies(op.args[1])) return true;
      if (op.kind == OpKind::kSub && !varies(op.args[0])) return true;
      index = op.args[varies(op.args[0]) ? 0 : 1];
    }
  }

  // ---- the table ----
  void MakeTable(const Nest& nest, ValueId id) {
    Table table;
    std::vector<ValueId> extents;
    for (size_t axis = 0; axis < nest.block.params.size(); ++axis) {
      if ((values_[Index(id)].varies >> axis & 1) == 0) continue;
      extents.push_back(Mapped(nest.build.args[axis]));
      table.at.push_back(nest.block.params[axis]);
    }
    // Where the build is empty nothing of it is computed, and no check in it fails.
    for (size_t axis = 0; axis < nest.block.params.size(); ++axis) {
      if ((values_[Index(id)].varies >> axis & 1) != 0) continue;
      extents[0] = b_.Select(b_.Binary(OpKind::kLt, b_.I64(0), Mapped(nest.build.args[axis])), extents[0], b_.I64(0));
    }
    const std::vector<ValueId> inside = InOrder(nest, id);
    b_.Open(std::vector<ir::TypeId>(extents.size(), b_.ScalarType(ir::DType::kI64)));
    for (size_t i = 0; i < table.at.size(); ++i) Map(table.at[i], b_.Param(i));
    for (const ValueId link : inside) {
      b_.set_place(old_[link].place);
      Map(link, IsOther(link, id) ? Read(tables_[Index(link)]) : CopyWithTables(link, old_[link]));
    }
    const ir::BlockId row = b_.Close(Mapped(id));
    table.tensor = b_.Build(b_.types()[old_[id].type].dtype, std::move(extents), row);
    tables_[Index(id)] = std::move(table);
    for (const ValueId link : inside) {
      Known& known = values_[Index(link)];
      if (known.varies != 0 && known.role == Role::kNone) known.role = Role::kDropped;
    }
  }
  // Has a table, and is not the one in question.
  bool IsOther(ValueId link, ValueId id) const { return link != id && values_[Index(link)].role == Role::kTabulated; }

  // What leads to a value from the indices, from tables and from what depends on no index, in the order of the block.
  std::vector<ValueId> InOrder(const Nest& nest, ValueId id) {
    const uint32_t walk = ++stamp_;
    values_[Index(id)].seen = walk;
    std::vector<ValueId> all;
    for (size_t i = nest.block.ops.size(); i-- > 0;) {
      const ValueId link = nest.block.ops[i];
      if (values_[Index(link)].seen != walk) continue;
      all.push_back(link);
      if (!IsOther(link, id)) ForEachRead(old_[link], [&](ValueId read) { values_[Index(read)].seen = walk; });
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  std::vector<bool> is_read_;  // by old value, as those that follow
  std::vector<Known> values_;
  std::vector<Table> tables_;  // of what is tabulated
  uint32_t stamp_ = 0;
};

}  // namespace

void Tabulate(ir::Program& program) { RewriteBodies<Tabulator>(program); }

}  // namespace wf::passes
