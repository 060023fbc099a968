// Members, types, extents and values that may be named next.

#include <algorithm>
#include <iterator>

#include "compiler/ir/scalar.h"
#include "compiler/lsp/completion.h"
#include "compiler/lsp/scope.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"

namespace wf::lsp {
namespace {

// What is known of a name that is in reach: the nearest above it in the present text, or in the last that parsed whole; null: nothing.
const Thing* LocalNamed(const Query& query, const std::string& name) {
  for (const Analysis* analysis : AnalysesOf(query)) {
    const ast::Decl* around = DeclAround(query, *analysis);
    if (around == nullptr) continue;
    const uint32_t end = analysis == &query.analysis ? query.byte : around->span.end;
    const auto& things = analysis->index().things();
    const auto first = things.lower_bound({analysis->root(), around->span.begin});
    for (auto i = things.lower_bound({analysis->root(), end}); i != first;) {
      --i;
      if (i->second.name == name && IsLocal(i->second.kind)) return &i->second;
    }
  }
  return nullptr;
}

// `x` of `fn f(x: f32[n]) -> f32[`.
bool IsLabel(const Context& context, const std::string& name) {
  const auto in = [&](const std::vector<std::string>& words) {
    const auto i = std::find(words.begin(), words.end(), name);
    return i != words.end() && std::next(i) != words.end() && *std::next(i) == ":";
  };
  return in(context.words) || in(context.around);
}

// Whether a declaration such as the one that is being typed may hold the word.
bool StandsHere(const Query& query, std::string_view word) {
  const ast::Decl* around = DeclAround(query, query.analysis);
  if (around == nullptr) return true;
  if (word == "meta" || word == "annotate")
    return around->kind == ast::DeclKind::kWorkflowDecl || around->kind == ast::DeclKind::kErrorDecl;
  return word != "close" || around->kind == ast::DeclKind::kTestDecl || around->kind == ast::DeclKind::kErrorDecl;
}

}  // namespace

void AddThings(Completion& at, ThingKind kind) {
  for (const Thing* thing : DeclaredIn(at.query)) {
    if (thing->kind == kind) at.items.Add(*thing);
  }
}

// What of the library has no documentation is its own.
void AddExports(Completion& at, const Analysis& analysis, const ast::File& module) {
  const bool is_std = module.package && module.package->parts.front().text == "std";
  for (const ast::DeclPtr& decl : module.decls) {
    if (is_std && decl->doc.empty()) continue;
    const Thing* thing = analysis.index().Find(lsp::PlaceOf(decl->name.span));
    if (thing == nullptr || thing->kind == ThingKind::kModule || thing->kind == ThingKind::kService) continue;
    const auto* fn = ast::DynAs<ast::FnDecl>(*decl);
    const bool typed = fn != nullptr && fn->result;
    const Span head{decl->span.file, decl->span.begin, typed ? fn->result->span.end : decl->span.begin};
    at.items.Add(thing->name, ItemOf(thing->kind), typed ? std::string(analysis.sources().Text(head)) : thing->type, decl->doc);
  }
  for (const sema::BuiltinInfo& row : sema::kBuiltins) {
    const bool is_here = !row.module.empty() && module.package && ast::ToString(*module.package) == row.module;
    if (is_here) at.items.Add(std::string(row.name), kFunctionItem, std::string(row.head), std::string(row.about));
  }
}

void AddMembers(Completion& at) {
  const size_t end = at.context.words.size() - 1;
  const std::string& object = at.context.words[end - 1];
  if (const auto* members = at.query.analysis.index().MembersAt(at.query.file(), at.query.byte)) {
    for (const auto& [name, type] : *members) at.items.Add(name, kFieldItem, type);
  }
  if (!at.items.empty() || (end >= 2 && at.context.words[end - 2] == ".")) return;
  for (const Thing* thing : DeclaredIn(at.query)) {
    if (thing->name != object) continue;
    for (const Analysis* analysis : AnalysesOf(at.query)) {
      const ast::File* module = thing->target.empty() ? nullptr : analysis->TreeOf(thing->target);
      if (module != nullptr) AddExports(at, *analysis, *module);
    }
  }
}

void AddLocalNames(Completion& at) {
  for (const std::string& name : at.context.names) {
    if (const Thing* local = LocalNamed(at.query, name)) {
      at.items.Add(*local);
    } else {
      at.items.Add(name, kVariableItem);
    }
  }
}

void AddTypes(Completion& at) {
  for (const char* name : {"string", "bytes", "list", "map"}) at.items.Add(name, kStructItem, "type");
  for (int dtype = 1; dtype <= static_cast<int>(sema::DType::kF64); ++dtype) {
    at.items.Add(std::string(ir::NameOf(static_cast<sema::DType>(dtype))), kStructItem, "type");
  }
  AddThings(at, ThingKind::kType);
  AddThings(at, ThingKind::kModule);
}

void AddExtents(Completion& at) {
  for (const std::string& name : at.context.names) {
    const Thing* local = LocalNamed(at.query, name);
    if (local != nullptr && local->kind == ThingKind::kDimension) at.items.Add(*local);
    if (local == nullptr && !IsLabel(at.context, name)) at.items.Add(name, kVariableItem);
  }
  AddThings(at, ThingKind::kConst);
  at.items.Add("_", kKeywordItem, "any extent");
}

void AddValues(Completion& at) {
  AddLocalNames(at);
  for (const Thing* thing : DeclaredIn(at.query)) {
    if (thing->kind != ThingKind::kService) at.items.Add(*thing);
  }
  for (const Analysis* analysis : AnalysesOf(at.query)) {
    if (const ast::File* prelude = analysis->TreeOf("std.prelude")) AddExports(at, *analysis, *prelude);
  }
  std::vector<std::string> builtins;
  sema::AddBuiltinNames(builtins);
  for (std::string& name : builtins) {
    const Thing* thing = BuiltIn("", name, false);
    if (thing == nullptr) thing = BuiltIn("", name, true);
    if (!StandsHere(at.query, name)) continue;
    at.items.Add(std::move(name), kFunctionItem, thing != nullptr ? thing->type : "built in", thing != nullptr ? thing->about : "");
  }
  for (int dtype = 1; dtype <= static_cast<int>(sema::DType::kF64); ++dtype) {
    at.items.Add(std::string(ir::NameOf(static_cast<sema::DType>(dtype))), kFunctionItem, "conversion");
  }
  for (const char* word : {"if", "else", "match", "for", "in", "fold", "fail", "true", "false", "none"}) at.items.Add(word, kKeywordItem);
}

}  // namespace wf::lsp
