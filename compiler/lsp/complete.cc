// What may be typed next: members, settings, imports, types, names.

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/ir/scalar.h"
#include "compiler/lsp/call.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/scope.h"
#include "compiler/parse/words.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/settings.h"

namespace wf::lsp {
namespace {

// Numbers of LSP.
enum ItemKind : int {
  kFunctionItem = 3,
  kFieldItem = 5,
  kVariableItem = 6,
  kClassItem = 7,
  kInterfaceItem = 8,
  kModuleItem = 9,
  kPropertyItem = 10,
  kKeywordItem = 14,
  kConstantItem = 21,
  kStructItem = 22,
  kEventItem = 23
};

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

struct SettingRow {
  std::string_view word;
  int places;
  std::string_view takes;
};

using enum sema::Place;
constexpr SettingRow kSettings[] = {
#define SETTING(enumerator, word, places, takes) {word, places, takes},
#include "compiler/sema/settings.def"
#undef SETTING
};

int PlaceOf(Block block) {
  switch (block) {
    case Block::kNodeSettings:
      return sema::kInNode;
    case Block::kStageSettings:
      return sema::kInStage;
    case Block::kModelSettings:
      return sema::kInModel;
    case Block::kRemoteSettings:
      return sema::kInRemote;
    case Block::kService:
      return sema::kInService;
    case Block::kFile:
    case Block::kBody:
    case Block::kStage:
    case Block::kFn:
    case Block::kTest:
    case Block::kRecord:
    case Block::kOther:
      return 0;
  }
  return 0;
}

uint16_t SequenceOf(Block block) {
  switch (block) {
    case Block::kFile:
      return parse::kInFile;
    case Block::kBody:
      return parse::kInBody;
    case Block::kStage:
      return parse::kInStage;
    case Block::kFn:
    case Block::kOther:
      return parse::kInBlock;
    case Block::kTest:
      return parse::kInTest;
    case Block::kService:
      return parse::kInService;
    case Block::kRecord:
    case Block::kNodeSettings:
    case Block::kStageSettings:
    case Block::kModelSettings:
    case Block::kRemoteSettings:
      return 0;
  }
  return 0;
}

class Completion {
 public:
  Completion(const Query& query, const Host& host) : query_(query), host_(host), context_(ContextAt(query.analysis, query.byte)) {}

  json::Array Items() {
    if (context_.inside) return {};
    if (context_.head() == "import") {
      Modules();
    } else if (context_.last() == "." && context_.words.size() >= 2) {
      Members(context_.words[context_.words.size() - 2]);
    } else if (context_.words.empty()) {
      Statements();
    } else if (context_.block == Block::kService && context_.words.size() == 1) {
      Things(context_.head() == "model" ? ThingKind::kModel : ThingKind::kWorkflow);
    } else if (WantsType()) {
      Types();
    } else if (PlaceOf(context_.block) == 0) {
      Labels();
      Values();
    } else {
      SettingWords();
    }
    return std::move(items_);
  }

 private:
  void Add(std::string label, ItemKind kind, std::string detail = "", std::string about = "") {
    if (!seen_.insert(label).second) return;
    json::Object item{{"label", json::fixUTF8(label)}, {"kind", static_cast<int>(kind)}};
    if (!detail.empty()) item["detail"] = json::fixUTF8(detail);
    if (!about.empty()) item["documentation"] = json::Object{{"kind", "markdown"}, {"value", json::fixUTF8(about)}};
    items_.push_back(std::move(item));
  }
  void Add(const Thing& thing) {
    Add(thing.name, ItemOf(thing.kind), thing.type.empty() ? std::string(WordFor(thing.kind)) : thing.type,
        thing.decl != nullptr ? thing.decl->doc : "");
  }

  // The span of the declaration that is being typed, by place in the present text and by name in another.
  std::optional<Span> Around(const Analysis& analysis) const {
    if (query_.analysis.tree() == nullptr) return std::nullopt;
    const ast::Decl* around = nullptr;
    for (const ast::DeclPtr& decl : query_.analysis.tree()->decls) {
      if (decl->span.begin <= query_.byte) around = decl.get();
    }
    if (around == nullptr || &analysis == &query_.analysis) return around != nullptr ? std::optional(around->span) : std::nullopt;
    for (const ast::DeclPtr& decl : analysis.tree()->decls) {
      if (!decl->name.text.empty() && decl->name.text == around->name.text) return decl->span;
    }
    return std::nullopt;
  }

  std::vector<const Thing*> Locals() const {
    std::vector<const Thing*> locals;
    for (const Analysis* analysis : AnalysesOf(query_)) {
      const auto around = Around(*analysis);
      if (!around) continue;
      const bool present = analysis == &query_.analysis;
      for (const auto& [place, thing] : analysis->index().things()) {
        const uint32_t end = present ? query_.byte : around->end;
        if (place.file == analysis->root() && place.begin >= around->begin && place.begin < end && IsLocal(thing.kind))
          locals.push_back(&thing);
      }
    }
    return locals;
  }

  void Members(const std::string& object) {
    for (const Thing* local : Locals()) {
      if (local->name != object || local->fields.empty()) continue;
      for (const auto& [name, type] : local->fields) Add(name, kFieldItem, type);
      return;
    }
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->name != object) continue;
      for (const auto& [name, type] : thing->fields) Add(name, kFieldItem, type);
      for (const Analysis* analysis : AnalysesOf(query_)) {
        const ast::File* module = thing->target.empty() ? nullptr : analysis->TreeOf(thing->target);
        if (module != nullptr) Exports(*analysis, *module);
      }
    }
  }

