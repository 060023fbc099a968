#include "runtime/abi/verify.h"

#include <algorithm>
#include <array>

#include "runtime/abi/verify_internal.h"
#include "runtime/abi/view.h"
#include "runtime/base/json_text.h"

namespace wf::abi {
namespace {

using base::Status;
using internal::Broken;
using internal::Links;

bool IsPowerOfTwoUpTo64(uint32_t value) { return value != 0 && value <= 64 && (value & (value - 1)) == 0; }

Status CheckCounts(const wf_plan& plan) {
  if (plan.bytes != sizeof(wf_plan)) return Broken("header", 0, "size is not that of wf_plan");
  const std::array<std::pair<uint32_t, const void*>, 9> tables{{{plan.n_workflows, plan.workflows},
                                                                {plan.n_regions, plan.regions},
                                                                {plan.n_tasks, plan.tasks},
                                                                {plan.n_slots, plan.slots},
                                                                {plan.n_nodes, plan.nodes},
                                                                {plan.n_stages, plan.stages},
                                                                {plan.n_policies, plan.policies},
                                                                {plan.n_models, plan.models},
                                                                {plan.n_types, plan.types}}};
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].first >= WF_NONE) return Broken("table", i, "more rows than an index can name");
    if (tables[i].first != 0 && tables[i].second == nullptr) return Broken("table", i, "rows without an address");
  }
  return {};
}

// Bytes of the fixed part that a kind must have; 0: any.
uint32_t FixedSize(const wf_type& type) {
  switch (type.kind) {
    case WF_T_STRING:
    case WF_T_BYTES:
      return sizeof(wf_bytes);
    case WF_T_TENSOR:
      return sizeof(wf_tensor);
    case WF_T_LIST:
    case WF_T_MAP:
      return sizeof(wf_list);
    default:
      return 0;
  }
}

Status CheckType(const wf_plan& plan, uint32_t row) {
  const wf_type& type = plan.types[row];
  if (type.kind < WF_T_SCALAR || type.kind > WF_T_OPTIONAL) return Broken("type", row, "unknown kind");
  const bool has_dtype = type.kind == WF_T_SCALAR || type.kind == WF_T_TENSOR;
  if (has_dtype && (type.dtype < WF_BOOL || type.dtype >= WF_DTYPE_COUNT)) return Broken("type", row, "unknown dtype");
  if (type.rank > WF_MAX_RANK) return Broken("type", row, "rank above 8");
  if (!IsPowerOfTwoUpTo64(type.align)) return Broken("type", row, "alignment is not a power of two up to 64");
  if (const uint32_t fixed = FixedSize(type); fixed != 0 && type.size != fixed) return Broken("type", row, "size is not that of its kind");
  if (type.kind == WF_T_TENSOR && type.rank > 0 && type.dim == nullptr) return Broken("type", row, "tensor without dimensions");
  if ((type.kind == WF_T_LIST || type.kind == WF_T_MAP || type.kind == WF_T_OPTIONAL) && type.element >= plan.n_types)
    return Broken("type", row, "element type out of range");
  if (type.kind == WF_T_OPTIONAL && type.has_offset >= type.size) return Broken("type", row, "`has` lies outside");
  if (type.kind == WF_T_RECORD && type.n_fields != 0 && type.fields == nullptr) return Broken("type", row, "record without fields");
  for (int i = 0; type.kind == WF_T_RECORD && i < type.n_fields; ++i) {
    const wf_field& field = type.fields[i];
    if (View(field.text) != base::JsonBeforeValue(View(field.name)))
      return Broken("type", row, "field whose text in JSON is not that of its name");
    if (field.type >= plan.n_types) return Broken("type", row, "field type out of range");
    if (uint64_t{field.offset} + plan.types[field.type].size > type.size) return Broken("type", row, "field lies outside the record");
  }
  return {};
}

