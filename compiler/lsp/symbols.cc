// The outline of a file, and of all files.

#include <llvm/Support/MemoryBuffer.h>

#include <cctype>
#include <set>

#include "compiler/base/program_files.h"
#include "compiler/lsp/programs.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/uri.h"
#include "compiler/parse/parse.h"

namespace wf::lsp {
namespace {

// Numbers of LSP.
enum class SymbolKind : int {
  kModule = 2,
  kClass = 5,
  kMethod = 6,
  kField = 8,
  kInterface = 11,
  kFunction = 12,
  kVariable = 13,
  kConstant = 14,
  kEvent = 24,
  kStruct = 23,
  kNamespace = 3
};

class Outline {
 public:
  explicit Outline(const source::SourceMap& sources) : sources_(sources) {}

  json::Array Of(const ast::File& file) const {
    json::Array symbols;
    for (const ast::DeclPtr& decl : file.decls) {
      if (auto symbol = Of(*decl)) symbols.push_back(std::move(*symbol));
    }
    return symbols;
  }

 private:
  json::Object Symbol(std::string name, SymbolKind kind, const Span& whole, const Span& selection) const {
    const bool inside = whole.begin <= selection.begin && selection.end <= whole.end;
    const Span head{whole.file, whole.begin, whole.begin};
    return json::Object{{"name", name.empty() ? "?" : json::fixUTF8(name)},
                        {"kind", static_cast<int>(kind)},
                        {"range", RangeOf(sources_, whole)},
                        {"selectionRange", RangeOf(sources_, inside ? selection : head)}};
  }

  std::optional<json::Value> Of(const ast::Decl& decl) const {
    const auto named = [&](SymbolKind kind, json::Array children = {}) {
      json::Object symbol = Symbol(decl.name.text, kind, decl.span, decl.name.span);
      if (!children.empty()) symbol["children"] = std::move(children);
      return json::Value(std::move(symbol));
    };
    switch (decl.kind) {
      case ast::DeclKind::kConstDecl:
        return named(SymbolKind::kConstant);
      case ast::DeclKind::kTypeDecl:
        return named(SymbolKind::kStruct, Fields(static_cast<const ast::TypeDecl&>(decl)));
      case ast::DeclKind::kErrorCodeDecl:
        return named(SymbolKind::kEvent);
      case ast::DeclKind::kFnDecl:
      case ast::DeclKind::kExternDecl:
        return named(SymbolKind::kFunction);
      case ast::DeclKind::kModelDecl:
      case ast::DeclKind::kRemoteDecl:
        return named(SymbolKind::kInterface);
      case ast::DeclKind::kWorkflowDecl:
        return named(SymbolKind::kClass, Statements(static_cast<const ast::WorkflowDecl&>(decl).body));
      case ast::DeclKind::kServiceDecl:
        return named(SymbolKind::kModule, Members(static_cast<const ast::ServiceDecl&>(decl)));
      case ast::DeclKind::kTestDecl:
        return Symbol("test " + static_cast<const ast::TestDecl&>(decl).title, SymbolKind::kMethod, decl.span, decl.span);
      case ast::DeclKind::kErrorDecl:
        return decl.name.text.empty() ? std::nullopt : std::optional(named(SymbolKind::kVariable));
      case ast::DeclKind::kImportDecl:
        return std::nullopt;
    }
    return std::nullopt;
  }

  json::Array Fields(const ast::TypeDecl& record) const {
    json::Array fields;
    for (const ast::Type::Field& field : record.fields)
      fields.push_back(Symbol(field.label.text, SymbolKind::kField, field.span, field.label.span));
    return fields;
  }

  json::Array Members(const ast::ServiceDecl& service) const {
    json::Array members;
    for (const auto& member : service.members)
      members.push_back(Symbol(ast::ToString(member.target), SymbolKind::kMethod, member.span, member.target.span));
    return members;
  }

  json::Array Statements(const std::vector<ast::StmtPtr>& body) const {
    json::Array symbols;
    AddStatements(body, symbols);
    return symbols;
  }

