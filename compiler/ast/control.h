#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/expr.h"

// Expressions that choose and repeat, and the blocks that they are made of.
namespace wf::ast {

struct Stmt;
// { (let | require)* value [else fallback] }: the body of fn, if, for, fold. `fallback` only in a for.
struct Block {
  std::vector<std::unique_ptr<Stmt>> statements;  // LetStmt, RequireStmt or ErrorStmt
  ExprPtr value;
  ExprPtr fallback;  // may be null
  Span span;
  Block();
  Block(Block&&) noexcept;
  Block& operator=(Block&&) noexcept;
  ~Block();
};

#define WF_EXPR(name)                                  \
  static constexpr ExprKind kKind = ExprKind::k##name; \
  explicit name(Span s) : Expr(kKind, s) {}

struct IfExpr : Expr {
  WF_EXPR(IfExpr)
  struct Arm {
    ExprPtr condition;
    Block block;
  };
  std::vector<Arm> arms;  // if, else if ...; at least one
  Block otherwise;
};

struct Pattern {
  enum class Kind { kInt, kString, kTrue, kFalse, kNone, kName };  // kName: a binder, or `_`
  Kind kind = Kind::kName;
  std::string text;  // digits with their sign, unescaped string, or name
  Span span;
};
struct MatchExpr : Expr {
  WF_EXPR(MatchExpr)
  struct Arm {
    std::vector<Pattern> patterns;
    ExprPtr value;
    Span span;
  };
  ExprPtr subject;
  std::vector<Arm> arms;
};

struct ForExpr : Expr {
  WF_EXPR(ForExpr) std::vector<Name> names;
  ExprPtr source;
  Block block;
};
struct FoldExpr : Expr {
  WF_EXPR(FoldExpr) Name accumulator;
  ExprPtr initial;
  std::vector<Name> names;
  ExprPtr source;
  Block block;
};

#undef WF_EXPR

}  // namespace wf::ast
