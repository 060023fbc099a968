#pragma once

#include <string>
#include <string_view>

#include "compiler/ast/nodes.h"
#include "compiler/base/quote.h"

namespace wf::ast {

// Writes one line for each node. The printer's parts share it: printer.cc knows declarations and statements, print_expr.cc expressions.
// Borrows: sources.
class TreeWriter {
 public:
  explicit TreeWriter(const source::SourceMap& sources) : sources_(sources) {}

  void Line(std::string_view role, std::string_view what, const Span& span);
  void Text(std::string_view line);  // a line without a place
  std::string Take() { return std::move(text_); }

  // Lines written while one of these lives stand one step further in.
  class Deeper {
   public:
    explicit Deeper(TreeWriter& writer) : writer_(writer) { ++writer_.depth_; }
    ~Deeper() { --writer_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    TreeWriter& writer_;
  };

 private:
  const source::SourceMap& sources_;
  std::string text_;
  size_t depth_ = 0;
};

using source::Quote;

void PrintExpr(std::string_view role, const Expr& expr, TreeWriter& out);
void PrintArguments(const std::vector<Argument>& arguments, TreeWriter& out);
void PrintBlock(std::string_view role, const Block& block, TreeWriter& out);
void PrintStmt(const Stmt& stmt, TreeWriter& out);

}  // namespace wf::ast
