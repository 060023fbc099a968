// Declarations: constants, types, errors.

#include "compiler/sema/check_decl.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "compiler/base/written_integer.h"
#include "compiler/diag/shorten.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/json_value.h"
#include "compiler/sema/names.h"
#include "compiler/sema/sink.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status.h"

namespace wf::sema {
namespace {

struct StatusName {
  std::string_view name;
  base::StatusCode code;
};
constexpr StatusName kStatuses[] = {
#define STATUS(name, written, grpc, http) {written, base::StatusCode::name},
#include "runtime/base/status_codes.def"
#undef STATUS
};

int StatusOf(Env& env, const ast::Name& status) {
  std::vector<std::string> known;
  for (const StatusName& row : kStatuses) {
    if (row.code == base::kOk) continue;
    if (row.name == status.text) return static_cast<int>(row.code);
    known.emplace_back(row.name);
  }
  env.Report(status.span, kUnknownStatus, {status.text}).DidYouMeanOneOf(status.span, status.text, known);
  return 3;
}

Entity* EntityOf(Module& module, const ast::Decl& decl) {
  Entity* entity = FindEntity(module, decl.name.text);
  return entity != nullptr && entity->decl == &decl ? entity : nullptr;
}

}  // namespace

void CheckConst(Env& env, Module& module, Entity& entity, const ast::ConstDecl& decl) {
  Body body(env, module, &decl);
  TypeRef type = decl.type ? ResolveType(body, *decl.type, SymbolRule::kNone) : nullptr;
  entity.broken = true;
  if (type != nullptr && type->kind == TypeKind::kError) return;
  Where where;
  where.files = true;
  where.may_fail = false;
  where.what = "a `const`";
  where.instead = "a `const` is known before the program runs; call it in a node of a workflow";
  where.span = decl.name.span;
  ExprPtr value = type != nullptr
                      ? CheckAs(body, *decl.value, type, where, Origin{decl.type->span, std::string(kWrittenHere), decl.type.get()})
                      : CheckExpr(body, *decl.value, nullptr, where);
  if (IsPoison(*value)) return;
  if (value->type->is_open) {
    env.Report(value->span, kCannotInfer, {"`" + decl.name.text + "`"}).Help("as in `const " + decl.name.text + ": list<string> = ..`");
    return;
  }
  auto folded = ValueOf(env, *value, "a `const`");
  if (!folded) return;
  if (!CountConst(env, *folded, value->span)) return;
  entity.type = TypeOfValue(env.types, value->type, *folded);
  entity.index = static_cast<uint32_t>(env.program.consts.size());
  entity.broken = false;
  env.program.consts.push_back({decl.name.text, entity.type, std::move(*folded), decl.name.span});
}

void CheckType(Env& env, Module& module, Entity& entity, const ast::TypeDecl& decl) {
  entity.type = env.types.Error();
  if (decl.has_errors) return;  // what did not parse may be any field
  if (HasTooManyParts(env, decl.fields.size(), "`" + decl.name.text + "` has", decl.name.span)) return;
  Body body(env, module, &decl);
  std::vector<Field> fields;
  std::map<std::string_view, Span> declared;
  bool sound = true;
  for (const ast::Type::Field& field : decl.fields) {
    const TypeRef type = ResolveType(body, *field.type, SymbolRule::kNone);
    sound = sound && type->kind != TypeKind::kError;
    const auto [first, is_new] = declared.emplace(field.label.text, field.label.span);
    if (!is_new) {
      env.Report(field.label.span, kDuplicateName, {field.label.text}).Label(first->second, "first declared here");
      sound = false;
      continue;
    }
    fields.push_back({field.label.text, type});
  }
  entity.type = sound ? env.types.Record(QualifiedName(env, entity), std::move(fields), entity.span) : env.types.Error();
  if (!HasTooManyParts(env, entity.type->parts, "`" + entity.type->name + "` has", decl.name.span)) return;
  entity.type = env.types.Error();
}

bool LooksLikeHole(std::string_view text) {
  const auto part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '[' || c == ']'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::all_of(text.begin(), text.end(), part);
}

// `{x}` in a message that nobody fills, `{{x}}` that nobody makes `{x}`.
void WarnOfHole(Env& env, const ast::ErrorCodeDecl& decl) {
  const std::string_view text = decl.message;
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    const size_t braces = text.substr(open, 2) == "{{" ? 2 : 1;
    const size_t name = open + braces, close = text.find('}', name);
    if (close == std::string_view::npos || !LooksLikeHole(text.substr(name, close - name))) continue;
    env.Report(decl.message_span, kMessageWithHole, {text.substr(open, close + braces - open)})
        .Help((braces == 2 ? "`{{` is a brace where it fails, as in `fail " : "they are filled where it fails, as in `fail ") +
              decl.name.text + "(" + std::string(env.input.sources.Text(decl.message_span)) + ")`");
    return;
  }
}

