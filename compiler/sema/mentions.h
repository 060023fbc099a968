#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/ast/nodes.h"

namespace wf::sema {

// The names that a piece of the tree mentions, without looking at what they mean: first parts of paths, names of expressions,
// and `none`, which no name is.
using NameSet = std::set<std::string, std::less<>>;
void CollectNames(const ast::Expr& expr, NameSet& names);
void CollectNames(const ast::Stmt& stmt, NameSet& names);
void CollectNames(const ast::Decl& decl, NameSet& names);
// Every x[..] in `expr`, in no order.
void ForEachIndexed(const ast::Expr& expr, const std::function<void(const ast::IndexExpr&)>& visit);
// Every type that is written in `decl`, and those in them, in no order.
void ForEachType(const ast::Decl& decl, const std::function<void(const ast::Type&)>& visit);

}  // namespace wf::sema
