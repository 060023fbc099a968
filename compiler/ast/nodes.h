#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/stmt.h"

// Declarations, and the file that they make.
namespace wf::ast {

enum class DeclKind {
#define DECL(name) k##name,
#include "compiler/ast/node_kinds.def"
};

struct Decl {
  const DeclKind kind;
  Span span;
  Name name;                // empty for import without `as`, for tests, and for errors whose name was not read
  bool has_errors = false;  // part of it did not parse and is reported: its signature holds, its body is not worth checking
  std::string doc;          // the `///` lines above, without their slashes
  virtual ~Decl() = default;

 protected:
  Decl(DeclKind k, Span s) : kind(k), span(s) {}
};
using DeclPtr = std::unique_ptr<Decl>;

#define WF_DECL(name_)                                  \
  static constexpr DeclKind kKind = DeclKind::k##name_; \
  explicit name_(Span s) : Decl(kKind, s) {}

struct Binding {
  Name function;
  std::vector<Argument> arguments;
  std::optional<Settings> settings;
  Span span;
};  // onnx("path") { .. }

struct ErrorDecl : Decl {
  WF_DECL(ErrorDecl)
};
struct ImportDecl : Decl {
  WF_DECL(ImportDecl) Path path;
};
struct ConstDecl : Decl {
  WF_DECL(ConstDecl) TypePtr type;
  ExprPtr value;
};  // type may be null
struct TypeDecl : Decl {
  WF_DECL(TypeDecl) std::vector<Type::Field> fields;
};
struct ErrorCodeDecl : Decl {
  WF_DECL(ErrorCodeDecl) std::string code;
  Span code_span;
  std::string message;
  Span message_span;
  std::optional<Name> status;
};
struct FnDecl : Decl {
  WF_DECL(FnDecl)
  std::vector<Name> type_params;
  std::vector<Param> params;
  TypePtr result;
  Block body;  // `= expr;` is a block without statements
};
struct ExternDecl : Decl {
  WF_DECL(ExternDecl)
  bool is_node = false;
  std::vector<Name> type_params;
  std::vector<Param> params;
  TypePtr result;
  Binding binding;
};
struct ModelDecl : Decl {
  WF_DECL(ModelDecl)
  bool has_signature = false;
  std::vector<Param> params;
  TypePtr result;  // null without a signature
  Binding binding;
};
struct RemoteDecl : Decl {
  WF_DECL(RemoteDecl) std::vector<Param> params;
  TypePtr result;
  Binding binding;
};
struct WorkflowDecl : Decl {
  WF_DECL(WorkflowDecl) std::vector<Param> params;
  TypePtr result;
  std::vector<StmtPtr> body;
  Span signature_span;
};
struct ServiceDecl : Decl {
  WF_DECL(ServiceDecl)
  struct Member {
    bool is_model = false;
    Path target;
    std::optional<std::string> published_name;
    Span span, name_span;  // name_span: of the name that it is published under
  };
  std::vector<Member> members;
  std::vector<Setting> settings;
};
struct TestDecl : Decl {
  WF_DECL(TestDecl) std::string title;
  Span title_span;
  std::vector<StmtPtr> body;
};  // LetStmt, StubStmt, ExpectStmt, ErrorStmt

#undef WF_DECL
template <typename T>
const T* DynAs(const Decl& decl) {
  return decl.kind == T::kKind ? static_cast<const T*>(&decl) : nullptr;
}

struct Comment {
  Span span;
  std::string text;
};  // `// ..` with its slashes, where it stands

struct File {
  source::FileId id = source::FileId::kNone;
  std::optional<Path> package;
  std::vector<DeclPtr> decls;
  std::vector<Comment> comments;  // in order
  std::vector<Span> tokens;       // in order; comments are none
  bool skipped_text = false;      // between declarations: some of them may be missing
};

}  // namespace wf::ast
