#include "compiler/sema/body.h"

#include <algorithm>
#include <charconv>

#include "compiler/sema/names.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

std::string_view WordFor(LocalKind kind) {
  switch (kind) {
    case LocalKind::kParam:
      return "parameter";
    case LocalKind::kLet:
      return "`let`";
    case LocalKind::kNode:
      return "node";
    case LocalKind::kIndex:
      return "index";
    case LocalKind::kLoop:
      return "loop name";
    case LocalKind::kAccumulator:
      return "accumulator";
    case LocalKind::kArm:
      return "arm name";
    case LocalKind::kErr:
      return "error";
  }
  return "name";
}

// A parameter of a workflow has its name on the wire, too, if it has no other there.
std::string HelpToKeep(const Body& body, const Local& local, LocalKind kind) {
  const auto* workflow = kind == LocalKind::kParam && body.self != nullptr ? ast::DynAs<ast::WorkflowDecl>(*body.self) : nullptr;
  const auto is_seen = [&](const ast::Param& param) { return param.name.span == local.span && !param.external_name; };
  if (workflow == nullptr || std::none_of(workflow->params.begin(), workflow->params.end(), is_seen)) {
    return "`_` in front of the name silences this";
  }
  return "`_" + local.name + " as \"" + local.name + "\"` silences this, and clients call it as before";
}

std::string WithArticle(std::string_view word) { return (word.find_first_of("aeiou") == 0 ? "an " : "a ") + std::string(word); }

// What stands above keeps its name: nothing is shadowed.
std::string HelpToRename(std::string_view kind, const std::string& name) {
  return std::string(kind) + " has the name, and none is shadowed; call this one something else, as in `" + name + "_`";
}

}  // namespace

LocalId Body::Declare(LocalKind kind, const ast::Name& name, TypeRef type) {
  const auto id = static_cast<LocalId>(locals.size());
  locals.push_back({name.text, type, name.span});
  infos.push_back({.kind = kind});
  if (name.text == "_") return id;
  if (Sink* sink = env.input.sink; sink != nullptr && kind != LocalKind::kErr) sink->Declare(locals.back(), kind);
  bool taken = false;
  const auto other = Find(name.text);
  const bool is_inner_err = kind == LocalKind::kErr && other && infos[*other].kind == LocalKind::kErr;  // of a fallback in a fallback
  if (other && !is_inner_err) {
    taken = true;
    env.Report(name.span, kDuplicateName, {name.text})
        .Label(locals[*other].span, "first declared here")
        .Help(HelpToRename(WithArticle(WordFor(infos[*other].kind)), name.text));
    infos[*other].used = true;  // which of the two a use means is not known
    if (locals[*other].type != type) taken_names.insert(name.text);
  } else if (const auto symbol = symbols.find(name.text); symbol != symbols.end() && kind != LocalKind::kParam) {
    taken = true;
    // A parameter whose own name was taken is found no more, but its symbol is.
    const auto is_symbol = [&](const Local& local) { return local.span == symbol->second; };
    const bool is_local = std::any_of(locals.begin(), locals.end(), is_symbol);
    env.Report(name.span, kDuplicateName, {name.text})
        .Label(symbol->second, is_local ? "first declared here" : "this dimension has the name")
        .Help(HelpToRename("a dimension", name.text));
    taken_names.insert(name.text);
  } else if (Entity* entity = FindEntity(module, name.text); entity != nullptr && entity->decl->kind != ast::DeclKind::kErrorDecl) {
    taken = true;
    const bool is_import = entity->kind == EntityKind::kModule;  // has a help of its own
    auto builder = ReportTwice(env, name, *entity);
    if (!is_import) builder.Help(HelpToRename(NameOf(entity->kind), name.text));
    entity->used = true;
    entity->early_use_reported = true;  // what reads the name here means the local
    taken_names.insert(name.text);
  } else if (kind != LocalKind::kErr) {
    ReportIfBuiltIn(env, module, name, true);
  }
  if (taken) {
    infos.back().used = true;
    return id;
  }
  visible_.emplace_back(name.text, id);
  by_name_.insert_or_assign(name.text, Named{id, true});
  return id;
}

std::optional<LocalId> Body::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() || !at->second.visible ? std::nullopt : std::optional(at->second.id);
}

std::optional<LocalId> Body::FindLeft(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() || at->second.visible ? std::nullopt : std::optional(at->second.id);
}

std::vector<std::string> Body::VisibleNames() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : visible_) names.push_back(name);
  for (const auto& [name, span] : symbols) {
    if (name.find('#') == std::string::npos) names.push_back(name);
  }
  return names;
}

void Body::UseParametersOf(std::string_view symbol) {
  for (size_t i = 0; i < locals.size() && infos[i].kind == LocalKind::kParam; ++i) {
    ForEachDim(locals[i].type, [&](const Dim& dim) {
      const std::vector<std::string> symbols_of = dim.Symbols();
      infos[i].used = infos[i].used || std::find(symbols_of.begin(), symbols_of.end(), symbol) != symbols_of.end();
    });
  }
}

void Body::Leave(size_t mark) {
  silenced = silenced || env.mistakes() != mistakes_before_;
  bool has_left_err = false;
  for (size_t at = mark; at < visible_.size(); ++at) {
    const LocalId id = visible_[at].second;
    by_name_.find(visible_[at].first)->second.visible = false;
    const LocalKind kind = infos[id].kind;  // an index has to be named, used or not; nodes are reported with the graph
    has_left_err = has_left_err || kind == LocalKind::kErr;
    const bool reported_elsewhere = kind == LocalKind::kNode || kind == LocalKind::kErr || kind == LocalKind::kIndex;
    if (!infos[id].used && !reported_elsewhere && !locals[id].name.starts_with('_') && module.is_root) unused_.push_back(id);
  }
  visible_.resize(mark);
  if (--depth_ == 0) ReportUnused();
  for (size_t at = has_left_err ? visible_.size() : 0; at > 0; --at) {  // `err` of the fallback around is found again
    const auto& [name, id] = visible_[at - 1];
    if (infos[id].kind != LocalKind::kErr) continue;
    by_name_.insert_or_assign(name, Named{id, true});
    break;
  }
}

void Body::ReportUnused() {
  for (const LocalId id : unused_) {
    if (silenced) break;
    env.Report(locals[id].span, kUnused, {WordFor(infos[id].kind), locals[id].name}).Help(HelpToKeep(*this, locals[id], infos[id].kind));
  }
  unused_.clear();
}

Dim Body::NewSymbol(std::string_view base, const Span& origin) {
  std::string name = std::string(base.substr(0, base.find('#'))) + "#b" + std::to_string(next_symbol_++);
  symbols.emplace(name, origin);
  return Dim::Symbol(std::move(name));
}

std::optional<uint32_t> Body::BirthOf(const std::string& symbol) const {
  if (const auto again = again_.find(symbol); again != again_.end()) return again->second;
  const size_t hash = symbol.find("#b");
  if (hash == std::string::npos) return std::nullopt;
  uint32_t number = 0;
  std::from_chars(symbol.data() + hash + 2, symbol.data() + symbol.size(), number);
  return number;
}

bool Body::IsBornSince(const std::string& symbol, uint32_t mark) const {
  const auto birth = BirthOf(symbol);
  return birth && *birth >= mark;
}

}  // namespace wf::sema
