#pragma once

#include <string>
#include <vector>

#include "compiler/sema/body.h"

namespace wf::sema {

// Where an index stands bare between brackets: the axis that it runs over.
struct Use {
  const ast::IndexExpr* expr;
  size_t axis;
};

std::vector<Use> UsesOf(const std::string& index, const ast::Expr& inside);  // in the order of the text

// The tensor or list that an index runs over is named by locals, fields, constants and elements of them alone, so its type is known before
// the body is checked. Null: it is not so named.
TypeRef TypeOfPlace(Body& body, const ast::Expr& expr);
// Reads nothing but names that mean something here; an index of an inner reducer does not yet.
bool IsKnownHere(Body& body, const ast::Expr& place);

}  // namespace wf::sema