  void Exports(const Analysis& analysis, const ast::File& module) {
    for (const ast::DeclPtr& decl : module.decls) {
      const Thing* thing = analysis.index().Find(lsp::PlaceOf(decl->name.span));
      if (thing == nullptr || thing->kind == ThingKind::kModule || thing->kind == ThingKind::kService) continue;
      const auto* fn = ast::DynAs<ast::FnDecl>(*decl);
      const bool typed = fn != nullptr && fn->result;
      const Span head{decl->span.file, decl->span.begin, typed ? fn->result->span.end : decl->span.begin};
      Add(thing->name, ItemOf(thing->kind), typed ? std::string(analysis.sources().Text(head)) : thing->type, decl->doc);
    }
    for (const sema::BuiltinInfo& row : sema::kBuiltins) {
      const bool is_here = !row.module.empty() && module.package && ast::ToString(*module.package) == row.module;
      if (is_here) Add(std::string(row.name), kFunctionItem, std::string(row.head), std::string(row.about));
    }
  }

  void Modules() {
    std::string prefix;
    for (size_t i = 1; i + 1 < context_.words.size(); i += 2) prefix += context_.words[i] + "/";
    const bool standard = prefix.starts_with("std/");
    const size_t slash = query_.document.path.rfind('/');
    const std::string beside = slash == std::string::npos ? "./" : query_.document.path.substr(0, slash + 1);
    if (prefix.empty()) Add("std", kModuleItem, "the standard library");
    std::error_code error;
    std::set<std::string> names;
    constexpr size_t kMost = 1000;
    for (const auto& entry : std::filesystem::directory_iterator(standard ? host_.stdlib + prefix.substr(4) : beside + prefix, error)) {
      if (entry.path().extension() == ".wf" && entry.path().string() != query_.document.path) names.insert(entry.path().stem().string());
      if (names.size() == kMost) break;
    }
    for (const std::string& name : names) Add(name, kModuleItem);
  }

  void Statements() {
    SettingWords();
    for (std::string& word : parse::Starters(SequenceOf(context_.block))) Add(std::move(word), kKeywordItem);
    if (context_.block == Block::kFn || context_.block == Block::kOther) Values();
  }

  void SettingWords() {
    if (!context_.words.empty()) return;
    for (const SettingRow& row : kSettings) {
      if ((row.places & PlaceOf(context_.block)) != 0) Add(std::string(row.word), kPropertyItem, "setting", std::string(row.takes));
    }
  }

  bool WantsType() const {
    const auto& words = context_.words;
    const bool signature = context_.block == Block::kFile || context_.block == Block::kRecord;
    const std::string last = context_.last();
    if (signature)
      return context_.head() != "const" || std::find(words.begin(), words.end(), "=") == words.end()
                 ? last == ":" || last == "->" || last == "<"
                 : false;
    const bool binding = (context_.head() == "let" || context_.head() == "node") && words.size() >= 3 && words[2] == ":";
    return binding && std::find(words.begin(), words.end(), "=") == words.end();
  }

  void Types() {
    for (const char* name : {"string", "bytes", "list", "map"}) Add(name, kStructItem, "type");
    for (int dtype = 1; dtype <= static_cast<int>(sema::DType::kF64); ++dtype) {
      Add(std::string(ir::NameOf(static_cast<sema::DType>(dtype))), kStructItem, "type");
    }
    Things(ThingKind::kType);
    Things(ThingKind::kModule);
  }

  void Things(ThingKind kind) {
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->kind == kind) Add(*thing);
    }
  }

  // Of the arguments that a call still lacks.
  void Labels() {
    const auto call = CallAround(context_);
    const Thing* callee = call && call->begins ? CalleeOf(query_, call->module, call->name) : nullptr;
    for (size_t at = call ? call->unnamed : 0; callee != nullptr && at < callee->takes.size(); ++at) {
      const auto& [name, text] = callee->takes[at];
      if (std::find(call->labels.begin(), call->labels.end(), name) == call->labels.end()) Add(name + ":", kFieldItem, text);
    }
  }

  void Values() {
    for (const Thing* local : Locals()) Add(*local);
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->kind != ThingKind::kService) Add(*thing);
    }
    for (const Analysis* analysis : AnalysesOf(query_)) {
      if (const ast::File* prelude = analysis->TreeOf("std.prelude")) Exports(*analysis, *prelude);
    }
    std::vector<std::string> builtins;
    sema::AddBuiltinNames(builtins);
    for (std::string& name : builtins) Add(std::move(name), kFunctionItem, "built in");
    for (int dtype = 1; dtype <= static_cast<int>(sema::DType::kF64); ++dtype) {
      Add(std::string(ir::NameOf(static_cast<sema::DType>(dtype))), kFunctionItem, "conversion");
    }
    for (const char* word : {"if", "else", "match", "for", "in", "fold", "fail", "true", "false", "none"}) Add(word, kKeywordItem);
  }

  const Query& query_;
  const Host& host_;
  const Context context_;
  std::set<std::string> seen_;
  json::Array items_;
};

}  // namespace

Answer Complete(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  return Completion(*query, workspace.host()).Items();
}

}  // namespace wf::lsp
