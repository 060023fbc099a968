#pragma once

#include "compiler/sema/settings.h"

namespace wf::sema {

// What is known of a node when its settings are applied.
struct NodeFacts {
  std::string name;
  Span span;
  std::vector<std::pair<uint32_t, Span>> model_calls;  // of its expression, not of its fallback
  bool has_loop;                                       // it holds a `for`
  bool calls_outside = false;                          // extern nodes or remotes
  bool only_calls_workflows = false;                   // and passes values on: nothing that could be more urgent than others
};

// Whether all that a node with this expression does is the work of other nodes, those of the workflows that it calls.
bool OnlyCallsWorkflows(const Expr& expr);

// The effective policy of a node: its own block over its stage's over the model's. Reports settings without effect and those that need
// exactly one model call. `used`: words of the stage's block that had an effect are added.
ir::Policy NodePolicy(Env& env, const NodeFacts& node, const SettingValues& own, const SettingValues* stage, std::set<std::string>& used);

// Reports what of a stage's block no node of it took.
void ReportUnusedStageSettings(Env& env, const std::string& stage, const SettingValues& values, const std::set<std::string>& used);

}  // namespace wf::sema
