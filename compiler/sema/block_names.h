#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"

namespace wf::sema {

bool Holds(const source::Span& outer, const source::Span& inner);

// What the statements of a block declare, wherever the check is in it: its `let`s and nodes, those of its stages included.
// Thread: loop-confined.   Borrows: statements.   Cost: linear in the block when it is first asked, then a search.
class BlockNames {
 public:
  struct Declared {
    const ast::Name* name;
    const ast::Stmt* stmt;
  };

  explicit BlockNames(const std::vector<ast::StmtPtr>& statements) : statements_(&statements) {}
  const Declared* Find(std::string_view name);      // the first of that name; null: there is none
  const Declared* Around(const source::Span& use);  // whose statement holds it; null: there is none

 private:
  void Read();
  void Add(const ast::Stmt& stmt);

  const std::vector<ast::StmtPtr>* statements_;
  bool is_read_ = false;
  std::vector<Declared> all_;  // in textual order
  std::map<std::string_view, size_t> by_name_;
};

}  // namespace wf::sema
