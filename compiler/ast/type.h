#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/expr.h"

// Types as they are written, and the parameters that have them.
namespace wf::ast {

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

}  // namespace wf::ast
