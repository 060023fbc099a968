#include "tests/unit/support/plan_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/base/check.h"

namespace wf::test {
namespace {

constexpr int kMostTasks = 256;
constexpr int64_t kFree[] = {-1};

uint64_t Stir(uint64_t x, uint64_t value) {
  x = (x ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 31);
}

int64_t MixOf(uint64_t seed, Kind kind, const char* value) {
  switch (kind) {
    case Kind::kInt:
      return static_cast<int64_t>(Stir(seed, *reinterpret_cast<const uint64_t*>(value)));
    case Kind::kError:
      return static_cast<int64_t>(Stir(seed, static_cast<uint64_t>(reinterpret_cast<const wf_error*>(value)->code)));
    case Kind::kTensor: {
      const auto& tensor = *reinterpret_cast<const wf_tensor*>(value);
      for (int64_t i = 0; i < tensor.dim[0]; ++i) seed = Stir(seed, static_cast<uint64_t>(static_cast<const int64_t*>(tensor.data)[i]));
      return static_cast<int64_t>(seed);
    }
    case Kind::kList: {
      const auto& list = *reinterpret_cast<const wf_list*>(value);
      for (uint64_t i = 0; i < list.len; ++i) seed = Stir(seed, static_cast<const uint64_t*>(list.ptr)[i]);
      return static_cast<int64_t>(Stir(seed, list.len));
    }
  }
  return 0;
}

wf_type TypeRow(Kind kind) {
  wf_type type{};
  type.align = 8;
  type.kind = kind == Kind::kInt ? WF_T_SCALAR : kind == Kind::kTensor ? WF_T_TENSOR : kind == Kind::kList ? WF_T_LIST : WF_T_RECORD;
  type.size = kind == Kind::kInt ? 8 : kind == Kind::kTensor ? sizeof(wf_tensor) : kind == Kind::kList ? sizeof(wf_list) : sizeof(wf_error);
  type.dtype = WF_I64;
  if (kind == Kind::kTensor) {
    type.rank = 1;
    type.dim = kFree;
  }
  return type;
}

const std::array<wf_type, 4> kTypes{TypeRow(Kind::kInt), TypeRow(Kind::kTensor), TypeRow(Kind::kList), TypeRow(Kind::kError)};
const wf_port kModelIn[] = {{{reinterpret_cast<const uint8_t*>("x"), 1}, kFree, nullptr, WF_NONE, 1, WF_I64, 1, 1, 0}};
const wf_port kModelOut[] = {{{reinterpret_cast<const uint8_t*>("y"), 1}, kFree, nullptr, WF_NONE, 1, WF_I64, 1, 1, 0}};
const int8_t kBatchedAxes[] = {0, 0}, kPlainAxes[] = {-1, -1};

wf_bytes BytesOf(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

PlanBuilder* current = nullptr;

}  // namespace

struct BodyTable {
  template <int kTask>
  static wf_code Run(wf_ctx* ctx, void* const* frame) {
    return PlanBuilder::RunBody(kTask, ctx, frame);
  }
  template <int kTask>
  static int64_t Pick(wf_ctx* ctx, void* const* frame) {
    return PlanBuilder::RunPick(kTask, ctx, frame);
  }
  template <int... kTasks>
  static constexpr std::array<wf_run_fn, sizeof...(kTasks)> Runs(std::integer_sequence<int, kTasks...>) {
    return {Run<kTasks>...};
  }
  template <int... kTasks>
  static constexpr std::array<wf_pick_fn, sizeof...(kTasks)> Picks(std::integer_sequence<int, kTasks...>) {
    return {Pick<kTasks>...};
  }
};
static constexpr auto kRuns = BodyTable::Runs(std::make_integer_sequence<int, kMostTasks>());
static constexpr auto kPicks = BodyTable::Picks(std::make_integer_sequence<int, kMostTasks>());

PlanBuilder::PlanBuilder() {
  WF_CHECK(current == nullptr);
  current = this;
}
PlanBuilder::~PlanBuilder() { current = nullptr; }

int PlanBuilder::Region(int parent) {
  regions_.push_back({.parent = parent});
  return static_cast<int>(regions_.size()) - 1;
}

int PlanBuilder::Slot(int region, Kind kind) {
  slots_.push_back({.region = region, .kind = kind});
  regions_[static_cast<size_t>(region)].slots.push_back(static_cast<int>(slots_.size()) - 1);
  return static_cast<int>(slots_.size()) - 1;
}

int PlanBuilder::AddTask(int region, uint8_t kind, std::vector<int> in, int out, std::vector<int> after) {
  const int handle = static_cast<int>(tasks_.size());
  TaskRow task;
  task.region = region;
  task.out = out;
  task.in = std::move(in);
  task.after = std::move(after);
  task.row.kind = kind;
  task.row.policy = task.row.chain = task.row.node = WF_NONE;
  tasks_.push_back(std::move(task));
  regions_[static_cast<size_t>(region)].tasks.push_back(handle);
  if (out >= 0) slots_[static_cast<size_t>(out)].writer = handle;
  return handle;
}

int PlanBuilder::Run(int region, std::vector<int> in, int out, const RunOptions& options) {
  const int handle = AddTask(region, WF_RUN, std::move(in), out, options.after);
  TaskRow& task = tasks_.back();
  task.body = options.body;
  task.row.cost_class = options.compute ? WF_COMPUTE : WF_INLINE;
  task.row.cost_ns = options.cost_ns;
  task.row.flags = static_cast<uint16_t>((options.control ? WF_CONTROL : 0) | (options.blocking ? WF_BLOCKING : 0));
  return handle;
}

int PlanBuilder::Model(int region, int model, int in, int out, const TaskOptions& options) {
  const int handle = AddTask(region, WF_MODEL, {in}, out, options.after);
  tasks_.back().row.target = static_cast<uint16_t>(model);
  tasks_.back().row.policy = options.policy < 0 ? uint16_t{WF_NONE} : static_cast<uint16_t>(options.policy);
  return handle;
}

int PlanBuilder::Enter(int region, int target, std::vector<int> in, int out, const TaskOptions& options) {
  const int handle = AddTask(region, WF_ENTER, std::move(in), out, options.after);
  tasks_.back().row.target = static_cast<uint16_t>(target);
  tasks_.back().row.n_targets = 1;
  tasks_.back().row.policy = options.policy < 0 ? uint16_t{WF_NONE} : static_cast<uint16_t>(options.policy);
  regions_[static_cast<size_t>(target)].entering = handle;
  const int fallback = regions_[static_cast<size_t>(target)].on_error;
  if (fallback >= 0) regions_[static_cast<size_t>(fallback)].entering = handle;
  return handle;
}

int PlanBuilder::Select(int region, Arms arms, std::vector<int> in, int out, const RunOptions& options) {
  const int handle = AddTask(region, WF_SELECT, std::move(in), out, options.after);
  TaskRow& task = tasks_.back();
  task.body = options.body;
  task.row.target = static_cast<uint16_t>(arms.first);
  task.row.n_targets = static_cast<uint16_t>(arms.count);
  task.row.flags = options.control ? WF_CONTROL : 0;
  task.lets_in_early = options.lets_in_early;
  for (int i = 0; i < arms.count; ++i) regions_[static_cast<size_t>(arms.first + i)].entering = handle;
  return handle;
}

int PlanBuilder::Each(int region, Fan fan, std::vector<int> in, int out, const RunOptions& options) {
  const int handle = Select(region, {fan.body}, std::move(in), out, options);
  tasks_.back().row.kind = WF_EACH;
  tasks_.back().row.window = static_cast<uint16_t>(fan.window);
  return handle;
}

int PlanBuilder::Return(int region, std::vector<int> in, std::vector<int> after) {
  return AddTask(region, WF_RETURN, std::move(in), -1, std::move(after));
}

void PlanBuilder::SameNode(int task, int as) { tasks_[static_cast<size_t>(task)].as = as; }
void PlanBuilder::SetResult(int region, int slot) { regions_[static_cast<size_t>(region)].result = slot; }

void PlanBuilder::SetFallback(int region, int fallback) {
  regions_[static_cast<size_t>(region)].on_error = fallback;
  Slot(fallback, Kind::kError);
  WF_CHECK(regions_[static_cast<size_t>(fallback)].slots.size() == 1);
}

int PlanBuilder::FirstSlot(int region) const { return regions_[static_cast<size_t>(region)].slots[0]; }

int PlanBuilder::Policy(const wf_policy& policy) {
  policies_.push_back(policy);
  return static_cast<int>(policies_.size()) - 1;
}

int PlanBuilder::AddModel(bool batched) {
  wf_model model{};
  texts_.push_back("M" + std::to_string(models_.size()));
  model.name = model.path = BytesOf(texts_.back());
  model.in = kModelIn;
  model.out = kModelOut;
  model.n_in = model.n_out = 1;
  model.batched = batched ? 1 : 0;
  model.batch_axis = batched ? kBatchedAxes : kPlainAxes;
  models_.push_back(model);
  return static_cast<int>(models_.size()) - 1;
}

void PlanBuilder::Workflow(int root, std::vector<int> in, std::vector<int> out, int64_t timeout_ns) {
  root_ = root;
  workflow_in_ = std::move(in);
  workflow_out_ = std::move(out);
  timeout_ns_ = timeout_ns;
}

int PlanBuilder::Depth(int region) const {
  int depth = 0;
  for (int at = regions_[static_cast<size_t>(region)].parent; at >= 0; at = regions_[static_cast<size_t>(at)].parent) ++depth;
  return depth;
}

// Who waits for a slot of `home` that `task` reads: the outermost on the way in that is not entered before the slot has settled.
int PlanBuilder::Waiter(int task, int home) const {
  int waiter = task;
  for (int at = task; tasks_[static_cast<size_t>(at)].region != home;) {
    at = regions_[static_cast<size_t>(tasks_[static_cast<size_t>(at)].region)].entering;
    if (!tasks_[static_cast<size_t>(at)].lets_in_early) waiter = at;
  }
  return waiter;
}

void PlanBuilder::AddEdges() {
  const auto add = [this](int from, int to) {
    std::vector<int>& next = tasks_[static_cast<size_t>(from)].next;
    if (from != to && std::find(next.begin(), next.end(), to) == next.end()) next.push_back(to);
  };
  for (size_t id = 0; id < tasks_.size(); ++id) {
    const TaskRow& task = tasks_[id];
    for (const int slot : task.in) {
      const SlotRow& row = slots_[static_cast<size_t>(slot)];
      if (row.writer < 0) continue;
      add(row.writer, Waiter(static_cast<int>(id), row.region));
    }
    for (const int before : task.after) add(before, static_cast<int>(id));
  }
}

void PlanBuilder::NumberRows() {
  task_ids_.assign(tasks_.size(), 0);
  slot_ids_.assign(slots_.size(), 0);
  uint16_t task_id = 0, slot_id = 0;
  for (const RegionRow& region : regions_) {
    for (const int task : region.tasks) task_ids_[static_cast<size_t>(task)] = task_id++;
    for (const int slot : region.slots) slot_ids_[static_cast<size_t>(slot)] = slot_id++;
  }
  WF_CHECK(task_id <= kMostTasks, task_id);
}

void PlanBuilder::LayOutFrames() {
  offsets_.assign(slots_.size(), 0);
  slot_rows_.resize(slots_.size());
  for (size_t id = 0; id < regions_.size(); ++id) {
    auto at = static_cast<uint32_t>((regions_[id].tasks.size() * 2 + 7) / 8 * 8);
    element_offsets_.push_back(at);
    at += 8;
    for (const int slot : regions_[id].slots) {
      const Kind kind = slots_[static_cast<size_t>(slot)].kind;
      wf_slot row{};
      row.offset = offsets_[static_cast<size_t>(slot)] = at;
      row.size = kTypes[static_cast<size_t>(kind)].size;
      row.type = static_cast<uint16_t>(kind);
      row.region = static_cast<uint16_t>(id);
      row.store = WF_DYNAMIC;
      slot_rows_[slot_ids_[static_cast<size_t>(slot)]] = row;
      at += row.size;
    }
    frame_bytes_.push_back(at);
  }
}

PlanBuilder::Spec PlanBuilder::SpecOf(const TaskRow& task) const {
  Spec spec;
  spec.body = task.body;
  const int depth = Depth(task.region);
  for (const int slot : task.in) {
    const SlotRow& row = slots_[static_cast<size_t>(slot)];
    spec.in.push_back({depth - Depth(row.region), offsets_[static_cast<size_t>(slot)], row.kind});
  }
  if (task.out >= 0) {
    spec.has_out = true;
    spec.out_offset = offsets_[static_cast<size_t>(task.out)];
    spec.out_slot = slot_ids_[static_cast<size_t>(task.out)];
    spec.out_kind = slots_[static_cast<size_t>(task.out)].kind;
  }
  const int entering = regions_[static_cast<size_t>(task.region)].entering;
  if (entering >= 0 && tasks_[static_cast<size_t>(entering)].row.kind == WF_EACH)
    spec.element_offset = element_offsets_[static_cast<size_t>(task.region)];
  return spec;
}

void PlanBuilder::EmitTasks(bool with_strands) {
  task_rows_.resize(tasks_.size());
  specs_.resize(tasks_.size());
  std::vector<int> waits(tasks_.size(), 0);
  for (const TaskRow& task : tasks_)
    for (const int next : task.next) ++waits[static_cast<size_t>(next)];
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const TaskRow& task = tasks_[i];
    const uint16_t id = task_ids_[i];
    wf_task row = task.row;
    auto& in = lists_.emplace_back();
    for (const int slot : task.in) in.push_back(slot_ids_[static_cast<size_t>(slot)]);
    auto& next = lists_.emplace_back();
    for (const int after : task.next) next.push_back(task_ids_[static_cast<size_t>(after)]);
    row.in = in.data();
    row.next = next.data();
    row.n_in = static_cast<uint16_t>(in.size());
    row.n_next = static_cast<uint16_t>(next.size());
    row.region = static_cast<uint16_t>(task.region);
    row.node = task.as < 0 ? id : task_ids_[static_cast<size_t>(task.as)];
    row.out = task.out < 0 ? uint16_t{WF_NONE} : slot_ids_[static_cast<size_t>(task.out)];
    if (row.kind == WF_RUN) row.fn.run = kRuns[id];
    if (row.kind == WF_SELECT || row.kind == WF_EACH) row.fn.pick = kPicks[id];
    const bool chains = with_strands && row.kind == WF_RUN && task.next.size() == 1 && waits[static_cast<size_t>(task.next[0])] == 1 &&
                        task.out != regions_[static_cast<size_t>(task.region)].result;
    if (chains) {
      const TaskRow& after = tasks_[static_cast<size_t>(task.next[0])];
      const wf_task& following = after.row;
      const bool same = following.kind == WF_MODEL || (following.kind == WF_RUN && following.cost_class == row.cost_class);
      if (same && after.region == task.region) row.chain = next[0];
    }
    task_rows_[id] = row;
    specs_[id] = SpecOf(task);
  }
  for (size_t id = 0; id < task_rows_.size(); ++id) {
    texts_.push_back("W/n" + std::to_string(id));
    nodes_.push_back({BytesOf(texts_.back()), static_cast<uint32_t>(id), static_cast<uint32_t>(id % 2)});
  }
}

void PlanBuilder::EmitRegions() {
  std::vector<uint16_t> in_edges(tasks_.size(), 0);
  for (const TaskRow& task : tasks_)
    for (const int next : task.next) ++in_edges[static_cast<size_t>(next)];
  uint16_t first_task = 0, first_slot = 0;
  for (size_t id = 0; id < regions_.size(); ++id) {
    const RegionRow& region = regions_[id];
    auto& waits = lists_.emplace_back();
    for (const int task : region.tasks) waits.push_back(in_edges[static_cast<size_t>(task)]);
    wf_region row{};
    row.waits = waits.data();
    row.frame_bytes = frame_bytes_[id];
    row.element_offset = element_offsets_[id];
    row.parent = region.parent < 0 ? uint16_t{WF_NONE} : static_cast<uint16_t>(region.parent);
    row.first_task = first_task;
    row.n_tasks = static_cast<uint16_t>(region.tasks.size());
    row.first_slot = first_slot;
    row.n_slots = static_cast<uint16_t>(region.slots.size());
    row.result = region.result < 0 ? uint16_t{WF_NONE} : slot_ids_[static_cast<size_t>(region.result)];
    row.on_error = region.on_error < 0 ? uint16_t{WF_NONE} : static_cast<uint16_t>(region.on_error);
    row.node = WF_NONE;
    first_task = static_cast<uint16_t>(first_task + row.n_tasks);
    first_slot = static_cast<uint16_t>(first_slot + row.n_slots);
    region_rows_.push_back(row);
  }
}

const wf_plan& PlanBuilder::Finish(bool with_strands) {
  AddEdges();
  NumberRows();
  LayOutFrames();
  EmitTasks(with_strands);
  EmitRegions();
  stages_ = {{BytesOf("W"), BytesOf("a")}, {BytesOf("W"), BytesOf("b")}};
  stages_.clear();
  texts_.push_back("W");
  const wf_bytes name = BytesOf(texts_.back());
  stages_ = {{name, name}, {name, name}};
  const auto port = [&](int slot) {
    wf_port row{};
    row.name = name;
    row.slot = slot_ids_[static_cast<size_t>(slot)];
    row.type = static_cast<uint16_t>(slots_[static_cast<size_t>(slot)].kind);
    return row;
  };
  for (const int slot : workflow_in_) in_ports_.push_back(port(slot));
  for (const int slot : workflow_out_) out_ports_.push_back(port(slot));
  wf_workflow workflow{};
  workflow.name = workflow.service = name;
  workflow.in = in_ports_.data();
  workflow.out = out_ports_.data();
  workflow.n_in = static_cast<uint16_t>(in_ports_.size());
  workflow.n_out = static_cast<uint16_t>(out_ports_.size());
  workflow.root = static_cast<uint16_t>(root_);
  workflow.timeout_ns = timeout_ns_;
  workflows_.push_back(workflow);
  plan_.bytes = sizeof(wf_plan);
  plan_.n_workflows = 1;
  plan_.workflows = workflows_.data();
  plan_.n_regions = static_cast<uint32_t>(region_rows_.size());
  plan_.regions = region_rows_.data();
  plan_.n_tasks = static_cast<uint32_t>(task_rows_.size());
  plan_.tasks = task_rows_.data();
  plan_.n_slots = static_cast<uint32_t>(slot_rows_.size());
  plan_.slots = slot_rows_.data();
  plan_.n_nodes = static_cast<uint32_t>(nodes_.size());
  plan_.nodes = nodes_.data();
  plan_.n_stages = static_cast<uint32_t>(stages_.size());
  plan_.stages = stages_.data();
  plan_.n_policies = static_cast<uint32_t>(policies_.size());
  plan_.policies = policies_.data();
  plan_.n_models = static_cast<uint32_t>(models_.size());
  plan_.models = models_.data();
  plan_.n_types = kTypes.size();
  static std::array<wf_type, 4> types = [] {
    auto rows = kTypes;
    rows[2].element = 0;
    return rows;
  }();
  plan_.types = types.data();
  return plan_;
}

int64_t PlanBuilder::Mix(const Spec& spec, void* const* frame) {
  auto mix = static_cast<uint64_t>(spec.body.salt) * UINT64_C(0x2545f4914f6cdd1d) + 1;
  for (const Input& input : spec.in)
    mix = static_cast<uint64_t>(MixOf(mix, input.kind, static_cast<const char*>(frame[input.hops]) + input.offset));
  if (spec.element_offset != 0)
    mix = Stir(mix, *reinterpret_cast<const uint64_t*>(static_cast<const char*>(frame[0]) + spec.element_offset));
  return static_cast<int64_t>(mix >> 8);
}

wf_code PlanBuilder::RunBody(int task, wf_ctx* ctx, void* const* frame) {
  ++current->bodies_run_;
  const Spec& spec = current->specs_[static_cast<size_t>(task)];
  const int64_t mix = Mix(spec, frame);
  if (spec.body.fail_modulus != 0 && mix % spec.body.fail_modulus == spec.body.fail_at) {
    static const std::string text = "the body failed";
    return wf_fail(ctx, spec.body.fail_code, 7, BytesOf(text));
  }
  if (!spec.has_out) return 0;
  char* const out = static_cast<char*>(frame[0]) + spec.out_offset;
  if (spec.out_kind == Kind::kInt) {
    *reinterpret_cast<int64_t*>(out) = mix;
    return 0;
  }
  auto& tensor = *reinterpret_cast<wf_tensor*>(out);
  tensor.dtype = WF_I64;
  tensor.rank = 1;
  tensor.dim[0] = 1 + mix % 3;
  if (wf_out(ctx, frame, spec.out_slot) != 0) return WF_FAILED;
  for (int64_t i = 0; i < tensor.dim[0]; ++i) static_cast<int64_t*>(tensor.data)[i] = mix + i;
  return 0;
}

int64_t PlanBuilder::RunPick(int task, wf_ctx* ctx, void* const* frame) {
  const Spec& spec = current->specs_[static_cast<size_t>(task)];
  const int64_t mix = Mix(spec, frame);
  if (spec.body.fail_modulus != 0 && mix % spec.body.fail_modulus == spec.body.fail_at) {
    static const std::string text = "the choice failed";
    return wf_fail(ctx, spec.body.fail_code, 8, BytesOf(text));
  }
  return spec.body.arms == 0 ? 0 : mix % spec.body.arms;
}

int64_t ReadValue(const wf_plan& plan, uint16_t slot, const void* frame) {
  const wf_slot& row = plan.slots[slot];
  const char* const value = static_cast<const char*>(frame) + row.offset;
  return row.type == 0 ? *reinterpret_cast<const int64_t*>(value) : MixOf(99, static_cast<Kind>(row.type), value);
}

void WriteInt(const wf_plan& plan, uint16_t slot, void* frame, int64_t value) {
  *reinterpret_cast<int64_t*>(static_cast<char*>(frame) + plan.slots[slot].offset) = value;
}

}  // namespace wf::test
