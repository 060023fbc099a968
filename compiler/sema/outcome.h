#pragma once

#include <string>

#include "compiler/sema/check_expr.h"

namespace wf::sema {

// Makes the expressions that say what a statement of a test came to: a record
//   (ok: bool, code: i32, message: string, node: string, left: list<T>, right: list<T>)
// with the failure, and the sides of a comparison that does not hold; without sides where T is null. Numbers in sides are text, so that
// JSON can say all of them.
// Borrows: body.
class OutcomeMaker {
 public:
  explicit OutcomeMaker(Body& body) : body_(body), types_(body.env.types) {}

  LocalId Declare(const std::string& name, TypeRef type, const Span& span);
  LocalId DeclareError(const Span& span);

  ExprPtr After(ExprPtr value);  // ok, once there is a value
  ExprPtr OfCondition(ExprPtr holds);
  ExprPtr OfComparison(ExprPtr comparison, TypeRef side);  // of args[0] and args[1]
  ExprPtr OfFailure(LocalId err, TypeRef side, const Span& span);
  TypeRef ShownType(TypeRef type);

 private:
  TypeRef OutcomeType(TypeRef side);
  ExprPtr Record(ExprPtr ok, TypeRef side, const Span& span);
  ExprPtr Text(std::string text, const Span& span) { return MakeText(body_, std::move(text), span); }
  ExprPtr Read(LocalId local, const Span& span);
  static ExprPtr FieldOf(ExprPtr record, uint32_t index);
  ExprPtr Again(const Expr& read);
  ExprPtr Shown(ExprPtr value);
  ExprPtr ShownUnless(LocalId holds, ExprPtr value, TypeRef side);
  static bool HoldsFloats(TypeRef type);

  Body& body_;
  Types& types_;
};

}  // namespace wf::sema
