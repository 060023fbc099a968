// textDocument/completion.

#include "compiler/lsp/completion.h"
#include "compiler/lsp/outline.h"
#include "compiler/lsp/requests.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/words.h"
#include "compiler/sema/errors.h"

namespace wf::lsp {
namespace {

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

// What an error may be to clients.
void AddStatuses(Completion& at) {
  constexpr std::string_view kStatuses[] = {
#define STATUS(name, written, grpc, http) written,
#include "runtime/base/status_codes.def"
#undef STATUS
  };
  for (const std::string_view status : kStatuses) {
    if (status != "ok") at.items.Add(std::string(status), kConstantItem, "status");
  }
}

void AddErrors(Completion& at) {
  AddThings(at, ThingKind::kError);
  for (const sema::BuiltInError& error : sema::kBuiltInErrors)
    at.items.Add(std::string(error.name), kEventItem, std::string(error.message));
  AddThings(at, ThingKind::kModule);
}

void AddStubbed(Completion& at) {
  for (const ThingKind kind : {ThingKind::kModel, ThingKind::kRemote, ThingKind::kExtern, ThingKind::kModule}) AddThings(at, kind);
  at.items.Add("meta", kFunctionItem, "metadata of requests");
}

void AddStatements(Completion& at) {
  AddSettingWords(at);
  for (std::string& word : parse::Starters(SequenceOf(at.context.block))) at.items.Add(std::move(word), kKeywordItem);
  if (at.context.block == Block::kFn || at.context.block == Block::kOther) AddValues(at);
}

void AddWanted(Completion& at, Wanted wanted) {
  switch (wanted) {
    case Wanted::kNothing:
      return;
    case Wanted::kFile:
      return AddFiles(at);
    case Wanted::kMember:
      return AddMembers(at);
    case Wanted::kNameInHole:
      AddLocalNames(at);
      return AddThings(at, ThingKind::kConst);
    case Wanted::kModule:
      return AddModules(at);
    case Wanted::kStatus:
      return AddStatuses(at);
    case Wanted::kError:
      return AddErrors(at);
    case Wanted::kStubbed:
      return AddStubbed(at);
    case Wanted::kPattern:
      for (const char* pattern : {"none", "true", "false", "_"}) at.items.Add(pattern, kKeywordItem);
      return;
    case Wanted::kStatement:
      return AddStatements(at);
    case Wanted::kServedModel:
      return AddThings(at, ThingKind::kModel);
    case Wanted::kServedWorkflow:
      return AddThings(at, ThingKind::kWorkflow);
    case Wanted::kExtent:
      return AddExtents(at);
    case Wanted::kType:
      return AddTypes(at);
    case Wanted::kValue:
      AddLabels(at);
      AddResultLabels(at);
      return AddValues(at);
    case Wanted::kSettingValue:
      return AddSettingValues(at);
  }
}

json::Array ItemsAt(const Query& query, const Host& host, const Context& context, bool in_string) {
  Completion at{query, host, context, {}};
  AddWanted(at, WantedAt(context, in_string));
  return at.items.Take();
}

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
    const Query query{document, *mended, byte};
    json::Array items = ItemsAt(query, workspace.host(), ContextAt(*mended, byte), false);
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
  const Context context = ContextAt(query->analysis, query->byte);
  items = ItemsAt(*query, workspace.host(), context, trigger && (*trigger == "\"" || *trigger == "/"));
  if (items.empty() && !outline_first && context.IsBehindDot()) items = MembersInOpenText(workspace, *document, byte);
  return items;
}

}  // namespace wf::lsp