  // Nodes of the arms of an `if` stand beside those around it: they share one space of names.
  void AddStatements(const std::vector<ast::StmtPtr>& body, json::Array& symbols) const {
    for (const ast::StmtPtr& stmt : body) {
      if (const auto* node = ast::DynAs<ast::NodeStmt>(*stmt))
        symbols.push_back(Symbol(node->name.text, SymbolKind::kVariable, node->span, node->name.span));
      if (const auto* stage = ast::DynAs<ast::StageStmt>(*stmt)) {
        json::Object symbol = Symbol(stage->name.text, SymbolKind::kNamespace, stage->span, stage->name.span);
        symbol["children"] = Statements(stage->nodes);
        symbols.push_back(std::move(symbol));
      }
      const auto* branch = ast::DynAs<ast::IfStmt>(*stmt);
      for (size_t i = 0; branch != nullptr && i < branch->arms.size(); ++i) AddStatements(branch->arms[i].body, symbols);
      if (branch != nullptr && branch->otherwise) AddStatements(*branch->otherwise, symbols);
    }
  }

  const source::SourceMap& sources_;
};

// What some of the symbols of the outlines are called like.
class Search {
 public:
  explicit Search(std::string wanted) : wanted_(std::move(wanted)) {}

  void Add(const std::string& uri, json::Array outline, const std::string& container) {
    for (json::Value& value : outline) {
      json::Object& symbol = *value.getAsObject();
      const std::string name = symbol.getString("name")->str();
      if (json::Array* children = symbol.getArray("children")) Add(uri, std::move(*children), name);
      if (is_full() || !Fits(name)) continue;
      found_.push_back(json::Object{{"name", name},
                                    {"kind", *symbol.getInteger("kind")},
                                    {"containerName", container},
                                    {"location", json::Object{{"uri", uri}, {"range", std::move(*symbol.get("selectionRange"))}}}});
    }
  }
  bool is_full() const { return found_.size() >= kMost; }
  json::Array Take() { return std::move(found_); }

 private:
  static constexpr size_t kMost = 1000;

  // Its letters in their order, whatever their case; editors sort what they show.
  bool Fits(const std::string& name) const {
    size_t at = 0;
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    for (const char c : name) at += at < wanted_.size() && lower(c) == lower(wanted_[at]) ? 1 : 0;
    return at == wanted_.size();
  }

  const std::string wanted_;
  json::Array found_;
};

// Of a file that is not open, as far as it parses.
json::Array OutlineOfFile(const std::string& path) {
  const auto text = llvm::MemoryBuffer::getFile(path);
  if (!text) return {};
  source::SourceMap sources;
  diag::Emitter mistakes;
  const FileId file = sources.Add(path, (*text)->getBuffer().str());
  const auto tree = parse::Parse(file, sources, mistakes, parse::Role::kText);
  return tree ? Outline(sources).Of(*tree) : json::Array();
}

}  // namespace

Answer Symbols(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query || query->analysis.tree() == nullptr) return nullptr;
  return Outline(query->analysis.sources()).Of(*query->analysis.tree());
}

Answer WorkspaceSymbols(Workspace& workspace, const json::Object& params) {
  Search search(params.getString("query").value_or("").str());
  for (auto& [uri, document] : workspace.documents()) {
    const Analysis& analysis = workspace.AnalysisOf(document);
    if (analysis.tree() != nullptr) search.Add(uri, Outline(analysis.sources()).Of(*analysis.tree()), "");
  }
  std::set<std::string> files;
  for (const std::string& folder : workspace.folders()) {
    files.merge(source::ProgramFilesBelow(folder, Programs::kMostFiles, Programs::kMostEntries).paths);
  }
  for (const std::string& path : files) {
    if (search.is_full()) break;
    if (workspace.OpenAt(path) == nullptr) search.Add(UriOf(path), OutlineOfFile(path), "");
  }
  return search.Take();
}

}  // namespace wf::lsp
