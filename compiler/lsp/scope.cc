#include "compiler/lsp/scope.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/sema/builtins.h"

namespace wf::lsp {
namespace {

std::string NameOf(const ast::Decl& decl) {
  const auto* test = ast::DynAs<ast::TestDecl>(decl);
  return test != nullptr ? '"' + test->title : decl.name.text;
}

const Thing* DeclarationIn(const Analysis& analysis, const ast::File* module, const std::string& name) {
  for (size_t i = 0; module != nullptr && i < module->decls.size(); ++i) {
    const ast::Decl& decl = *module->decls[i];
    if (decl.name.text == name) return analysis.index().Find(PlaceOf(decl.name.span));
  }
  return nullptr;
}

// `head` is "fn name(a: T, b: T) -> T".
Thing ThingFrom(std::string_view name, std::string_view head, std::string_view about) {
  Thing thing;
  thing.kind = ThingKind::kFn;
  thing.name = name;
  thing.type = head.substr(std::string_view("fn ").size() + name.size());
  thing.about = about;
  const size_t open = head.find('('), arrow = head.find(" -> ");
  if (arrow != std::string_view::npos) thing.gives = head.substr(arrow + std::string_view(" -> ").size());
  std::string_view rest = head.substr(open + 1, head.rfind(')', arrow) - open - 1);
  for (int depth = 0; !rest.empty();) {
    size_t end = 0;
    for (; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) {
      depth += rest[end] == '[' || rest[end] == '<' ? 1 : rest[end] == ']' || rest[end] == '>' ? -1 : 0;
    }
    const std::string_view text = rest.substr(0, end);
    thing.takes.emplace_back(text.substr(0, text.find(':')), text);
    rest.remove_prefix(std::min(rest.size(), end + std::string_view(", ").size()));
  }
  return thing;
}

using BuiltInKey = std::tuple<std::string_view, std::string_view, bool>;  // module, name, indexed

std::map<BuiltInKey, Thing> AllBuiltIn() {
  std::map<BuiltInKey, Thing> all;
  for (const auto& row : sema::kBuiltins) all.emplace(BuiltInKey(row.module, row.name, false), ThingFrom(row.name, row.head, row.about));
  for (const auto& row : sema::kReducers) all.emplace(BuiltInKey("", row.name, true), ThingFrom(row.name, row.head, row.about));
  for (const auto& row : sema::kWords) all.emplace(BuiltInKey("", row.name, false), ThingFrom(row.name, row.head, row.about));
  return all;
}

}  // namespace

const Thing* BuiltIn(std::string_view module, std::string_view name, bool indexed) {
  static const std::map<BuiltInKey, Thing> kAll = AllBuiltIn();
  const auto at = kAll.find(BuiltInKey(module, name, indexed));
  return at == kAll.end() ? nullptr : &at->second;
}

bool IsLocal(ThingKind kind) { return kind >= ThingKind::kParam && kind <= ThingKind::kDimension; }

std::vector<const Analysis*> AnalysesOf(const Query& query) {
  std::vector<const Analysis*> all{&query.analysis};
  if (query.document.last_sound) all.push_back(query.document.last_sound.get());
  return all;
}

const ast::Decl* DeclAround(const Query& query, const Analysis& analysis) {
  if (query.analysis.tree() == nullptr) return nullptr;
  const ast::Decl* around = nullptr;
  for (const ast::DeclPtr& decl : query.analysis.tree()->decls) {
    if (decl->span.begin <= query.byte) around = decl.get();
  }
  if (around == nullptr || &analysis == &query.analysis) return around;
  for (const ast::DeclPtr& decl : analysis.tree()->decls) {
    if (!NameOf(*decl).empty() && NameOf(*decl) == NameOf(*around)) return decl.get();
  }
  return nullptr;
}

std::vector<const Thing*> DeclaredIn(const Query& query) {
  std::vector<const Thing*> declared;
  for (const Analysis* analysis : AnalysesOf(query)) {
    for (const auto& [place, thing] : analysis->index().things()) {
      if (place.file == analysis->root() && thing.decl != nullptr) declared.push_back(&thing);
    }
  }
  return declared;
}

const Thing* CalleeOf(const Query& query, const std::string& module, const std::string& name, bool indexed) {
  const std::string& wanted = module.empty() ? name : module;
  for (const Thing* thing : DeclaredIn(query)) {
    if (thing->name != wanted) continue;
    if (module.empty()) return thing;
    for (const Analysis* analysis : AnalysesOf(query)) {
      if (const Thing* found = DeclarationIn(*analysis, analysis->TreeOf(thing->target), name)) return found;
    }
    if (const Thing* found = thing->target.empty() ? nullptr : BuiltIn(thing->target, name, false)) return found;
  }
  for (const Analysis* analysis : AnalysesOf(query)) {
    const Thing* found = module.empty() ? DeclarationIn(*analysis, analysis->TreeOf("std.prelude"), name) : nullptr;
    if (found != nullptr) return found;
  }
  return module.empty() ? BuiltIn("", name, indexed) : nullptr;
}

}  // namespace wf::lsp
