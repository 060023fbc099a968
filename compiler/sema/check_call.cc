// Calls of fn, extern, model, remote, workflow and record types: which callee, which arguments, which result type.

#include "compiler/sema/check_call.h"

#include <algorithm>
#include <array>

#include "compiler/diag/foreign.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/help.h"
#include "compiler/sema/names.h"
#include "compiler/sema/settings.h"
#include "compiler/sema/waiting.h"
#include "runtime/base/text.h"

namespace wf::sema {
namespace {

// A call that may wait needs a name in traces and a place for its settings, so it stands in a node (docs/semantics.md 4). Extern nodes of
// the library do not wait: they read what changes, as the clock.
bool MayWaitHere(Body& body, const Call& call, const Entity& callee, const Where& where) {
  if (where.may_wait) return true;
  const bool is_impure = callee.kind == EntityKind::kExtern && callee.home->is_std;
  auto builder = body.env.Report(call.span(), kWaitingCallOutsideNode, {callee.name, is_impure ? "is not pure" : "may wait", where.what});
  if (where.span.file != source::FileId::kNone) builder.Label(where.span, "in " + std::string(where.what));
  NameSet names;
  CollectNames(call.expr, names);
  Span whole = call.span();
  if (call.piped != nullptr) {
    CollectNames(*call.piped, names);
    whole.begin = call.piped->span.begin;
  }
  if (where.let != nullptr && where.let->value->span == whole) {
    Span word = where.let->span;
    word.end = word.begin + 3;  // `let`
    builder.Help("a `node` in place of the `let` has the value").Fix(word, "node");
    return false;
  }
  builder.Help(HelpToWait(body, whole, names, where));
  return false;
}

void SkipArguments(Body& body, const Call& call) {
  if (call.piped != nullptr) SkipUnchecked(body, *call.piped);
  for (const ast::Argument& argument : call.expr.arguments) SkipUnchecked(body, *argument.value);
}

}  // namespace

// Arguments are still looked at when the callee is unknown: they may hold mistakes of their own. That their types are not known has been
// said.
ExprPtr CheckArgumentsOnly(Body& body, const Call& call, const Where& where, TypeRef meant) {
  for (const GivenArgument& argument : GivenArguments(call)) {
    if (argument.value->kind == ast::ExprKind::kLambdaExpr) {
      SkipUnchecked(body, *argument.value);
    } else {
      CheckExpr(body, *argument.value, body.env.types.Error(), where);
    }
  }
  return Poison(body, call.span(), meant);
}

TypeRef MeantBy(Body& body, const Entity& callee) {
  const TypeRef result = callee.signature->result;
  if (result == nullptr || result->is_unknown) return nullptr;
  return MapDims(body.env.types, result, [](const Dim& dim) { return dim.is_constant() ? dim : AnyDim(); });
}

namespace {

ExprPtr CheckFnCall(Body& body, Entity& callee, const Call& call, TypeRef wanted, const Where& where) {
  ExprPtr expr = Make(ExprKind::kCallFn, wanted != nullptr ? wanted : body.env.types.Error(), call.span());
  expr->index = callee.index;
  return CheckSignatureCall(body, std::move(expr), callee, call, where);
}

// Of a model, a workflow, an extern node or a remote.
ExprPtr CheckWaitingCall(Body& body, Entity& callee, const Call& call, const Where& where) {
  if (!MayWaitHere(body, call, callee, where)) {
    SkipArguments(body, call);
    return Poison(body, call.span(), MeantBy(body, callee));
  }
  body.may_fail = true;
  body.annotates = body.annotates || callee.signature->annotates;
  if (callee.signature->annotates && body.loops_around > 0) {
    body.env.Report(call.span(), kAnnotatesInLoop, {callee.name})
        .Label(callee.span, "it, or a workflow that it calls, has an `annotate`")
        .Help("yield the text as a result of `" + callee.name + "`, and annotate after the loop");
  }
  if (callee.kind == EntityKind::kModel) body.model_calls.emplace_back(callee.index, call.span());
  if (callee.kind == EntityKind::kExtern || callee.kind == EntityKind::kRemote) ++body.n_outside_calls;
  const ExprKind kind = callee.kind == EntityKind::kModel    ? ExprKind::kCallModel
                        : callee.kind == EntityKind::kExtern ? ExprKind::kCallExtern
                        : callee.kind == EntityKind::kRemote ? ExprKind::kCallRemote
                                                             : ExprKind::kCallWorkflow;
  ExprPtr expr = Make(kind, body.env.types.Error(), call.span());
  expr->index = callee.index;
  return CheckSignatureCall(body, std::move(expr), callee, call, where);
}

ExprPtr CheckRecord(Body& body, Entity& callee, const Call& call, const Where& where) {
  std::vector<ParamName> names;
  const auto* decl = callee.decl != nullptr ? ast::DynAs<ast::TypeDecl>(*callee.decl) : nullptr;
  for (const Field& field : callee.type->fields) {
    ParamName& name = names.emplace_back(field.name, field.type->kind != TypeKind::kOptional);
    for (size_t i = 0; decl != nullptr && i < decl->fields.size(); ++i) {
      if (decl->fields[i].label.text == field.name) name.declared = decl->fields[i].label.span;
    }
  }
  const auto given = BindArguments(body, call, callee.name, callee.span, names);
  if (!given) {
    SkipArguments(body, call);
    return Poison(body, call.span(), callee.type);
  }
  ExprPtr record = Make(ExprKind::kRecord, callee.type, call.span());
  bool sound = true;
  for (size_t i = 0; i < given->size(); ++i) {
    const TypeRef type = callee.type->fields[i].type;
    const bool is_written = names[i].declared.file != source::FileId::kNone;
    const Origin origin{is_written ? names[i].declared : callee.span, "member `" + names[i].name + "` of `" + callee.name + "`"};
    ExprPtr value =
        (*given)[i].value == nullptr ? Make(ExprKind::kNone, type, call.span()) : CheckAs(body, *(*given)[i].value, type, where, origin);
    sound = sound && !IsPoison(*value);
    record->args.push_back(std::move(value));
  }
  return sound ? std::move(record) : Poison(body, call.span(), callee.type);
}

ExprPtr CheckEntityCall(Body& body, Entity& callee, const Call& call, TypeRef wanted, const Where& where) {
  switch (callee.kind) {
    case EntityKind::kFn:
      return CheckFnCall(body, callee, call, wanted, where);
    case EntityKind::kExtern:
      if (!callee.signature->may_wait) return CheckFnCall(body, callee, call, wanted, where);
      return CheckWaitingCall(body, callee, call, where);
    case EntityKind::kModel:
    case EntityKind::kRemote:
    case EntityKind::kWorkflow:
      return CheckWaitingCall(body, callee, call, where);
    case EntityKind::kType:
      if (callee.type->kind != TypeKind::kError) return CheckRecord(body, callee, call, where);
      return CheckArgumentsOnly(body, call, where);
    case EntityKind::kError:
      body.env.Report(call.expr.callee->span, kNotCallable, {"the error `" + callee.name + "`"})
          .Label(callee.span, "declared here")
          .Help("raise it: `fail " + callee.name + "(..)`");
      break;
    case EntityKind::kConst:
    case EntityKind::kService:
    case EntityKind::kModule:
      body.env.Report(call.expr.callee->span, kNotCallable, {std::string(NameOf(callee.kind))}).Label(callee.span, "declared here");
      break;
  }
  SkipArguments(body, call);
  return Poison(body, call.span());
}

// A function of an imported module that the checker knows.
bool IsBuiltinMember(Body& body, const ast::MemberExpr& member) {
  const auto* name = ast::DynAs<ast::NameExpr>(*member.object);
  if (name == nullptr) return false;
  Entity* entity = FindEntity(body.module, name->name);
  if (entity == nullptr || entity->kind != EntityKind::kModule || entity->target == nullptr) return false;
  if (FindMember(entity->target->path, member.member.text) == nullptr) return false;
  entity->used = true;
  body.env.NoteUse(name->span, entity->span);
  return true;
}

// `int(text)`: the call that converts numbers elsewhere reads texts, too. False: it is none, or of no text.
bool ReportReadText(Body& body, const ast::NameExpr& name, const Call& call) {
  const auto given = GivenArguments(call);
  const auto* argument = given.size() == 1 ? ast::DynAs<ast::NameExpr>(*given[0].value) : nullptr;
  const auto local = argument != nullptr ? body.Find(argument->name) : std::nullopt;
  const std::string_view type = diag::OursFor(diag::Foreign::kType, name.name);
  const bool is_text = local && body.locals[*local].type->kind == TypeKind::kString;
  if (!is_text || type.empty() || type == "string" || body.module.damaged) return false;
  body.env.Report(name.span, kUnknownName, {name.name}).Help(HelpToReadText(std::string(type), argument->name));
  return true;
}

// `isinstance(x, f32)`: its arguments name types, which are no values. False: it is none.
bool ReportAskedType(Body& body, const ast::NameExpr& name) {
  constexpr std::array<std::string_view, 4> kWords = {"isinstance", "is_instance", "instanceof", "typeof"};
  if (std::find(kWords.begin(), kWords.end(), name.name) == kWords.end() || body.module.damaged) return false;
  body.env.Report(name.span, kUnknownName, {name.name})
      .Help(
          "a value has the type that its parameter says, so none is asked for it; whether there is a value asks `match x { none => a, v => "
          "b }`");
  return true;
}

// Nothing: the name is another's.
std::optional<ExprPtr> CheckNamedCall(Body& body, const ast::NameExpr& name, const Call& call, TypeRef wanted, const Where& where) {
  const Entity* const entity = FindEntity(body.module, name.name);
  const bool declared = entity != nullptr;
  if (const auto dtype = DTypeNamed(name.name)) {  // a declaration of that name has been refused
    return declared ? CheckArgumentsOnly(body, call, where) : CheckConversion(body, *dtype, call, where);
  }
  const bool is_module = declared && entity->kind == EntityKind::kModule;  // `json("x.json")` beside `import std.json;`
  if ((!declared || is_module) && IsEmbedName(name.name)) return CheckEmbed(body, name.name, call.expr, wanted, where);
  if (!declared && IsBuiltinName(name.name)) return CheckBuiltin(body, name.name, call, wanted, where);
  if (const auto local = body.Find(name.name)) {
    body.infos[*local].used = true;
    body.env.NoteUse(name.span, body.locals[*local].span);
    body.env.Report(name.span, kNotCallable, {"`" + name.name + "`, a value of type `" + ToString(body.locals[*local].type) + "`,"})
        .Label(body.locals[*local].span, "declared here");
    SkipArguments(body, call);
    return Poison(body, call.span());
  }
  if (!declared && ReportAskedType(body, name)) {
    SkipArguments(body, call);
    return Poison(body, call.span());
  }
  if (!declared && ReportReadText(body, name, call)) return CheckArgumentsOnly(body, call, where);
  return std::nullopt;
}

}  // namespace

bool TakesTypeOfPlace(const Body& body, const ast::Expr& expr) {
  const auto* call = ast::DynAs<ast::CallExpr>(expr);
  const auto* member = call != nullptr ? ast::DynAs<ast::MemberExpr>(*call->callee) : nullptr;
  const auto* name = member != nullptr ? ast::DynAs<ast::NameExpr>(*member->object) : nullptr;
  const Entity* module = name != nullptr ? FindEntity(body.module, name->name) : nullptr;
  return module != nullptr && module->target != nullptr &&
         FindMember(module->target->path, member->member.text) == &InfoOf(Builtin::kJsonParse);
}

TypeRef BelowOptional(TypeRef wanted, const Expr& value) {
  const bool is_plain = value.type->kind != TypeKind::kOptional && value.type->kind != TypeKind::kNone;
  return wanted->kind == TypeKind::kOptional && is_plain ? wanted->element : wanted;
}

ExprPtr MakeSome(Body& body, ExprPtr value) {
  ExprPtr some = Make(ExprKind::kSome, body.env.types.Optional(value->type), value->span);
  some->args.push_back(std::move(value));
  return some;
}

std::vector<GivenArgument> GivenArguments(const Call& call) {
  std::vector<GivenArgument> given;
  if (call.piped != nullptr) given.push_back({call.piped, nullptr, call.piped->span});
  for (const ast::Argument& argument : call.expr.arguments) {
    given.push_back({argument.value.get(), argument.label ? &*argument.label : nullptr, argument.span});
  }
  return given;
}

std::optional<std::vector<GivenArgument>> BindArguments(Body& body, const Call& call, const std::string& callee, const Span& declared,
                                                        const std::vector<ParamName>& params) {
  std::vector<GivenArgument> bound(params.size());
  bool sound = true, named = false;
  size_t next = 0, positional = 0;
  std::vector<std::string> names;
  for (const ParamName& param : params) names.push_back(param.name);
  const auto label = [&](diag::Builder builder) {
    sound = false;
    if (declared.file != source::FileId::kNone) builder.Label(declared, "declared here");
    return builder;
  };
  for (const GivenArgument& argument : GivenArguments(call)) {
    size_t index = next++;
    if (argument.label != nullptr) {
      named = true;
      const auto at = std::find(names.begin(), names.end(), argument.label->text);
      if (at == names.end()) {
        auto builder = label(body.env.Report(argument.label->span, kUnknownParameter, {callee, argument.label->text}));
        if (FindSetting(argument.label->text) == nullptr || diag::Suggest(argument.label->text, names))
          builder.DidYouMeanOneOf(argument.label->span, argument.label->text, names);
        else
          builder.Help("a setting stands in braces behind the node's expression: `node y = " + callee + "(..) { " + argument.label->text +
                       " ..; }`");
        continue;
      }
      index = static_cast<size_t>(at - names.begin());
      if (params[index].declared.file != source::FileId::kNone) body.env.NoteUse(argument.label->span, params[index].declared);
    } else if (named) {
      label(body.env.Report(argument.span, kPositionalAfterNamed));
      continue;
    } else if (++positional > params.size()) {
      const size_t given = call.expr.arguments.size() + (call.piped != nullptr ? 1 : 0);
      const bool all_required = std::all_of(params.begin(), params.end(), [](const ParamName& param) { return param.required; });
      const std::string most = (all_required ? "" : "at most ") + base::Counted(params.size(), "argument");
      auto builder = label(body.env.Report(argument.span, kTooManyArguments, {callee, most, given}));
      if (params.size() == 1 && params[0].takes_list) builder.Help("it takes one list: `[a, b]`");
      break;
    }
    if (bound[index].value != nullptr) {
      label(body.env.Report(argument.span, kArgumentTwice, {names[index]})).Label(bound[index].span, "first given here");
      continue;
    }
    bound[index] = argument;
  }
  if (!sound) return std::nullopt;
  for (size_t i = 0; i < params.size(); ++i) {
    if (bound[i].value == nullptr && params[i].required) label(body.env.Report(call.span(), kArgumentMissing, {callee, names[i]}));
  }
  return sound ? std::optional(std::move(bound)) : std::nullopt;
}

ExprPtr CheckCall(Body& body, const Call& call, TypeRef wanted, const Where& where) {
  if (IsReducer(call.expr)) return CheckReducer(body, call.expr, wanted, where);
  if (const auto* name = ast::DynAs<ast::NameExpr>(*call.expr.callee)) {
    if (auto value = CheckNamedCall(body, *name, call, wanted, where)) return *std::move(value);
  }
  if (const auto* member = ast::DynAs<ast::MemberExpr>(*call.expr.callee); member != nullptr && IsBuiltinMember(body, *member)) {
    return CheckBuiltin(body, member->member.text, call, wanted, where);
  }
  bool reported = false;
  Entity* callee = ResolveEntity(body, *call.expr.callee, NameUse::kCall, reported);
  if (callee != nullptr) return CheckEntityCall(body, *callee, call, wanted, where);
  if (reported) return CheckArgumentsOnly(body, call, where);
  ExprPtr value = CheckExpr(body, *call.expr.callee, nullptr, where);
  if (!IsPoison(*value)) {
    body.env.Report(call.expr.callee->span, kNotCallable, {"a value of type `" + ToString(value->type) + "`"});
  } else if (call.expr.callee->kind == ast::ExprKind::kIndexExpr) {  // as in `mean[i](x[i])`: a reducer that is none would bind `i`
    for (const GivenArgument& argument : GivenArguments(call)) SkipUnchecked(body, *argument.value);
    return Poison(body, call.span());
  }
  return CheckArgumentsOnly(body, call, where);
}

}  // namespace wf::sema
