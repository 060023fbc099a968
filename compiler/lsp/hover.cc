// Hover, and hints between the words: types that were inferred, stages, settings in force.

#include <algorithm>
#include <string_view>

#include "compiler/lsp/requests.h"
#include "compiler/lsp/scope.h"
#include "compiler/lsp/uses.h"
#include "compiler/sema/errors.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/settings.h"

namespace wf::lsp {
namespace {

std::string_view TextFrom(const Analysis& analysis, uint32_t begin, const Span& last) {
  return analysis.sources().Text({last.file, begin, last.end});
}

// The head of a declaration as it is written, without its body.
std::string Head(const Thing& thing, const Analysis& analysis) {
  const ast::Decl& decl = *thing.decl;
  const auto head = [&](const ast::TypePtr& result) {
    return result ? std::string(TextFrom(analysis, decl.span.begin, result->span))
                  : std::string(WordFor(thing.kind)) + " " + thing.name + thing.type;
  };
  if (const auto* fn = ast::DynAs<ast::FnDecl>(decl)) return head(fn->result);
  if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(decl)) return head(workflow->result);
  if (const auto* external = ast::DynAs<ast::ExternDecl>(decl)) return head(external->result);
  if (const auto* remote = ast::DynAs<ast::RemoteDecl>(decl)) return head(remote->result);
  if (const auto* model = ast::DynAs<ast::ModelDecl>(decl)) return head(model->result);
  const bool whole = thing.kind == ThingKind::kType || thing.kind == ThingKind::kError || thing.kind == ThingKind::kModule;
  if (whole) return std::string(analysis.sources().Text(decl.span));
  const std::string value = thing.value.empty() ? "" : " = " + thing.value;
  return std::string(WordFor(thing.kind)) + " " + thing.name + (thing.type.empty() ? "" : ": " + thing.type) + value;
}

std::string HoverText(const Thing& thing, const Analysis& analysis) {
  std::string text = "```wf\n";
  if (thing.decl != nullptr) {
    text += Head(thing, analysis);
  } else {
    const bool is_called = thing.kind == ThingKind::kFn;
    text += std::string(WordFor(thing.kind)) + " " + thing.name + (thing.type.empty() || is_called ? thing.type : ": " + thing.type);
  }
  text += "\n```";
  if (!thing.stage.empty()) text += "\n\nstage `" + thing.stage + "`";
  if (!thing.settings.empty()) text += "\n\n" + thing.settings;
  if (thing.decl != nullptr && !thing.decl->doc.empty()) text += "\n\n" + thing.decl->doc;
  if (!thing.about.empty()) text += "\n\n" + thing.about;
  return text;
}

std::string TokenAt(const Query& query, size_t at) {
  const std::vector<Span>& tokens = query.analysis.tree()->tokens;
  return std::string(at < tokens.size() ? query.analysis.sources().Text(tokens[at]) : std::string_view());
}

std::string ConversionText(const std::string& type) {
  const bool is_float = type.find('f') != std::string::npos;
  return "```wf\nfn " + type + "(x: T) -> " + type + "\n```\n\n" +
         (is_float
              ? "The nearest value of the type."
              : "A float without what stands behind its point, at most the ends of the type, and 0 for NaN; an integer that does not fit "
                "wraps.") +
         " `true` is 1. Of a tensor, each of its elements.";
}

// A word of the language that nothing declares: `f32(x)`, `err` of a fallback, `fail Timeout`. Empty: it is none.
std::string WordText(const Query& query, size_t at) {
  const std::string word = TokenAt(query, at), before = at > 0 ? TokenAt(query, at - 1) : "";
  if (sema::DTypeNamed(word) && word != "bool" && TokenAt(query, at + 1) == "(" && before != ".") return ConversionText(word);
  if (word == "err" && before != ".")
    return "```wf\nerr: (code: i32, message: string, node: string)\n```\n\nThe failure that this `else` catches: its code, what it says, "
           "and the "
           "path of the node that failed first.";
  if (before != "fail" && before != "fails") return "";
  const auto known = std::ranges::find(sema::kBuiltInErrors, word, &sema::BuiltInError::name);
  if (known == sema::kBuiltInErrors.end()) return "";
  return "```wf\nerror " + word + " = " + std::to_string(known->code) + " \"" + std::string(known->message) + "\"\n```\n\nbuilt in";
}

// What is called or indexed at the token, of those that are built in.
const Thing* BuiltInAt(const Query& query, size_t at) {
  const auto text = [&](size_t token) { return TokenAt(query, token); };
  if (text(at + 1) != "(" && text(at + 1) != "[") return nullptr;
  const bool is_member = at > 1 && text(at - 1) == ".";
  const Thing* called = CalleeOf(query, is_member ? text(at - 2) : "", text(at), text(at + 1) == "[");
  return called != nullptr && !called->about.empty() ? called : nullptr;
}

// Settings of a declaration or a node, wherever they stand.
void Collect(const std::optional<ast::Settings>& settings, std::vector<const ast::Setting*>& out) {
  for (size_t i = 0; settings && i < settings->settings.size(); ++i) out.push_back(&settings->settings[i]);
}
void Collect(const std::vector<ast::StmtPtr>& body, std::vector<const ast::Setting*>& out) {
  for (const ast::StmtPtr& stmt : body) {
    if (const auto* node = ast::DynAs<ast::NodeStmt>(*stmt)) Collect(node->settings, out);
    if (const auto* stage = ast::DynAs<ast::StageStmt>(*stmt)) {
      Collect(stage->settings, out);
      Collect(stage->nodes, out);
    }
    const auto* branch = ast::DynAs<ast::IfStmt>(*stmt);
    for (size_t i = 0; branch != nullptr && i < branch->arms.size(); ++i) Collect(branch->arms[i].body, out);
    if (branch != nullptr && branch->otherwise) Collect(*branch->otherwise, out);
  }
}

json::Value Markdown(std::string text, const Analysis& analysis, const Span& span) {
  return json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", json::fixUTF8(text)}}},
                      {"range", RangeOf(analysis.sources(), span)}};
}

