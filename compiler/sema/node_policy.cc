#include "compiler/sema/node_policy.h"

#include <algorithm>

namespace wf::sema {
namespace {

constexpr std::string_view kOnlyCalls = "it only calls workflows, whose nodes have settings of their own";

void ReportNoEffect(Env& env, const Span& span, std::string_view word, const std::string& what, std::string_view why) {
  env.Report(span, kSettingNoEffect, {word, what, why});
}

// The six settings of docs/semantics.md 15 need one model call to speak of.
void CheckModelSettings(Env& env, const NodeFacts& node, const SettingValues& own) {
  for (const NamedSpan& setting : ModelSettingsOf(own)) {
    if (node.model_calls.empty()) ReportNoEffect(env, setting.span, setting.word, "node `" + node.name + "`", "it calls no model");
    if (node.model_calls.size() < 2) continue;
    auto builder = env.Report(setting.span, kSplitNode, {setting.word, node.model_calls.size()});
    for (const auto& [model, span] : node.model_calls) builder.Label(span, "a model call");
  }
}

void CheckOwn(Env& env, const NodeFacts& node, const SettingValues& own) {
  CheckModelSettings(env, node, own);
  const std::string what = "node `" + node.name + "`";
  if (own.retry && !node.calls_outside) ReportNoEffect(env, own.retry->span, "retry", what, "it calls no remote and no extern node");
  if (own.limit && !node.has_loop) ReportNoEffect(env, own.limit->span, "limit", what, "it holds no `for`");
  if (own.priority && node.only_calls_workflows) ReportNoEffect(env, own.priority->span, "priority", what, kOnlyCalls);
}

SettingValues WithoutBatchOn(const SettingValues& values, const Model& model) {
  SettingValues fitting = values;
  if (!model.batched) fitting.batch.reset();
  if (fitting.pad) {
    bool has_symbol = false;
    for (const ModelPort& port : model.in) {
      for (const Dim& dim : port.dims) {
        const auto symbols = dim.Symbols();
        has_symbol = has_symbol || std::find(symbols.begin(), symbols.end(), fitting.pad->value.symbol) != symbols.end();
      }
    }
    if (!has_symbol) fitting.pad.reset();
  }
  return fitting;
}

// What of a model's block can contradict what a node or its stage says.
SettingValues WrittenWith(const Model& model) {
  SettingValues values;
  const ir::Policy& policy = model.defaults;
  if (model.batched && model.batch_span)
    values.batch = Given<BatchSetting>{{policy.batch_max == 0, policy.batch_max, policy.delay_ns}, *model.batch_span};
  if (model.queue_span) values.queue = Given<uint32_t>{policy.queue_max, *model.queue_span};
  return values;
}

SettingValues TimeoutOf(const SettingValues& values) {
  SettingValues timeout;
  timeout.timeout_ns = values.timeout_ns;
  return timeout;
}

// Settings of a node that calls several models speak of the whole: each call goes by its model's.
void CheckInForce(Env& env, const NodeFacts& node, const SettingValues& own, const SettingValues& stage) {
  for (const auto& [index, span] : node.model_calls) {
    const Model& model = env.program.models[index];
    const SettingValues written = WrittenWith(model);
    if (node.model_calls.size() > 1) {
      const SettingValues inner = TimeoutOf(own), outer = TimeoutOf(stage);
      CheckContradictions(env, {&inner, &outer, &written});
    } else {
      const SettingValues outer = WithoutBatchOn(stage, model);
      CheckContradictions(env, {&own, &outer, &written});
    }
  }
}

// False for what only passes values on or says which call is made.
bool IsWork(ExprKind kind) {
  switch (kind) {
    case ExprKind::kCallWorkflow:
    case ExprKind::kEach:
    case ExprKind::kIf:
    case ExprKind::kLocal:
    case ExprKind::kConst:
    case ExprKind::kScalar:
    case ExprKind::kNone:
    case ExprKind::kSome:
    case ExprKind::kDimValue:
    case ExprKind::kField:
    case ExprKind::kRecord:
    case ExprKind::kList:
    case ExprKind::kHas:
    case ExprKind::kUnwrap:
    case ExprKind::kFail:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool OnlyCallsWorkflows(const Expr& expr) {
  bool calls = false;
  std::vector<const Expr*> open = {&expr};  // a stack of its own: a tower of `if` is deep
  while (!open.empty()) {
    const Expr& at = *open.back();
    open.pop_back();
    const bool is_plain_text = at.kind == ExprKind::kText && at.args.empty();
    if (IsWork(at.kind) && !is_plain_text) return false;
    calls = calls || at.kind == ExprKind::kCallWorkflow;
    for (const ExprPtr& arg : at.args) open.push_back(arg.get());
    if (at.loop) {
      for (const ExprPtr& source : at.loop->sources) open.push_back(source.get());
    }
  }
  return calls;
}

ir::Policy NodePolicy(Env& env, const NodeFacts& node, const SettingValues& own, const SettingValues* stage, std::set<std::string>& used) {
  CheckOwn(env, node, own);
  CheckInForce(env, node, own, stage == nullptr ? SettingValues{} : *stage);
  const bool one_model = node.model_calls.size() == 1;
  ir::Policy policy = DefaultPolicy(false);
  if (one_model) {
    const Model& model = env.program.models[node.model_calls[0].first];
    policy = model.defaults;
    if (stage != nullptr) {
      const SettingValues fitting = WithoutBatchOn(*stage, model);
      for (const NamedSpan& setting : ModelSettingsOf(fitting)) used.emplace(setting.word);
      ApplySettings(env, fitting, model, policy);
    }
    ApplySettings(env, own, model, policy);
  }
  if (stage != nullptr) {
    if (stage->timeout_ns) policy.timeout_ns = stage->timeout_ns->value;
    if (stage->priority && !node.only_calls_workflows) policy.priority = stage->priority->value;
    if (stage->retry && node.calls_outside) {
      policy.retry = static_cast<uint16_t>(stage->retry->value);
      used.emplace("retry");
    }
    if (stage->timeout_ns) used.emplace("timeout");
    if (stage->limit && node.has_loop) used.emplace("limit");
    if (stage->priority && !node.only_calls_workflows) used.emplace("priority");
  }
  if (own.retry) policy.retry = static_cast<uint16_t>(own.retry->value);
  if (own.timeout_ns) policy.timeout_ns = own.timeout_ns->value;
  if (own.priority) policy.priority = own.priority->value;
  return policy;
}

void ReportUnusedStageSettings(Env& env, const std::string& stage, const SettingValues& values, const std::set<std::string>& used) {
  const std::string what = "stage `" + stage + "`";
  for (const NamedSpan& setting : ModelSettingsOf(values)) {
    if (!used.contains(std::string(setting.word))) ReportNoEffect(env, setting.span, setting.word, what, "no node of it can take it");
  }
  if (values.timeout_ns && !used.contains("timeout")) ReportNoEffect(env, values.timeout_ns->span, "timeout", what, "it has no node");
  if (values.priority && !used.contains("priority"))
    ReportNoEffect(env, values.priority->span, "priority", what, "no node of it does more than call workflows");
  if (values.retry && !used.contains("retry"))
    ReportNoEffect(env, values.retry->span, "retry", what, "no node of it calls a remote or an extern node");
  if (values.limit && !used.contains("limit")) ReportNoEffect(env, values.limit->span, "limit", what, "no node of it holds a `for`");
}

}  // namespace wf::sema
