// Services: what is published under which name, and the limits.

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/names.h"
#include "compiler/sema/settings.h"

namespace wf::sema {
namespace {

// Paths that every server has (docs/protocols.md).
constexpr std::array<std::string_view, 7> kReserved = {"v1", "v2", "predict", "livez", "readyz", "metrics", "debug"};

bool IsPathName(const std::string& name) { return name != "." && name != ".." && IsWireName(name); }

// Nothing after a report. `seen`: the names published so far.
std::optional<Service::Member> CheckMember(Env& env, Module& module, const ast::ServiceDecl& decl, const ast::ServiceDecl::Member& member,
                                           std::map<std::string, Span>& seen) {
  const EntityKind wanted = member.is_model ? EntityKind::kModel : EntityKind::kWorkflow;
  const std::string name = member.published_name.value_or(member.target.parts.back().text);
  Entity* entity = Lookup(env, module, member.target, &decl, {member.is_model ? NameUse::kModel : NameUse::kWorkflow, nullptr});
  const auto [at, fresh] = seen.emplace(name, member.span);
  if (!fresh) {
    env.Report(member.span, kRouteClash, {name, decl.name.text}).Label(at->second, "first published here");
    return std::nullopt;
  }
  if (!IsPathName(name)) {
    const bool is_dots = name == "." || name == "..";
    env.Report(member.name_span, kPublishedName,
               {name.empty() ? "an empty name" : "`" + name + "`", is_dots ? ", and more than dots" : ""});
    return std::nullopt;
  }
  if (entity == nullptr) return std::nullopt;
  if (entity->kind != wanted) {
    auto builder = env.Report(member.target.span, kWrongKind, {ast::ToString(member.target), NameOf(entity->kind), NameOf(wanted)})
                       .Label(entity->span, "declared here");
    if (entity->kind == EntityKind::kFn) builder.Help("publish a workflow that calls it");
    if (entity->kind == EntityKind::kModel) builder.Help("publish it with `model " + entity->name + ";`");
    return std::nullopt;
  }
  return Service::Member{member.is_model, entity->index, name};
}

}  // namespace

void CheckService(Env& env, Module& module, Entity& entity, const ast::ServiceDecl& decl) {
  Service service;
  service.name = entity.name;
  if (std::find(kReserved.begin(), kReserved.end(), entity.name) != kReserved.end()) {
    env.Report(decl.name.span, kReservedService, {entity.name});
  }
  std::map<std::string, Span> seen;
  for (const ast::ServiceDecl::Member& member : decl.members) {
    if (auto checked = CheckMember(env, module, decl, member, seen)) service.members.push_back(*std::move(checked));
  }
  const size_t errors_before = env.diag.error_count();
  const SettingValues values = ReadSettings(env, decl.settings, kInService);
  const bool perhaps_a_member = env.diag.error_count() != errors_before;  // a misspelled `workflow` reads as a setting
  if (decl.members.empty() && !decl.has_errors && !perhaps_a_member) {
    env.Report(decl.name.span, kEmptyService, {entity.name}).Help("as in `workflow Classify;`");
  }
  if (values.timeout_ns) service.timeout_ns = values.timeout_ns->value;
  if (values.body_bytes) service.body_max = values.body_bytes->value;
  if (values.inflight) service.inflight_max = values.inflight->value;
  if (values.rows) service.rows_max = values.rows->value;
  if (!module.is_root) return;  // a file that is imported lends its declarations, not its services
  entity.index = static_cast<uint32_t>(env.program.services.size());
  env.program.services.push_back(std::move(service));
}

}  // namespace wf::sema
