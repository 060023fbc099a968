// The outline of a file.

#include "compiler/lsp/requests.h"

namespace wf::lsp {
namespace {

// Numbers of LSP.
enum SymbolKind : int {
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
  explicit Outline(const Analysis& analysis) : analysis_(analysis) {}

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
                        {"range", RangeOf(analysis_.sources(), whole)},
                        {"selectionRange", RangeOf(analysis_.sources(), inside ? selection : head)}};
  }

  std::optional<json::Value> Of(const ast::Decl& decl) const {
    const auto named = [&](SymbolKind kind, json::Array children = {}) {
      json::Object symbol = Symbol(decl.name.text, kind, decl.span, decl.name.span);
      if (!children.empty()) symbol["children"] = std::move(children);
      return json::Value(std::move(symbol));
    };
    switch (decl.kind) {
      case ast::DeclKind::kConstDecl:
        return named(kConstant);
      case ast::DeclKind::kTypeDecl:
        return named(kStruct, Fields(static_cast<const ast::TypeDecl&>(decl)));
      case ast::DeclKind::kErrorCodeDecl:
        return named(kEvent);
      case ast::DeclKind::kFnDecl:
      case ast::DeclKind::kExternDecl:
        return named(kFunction);
      case ast::DeclKind::kModelDecl:
      case ast::DeclKind::kRemoteDecl:
        return named(kInterface);
      case ast::DeclKind::kWorkflowDecl:
        return named(kClass, Statements(static_cast<const ast::WorkflowDecl&>(decl).body));
      case ast::DeclKind::kServiceDecl:
        return named(kModule, Members(static_cast<const ast::ServiceDecl&>(decl)));
      case ast::DeclKind::kTestDecl:
        return Symbol("test " + static_cast<const ast::TestDecl&>(decl).title, kMethod, decl.span, decl.span);
      case ast::DeclKind::kErrorDecl:
        return decl.name.text.empty() ? std::nullopt : std::optional(named(kVariable));
      case ast::DeclKind::kImportDecl:
        return std::nullopt;
    }
    return std::nullopt;
  }

  json::Array Fields(const ast::TypeDecl& record) const {
    json::Array fields;
    for (const ast::Type::Field& field : record.fields) fields.push_back(Symbol(field.label.text, kField, field.span, field.label.span));
    return fields;
  }

  json::Array Members(const ast::ServiceDecl& service) const {
    json::Array members;
    for (const auto& member : service.members)
      members.push_back(Symbol(ast::ToString(member.target), kMethod, member.span, member.target.span));
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
        symbols.push_back(Symbol(node->name.text, kVariable, node->span, node->name.span));
      if (const auto* stage = ast::DynAs<ast::StageStmt>(*stmt)) {
        json::Object symbol = Symbol(stage->name.text, kNamespace, stage->span, stage->name.span);
        symbol["children"] = Statements(stage->nodes);
        symbols.push_back(std::move(symbol));
      }
      const auto* branch = ast::DynAs<ast::IfStmt>(*stmt);
      for (size_t i = 0; branch != nullptr && i < branch->arms.size(); ++i) AddStatements(branch->arms[i].body, symbols);
      if (branch != nullptr && branch->otherwise) AddStatements(*branch->otherwise, symbols);
    }
  }

  const Analysis& analysis_;
};

}  // namespace

Answer Symbols(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query || query->analysis.tree() == nullptr) return nullptr;
  return Outline(query->analysis).Of(*query->analysis.tree());
}

}  // namespace wf::lsp
