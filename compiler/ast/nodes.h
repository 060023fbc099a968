#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/expr.h"

namespace wf::ast {

// ---- types ----

// A dimension: a symbol, an integer, arithmetic over those, `_` (kAny), or `*s` (any rank).
struct DimExpr {
  enum class Kind { kSymbol, kInt, kAny, kRest, kAdd, kSub, kMul, kDiv, kError };
  Kind kind = Kind::kError;
  std::string text;               // of kSymbol, kInt (digits as written), kRest (the name after `*`)
  std::vector<DimExpr> operands;  // two, of the arithmetic kinds
  Span span;
};

struct Type {
  enum class Kind { kNamed, kTuple, kError };
  struct Field {
    Name label;
    std::optional<std::string> external_name;
    std::unique_ptr<Type> type;
    Span span;
  };  // external_name: `x as "x:0"`
  Kind kind = Kind::kError;
  Path name;                       // kNamed: `f32`, `list`, `Line`, `pkg.Line`
  std::unique_ptr<Type> argument;  // list<T>, map<T>; may be null
  bool is_tensor = false;          // dims written, even none would be an error of syntax
  std::vector<DimExpr> dims;
  std::vector<Field> fields;  // kTuple
  bool optional = false;      // T?
  Span span;
};
using TypePtr = std::unique_ptr<Type>;

struct Param {
  Name name;
  std::optional<std::string> external_name;
  TypePtr type;
  ExprPtr default_value;  // may be null
  Span span;
};

// ---- settings: one generic rule, checked against a table by sema ----

struct SettingArg {
  enum class Kind { kNumber, kString, kPath, kCall, kList, kMap };
  Kind kind = Kind::kNumber;
  bool negative = false;
  NumberKind number_kind = NumberKind::kInt;
  std::string text;                                   // kNumber, kString
  Path path;                                          // kPath, kCall
  std::vector<Argument> arguments;                    // kCall
  ExprPtr list;                                       // kList: a ListExpr or ComprehensionExpr
  std::vector<std::pair<Name, std::string>> entries;  // kMap: name: INT;
  Span span;
};
struct Setting {
  Name name;
  std::vector<SettingArg> args;
  Span span;
};
struct Settings {
  std::vector<Setting> settings;
  Span span;
};

// ---- statements ----

enum class StmtKind {
#define STMT(name) k##name,
#include "compiler/ast/node_kinds.def"
};

struct Stmt {
  const StmtKind kind;
  Span span;
  virtual ~Stmt() = default;

 protected:
  Stmt(StmtKind k, Span s) : kind(k), span(s) {}
};
using StmtPtr = std::unique_ptr<Stmt>;

#define WF_STMT(name)                                  \
  static constexpr StmtKind kKind = StmtKind::k##name; \
  explicit name(Span s) : Stmt(kKind, s) {}

struct ErrorStmt : Stmt {
  WF_STMT(ErrorStmt)
};
struct LetStmt : Stmt {
  WF_STMT(LetStmt) Name name;
  TypePtr type;
  ExprPtr value;
};  // type may be null
struct RequireStmt : Stmt {
  WF_STMT(RequireStmt) ExprPtr condition;
  ExprPtr otherwise;
};  // otherwise may be null
struct NodeStmt : Stmt {
  WF_STMT(NodeStmt)
  Name name;
  TypePtr type;  // may be null
  ExprPtr value;
  std::optional<Settings> settings;
  ExprPtr fallback;  // `else E`; may be null
};
struct StageStmt : Stmt {
  WF_STMT(StageStmt) Name name;
  std::vector<StmtPtr> nodes;
  std::optional<Settings> settings;
};  // nodes: NodeStmt, ErrorStmt
struct IfStmt : Stmt {
  WF_STMT(IfStmt)
  struct Arm {
    ExprPtr condition;
    std::vector<StmtPtr> body;
    Span span;
  };
  std::vector<Arm> arms;
  std::optional<std::vector<StmtPtr>> otherwise;
};
struct CallStmt : Stmt {
  WF_STMT(CallStmt) Path callee;
  std::vector<Argument> arguments;
};
struct ReturnStmt : Stmt {
  WF_STMT(ReturnStmt) ExprPtr value;
};
struct FailStmt : Stmt {
  WF_STMT(FailStmt) ExprPtr error;
};
struct StubStmt : Stmt {
  WF_STMT(StubStmt) Path target;
  std::vector<Param> params;
  std::optional<std::string> key;  // `stub meta("key") = ..`, which has no parameters
  Span key_span{};
  ExprPtr value;
};
struct ExpectStmt : Stmt {
  WF_STMT(ExpectStmt) ExprPtr value;
  std::optional<Path> fails;
};

#undef WF_STMT
template <typename T>
const T* DynAs(const Stmt& stmt) {
  return stmt.kind == T::kKind ? static_cast<const T*>(&stmt) : nullptr;
}

// ---- declarations ----

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
    Span span;
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
