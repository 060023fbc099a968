#include "compiler/lsp/completion.h"

#include <utility>

namespace wf::lsp {

ItemKind ItemOf(ThingKind kind) {
  switch (kind) {
    case ThingKind::kConst:
      return kConstantItem;
    case ThingKind::kType:
      return kStructItem;
    case ThingKind::kError:
      return kEventItem;
    case ThingKind::kFn:
    case ThingKind::kExtern:
      return kFunctionItem;
    case ThingKind::kModel:
    case ThingKind::kRemote:
      return kInterfaceItem;
    case ThingKind::kWorkflow:
    case ThingKind::kService:
      return kClassItem;
    case ThingKind::kModule:
    case ThingKind::kStage:
      return kModuleItem;
    case ThingKind::kField:
      return kFieldItem;
    case ThingKind::kParam:
    case ThingKind::kLet:
    case ThingKind::kNode:
    case ThingKind::kIndex:
    case ThingKind::kLoop:
    case ThingKind::kAccumulator:
    case ThingKind::kDimension:
      return kVariableItem;
  }
  return kVariableItem;
}

void Items::Add(std::string label, ItemKind kind, std::string detail, std::string about) {
  if (!seen_.insert(label).second) return;
  json::Object item{{"label", json::fixUTF8(label)}, {"kind", static_cast<int>(kind)}};
  if (!detail.empty()) item["detail"] = json::fixUTF8(detail);
  if (!about.empty()) item["documentation"] = json::Object{{"kind", "markdown"}, {"value", json::fixUTF8(about)}};
  items_.push_back(std::move(item));
}

void Items::Add(const Thing& thing) {
  Add(thing.name, ItemOf(thing.kind), thing.type.empty() ? std::string(WordFor(thing.kind)) : thing.type,
      thing.decl != nullptr ? thing.decl->doc : "");
}

}  // namespace wf::lsp