// A type may not hold itself, at any depth.
bool TypeEnds(const wf_plan& plan, uint16_t row, int depth) {
  if (depth > internal::kMaxDepth) return false;
  const wf_type& type = plan.types[row];
  if (type.kind == WF_T_LIST || type.kind == WF_T_MAP || type.kind == WF_T_OPTIONAL) return TypeEnds(plan, type.element, depth + 1);
  if (type.kind != WF_T_RECORD) return true;
  return std::all_of(type.fields, type.fields + type.n_fields,
                     [&](const wf_field& field) { return TypeEnds(plan, field.type, depth + 1); });
}

Status CheckRegionTree(const wf_plan& plan, uint32_t row) {
  int depth = 0;
  for (uint16_t at = static_cast<uint16_t>(row); plan.regions[at].parent != WF_NONE; at = plan.regions[at].parent) {
    if (plan.regions[at].parent >= plan.n_regions) return Broken("region", at, "parent out of range");
    if (++depth > internal::kMaxDepth) return Broken("region", row, "its parents form a ring, or nest deeper than 64");
  }
  return {};
}

Status CheckRegion(const wf_plan& plan, uint32_t row) {
  const wf_region& region = plan.regions[row];
  WF_RETURN_IF_ERROR(CheckRegionTree(plan, row));
  if (uint32_t{region.first_task} + region.n_tasks > plan.n_tasks && region.n_tasks != 0)
    return Broken("region", row, "tasks out of range");
  if (uint32_t{region.first_slot} + region.n_slots > plan.n_slots && region.n_slots != 0)
    return Broken("region", row, "slots out of range");
  if (region.n_tasks != 0 && region.waits == nullptr) return Broken("region", row, "tasks without countdowns");
  if (region.frame_bytes < uint32_t{region.n_tasks} * 2) return Broken("region", row, "frame without room for its countdowns");
  if (region.node != WF_NONE && region.node >= plan.n_nodes) return Broken("region", row, "node out of range");
  for (int i = 0; i < region.n_tasks; ++i)
    if (plan.tasks[region.first_task + i].region != row) return Broken("region", row, "holds a task that names another region");
  for (int i = 0; i < region.n_slots; ++i)
    if (plan.slots[region.first_slot + i].region != row) return Broken("region", row, "holds a slot that names another region");
  if (region.result != WF_NONE && (region.result < region.first_slot || region.result >= region.first_slot + region.n_slots))
    return Broken("region", row, "its result is not a slot of its own");
  if (region.on_error == WF_NONE) return {};
  if (region.on_error >= plan.n_regions || region.on_error == row) return Broken("region", row, "fallback region out of range");
  const wf_region& fallback = plan.regions[region.on_error];
  if (fallback.parent != region.parent) return Broken("region", row, "its fallback region has another parent");
  if (fallback.n_slots == 0 || fallback.first_slot >= plan.n_slots || plan.slots[fallback.first_slot].size != sizeof(wf_error))
    return Broken("region", row, "the first slot of its fallback region is not `err`");
  return {};
}

Status CheckSlot(const wf_plan& plan, uint32_t row) {
  const wf_slot& slot = plan.slots[row];
  if (slot.region >= plan.n_regions) return Broken("slot", row, "region out of range");
  if (slot.type >= plan.n_types) return Broken("slot", row, "type out of range");
  const wf_region& region = plan.regions[slot.region];
  if (row < region.first_slot || row >= uint32_t{region.first_slot} + region.n_slots)
    return Broken("slot", row, "its region does not hold it");
  const wf_type& type = plan.types[slot.type];
  if (slot.size != type.size) return Broken("slot", row, "size is not that of its type");
  if (slot.store > WF_CONSTANT) return Broken("slot", row, "unknown store");
  if (slot.offset < uint32_t{region.n_tasks} * 2) return Broken("slot", row, "lies on the countdowns");
  if (slot.offset % type.align != 0) return Broken("slot", row, "offset is not aligned for its type");
  if (uint64_t{slot.offset} + slot.size > region.frame_bytes) return Broken("slot", row, "lies outside the frame");
  if (slot.store == WF_IN_FRAME && type.kind == WF_T_TENSOR && (slot.data % WF_ALIGN != 0 || slot.data > region.frame_bytes))
    return Broken("slot", row, "element data outside the frame or not 64-aligned");
  return {};
}

