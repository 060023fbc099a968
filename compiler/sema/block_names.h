#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/sema/cycles.h"

namespace wf::sema {

bool Holds(const source::Span& outer, const source::Span& inner);

// What the statements of a block declare, wherever the check is in it: its `let`s and nodes, those of its stages included.
// Thread: loop-confined.   Borrows: statements.   Cost: linear in the block when it is first asked, then a search; of ways that of Cycles.
class BlockNames {
 public:
  struct Declared {
    const ast::Name* name;
    const ast::Stmt* stmt;
  };

  explicit BlockNames(const std::vector<ast::StmtPtr>& statements) : statements_(&statements) {}
  const Declared* Find(std::string_view name);      // the first of that name; null: there is none
  const Declared* Around(const source::Span& use);  // whose statement holds it; null: there is none
  std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted);  // Cycles, of these names

 private:
  void Read();
  void Add(const ast::Stmt& stmt);

  const std::vector<ast::StmtPtr>* statements_;
  bool is_read_ = false;
  std::vector<Declared> all_;  // in textual order
  std::map<std::string_view, size_t> by_name_;
  Cycles cycles_;
};

}  // namespace wf::sema
