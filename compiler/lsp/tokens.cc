// Colours by meaning.

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/lsp/requests.h"
#include "compiler/parse/words.h"
#include "compiler/sema/check_expr.h"

namespace wf::lsp {
namespace {

enum TokenType : int {
  kNamespace,
  kTypeName,
  kFunction,
  kVariable,
  kParameter,
  kProperty,
  kKeyword,
  kComment,
  kString,
  kNumber,
  kEvent,
  kClass,
  kInterface,
  kNone
};
constexpr const char* kTypeNames[] = {"namespace", "type",   "function", "variable", "parameter", "property", "keyword",
                                      "comment",   "string", "number",   "event",    "class",     "interface"};
enum Modifier : int { kPlain = 0, kDeclaration = 1, kReadonly = 2, kLibrary = 4 };
constexpr const char* kModifierNames[] = {"declaration", "readonly", "defaultLibrary"};

TokenType TypeOf(ThingKind kind) {
  switch (kind) {
    case ThingKind::kModule:
    case ThingKind::kStage:
      return kNamespace;
    case ThingKind::kType:
      return kTypeName;
    case ThingKind::kFn:
    case ThingKind::kExtern:
      return kFunction;
    case ThingKind::kModel:
    case ThingKind::kRemote:
      return kInterface;
    case ThingKind::kWorkflow:
    case ThingKind::kService:
      return kClass;
    case ThingKind::kError:
      return kEvent;
    case ThingKind::kParam:
    case ThingKind::kDimension:
      return kParameter;
    case ThingKind::kField:
      return kProperty;
    case ThingKind::kConst:
    case ThingKind::kLet:
    case ThingKind::kNode:
    case ThingKind::kIndex:
    case ThingKind::kLoop:
    case ThingKind::kAccumulator:
      return kVariable;
  }
  return kVariable;
}

struct Coloured {
  Span span;
  TokenType type = kNone;
  int modifiers = kPlain;
};

class Painter {
 public:
  Painter(const Analysis& analysis, const Host& host) : analysis_(analysis), host_(host) {
    for (std::string& word : parse::Keywords()) keywords_.insert(std::move(word));
    for (const ast::Setting* setting : SettingsIn(*analysis.tree())) settings_.insert(setting->name.span.begin);
  }

  std::vector<Coloured> Paint() {
    for (const Span& token : analysis_.tree()->tokens) Token(token);
    for (const ast::Comment& comment : analysis_.tree()->comments) painted_.push_back({comment.span, kComment});
    std::stable_sort(painted_.begin(), painted_.end(), [](const Coloured& a, const Coloured& b) { return a.span.begin < b.span.begin; });
    return std::move(painted_);
  }

 private:
  Coloured Named(const Occurrence& one) const {
    const Thing& thing = *analysis_.index().Find(one.thing);
    int modifiers = PlaceOf(one.span) == one.thing ? kDeclaration : kPlain;
    if (thing.kind == ThingKind::kConst) modifiers |= kReadonly;
    if (analysis_.sources().name(thing.span.file).starts_with(host_.stdlib)) modifiers |= kLibrary;
    return {one.span, TypeOf(thing.kind), modifiers};
  }

  void Token(const Span& token) {
    const std::string_view text = analysis_.sources().Text(token);
    if (text.empty()) return;
    if (text.front() == '"' || text.starts_with("r\"")) return String(token);
    const Occurrence* one = analysis_.index().At(token.file, token.begin);
    if (one != nullptr && one->span == token) {
      painted_.push_back(Named(*one));
    } else if (std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
      painted_.push_back({token, kNumber});
    } else if (settings_.contains(token.begin)) {
      painted_.push_back({token, kProperty, kLibrary});
    } else if (analysis_.index().FieldAt(token) != nullptr) {
      painted_.push_back({token, kProperty});
    } else if (keywords_.contains(text)) {
      painted_.push_back({token, kKeyword});
    } else if (sema::DTypeNamed(text) || text == "string" || text == "bytes" || text == "map") {
      painted_.push_back({token, kTypeName, kLibrary});
    } else if (sema::IsBuiltinName(text)) {
      painted_.push_back({token, kFunction, kLibrary});
    } else if (sema::IsBuiltInError(text)) {
      painted_.push_back({token, kEvent, kLibrary});
    }
  }

  // A string, cut at the names in its holes.
  void String(const Span& token) {
    uint32_t done = token.begin;
    const auto& all = analysis_.index().occurrences();
    auto at =
        std::lower_bound(all.begin(), all.end(), PlaceOf(token), [](const Occurrence& a, const Place& b) { return PlaceOf(a.span) < b; });
    for (; at != all.end() && at->span.file == token.file && at->span.end <= token.end; ++at) {
      painted_.push_back({{token.file, done, at->span.begin}, kString});
      painted_.push_back(Named(*at));
      done = at->span.end;
    }
    painted_.push_back({{token.file, done, token.end}, kString});
  }

  const Analysis& analysis_;
  const Host& host_;
  std::set<std::string, std::less<>> keywords_;
  std::set<uint32_t> settings_;
  std::vector<Coloured> painted_;
};

}  // namespace

json::Value TokenLegend() {
  json::Array types, modifiers;
  for (const char* name : kTypeNames) types.push_back(name);
  for (const char* name : kModifierNames) modifiers.push_back(name);
  return json::Object{{"tokenTypes", std::move(types)}, {"tokenModifiers", std::move(modifiers)}};
}

Answer SemanticTokens(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query || query->analysis.tree() == nullptr) return nullptr;
  const source::SourceMap& sources = query->analysis.sources();
  json::Array data;
  Position last;
  for (const Coloured& one : Painter(query->analysis, workspace.host()).Paint()) {
    if (one.span.empty()) continue;
    const Position at = PositionOf(sources, one.span.file, one.span.begin);
    const bool same_line = at.line == last.line;
    for (const int64_t number : {int64_t{at.line} - last.line, int64_t{at.character} - (same_line ? last.character : 0),
                                 int64_t{Utf16Length(sources.Text(one.span))}, int64_t{one.type}, int64_t{one.modifiers}}) {
      data.push_back(number);
    }
    last = at;
  }
  return json::Value(json::Object{{"data", std::move(data)}});
}

}  // namespace wf::lsp