Status CheckPort(const wf_plan& plan, const wf_port& port, const char* table, size_t row) {
  if (port.rank > WF_MAX_RANK) return Broken(table, row, "port of rank above 8");
  if (port.type != WF_NONE && port.type >= plan.n_types) return Broken(table, row, "port type out of range");
  return {};
}

Status CheckWorkflow(const wf_plan& plan, uint32_t row, Links& links) {
  const wf_workflow& workflow = plan.workflows[row];
  if (workflow.root >= plan.n_regions || plan.regions[workflow.root].parent != WF_NONE)
    return Broken("workflow", row, "root is not a root region");
  if ((workflow.n_in != 0 && workflow.in == nullptr) || (workflow.n_out != 0 && workflow.out == nullptr))
    return Broken("workflow", row, "ports without an address");
  if (workflow.is_model != 0 && workflow.model >= plan.n_models) return Broken("workflow", row, "calls a model out of range");
  for (int i = 0; i < workflow.n_in + workflow.n_out; ++i) {
    const wf_port& port = i < workflow.n_in ? workflow.in[i] : workflow.out[i - workflow.n_in];
    WF_RETURN_IF_ERROR(CheckPort(plan, port, "workflow", row));
    if (port.slot >= plan.n_slots || plan.slots[port.slot].region != workflow.root)
      return Broken("workflow", row, "a port's slot is not in the root region");
    if (i < workflow.n_in) links.given[port.slot] = 1;
  }
  return {};
}

Status CheckModel(const wf_plan& plan, uint32_t row) {
  const wf_model& model = plan.models[row];
  if ((model.n_in != 0 && model.in == nullptr) || model.n_out == 0 || model.out == nullptr || model.batch_axis == nullptr)
    return Broken("model", row, "without ports or batch axes");
  for (int i = 0; i < model.n_in + model.n_out; ++i) {
    const wf_port& port = i < model.n_in ? model.in[i] : model.out[i - model.n_in];
    WF_RETURN_IF_ERROR(CheckPort(plan, port, "model", row));
    const int axis = model.batch_axis[i];
    if (axis < -1 || axis > port.rank || (axis >= 0 && port.rank == WF_MAX_RANK))
      return Broken("model", row, "batch axis outside the port's shape");
    if (model.batched && axis < 0 && i >= model.n_in) return Broken("model", row, "batched, with an output that has no batch axis");
  }
  return {};
}

// The tables of `pad`, against the model whose calls they speak of.
Status CheckPads(const wf_plan& plan, const wf_task& task) {
  if (task.kind != WF_MODEL || task.policy == WF_NONE || plan.policies[task.policy].n_buckets == 0) return {};
  const wf_policy& policy = plan.policies[task.policy];
  const wf_model& model = plan.models[task.target];
  const auto fits = [](const wf_pad& pad, const wf_port* ports, int n) {
    return pad.port < n && pad.axis < ports[pad.port].rank && pad.div > 0 && pad.mul > 0;
  };
  const bool pads_fit =
      std::all_of(policy.pad, policy.pad + policy.n_pads, [&](const wf_pad& pad) { return fits(pad, model.in, model.n_in); });
  const bool crops_fit =
      std::all_of(policy.crop, policy.crop + policy.n_crops, [&](const wf_pad& pad) { return fits(pad, model.out, model.n_out); });
  if (!pads_fit || !crops_fit) return Broken("policy", task.policy, "pads an axis that the model does not have");
  if (std::none_of(policy.pad, policy.pad + policy.n_pads, [](const wf_pad& pad) { return pad.div == 1; }))
    return Broken("policy", task.policy, "pads by a symbol that no input tells");
  return {};
}