void CheckErrorCode(Env& env, Entity& entity, const ast::ErrorCodeDecl& decl) {
  WarnOfHole(env, decl);
  const std::optional<uint64_t> code = source::ReadWrittenInteger(decl.code);
  const bool large = !code || *code > INT32_MAX;
  entity.message = decl.message;
  if (large || !code::IsOfProgram(static_cast<int64_t>(*code))) {
    env.Report(decl.code_span, kErrorCodeClass, {decl.code, large ? "is too large" : "belongs to the framework"});
    entity.code = code::kDeclared;
    return;
  }
  entity.code = static_cast<int32_t>(*code);
  const int status = decl.status ? StatusOf(env, *decl.status) : static_cast<int>(base::kInvalidArgument);
  const auto [first, is_new] = env.error_codes.emplace(entity.code, decl.code_span);
  if (!is_new) {
    env.Report(decl.code_span, kErrorCodeTwice, {entity.code}).Label(first->second, "first declared here");
    return;
  }
  env.program.errors.push_back({decl.name.text, QualifiedName(env, entity), decl.message, entity.code, status, decl.code_span});
}

void ReportBinding(Env& env, const ast::Binding& binding, const std::string& wanted, diag::Code code) {
  Span call = binding.span;
  if (binding.settings) call.end = binding.settings->span.begin;
  std::string text(env.input.sources.Text(call));
  while (text.ends_with(';') || text.ends_with(' ')) text.pop_back();
  auto builder = env.Report(call, code, {diag::FirstLine(text)});
  const auto* path = binding.arguments.size() == 1 ? binding.arguments[0].value.get() : nullptr;
  if (binding.function.text == wanted && path != nullptr &&
      (path->kind == ast::ExprKind::kNameExpr || path->kind == ast::ExprKind::kMemberExpr))
    builder.Help("the path stands in quotes: `" + wanted + "(\"" + std::string(env.input.sources.Text(path->span)) + "\")`");
  if (binding.function.text != wanted) builder.DidYouMean(binding.function.span, binding.function.text, std::vector<std::string>{wanted});
}

namespace {

// Where the members of a call's result are named.
void NoteResult(Env& env, const Entity& entity) {
  const auto note = [&](ExprKind call, const ast::TypePtr& result) {
    if (result && !entity.broken) env.results.emplace(std::pair(call, entity.index), result.get());
  };
  if (const auto* fn = ast::DynAs<ast::FnDecl>(*entity.decl)) note(ExprKind::kCallFn, fn->result);
  if (const auto* external = ast::DynAs<ast::ExternDecl>(*entity.decl)) note(ExprKind::kCallExtern, external->result);
  if (const auto* model = ast::DynAs<ast::ModelDecl>(*entity.decl)) note(ExprKind::kCallModel, model->result);
  if (const auto* remote = ast::DynAs<ast::RemoteDecl>(*entity.decl)) note(ExprKind::kCallRemote, remote->result);
  if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(*entity.decl)) note(ExprKind::kCallWorkflow, workflow->result);
}

}  // namespace

void CheckDecl(Env& env, Module& module, const ast::Decl& decl) {
  if (const auto* test = ast::DynAs<ast::TestDecl>(decl)) return module.is_root ? CheckTest(env, module, *test) : void();
  Entity* entity = EntityOf(module, decl);
  if (entity == nullptr || entity->kind == EntityKind::kModule || decl.kind == ast::DeclKind::kErrorDecl) return;
  if (const auto* constant = ast::DynAs<ast::ConstDecl>(decl)) {
    if (decl.has_errors) entity->broken = true;
    if (!decl.has_errors) CheckConst(env, module, *entity, *constant);
  } else if (const auto* record = ast::DynAs<ast::TypeDecl>(decl)) {
    CheckType(env, module, *entity, *record);
  } else if (const auto* code = ast::DynAs<ast::ErrorCodeDecl>(decl)) {
    CheckErrorCode(env, *entity, *code);
  } else if (const auto* fn = ast::DynAs<ast::FnDecl>(decl)) {
    CheckFn(env, module, *entity, *fn);
  } else if (const auto* external = ast::DynAs<ast::ExternDecl>(decl)) {
    CheckExtern(env, module, *entity, *external);
  } else if (const auto* model = ast::DynAs<ast::ModelDecl>(decl)) {
    CheckModel(env, module, *entity, *model);
  } else if (const auto* remote = ast::DynAs<ast::RemoteDecl>(decl)) {
    CheckRemote(env, module, *entity, *remote);
  } else if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(decl)) {
    CheckWorkflow(env, module, *entity, *workflow);
  } else if (const auto* service = ast::DynAs<ast::ServiceDecl>(decl)) {
    CheckService(env, module, *entity, *service);
  }
  entity->ready = true;
  if (entity->signature && !entity->signature->is_generic()) NoteResult(env, *entity);
  if (env.input.sink != nullptr) env.input.sink->Checked(*entity, env.program);
}

}  // namespace wf::sema
