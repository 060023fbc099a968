#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compiler/sema/typed.h"

// What the statements of a workflow read, before any task is made. Internal to BuildIr.
namespace wf::sema {

// What a statement reads and whether it is left in the program.
struct Usage {
  std::vector<std::set<LocalId>> reads;        // per statement: locals of the workflow, those of its fallback too
  std::vector<bool> is_needed;                 // per statement: a node or let that nobody reads is removed
  std::vector<bool> is_shared;                 // per statement: a let that several bodies read, so it is a task of its own
  std::vector<std::optional<size_t>> charged;  // per statement: the node that alone reads this let; the workflow where others do
  // Per `if`: where the conditions begin that wait for more than those before them, which must not wait for it; per `require`: 0 where its
  // text does. Each is decided by a control point of its own.
  std::vector<std::vector<size_t>> later;
};
Usage FindUsage(const Workflow& workflow);
bool MayWait(const Expr& expr);  // holds a call that waits or a `for`: needs tasks of its own
size_t CountModelCalls(const Expr& expr);
std::set<LocalId> SureReads(const Expr& expr);  // locals that it reads whatever they are worth, beside what calls that wait read

}  // namespace wf::sema
