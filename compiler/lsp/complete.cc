// What may be typed next: members, settings, imports, types, names.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "compiler/ir/scalar.h"
#include "compiler/lsp/call.h"
#include "compiler/lsp/outline.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/scope.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/words.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/errors.h"
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
  kFileItem = 17,
  kFolderItem = 19,
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

  bool IsBehindDot() const { return context_.IsBehindDot(); }

  // `in_string`: what was typed means something in a string alone.
  json::Array Items(bool in_string) {
    if (context_.inside) Files();
    if (context_.inside || in_string) return std::move(items_);
    if (context_.IsBehindDot()) {
      Members();
    } else if (context_.in_hole) {
      HoleNames();
    } else if (context_.head() == "import") {
      Modules();
    } else if (context_.head() == "error" && context_.last() == "as") {
      Statuses();
    } else if (context_.last() == "fails" || context_.last() == "fail") {
      Things(ThingKind::kError);
      for (const sema::BuiltInError& error : sema::kBuiltInErrors) Add(std::string(error.name), kEventItem, std::string(error.message));
      Things(ThingKind::kModule);
    } else if (context_.block == Block::kTest && context_.words == std::vector<std::string>{"stub"}) {
      Things(ThingKind::kModel);
      Things(ThingKind::kRemote);
      Things(ThingKind::kExtern);
      Things(ThingKind::kModule);
      Add("meta", kFunctionItem, "metadata of requests");
    } else if (WantsPattern()) {
      for (const char* pattern : {"none", "true", "false", "_"}) Add(pattern, kKeywordItem);
    } else if (context_.words.empty()) {
      Statements();
    } else if (context_.block == Block::kService && context_.words == std::vector<std::string>{"model"}) {
      Things(ThingKind::kModel);
    } else if (context_.block == Block::kService && context_.words == std::vector<std::string>{"workflow"}) {
      Things(ThingKind::kWorkflow);
    } else if (WantsExtent()) {
      Extents();
    } else if (WantsType()) {
      Types();
    } else if (PlaceOf(context_.block) == 0) {
      Labels();
      ResultLabels();
      Values();
    } else {
      SettingValues();
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

  static std::string NameOf(const ast::Decl& decl) {
    const auto* test = ast::DynAs<ast::TestDecl>(decl);
    return test != nullptr ? '"' + test->title : decl.name.text;
  }

  // The declaration that is being typed, by place in the present text and by name in another; null: none.
  const ast::Decl* Around(const Analysis& analysis) const {
    if (query_.analysis.tree() == nullptr) return nullptr;
    const ast::Decl* around = nullptr;
    for (const ast::DeclPtr& decl : query_.analysis.tree()->decls) {
      if (decl->span.begin <= query_.byte) around = decl.get();
    }
    if (around == nullptr || &analysis == &query_.analysis) return around;
    for (const ast::DeclPtr& decl : analysis.tree()->decls) {
      if (!NameOf(*decl).empty() && NameOf(*decl) == NameOf(*around)) return decl.get();
    }
    return nullptr;
  }

  // What is known of a name that is in reach: the nearest above it in the present text, or in the last that parsed whole; null: nothing.
  const Thing* LocalNamed(const std::string& name) const {
    for (const Analysis* analysis : AnalysesOf(query_)) {
      const ast::Decl* around = Around(*analysis);
      if (around == nullptr) continue;
      const uint32_t end = analysis == &query_.analysis ? query_.byte : around->span.end;
      const auto& things = analysis->index().things();
      const auto first = things.lower_bound({analysis->root(), around->span.begin});
      for (auto at = things.lower_bound({analysis->root(), end}); at != first;) {
        --at;
        if (at->second.name == name && IsLocal(at->second.kind)) return &at->second;
      }
    }
    return nullptr;
  }

  void LocalNames() {
    for (const std::string& name : context_.names) {
      if (const Thing* local = LocalNamed(name)) {
        Add(*local);
      } else {
        Add(name, kVariableItem);
      }
    }
  }

  void Members() {
    const size_t end = context_.words.size() - 1;
    const std::string& object = context_.words[end - 1];
    if (const auto* members = query_.analysis.index().MembersAt(query_.file(), query_.byte)) {
      for (const auto& [name, type] : *members) Add(name, kFieldItem, type);
    }
    if (!items_.empty() || (end >= 2 && context_.words[end - 2] == ".")) return;
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->name != object) continue;
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
    if (prefix.empty()) Add("std", kModuleItem, "the standard library");
    const std::string folder = standard ? host_.stdlib + prefix.substr(4) : query_.analysis.start().folder + prefix;
    for (const std::string& name : NamesIn(folder)) {
      const bool is_prelude = standard && name == "prelude.wf";  // its names are everywhere
      const bool is_module = name.ends_with(".wf") && !is_prelude && folder + name != query_.document.path;
      if (is_module) Add(name.substr(0, name.size() - 3), kModuleItem);
      const bool leads_on = !standard && name.ends_with('/') && parse::IsName(name.substr(0, name.size() - 1));
      if (leads_on) Add(name.substr(0, name.size() - 1), kModuleItem, "a folder");
    }
  }

  // Paths in `onnx("..")` and `file("..")`, which count from the file that they stand in.
  void Files() {
    const auto& words = context_.words;
    if (words.size() < 2 || words.back() != "(") return;
    const std::string& taker = words[words.size() - 2];
    const bool model = taker == "onnx";
    if (!model && !sema::IsEmbedName(taker) && taker != sema::NameOf(sema::Builtin::kTokenizer)) return;
    const std::string typed = context_.string.substr(0, context_.string.rfind('/') + 1);
    const auto begin = static_cast<uint32_t>(query_.byte - (context_.string.size() - typed.size()));
    const std::string& own = query_.document.path;
    const std::string folder = typed.starts_with('/') ? typed : own.substr(0, own.rfind('/') + 1) + typed;
    for (const std::string& name : NamesIn(folder)) {
      if (!name.ends_with('/') && ((model && !name.ends_with(".onnx")) || folder + name == own)) continue;
      items_.push_back(
          json::Object{{"label", json::fixUTF8(name)},
                       {"kind", static_cast<int>(name.ends_with('/') ? kFolderItem : kFileItem)},
                       {"textEdit", TextEdit(query_.analysis.sources(), {query_.file(), begin, query_.byte}, json::fixUTF8(name))}});
    }
  }

  // What a folder holds, in order; folders have a slash, and what is hidden is left out.
  static std::set<std::string> NamesIn(const std::string& folder) {
    constexpr size_t kMost = 1000;
    std::set<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code gone;
      if (!name.starts_with('.')) names.insert(name + (at->is_directory(gone) ? "/" : ""));
      if (names.size() == kMost) break;
    }
    return names;
  }

  // What an error may be to clients.
  void Statuses() {
    constexpr std::string_view kStatuses[] = {
#define STATUS(name, written, grpc, http) written,
#include "runtime/base/status_codes.def"
#undef STATUS
    };
    for (const std::string_view status : kStatuses) {
      if (status != "ok") Add(std::string(status), kConstantItem, "status");
    }
  }

  void Statements() {
    SettingWords();
    for (std::string& word : parse::Starters(SequenceOf(context_.block))) Add(std::move(word), kKeywordItem);
    if (context_.block == Block::kFn || context_.block == Block::kOther) Values();
  }

  void SettingWords() {
    if (!context_.words.empty()) return;
    for (const sema::SettingInfo& row : sema::kSettings) {
      const bool stands_here = (row.places & PlaceOf(context_.block)) != 0 && MayTake(row.needs);
      if (stands_here) Add(std::string(row.word), kPropertyItem, std::string(row.takes), std::string(row.about));
    }
  }

  // What the node whose settings are typed calls.
  std::vector<const Thing*> Callees() const {
    std::vector<const Thing*> callees;
    const auto& words = context_.around;
    for (size_t at = 1; at < words.size(); ++at) {
      if (words[at] != "(") continue;
      const bool member = at >= 3 && words[at - 2] == ".";
      if (const Thing* callee = CalleeOf(query_, member ? words[at - 3] : "", words[at - 1])) callees.push_back(callee);
    }
    return callees;
  }

  // Whether what the settings are of has what the setting speaks of.
  bool MayTake(sema::Needs needs) const {
    if (needs == sema::Needs::kUnbuilt) return false;
    if (needs == sema::Needs::kNothing || context_.block != Block::kNodeSettings) return true;
    const auto& words = context_.around;
    if (needs == sema::Needs::kLoop) return std::find(words.begin(), words.end(), "for") != words.end();
    const auto callees = Callees();
    return std::any_of(callees.begin(), callees.end(), [&](const Thing* callee) {
      const auto* external = callee->decl != nullptr ? ast::DynAs<ast::ExternDecl>(*callee->decl) : nullptr;
      const bool outside = callee->kind == ThingKind::kRemote || (external != nullptr && external->is_node);
      return needs == sema::Needs::kModelCall ? callee->kind == ThingKind::kModel : outside;
    });
  }

  // Of the setting that is being written: the words among what it takes.
  void SettingValues() {
    const sema::SettingInfo* row = sema::FindSetting(context_.head());
    if (row == nullptr || context_.words.size() > 2) return;
    const bool is_pad = row->setting == sema::SettingWord::kPad;
    if (context_.words.size() == 2) {
      if (is_pad) Add("to", kKeywordItem);
      if (row->setting == sema::SettingWord::kBatch) Add("within", kKeywordItem);
      return;
    }
    if (is_pad) return SymbolsOfCallees();
    for (std::string_view rest = row->takes; !rest.empty();) {
      const size_t begin = rest.find('`'), end = rest.find('`', begin + 1);
      if (begin == std::string_view::npos || end == std::string_view::npos) return;
      const std::string word(rest.substr(begin + 1, end - begin - 1));
      if (parse::IsName(word)) Add(word, kKeywordItem);
      rest.remove_prefix(end + 1);
    }
  }

  // The open extents of what a node's models take, as their signatures are written: `w` of `f32[batch, 4, w]`.
  void SymbolsOfCallees() {
    for (const Thing* callee : Callees()) {
      for (const auto& [name, text] : callee->takes) {
        std::string word;
        for (const char c : text.substr(std::min(text.find('['), text.size()))) {
          const bool goes_on = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
          if (goes_on) word += c;
          if (goes_on) continue;
          if (parse::IsName(word)) Add(word, kVariableItem, text);
          word.clear();
        }
      }
    }
  }

  // What a hole of a string may begin with.
  void HoleNames() {
    if (!context_.words.empty()) return;
    LocalNames();
    Things(ThingKind::kConst);
  }

  // Where an arm begins, and behind a `|` in one.
  bool WantsPattern() const {
    if (!context_.in_match) return false;
    int depth = 0;
    bool in_value = false;
    for (const std::string& word : context_.words) {
      if (word == "(" || word == "[") ++depth;
      if (word == ")" || word == "]") --depth;
      if (depth == 0 && (word == "=>" || word == ",")) in_value = word == "=>";
    }
    const std::string last = context_.last();
    return depth == 0 && !in_value && (last.empty() || last == "," || last == "|" || last == "}");
  }

  static bool IsDType(const std::string& word) {
    for (int dtype = 1; dtype <= static_cast<int>(sema::DType::kF64); ++dtype) {
      if (ir::NameOf(static_cast<sema::DType>(dtype)) == word) return true;
    }
    return false;
  }

  // In the brackets of `f32[n, 2 * m]`.
  bool WantsExtent() const {
    const auto& words = context_.words;
    size_t open = words.size();
    for (size_t at = 0; at < words.size(); ++at) {
      if (words[at] == "[") open = at;
      if (words[at] == "]") open = words.size();
    }
    return open < words.size() && open > 0 && IsDType(words[open - 1]);
  }

  // `x` of `fn f(x: f32[n]) -> f32[`.
  bool IsLabel(const std::string& name) const {
    const auto in = [&](const std::vector<std::string>& words) {
      const auto at = std::find(words.begin(), words.end(), name);
      return at != words.end() && std::next(at) != words.end() && *std::next(at) == ":";
    };
    return in(context_.words) || in(context_.around);
  }

  void Extents() {
    for (const std::string& name : context_.names) {
      const Thing* local = LocalNamed(name);
      if (local != nullptr && local->kind == ThingKind::kDimension) Add(*local);
      if (local == nullptr && !IsLabel(name)) Add(name, kVariableItem);
    }
    Things(ThingKind::kConst);
    Add("_", kKeywordItem, "any extent");
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
    const Thing* callee = call && call->begins ? CalleeOf(query_, call->module, call->name, call->indexed) : nullptr;
    if (callee != nullptr && !callee->about.empty()) return;  // what is built in takes its arguments by place
    for (size_t at = call ? call->unnamed : 0; callee != nullptr && at < callee->takes.size(); ++at) {
      const auto& [name, text] = callee->takes[at];
      if (std::find(call->labels.begin(), call->labels.end(), name) == call->labels.end()) Add(name + ":", kFieldItem, text);
    }
  }

  // Of the results that a workflow's `return` still lacks.
  void ResultLabels() {
    const auto& words = context_.words;
    const bool begins = words.size() >= 2 && words[0] == "return" && words[1] == "(" && (words.back() == "(" || words.back() == ",");
    if (!begins) return;
    int depth = 0;
    std::set<std::string> written;
    for (size_t at = 2; at < words.size(); ++at) {
      if (words[at] == "(" || words[at] == "[") ++depth;
      if (words[at] == ")" || words[at] == "]") --depth;
      if (depth == 0 && words[at] == ":") written.insert(words[at - 1]);
    }
    for (const Analysis* analysis : AnalysesOf(query_)) {
      const ast::Decl* around = depth == 0 ? Around(*analysis) : nullptr;
      const auto* workflow = around != nullptr ? ast::DynAs<ast::WorkflowDecl>(*around) : nullptr;
      if (workflow == nullptr || !workflow->result) continue;
      for (const ast::Type::Field& field : workflow->result->fields) {
        if (field.type && !written.contains(field.label.text))
          Add(field.label.text + ":", kFieldItem, field.label.text + ": " + std::string(analysis->sources().Text(field.type->span)));
      }
    }
    const auto& head = context_.around;  // of a workflow that is not closed yet
    const auto arrow = std::find(head.begin(), head.end(), "->");
    for (auto at = arrow; depth == 0 && !head.empty() && head.front() == "workflow" && at != head.end(); ++at) {
      if (*at == ":" && !written.contains(*std::prev(at))) Add(*std::prev(at) + ":", kFieldItem);
    }
  }

  // Whether a declaration such as the one that is being typed may hold the word.
  bool StandsHere(std::string_view word) const {
    const ast::Decl* around = Around(query_.analysis);
    if (around == nullptr) return true;
    if (word == "meta" || word == "annotate")
      return around->kind == ast::DeclKind::kWorkflowDecl || around->kind == ast::DeclKind::kErrorDecl;
    return word != "close" || around->kind == ast::DeclKind::kTestDecl || around->kind == ast::DeclKind::kErrorDecl;
  }

  void Values() {
    LocalNames();
    for (const Thing* thing : DeclaredIn(query_)) {
      if (thing->kind != ThingKind::kService) Add(*thing);
    }
    for (const Analysis* analysis : AnalysesOf(query_)) {
      if (const ast::File* prelude = analysis->TreeOf("std.prelude")) Exports(*analysis, *prelude);
    }
    std::vector<std::string> builtins;
    sema::AddBuiltinNames(builtins);
    for (std::string& name : builtins) {
      const Thing* thing = BuiltIn("", name, false);
      if (thing == nullptr) thing = BuiltIn("", name, true);
      if (!StandsHere(name)) continue;
      Add(std::move(name), kFunctionItem, thing != nullptr ? thing->type : "built in", thing != nullptr ? thing->about : "");
    }
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

// Where a name is still missing, or the text around is not closed yet, nothing in it is known: it is read with a name in it, then as one
// that ends at the place: what stands below is not known there anyway. Other bodies are left out, so it costs less than an analysis of all.
json::Array MembersInOpenText(const Workspace& workspace, const Document& document, uint32_t byte) {
  const auto lexed = parse::Lex(document.text);
  if (!lexed) return {};
  const TokenText tokens{document.text, lexed->tokens, lexed->comments};
  const Context context = ContextAt(tokens, byte);
  if (!context.IsBehindDot()) return {};
  const std::string outline = OutlineAround(tokens, byte), head = outline.substr(0, byte) + "x";
  for (const std::string& text : {head + outline.substr(byte), head + context.closers}) {
    const auto mended = workspace.AnalysisWith(document, text);
    if (mended->root() == FileId::kNone) continue;
    json::Array items = Completion({document, *mended, byte}, workspace.host()).Items(false);
    if (!items.empty()) return items;
  }
  return {};
}

}  // namespace

// Behind a `.` that has just been typed nothing is known of the text yet, and its outline answers before all of it is analysed.
Answer Complete(Workspace& workspace, const json::Object& params) {
  const Document* document = workspace.DocumentIn(params);
  if (document == nullptr) return nullptr;
  const uint32_t byte = ByteOf(document->text, ReadPosition(params.getObject("position")));
  const bool outline_first = !document->analysis && SeemsBehindDot(std::string_view(document->text).substr(0, byte));
  json::Array items = outline_first ? MembersInOpenText(workspace, *document, byte) : json::Array();
  if (!items.empty()) return items;
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  const json::Object* how = params.getObject("context");
  const auto trigger = how != nullptr ? how->getString("triggerCharacter") : std::nullopt;
  Completion completion(*query, workspace.host());
  items = completion.Items(trigger && (*trigger == "\"" || *trigger == "/"));
  if (items.empty() && !outline_first && completion.IsBehindDot()) items = MembersInOpenText(workspace, *document, byte);
  return items;
}

}  // namespace wf::lsp
