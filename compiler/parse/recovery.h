#pragma once

#include <antlr4-runtime.h>

#include <memory>
#include <vector>

#include "compiler/parse/report.h"
#include "compiler/parse/tokens.h"

namespace wf::parse {

// Where the parser goes on after a mistake. A mistake unwinds to the nearest rule for a statement, setting, member or declaration, is
// reported once there, and reading goes on after the next `;` that can end it, before the `}` that closes what surrounds it, or at a line
// that begins with a word for a declaration or statement; what is indented more than a broken declaration belongs to it, but the body of a
// workflow is read. Rules left that way keep their `exception`, which the AST builder takes as the mark of an error node.
// Owns: tokens that were taken as read.   Borrows: text, tokens, reporter.   Errors: throws antlr4::ParseCancellationException after
// kMaxMistakes reports, caught in parse.cc.
class Recovery : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(const Text& text, const TokenList& tokens, Reporter& reporter) : text_(text), tokens_(tokens), reporter_(reporter) {}

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& mistake) override;
  void recover(antlr4::Parser* parser, std::exception_ptr mistake) override;
  Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  Token* Missing(antlr4::Parser* parser);
  void Resync(antlr4::Parser* parser, size_t from);
  void SkipToBody(antlr4::Parser* parser);
  static void FailAround(antlr4::ParserRuleContext& rule);
  bool IsSuperfluous(const antlr4::Token& token, const antlr4::misc::IntervalSet& expected) const;
  bool StopsBefore(const Token& token, uint32_t depth, uint32_t column, uint16_t sequences) const;
  bool GoesOnAt(const Token& token, size_t rule, uint32_t column) const;
  bool ClosesTooMuch(size_t from) const;
  void Report(antlr4::Parser* parser, const Token& offending, const antlr4::misc::IntervalSet& expected, bool brace_is_missing);

  const Text& text_;
  const TokenList& tokens_;
  Reporter& reporter_;
  std::vector<std::unique_ptr<Token>> missing_;
};

}  // namespace wf::parse
