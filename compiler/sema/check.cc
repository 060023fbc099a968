#include "compiler/sema/check.h"

#include <algorithm>
#include <filesystem>

#include "compiler/base/sha256.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/field_numbers.h"
#include "compiler/sema/names.h"
#include "runtime/base/check.h"

namespace wf::sema {
namespace {

// Of all texts that decide the program, each with its name and length, so that no two sets of files look alike.
std::array<uint8_t, 32> HashSources(const Env& env) {
  source::Sha256 hash;
  const auto add = [&](std::string_view name, std::string_view text) {
    hash.Add(std::to_string(name.size()) + ':' + std::string(name) + std::to_string(text.size()) + ':');
    hash.Add(text);
  };
  std::map<std::string, std::string_view> texts;
  for (const Module& module : env.modules) {
    if (module.file != nullptr) texts.emplace(module.path, env.input.sources.text(module.file->id));
  }
  for (const auto& [path, text] : texts) add(path, text);
  // Not their paths: the same program in another folder is the same program.
  for (const auto& [path, content] : env.embedded) add("", *content);
  return hash.Finish();
}

// Under a service without a name, what the root declares; nothing where it declares no workflow.
void PublishAll(Program& program, source::FileId root) {
  Service service;
  for (uint32_t at = 0; at < program.workflows.size(); ++at) {
    const Workflow& workflow = program.workflows[at];
    if (workflow.span.file == root) service.members.push_back({.is_model = false, .index = at, .published_name = workflow.name});
  }
  if (!service.members.empty()) program.services.push_back(std::move(service));
}

// The services of files that are imported are theirs.
void ReportNothingPublished(Env& env, const Module& root) {
  auto builder = env.Report({root.file->id, 0, 0}, kNothingPublished);
  const Entity* elsewhere = nullptr;
  for (const Module& module : env.modules) {
    for (const auto& [name, entity] : module.entities) {
      if (elsewhere == nullptr && entity.kind == EntityKind::kService) elsewhere = &entity;
    }
  }
  if (elsewhere != nullptr) builder.Label(elsewhere->span, "published where this file is the program, not where it is imported");
  builder.Help(elsewhere == nullptr
                   ? "as in `service Digits { workflow Classify; }`"
                   : "what a file lends is published by a service here, as in `service Digits { workflow lib.Classify; }`");
}

}  // namespace

std::optional<Program> Check(const CheckInput& input, diag::Emitter& diag) {
  if (input.modules.empty() || input.modules[0].file == nullptr) return std::nullopt;
  const size_t errors_before = diag.error_count();
  Program program;
  program.types = std::make_unique<Types>();
  Env env{input, diag, program, *program.types, {}, nullptr, {}, {}, {}, 0, kMostConstSteps, {}};
  for (Module* module : CollectModules(env)) {
    for (const ast::DeclPtr& decl : module->file->decls) {
      const diag::Emitter::Muted muted(diag, decl->has_errors);
      CheckDecl(env, *module, *decl);
    }
  }
  Module& root = env.modules.front();
  ReportUnused(env, root);
  if (input.options.without_service && program.services.empty()) PublishAll(program, root.file->id);
  if (input.options.require_service && program.services.empty() && !IsDamaged(root) && diag.error_count() == errors_before) {
    ReportNothingPublished(env, root);
  }
  const bool damaged = std::any_of(input.modules.begin(), input.modules.end(), [](const SourceModule& module) {
    return module.file == nullptr || std::any_of(module.file->decls.begin(), module.file->decls.end(), [](const ast::DeclPtr& decl) {
             return decl->kind == ast::DeclKind::kErrorDecl || decl->has_errors;
           });
  });
  if (diag.error_count() != errors_before || damaged) return std::nullopt;
  WF_CHECK(diag.has_errors() || !env.unsound, input.sources.Text(*env.unsound));  // of what did not parse, elsewhere
  WarnOfFieldNumbers(env);
  program.source_name = std::filesystem::path(input.sources.name(root.file->id)).filename();  // however it was called
  program.source_hash = HashSources(env);
  return program;
}

}  // namespace wf::sema
