#pragma once

#include <vector>

#include "compiler/lower/context.h"
#include "compiler/lower/frames.h"
#include "compiler/lower/image.h"

namespace wf::lower {

struct TaskFunctions {
  llvm::Function *body = nullptr, *work = nullptr;
};
struct WorkflowFunctions {
  llvm::Function *find_in = nullptr, *read_json = nullptr, *write_json = nullptr;
};
struct Functions {
  std::vector<TaskFunctions> tasks;          // by TaskId
  std::vector<WorkflowFunctions> workflows;  // as Program::workflows
};

// The table of types; bodies and codecs refer to its rows, so it comes first.
void EmitTypeTable(Context& context);

// A row of a workflow's or a model's port tables, as the plan holds it; codecs show the in ports to wf_json_unknown.
llvm::GlobalVariable* EmitPorts(Context& context, const std::vector<ir::Port>& ports);

// wf_plan_main and every table under it. `in_ports`: the tables of EmitPorts, by workflow.
void EmitPlan(Context& context, const FrameLayout& frames, const Functions& functions, const std::vector<llvm::GlobalVariable*>& in_ports);

// ---- parts of EmitPlan ----

// For each task, those whose countdown drops when it ends: readers of what it writes, and what it gates; ascending, each once.
std::vector<std::vector<uint16_t>> NextTasks(const ir::Program& program);
llvm::GlobalVariable* EmitTasks(Context& context, const Functions& functions);
llvm::GlobalVariable* EmitRegions(Context& context, const FrameLayout& frames);
llvm::GlobalVariable* EmitSlots(Context& context, const FrameLayout& frames);

// The number of a slot, task, ... as the plan's tables hold it; WF_NONE of none.
template <typename Id>
uint16_t PlanIndex(Id id) {
  return static_cast<uint16_t>(id);
}

// {pointer, length} of a text, at `offset`.
void SetText(Context& context, Image* image, size_t offset, std::string_view text);
// An array of numbers as constant data; null when empty.
template <typename T>
llvm::GlobalVariable* EmitNumbers(Context& context, const std::vector<T>& numbers, const llvm::Twine& name) {
  Image image;
  for (const T number : numbers) image.Add(number);
  return image.Global(context.module(), name);
}

}  // namespace wf::lower
