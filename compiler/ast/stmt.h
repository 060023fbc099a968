#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/control.h"
#include "compiler/ast/type.h"

// Statements of workflows, tests and blocks, and the settings of nodes, stages, models and services.
namespace wf::ast {

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

}  // namespace wf::ast
