// The second half of Verify: tasks, their edges, the regions that they enter and the strands that they form.

#include <algorithm>
#include <optional>

#include "runtime/abi/verify.h"
#include "runtime/abi/verify_internal.h"

namespace wf::abi::internal {
namespace {

using base::Status;

bool Enters(const wf_task& task) { return task.kind == WF_ENTER || task.kind == WF_SELECT || task.kind == WF_EACH; }

// Is `outer` the region itself or one that encloses it?
bool Encloses(const wf_plan& plan, uint16_t outer, uint16_t region) {
  for (; region != WF_NONE; region = plan.regions[region].parent)
    if (region == outer) return true;
  return false;
}

Status CheckIndices(const wf_plan& plan, uint32_t row, Links& links) {
  const wf_task& task = plan.tasks[row];
  if (task.kind > WF_RETURN) return Broken("task", row, "unknown kind");
  if (task.cost_class > WF_COMPUTE) return Broken("task", row, "unknown cost class");
  if (task.region >= plan.n_regions) return Broken("task", row, "region out of range");
  const wf_region& region = plan.regions[task.region];
  if (row < region.first_task || row >= uint32_t{region.first_task} + region.n_tasks)
    return Broken("task", row, "its region does not hold it");
  if (task.node != WF_NONE && task.node >= plan.n_nodes) return Broken("task", row, "node out of range");
  if (task.policy != WF_NONE && task.policy >= plan.n_policies) return Broken("task", row, "policy out of range");
  if ((task.n_in != 0 && task.in == nullptr) || (task.n_next != 0 && task.next == nullptr))
    return Broken("task", row, "lists without an address");
  for (int i = 0; i < task.n_in; ++i)
    if (task.in[i] >= plan.n_slots || !Encloses(plan, plan.slots[task.in[i]].region, task.region))
      return Broken("task", row, "reads a slot that its frames do not hold");
  for (int i = 0; i < task.n_next; ++i)
    if (task.next[i] >= plan.n_tasks || task.next[i] == row || !Encloses(plan, task.region, plan.tasks[task.next[i]].region))
      return Broken("task", row, "its `next` leaves the region");
  if (task.out == WF_NONE) return {};
  if (task.out >= plan.n_slots || plan.slots[task.out].region != task.region) return Broken("task", row, "writes a slot of another region");
  if (links.writer[task.out] != WF_NONE) return Broken("task", row, "writes a slot that another task writes");
  if (links.given[task.out]) return Broken("task", row, "writes a parameter or `err`");
  links.writer[task.out] = static_cast<uint16_t>(row);
  return {};
}

Status CheckEntered(const wf_plan& plan, uint32_t row, uint16_t target, Links& links) {
  const wf_task& task = plan.tasks[row];
  const wf_region& region = plan.regions[target];
  if (region.parent != task.region) return Broken("task", row, "enters a region whose parent is not its own");
  if (links.entered_by[target] != WF_NONE) return Broken("task", row, "enters a region that another task enters");
  links.entered_by[target] = static_cast<uint16_t>(row);
  if (task.out == WF_NONE) return {};
  if (region.result == WF_NONE) return Broken("task", row, "writes a slot, but the region that it enters has no result");
  const wf_type& out = plan.types[plan.slots[task.out].type];
  const uint32_t size = plan.slots[region.result].size;
  if (task.kind != WF_EACH && plan.slots[task.out].size != size) return Broken("task", row, "result and slot differ in size");
  if (task.kind == WF_EACH && (out.kind != WF_T_LIST || plan.types[out.element].size != size))
    return Broken("task", row, "its slot is not a list of the element's result");
  return {};
}

Status CheckEntering(const wf_plan& plan, uint32_t row, Links& links) {
  const wf_task& task = plan.tasks[row];
  if (task.n_targets == 0 || uint32_t{task.target} + task.n_targets > plan.n_regions)
    return Broken("task", row, "target regions out of range");
  if (task.kind != WF_SELECT && task.n_targets != 1) return Broken("task", row, "enters more than one region");
  if (task.kind != WF_ENTER && task.fn.pick == nullptr) return Broken("task", row, "without a pick function");
  for (uint16_t i = 0; i < task.n_targets; ++i) WF_RETURN_IF_ERROR(CheckEntered(plan, row, static_cast<uint16_t>(task.target + i), links));
  const wf_region& first = plan.regions[task.target];
  if (task.kind == WF_EACH && first.n_tasks == 0) return Broken("region", task.target, "an element without a task");
  if (task.kind == WF_EACH && (first.element_offset < uint32_t{first.n_tasks} * 2 || first.element_offset % 8 != 0 ||
                               uint64_t{first.element_offset} + 8 > first.frame_bytes))
    return Broken("region", task.target, "has no room for the element's index");
  if (task.kind == WF_ENTER && first.on_error != WF_NONE) return CheckEntered(plan, row, first.on_error, links);
  return {};
}

// What a model's port may be for a call: its dtype and rank.
struct PortType {
  uint8_t dtype, rank;
  bool operator==(const PortType&) const = default;
};
std::optional<PortType> PortTypeOf(const wf_plan& plan, const wf_type& type) {
  if (type.kind == WF_T_TENSOR || type.kind == WF_T_SCALAR) return PortType{type.dtype, type.rank};
  if (type.kind == WF_T_STRING) return PortType{WF_TEXTS, 0};
  if (type.kind == WF_T_LIST && plan.types[type.element].kind == WF_T_STRING) return PortType{WF_TEXTS, 1};
  return std::nullopt;
}

Status CheckModelTask(const wf_plan& plan, uint32_t row) {
  const wf_task& task = plan.tasks[row];
  if (task.target >= plan.n_models) return Broken("task", row, "model out of range");
  const wf_model& model = plan.models[task.target];
  if (task.n_in != model.n_in) return Broken("task", row, "reads another number of slots than the model has inputs");
  const auto fits = [&](const wf_type& type, const wf_port& port) { return PortTypeOf(plan, type) == PortType{port.dtype, port.rank}; };
  for (int i = 0; i < task.n_in; ++i) {
    if (!fits(plan.types[plan.slots[task.in[i]].type], model.in[i]))
      return Broken("task", row, "an input is not of the model's dtype and rank");
  }
  if (task.out == WF_NONE) return Broken("task", row, "a model call without a slot");
  const wf_type& out = plan.types[plan.slots[task.out].type];
  const bool is_record = out.kind == WF_T_RECORD;
  if (!is_record && model.n_out != 1) return Broken("task", row, "several outputs, but its slot is one tensor");
  if (is_record && out.n_fields != model.n_out) return Broken("task", row, "its slot is not a record of the model's outputs");
  for (int i = 0; i < model.n_out; ++i) {
    if (!fits(is_record ? plan.types[out.fields[i].type] : out, model.out[i]))
      return Broken("task", row, "an output is not of the model's dtype and rank");
  }
  return {};
}

Status CheckReturn(const wf_plan& plan, uint32_t row, const Links& links) {
  const wf_task& task = plan.tasks[row];
  uint16_t ended = task.region;
  while (links.entered_by[ended] != WF_NONE && plan.tasks[links.entered_by[ended]].kind == WF_SELECT) ended = plan.regions[ended].parent;
  if (plan.regions[ended].parent != WF_NONE) {
    const uint16_t result = plan.regions[ended].result;
    if (task.n_in > 1) return Broken("task", row, "returns several values from a region that has one result");
    if (task.n_in == 1 && (result == WF_NONE || plan.slots[result].size != plan.slots[task.in[0]].size))
      return Broken("task", row, "returns a value that is not of the result's size");
    return {};
  }
  for (uint32_t i = 0; i < plan.n_workflows; ++i) {
    const wf_workflow& workflow = plan.workflows[i];
    if (workflow.root != ended) continue;
    if (task.n_in != workflow.n_out) return Broken("task", row, "returns another number of values than the workflow has results");
    for (int k = 0; k < task.n_in; ++k)
      if (plan.slots[task.in[k]].size != plan.slots[workflow.out[k].slot].size)
        return Broken("task", row, "returns a value of another size than its port's");
  }
  return {};
}

Status CheckKind(const wf_plan& plan, uint32_t row, Links& links) {
  const wf_task& task = plan.tasks[row];
  if (Enters(task)) return CheckEntering(plan, row, links);
  if (task.kind == WF_RUN && task.fn.run == nullptr) return Broken("task", row, "without a body");
  if (task.kind == WF_MODEL) return CheckModelTask(plan, row);
  if (task.kind == WF_RETURN && (task.out != WF_NONE || task.n_next != 0)) return Broken("task", row, "a return that something waits for");
  return {};
}

// A strand: each task is the sole successor of, and waits only for, the one before.
Status CheckStrand(const wf_plan& plan, uint32_t row) {
  const wf_task& task = plan.tasks[row];
  if (task.chain == WF_NONE) return {};
  if (task.chain >= plan.n_tasks || task.kind != WF_RUN) return Broken("task", row, "a strand goes on from a body, to a task");
  const wf_task& after = plan.tasks[task.chain];
  if (task.n_next != 1 || task.next[0] != task.chain)
    return Broken("task", row, "its strand goes on to a task that is not its sole successor");
  const wf_region& region = plan.regions[task.region];
  if (region.waits[task.chain - region.first_task] != 1) return Broken("task", row, "its strand goes on to a task that waits for others");
  if (after.kind != WF_RUN && after.kind != WF_MODEL)
    return Broken("task", row, "its strand goes on to a task that is neither body nor model");
  if (after.kind == WF_RUN && after.cost_class != task.cost_class) return Broken("task", row, "its strand goes on in another cost class");
  if (task.out != WF_NONE && task.out == region.result) return Broken("task", row, "a region's result inside a strand");
  return {};
}

// What reaches into a region inside must pass SELECTs alone: they are entered once, and wait for nothing that only an arm reads.
Status CheckInnerNext(const wf_plan& plan, uint32_t row, const Links& links) {
  const wf_task& task = plan.tasks[row];
  for (int i = 0; i < task.n_next; ++i) {
    for (uint16_t at = plan.tasks[task.next[i]].region; at != task.region; at = plan.regions[at].parent) {
      const uint16_t entered_by = links.entered_by[at];
      if (entered_by == WF_NONE || plan.tasks[entered_by].kind != WF_SELECT || task.out == WF_NONE)
        return Broken("task", row, "its `next` reaches into a region that no SELECT enters, or it writes no slot");
    }
  }
  return {};
}

// What a task reads must have a writer that lists, in its `next`, the task or one of those that enter the regions in between.
Status CheckReads(const wf_plan& plan, uint32_t row, const Links& links) {
  const wf_task& task = plan.tasks[row];
  for (int i = 0; i < task.n_in; ++i) {
    const uint16_t slot = task.in[i], home = plan.slots[slot].region;
    if (links.given[slot]) continue;
    if (links.writer[slot] == WF_NONE) return Broken("task", row, "reads slot " + std::to_string(slot) + ", which nothing writes");
    const wf_task& writer = plan.tasks[links.writer[slot]];
    const auto is_listed = [&writer](uint32_t waiter) {
      return std::find(writer.next, writer.next + writer.n_next, waiter) != writer.next + writer.n_next;
    };
    uint32_t waiter = row;
    while (waiter != WF_NONE && !is_listed(waiter) && plan.tasks[waiter].region != home)
      waiter = links.entered_by[plan.tasks[waiter].region];
    if (!is_listed(waiter)) return Broken("task", row, "reads slot " + std::to_string(slot) + " without waiting for it");
  }
  return {};
}

Status CheckCountdowns(const wf_plan& plan) {
  std::vector<uint32_t> waits(plan.n_tasks, 0);
  for (uint32_t i = 0; i < plan.n_tasks; ++i)
    for (int k = 0; k < plan.tasks[i].n_next; ++k) ++waits[plan.tasks[i].next[k]];
  for (uint32_t i = 0; i < plan.n_tasks; ++i) {
    const wf_region& region = plan.regions[plan.tasks[i].region];
    if (waits[i] != region.waits[i - region.first_task]) return Broken("task", i, "waits for another number of tasks than list it");
  }
  return {};
}

// The edges form no ring; one into a region inside counts as one to the task that enters it, which ends after what it has entered.
Status CheckOrder(const wf_plan& plan, uint32_t row) {
  const wf_region& region = plan.regions[row];
  std::vector<uint16_t> left(region.n_tasks, 0);
  for (int i = 0; i < region.n_tasks; ++i)
    for (const uint16_t next : NextInRegion(plan, static_cast<uint16_t>(region.first_task + i))) ++left[next - region.first_task];
  std::vector<uint16_t> ready;
  for (uint16_t i = 0; i < region.n_tasks; ++i)
    if (left[i] == 0) ready.push_back(i);
  for (size_t done = 0; done < ready.size(); ++done) {
    for (const uint16_t next : NextInRegion(plan, static_cast<uint16_t>(region.first_task + ready[done]))) {
      const auto local = static_cast<uint16_t>(next - region.first_task);
      if (--left[local] == 0) ready.push_back(local);
    }
  }
  if (ready.size() != region.n_tasks) return Broken("region", row, "its tasks wait for each other in a ring");
  return {};
}

}  // namespace

Status CheckTasks(const wf_plan& plan, Links& links) {
  for (uint32_t i = 0; i < plan.n_tasks; ++i) WF_RETURN_IF_ERROR(CheckIndices(plan, i, links));
  for (uint32_t i = 0; i < plan.n_tasks; ++i) WF_RETURN_IF_ERROR(CheckKind(plan, i, links));
  for (uint32_t i = 0; i < plan.n_tasks; ++i) WF_RETURN_IF_ERROR(CheckInnerNext(plan, i, links));
  WF_RETURN_IF_ERROR(CheckCountdowns(plan));
  for (uint32_t i = 0; i < plan.n_regions; ++i) WF_RETURN_IF_ERROR(CheckOrder(plan, i));
  for (uint32_t i = 0; i < plan.n_tasks; ++i) {
    WF_RETURN_IF_ERROR(CheckStrand(plan, i));
    WF_RETURN_IF_ERROR(CheckReads(plan, i, links));
    if (plan.tasks[i].kind == WF_RETURN) WF_RETURN_IF_ERROR(CheckReturn(plan, i, links));
  }
  return {};
}

}  // namespace wf::abi::internal
