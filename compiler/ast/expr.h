#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/source.h"

namespace wf::ast {

using source::Span;

enum class ExprKind {
#define EXPR(name) k##name,
#include "compiler/ast/node_kinds.def"
};

// Base of all expressions. Owns its children. `As<T>` of a node of another kind is a bug.
struct Expr {
  const ExprKind kind;
  Span span;
  virtual ~Expr() = default;

 protected:
  Expr(ExprKind k, Span s) : kind(k), span(s) {}
};
using ExprPtr = std::unique_ptr<Expr>;  // never null unless the field says so

template <typename T>
const T* DynAs(const Expr& expr) {
  return expr.kind == T::kKind ? static_cast<const T*>(&expr) : nullptr;
}
template <typename T>
const T& As(const Expr& expr) {
  return static_cast<const T&>(expr);
}  // REQUIRES: expr.kind == T::kKind

#define WF_EXPR(name)                                  \
  static constexpr ExprKind kKind = ExprKind::k##name; \
  explicit name(Span s) : Expr(kKind, s) {}

struct Name {
  std::string text;
  Span span;
};  // an identifier where it stands
struct Path {
  std::vector<Name> parts;
  Span span;
};  // a.b.c; at least one part
std::string ToString(const Path& path);

// A place that did not parse; already reported.
struct ErrorExpr : Expr {
  WF_EXPR(ErrorExpr)
};

struct NameExpr : Expr {
  WF_EXPR(NameExpr) std::string name;
};

// INT, FLOAT or MEASURE (a number with a unit: `2ms`, `64MiB`). The value is read by sema, which knows the type wanted.
enum class NumberKind { kInt, kFloat, kMeasure };
struct NumberExpr : Expr {
  WF_EXPR(NumberExpr) NumberKind number_kind = NumberKind::kInt;
  std::string text;
};  // as written, with `_` and `0x`

// "..." or r"...". Text pieces are unescaped UTF-8; a hole is a name followed by .field and [int].
struct StringExpr : Expr {
  WF_EXPR(StringExpr)
  struct Piece {
    std::string text;
    ExprPtr hole;
  };  // hole: null for a text piece; NameExpr, MemberExpr and IndexExpr only
  std::vector<Piece> pieces;  // empty: the empty string
  bool raw = false;
};

enum class LiteralKind { kTrue, kFalse, kNone };
struct LiteralExpr : Expr {
  WF_EXPR(LiteralExpr) LiteralKind literal = LiteralKind::kNone;
};

struct MemberExpr : Expr {
  WF_EXPR(MemberExpr) ExprPtr object;
  Name member;
};

struct Argument {
  std::optional<Name> label;
  ExprPtr value;
  Span span;
};
struct CallExpr : Expr {
  WF_EXPR(CallExpr) ExprPtr callee;
  std::vector<Argument> arguments;
};

// One place between the brackets of x[..]: `i`, or a slice `a:b` with either end absent.
struct Subscript {
  bool is_slice = false;
  ExprPtr first, last;
  Span span;
};  // first: null when absent in a slice; last: only of a slice, may be null
struct IndexExpr : Expr {
  WF_EXPR(IndexExpr) ExprPtr object;
  std::vector<Subscript> subscripts;
};

enum class UnaryOp { kNegate, kNot };
struct UnaryExpr : Expr {
  WF_EXPR(UnaryExpr) UnaryOp op = UnaryOp::kNegate;
  ExprPtr operand;
};

enum class BinaryOp { kMul, kDiv, kRem, kAdd, kSub, kEq, kNe, kLt, kLe, kGt, kGe, kAnd, kOr, kCoalesce, kPipe };
std::string_view Spelling(BinaryOp op);
struct BinaryExpr : Expr {
  WF_EXPR(BinaryExpr) BinaryOp op = BinaryOp::kAdd;
  Span op_span;
  ExprPtr left, right;
};  // kPipe: right is a CallExpr or reported

// [i, j < n] => body. Also the inside of a reducer `sum[k](e)`, which parses as a call of an index expression and is told apart by sema.
struct LambdaExpr : Expr {
  WF_EXPR(LambdaExpr)
  struct Index {
    Name name;
    ExprPtr extent;
  };  // extent: null unless written `i < n`
  std::vector<Index> indices;
  ExprPtr body;
};

struct FailExpr : Expr {
  WF_EXPR(FailExpr) ExprPtr error;
};

struct ListExpr : Expr {
  WF_EXPR(ListExpr) std::vector<ExprPtr> elements;
};

// [value for names in source if condition]
struct ComprehensionExpr : Expr {
  WF_EXPR(ComprehensionExpr) ExprPtr value;
  std::vector<Name> names;
  ExprPtr source;
  ExprPtr condition;
};  // condition may be null

struct ParenExpr : Expr {
  WF_EXPR(ParenExpr) ExprPtr inner;
};

struct TupleExpr : Expr {
  WF_EXPR(TupleExpr)
  struct Field {
    Name label;
    ExprPtr value;
  };
  std::vector<Field> fields;  // at least one; all labelled
};

#undef WF_EXPR

}  // namespace wf::ast
