// What an editor may fold: brackets over several lines, imports, comments below one another.

#include "compiler/lsp/requests.h"

namespace wf::lsp {
namespace {

// Lines from 0, as editors count.
class Folds {
 public:
  Folds(const source::SourceMap& sources, const ast::File& file) : sources_(sources), file_(file) {}

  json::Array All() {
    Brackets();
    Imports();
    Comments();
    return std::move(folds_);
  }

 private:
  uint32_t LineOf(uint32_t byte) const { return sources_.PositionOf(file_.id, byte).line - 1; }

  void Add(uint32_t first, uint32_t last, const char* kind) {
    if (last <= first) return;
    json::Object fold{{"startLine", first}, {"endLine", last}};
    if (kind != nullptr) fold["kind"] = kind;
    folds_.push_back(std::move(fold));
  }

  // The line of the closing bracket stays to be seen. Of brackets that begin on one line the outermost folds.
  void Brackets() {
    std::vector<uint32_t> open;
    for (const Span& token : file_.tokens) {
      const std::string_view text = sources_.Text(token);
      if (text == "{" || text == "(" || text == "[") open.push_back(LineOf(token.begin));
      if ((text != "}" && text != ")" && text != "]") || open.empty()) continue;
      const uint32_t first = open.back(), last = LineOf(token.begin);
      open.pop_back();
      if (last > 0 && (open.empty() || open.back() != first)) Add(first, last - 1, nullptr);
    }
  }

  void Imports() {
    std::optional<Span> whole;
    for (const ast::DeclPtr& decl : file_.decls) {
      if (decl->kind != ast::DeclKind::kImportDecl) break;
      if (!whole) whole = decl->span;
      whole->end = decl->span.end;
    }
    if (whole) Add(LineOf(whole->begin), LineOf(whole->end), "imports");
  }

  // Each on a line of its own.
  void Comments() {
    std::optional<uint32_t> first;
    uint32_t last = 0;
    for (const ast::Comment& comment : file_.comments) {
      const source::Position at = sources_.PositionOf(file_.id, comment.span.begin);
      const std::string_view text = sources_.text(file_.id).substr(comment.span.begin - (at.column - 1), at.column - 1);
      if (text.find_first_not_of(" \t") != std::string_view::npos) continue;
      const uint32_t line = at.line - 1;
      if (first && line != last + 1) {
        Add(*first, last, "comment");
        first.reset();
      }
      if (!first) first = line;
      last = line;
    }
    if (first) Add(*first, last, "comment");
  }

  const source::SourceMap& sources_;
  const ast::File& file_;
  json::Array folds_;
};

}  // namespace

Answer FoldingRanges(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query || query->analysis.tree() == nullptr) return nullptr;
  return Folds(query->analysis.sources(), *query->analysis.tree()).All();
}

}  // namespace wf::lsp
