#include "compiler/lsp/scope.h"

namespace wf::lsp {
namespace {

const Thing* DeclarationIn(const Analysis& analysis, const ast::File* module, const std::string& name) {
  for (size_t i = 0; module != nullptr && i < module->decls.size(); ++i) {
    const ast::Decl& decl = *module->decls[i];
    if (decl.name.text == name) return analysis.index().Find(PlaceOf(decl.name.span));
  }
  return nullptr;
}

}  // namespace

bool IsLocal(ThingKind kind) { return kind >= ThingKind::kParam && kind <= ThingKind::kDimension; }

std::vector<const Analysis*> AnalysesOf(const Query& query) {
  std::vector<const Analysis*> all{&query.analysis};
  if (query.document.last_sound) all.push_back(query.document.last_sound.get());
  return all;
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

const Thing* CalleeOf(const Query& query, const std::string& module, const std::string& name) {
  const std::string& wanted = module.empty() ? name : module;
  for (const Thing* thing : DeclaredIn(query)) {
    if (thing->name != wanted) continue;
    if (module.empty()) return thing;
    for (const Analysis* analysis : AnalysesOf(query)) {
      if (const Thing* found = DeclarationIn(*analysis, analysis->TreeOf(thing->target), name)) return found;
    }
  }
  for (const Analysis* analysis : AnalysesOf(query)) {
    const Thing* found = module.empty() ? DeclarationIn(*analysis, analysis->TreeOf("std.prelude"), name) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace wf::lsp
