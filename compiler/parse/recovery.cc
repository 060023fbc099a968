#include "compiler/parse/recovery.h"

#include <algorithm>

#include "compiler/parse/limits.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using antlr4::Parser;
using antlr4::misc::IntervalSet;
using P = grammar::WfParser;

// The rules that a mistake unwinds to.
bool RecoversHere(size_t rule) {
  switch (rule) {
    case P::RuleDecl:
    case P::RulePackageDecl:
    case P::RuleStmt:
    case P::RuleNodeStmt:
    case P::RuleLetStmt:
    case P::RuleRequireStmt:
    case P::RuleSetting:
    case P::RuleTypeField:
    case P::RuleServiceItem:
    case P::RuleTestItem:
      return true;
    default:
      return false;
  }
}

// The rules that are a loop over the ones above: they skip what begins none of them, and go on.
bool IsSequence(size_t rule) {
  switch (rule) {
    case P::RuleFile:
    case P::RuleBody:
    case P::RuleStageBody:
    case P::RuleSettings:
    case P::RuleTypeBody:
    case P::RuleServiceBody:
    case P::RuleTestBody:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Recovery::Report(Parser* parser, const Token& offending, const IntervalSet& expected) {
  if (inErrorRecoveryMode(parser)) return;
  beginErrorCondition(parser);
  auto* rule = parser->getContext();
  size_t first = offending.getTokenIndex();
  for (auto* up = rule; up != nullptr; up = static_cast<antlr4::ParserRuleContext*>(up->parent)) {
    if (!RecoversHere(up->getRuleIndex())) continue;
    first = std::min(first, up->getStart()->getTokenIndex());
    break;
  }
  if (tokens_.DamagedWithin(first, offending.getTokenIndex())) return;  // told already, where the lexer met it
  reporter_.Report({offending.getTokenIndex(), first, rule->getRuleIndex(), expected});
  if (reporter_.count() > kMaxMistakes) throw antlr4::ParseCancellationException("too many mistakes");
}

void Recovery::reportError(Parser* parser, const antlr4::RecognitionException& mistake) {
  if (inErrorRecoveryMode(parser)) return;
  // A prediction that fails some tokens on is reported at the token that fits nothing.
  Report(parser, *mistake.getOffendingToken(), mistake.getExpectedTokens());
}

void Recovery::recover(Parser* parser, std::exception_ptr mistake) {
  auto* rule = parser->getContext();
  if (!RecoversHere(rule->getRuleIndex())) std::rethrow_exception(mistake);
  Resync(parser, rule->getStart()->getTokenIndex());
}

Token* Recovery::recoverInline(Parser* parser) { throw antlr4::InputMismatchException(parser); }

void Recovery::sync(Parser* parser) {
  auto* rule = parser->getContext();
  if (!IsSequence(rule->getRuleIndex())) return;
  const auto& atn = parser->getATN();
  const IntervalSet& expected = atn.nextTokens(atn.states[parser->getState()]);
  while (true) {
    const Token& token = *parser->getCurrentToken();
    if (expected.contains(static_cast<ssize_t>(token.getType()))) return;
    const bool in_file = rule->getRuleIndex() == P::RuleFile;
    if (token.getType() == Token::EOF || (!in_file && StopsBefore(token, 1, 1))) throw antlr4::InputMismatchException(parser);
    Report(parser, token, expected);
    rule->exception = std::make_exception_ptr(antlr4::RuntimeException("skipped text"));
    Resync(parser, token.getTokenIndex());
  }
}

// Whether reading may go on at `token`, met `depth` brackets deep in a statement that began in `column`.
bool Recovery::StopsBefore(const Token& token, uint32_t depth, uint32_t column) const {
  const size_t type = token.getType();
  if (type == Token::EOF) return true;
  if (depth == 0 && type == T::RBRACE) return true;
  const bool begins = StartsDeclaration(type) || type == T::KW_LET || type == T::KW_NODE || type == T::KW_STAGE || type == T::KW_REQUIRE ||
                      type == T::KW_RETURN || type == T::KW_STUB || type == T::KW_EXPECT;
  if (!begins || !FirstOnLine(text_, token)) return false;
  return depth == 0 || ColumnOf(text_, token) <= column;
}

void Recovery::Resync(Parser* parser, size_t from) {
  antlr4::TokenStream& stream = *parser->getTokenStream();
  const uint32_t outside = tokens_.braces[from];
  const uint32_t column = ColumnOf(text_, *tokens_.all[from]);
  // `{` open since the statement began; a mistake in its brackets may leave fewer than there were.
  const auto depth = [&] { return std::max(tokens_.braces[stream.index()], outside) - outside; };
  for (bool moved = stream.index() != from;; moved = true) {
    const Token& token = *tokens_.all[stream.index()];
    const size_t type = token.getType();
    if (type == Token::EOF || (moved && StopsBefore(token, depth(), column))) return;
    stream.consume();
    const Token& next = *tokens_.all[stream.index()];
    const bool block_ends = type == T::RBRACE && FirstOnLine(text_, next) && next.getType() != T::KW_ELSE;
    if (depth() > 0 || (type != T::SEMI && !block_ends)) continue;
    endErrorCondition(parser);
    return;
  }
}

}  // namespace wf::parse