json::Value Hint(const Analysis& analysis, const Span& name, std::string label, int kind) {
  const Position at = PositionOf(analysis.sources(), name.file, name.end);
  json::Object hint{{"position", json::Object{{"line", at.line}, {"character", at.character}}}, {"label", json::fixUTF8(label)}};
  if (kind != 0) hint["kind"] = kind;
  if (kind == 0) hint["paddingLeft"] = true;
  return hint;
}

bool HasWrittenType(const Analysis& analysis, const Span& name) {
  const std::string_view rest = analysis.sources().text(name.file).substr(name.end);
  const size_t next = rest.find_first_not_of(" \t\r\n");
  return next != std::string_view::npos && rest[next] == ':';
}

}  // namespace

std::vector<const ast::Setting*> SettingsIn(const ast::File& file) {
  std::vector<const ast::Setting*> settings;
  for (const ast::DeclPtr& decl : file.decls) {
    if (const auto* model = ast::DynAs<ast::ModelDecl>(*decl)) Collect(model->binding.settings, settings);
    if (const auto* remote = ast::DynAs<ast::RemoteDecl>(*decl)) Collect(remote->binding.settings, settings);
    if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(*decl)) Collect(workflow->body, settings);
    const auto* service = ast::DynAs<ast::ServiceDecl>(*decl);
    for (size_t i = 0; service != nullptr && i < service->settings.size(); ++i) settings.push_back(&service->settings[i]);
  }
  return settings;
}

Answer Hover(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  const Analysis& analysis = query->analysis;
  if (const auto [thing, span] = SpokenAt(*query); thing != nullptr) return Markdown(HoverText(*thing, analysis), analysis, span);
  if (analysis.tree() == nullptr) return nullptr;
  for (const ast::Setting* setting : SettingsIn(*analysis.tree())) {
    const Span& name = setting->name.span;
    if (query->byte < name.begin || query->byte > name.end) continue;
    if (const auto* row = sema::FindSetting(setting->name.text))
      return Markdown("setting `" + setting->name.text + "`: " + std::string(row->takes) + "\n\n" + std::string(row->about), analysis,
                      name);
  }
  for (size_t at = 0; at < analysis.tree()->tokens.size(); ++at) {
    const Span& token = analysis.tree()->tokens[at];
    if (query->byte < token.begin || query->byte > token.end) continue;
    if (const Thing* known = BuiltInAt(*query, at)) return Markdown(HoverText(*known, analysis), analysis, token);
    if (const std::string word = WordText(*query, at); !word.empty()) return Markdown(word, analysis, token);
    if (const std::string* type = analysis.index().FieldAt(token)) {
      return Markdown("```wf\nfield " + std::string(analysis.sources().Text(token)) + ": " + *type + "\n```", analysis, token);
    }
  }
  return nullptr;
}

Answer InlayHints(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  const Analysis& analysis = query->analysis;
  const json::Object* range = params.getObject("range");
  const auto edge = [&](llvm::StringRef name) { return ByteOf(query->text(), ReadPosition(range->getObject(name))); };
  const uint32_t begin = range != nullptr ? edge("start") : 0;
  const uint32_t end = range != nullptr ? edge("end") : UINT32_MAX;
  json::Array hints;
  const auto& things = analysis.index().things();
  for (auto at = things.lower_bound({query->file(), begin}); at != things.end() && at->first <= Place{query->file(), end}; ++at) {
    const Thing& thing = at->second;
    if (thing.kind != ThingKind::kLet && thing.kind != ThingKind::kNode) continue;
    if (!thing.type.empty() && !HasWrittenType(analysis, thing.span)) hints.push_back(Hint(analysis, thing.span, ": " + thing.type, 1));
    if (!thing.stage.empty() && !thing.in_written_stage) hints.push_back(Hint(analysis, thing.span, "stage " + thing.stage, 0));
  }
  return hints;
}

}  // namespace wf::lsp