Status CheckSmallTables(const wf_plan& plan) {
  for (uint32_t i = 0; i < plan.n_nodes; ++i)
    if (plan.nodes[i].stage != WF_NONE && plan.nodes[i].stage >= plan.n_stages) return Broken("node", i, "stage out of range");
  for (uint32_t i = 0; i < plan.n_policies; ++i) {
    const wf_policy& policy = plan.policies[i];
    if (policy.priority > WF_LOW) return Broken("policy", i, "unknown priority");
    if (policy.timeout_ns < 0 || policy.delay_ns < 0) return Broken("policy", i, "negative duration");
    if (!std::is_sorted(policy.bucket, policy.bucket + policy.n_buckets)) return Broken("policy", i, "buckets do not ascend");
  }
  return {};
}

}  // namespace

uint16_t EnteringTask(const wf_plan& plan, uint16_t region, uint16_t ancestor) {
  while (region != WF_NONE && plan.regions[region].parent != ancestor) region = plan.regions[region].parent;
  if (region == WF_NONE) return WF_NONE;
  const wf_region& outer = plan.regions[ancestor];
  for (uint16_t i = 0; i < outer.n_tasks; ++i) {
    const wf_task& task = plan.tasks[outer.first_task + i];
    if (task.kind != WF_ENTER && task.kind != WF_SELECT && task.kind != WF_EACH) continue;
    const bool enters = region >= task.target && region < task.target + task.n_targets;
    if (enters || (task.kind == WF_ENTER && plan.regions[task.target].on_error == region))
      return static_cast<uint16_t>(outer.first_task + i);
  }
  return WF_NONE;
}

std::vector<uint16_t> NextInRegion(const wf_plan& plan, uint16_t id) {
  const wf_task& task = plan.tasks[id];
  std::vector<uint16_t> next;
  for (int i = 0; i < task.n_next; ++i) {
    const uint16_t region = plan.tasks[task.next[i]].region;
    next.push_back(region == task.region ? task.next[i] : EnteringTask(plan, region, task.region));
  }
  return next;
}

base::Status Verify(const wf_plan& plan) {
  WF_RETURN_IF_ERROR(CheckCounts(plan));
  for (uint32_t i = 0; i < plan.n_types; ++i) WF_RETURN_IF_ERROR(CheckType(plan, i));
  for (uint32_t i = 0; i < plan.n_types; ++i)
    if (!TypeEnds(plan, static_cast<uint16_t>(i), 0)) return Broken("type", i, "holds itself, or nests deeper than 64");
  for (uint32_t i = 0; i < plan.n_regions; ++i) WF_RETURN_IF_ERROR(CheckRegion(plan, i));
  for (uint32_t i = 0; i < plan.n_slots; ++i) WF_RETURN_IF_ERROR(CheckSlot(plan, i));
  for (uint32_t i = 0; i < plan.n_models; ++i) WF_RETURN_IF_ERROR(CheckModel(plan, i));
  WF_RETURN_IF_ERROR(CheckSmallTables(plan));

  Links links;
  links.writer.assign(plan.n_slots, WF_NONE);
  links.given.assign(plan.n_slots, 0);
  links.entered_by.assign(plan.n_regions, WF_NONE);
  for (uint32_t i = 0; i < plan.n_workflows; ++i) WF_RETURN_IF_ERROR(CheckWorkflow(plan, i, links));
  for (uint32_t i = 0; i < plan.n_regions; ++i)
    if (plan.regions[i].on_error != WF_NONE) links.given[plan.regions[plan.regions[i].on_error].first_slot] = 1;
  WF_RETURN_IF_ERROR(internal::CheckTasks(plan, links));
  for (uint32_t i = 0; i < plan.n_tasks; ++i) WF_RETURN_IF_ERROR(CheckPads(plan, plan.tasks[i]));
  return {};
}

}  // namespace wf::abi
