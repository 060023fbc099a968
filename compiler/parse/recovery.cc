#include "compiler/parse/recovery.h"

#include <algorithm>

#include "compiler/parse/limits.h"
#include "compiler/parse/words.h"
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
    case P::RuleWorkflowHead:
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

bool IsOfFile(size_t rule) { return rule == P::RuleFile || rule == P::RuleDecl || rule == P::RulePackageDecl; }

bool IsOfStatements(size_t rule) {
  switch (rule) {
    case P::RuleBody:
    case P::RuleStmt:
    case P::RuleNodeStmt:
    case P::RuleLetStmt:
    case P::RuleRequireStmt:
    case P::RuleStageBody:
    case P::RuleTestBody:
    case P::RuleTestItem:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Recovery::Report(Parser* parser, const Token& offending, const IntervalSet& expected, bool brace_is_missing) {
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
  reporter_.Report({offending.getTokenIndex(), first, rule->getRuleIndex(), expected, brace_is_missing});
  if (reporter_.count() <= kMaxMistakes) return;
  reporter_.StopCounting();
  throw antlr4::ParseCancellationException("too many mistakes");
}

void Recovery::reportError(Parser* parser, const antlr4::RecognitionException& mistake) {
  if (inErrorRecoveryMode(parser)) return;
  // A prediction that fails some tokens on is reported at the token that fits nothing.
  Report(parser, *mistake.getOffendingToken(), mistake.getExpectedTokens(), false);
}

void Recovery::recover(Parser* parser, std::exception_ptr mistake) {
  auto* rule = parser->getContext();
  if (!RecoversHere(rule->getRuleIndex())) std::rethrow_exception(mistake);
  if (rule->getRuleIndex() == P::RuleWorkflowHead) return SkipToBody(parser);
  Resync(parser, rule->getStart()->getTokenIndex());
}

// Stands in no text and has no number.
Token* Recovery::Missing(Parser* parser) {
  auto token = std::make_unique<antlr4::CommonToken>(static_cast<size_t>(parser->getExpectedTokens().getMinElement()));
  token->setStartIndex(SIZE_MAX);
  token->setStopIndex(SIZE_MAX);
  return missing_.emplace_back(std::move(token)).get();
}

// A `{` that is missing is read as if it were there when what follows may stand inside and is closed; so is the `}` of settings.
Token* Recovery::recoverInline(Parser* parser) {
  const Token& token = *parser->getCurrentToken();
  if (parser->getContext()->getRuleIndex() == P::RuleSettings && reporter_.LeavesSettings(token.getTokenIndex())) {
    Report(parser, token, parser->getExpectedTokens(), false);
    return Missing(parser);
  }
  const auto& atn = parser->getATN();
  const IntervalSet expected = parser->getExpectedTokens();
  const bool is_brace = expected.size() == 1 && expected.contains(static_cast<ssize_t>(T::LBRACE));
  const bool fits =
      is_brace && atn.nextTokens(atn.states[parser->getState()]->transitions[0]->target).contains(static_cast<ssize_t>(token.getType()));
  if (!fits || !ClosesTooMuch(token.getTokenIndex())) throw antlr4::InputMismatchException(parser);
  Report(parser, token, expected, true);
  if (reporter_.DivisionBehind(token.getTokenIndex() - 1)) FailAround(*parser->getContext());
  return Missing(parser);
}

// What was read of `if n // 2 > 3 {` is no condition: nothing more is said about what it stands in.
void Recovery::FailAround(antlr4::ParserRuleContext& rule) {
  auto* around = &rule;
  while (around->parent != nullptr && !RecoversHere(around->getRuleIndex()))
    around = static_cast<antlr4::ParserRuleContext*>(around->parent);
  around->exception = std::make_exception_ptr(antlr4::RuntimeException("skipped text"));
}

void Recovery::sync(Parser* parser) {
  auto* rule = parser->getContext();
  if (!IsSequence(rule->getRuleIndex())) return;
  const auto& atn = parser->getATN();
  const IntervalSet& expected = atn.nextTokens(atn.states[parser->getState()]);
  while (true) {
    const Token& token = *parser->getCurrentToken();
    if (expected.contains(static_cast<ssize_t>(token.getType()))) return;
    if (rule->getRuleIndex() == P::RuleSettings && reporter_.LeavesSettings(token.getTokenIndex())) {
      if (token.getType() != T::SEMI) return;
      Report(parser, token, expected, false);
      parser->getTokenStream()->consume();
      return;
    }
    if (rule->getRuleIndex() == P::RuleFile && reporter_.IsInserted(token.getTokenIndex())) {  // its declaration is left already
      parser->getTokenStream()->consume();
      endErrorCondition(parser);
      continue;
    }
    if (IsSuperfluous(token, expected)) {  // nothing is skipped with it, so nothing is missing
      Report(parser, token, expected, false);
      parser->getTokenStream()->consume();
      endErrorCondition(parser);
      continue;
    }
    const bool in_file = rule->getRuleIndex() == P::RuleFile;
    if (token.getType() == Token::EOF || (!in_file && StopsBefore(token, 1, 1, kDeclarations | kStatements)))
      throw antlr4::InputMismatchException(parser);
    Report(parser, token, expected, false);
    rule->exception = std::make_exception_ptr(antlr4::RuntimeException("skipped text"));
    Resync(parser, token.getTokenIndex());
  }
}

// Whether `token` is a `;` that ends nothing, in a sequence that goes on or ends right after it.
bool Recovery::IsSuperfluous(const Token& token, const IntervalSet& expected) const {
  if (token.getType() != T::SEMI) return false;
  const size_t next = tokens_.all[token.getTokenIndex() + 1]->getType();
  return next == T::SEMI || expected.contains(static_cast<ssize_t>(next));
}

// Whether reading may go on at `token`, met `depth` brackets deep in what began in `column`.
bool Recovery::StopsBefore(const Token& token, uint32_t depth, uint32_t column, uint16_t sequences) const {
  const size_t type = token.getType();
  if (type == Token::EOF) return true;
  if (!Starts(type, sequences) || !FirstOnLine(text_, token)) return false;
  return (depth == 0 && !Starts(type, kInValue)) || ColumnOf(text_, token) <= column;
}

// Whether a member of the sequence that `rule` belongs to begins at `token`, right after what ended another: `;` may be part of a mistake.
bool Recovery::GoesOnAt(const Token& token, size_t rule, uint32_t column) const {
  const size_t type = token.getType();
  if (type == Token::EOF) return true;
  if (!IsOfFile(rule) && !IsOfStatements(rule)) return true;
  if (type == T::RBRACE) return false;  // whether it closes the sequence is looked at when it comes
  if (IsOfFile(rule)) return Starts(type, kDeclarations) || (FirstOnLine(text_, token) && ColumnOf(text_, token) <= column);
  return FirstOnLine(text_, token) || Starts(type, kDeclarations | kStatements);
}

// Whether a `}` of the declaration that `from` stands in closes nothing: its `{` is missing.
bool Recovery::ClosesTooMuch(size_t from) const {
  for (size_t at = from; tokens_.all[at]->getType() != Token::EOF; ++at) {
    const Token& token = *tokens_.all[at];
    if (at > from && StopsBefore(token, 1, 1, kDeclarations)) return false;
    if (token.getType() == T::RBRACE && tokens_.opener[at] < 0) return true;
  }
  return false;
}

// To the body of a workflow whose head is broken.
void Recovery::SkipToBody(Parser* parser) {
  antlr4::TokenStream& stream = *parser->getTokenStream();
  const auto is_body = [&] {  // and no default as of another language: `m: map<i64> = {}`
    return parser->getCurrentToken()->getType() == T::LBRACE && stream.LA(-1) != T::ASSIGN;
  };
  while (!is_body() && !StopsBefore(*parser->getCurrentToken(), 0, 1, kDeclarations | kStatements)) {
    stream.consume();
  }
}

void Recovery::Resync(Parser* parser, size_t from) {
  antlr4::TokenStream& stream = *parser->getTokenStream();
  const size_t rule = parser->getContext()->getRuleIndex();
  const bool of_file = IsOfFile(rule);
  const uint16_t sequences = of_file ? kDeclarations : kDeclarations | kStatements;
  const uint32_t outside = tokens_.braces[from];
  const uint32_t column = of_file && !FirstOnLine(text_, *tokens_.all[from]) ? 1 : IndentOf(text_, *tokens_.all[from]);
  // `{` open since the statement began; a mistake in its brackets may leave fewer than there were.
  const auto depth = [&] { return std::max(tokens_.braces[stream.index()], outside) - outside; };
  const auto closes_around = [&](const Token& token) {
    return token.getType() == T::RBRACE && depth() == 0 && !of_file && (FirstOnLine(text_, token) || !ClosesTooMuch(stream.index() + 1));
  };
  for (bool moved = stream.index() != from;; moved = true) {
    const Token& token = *tokens_.all[stream.index()];
    const size_t type = token.getType();
    if (type == Token::EOF || (moved && (closes_around(token) || StopsBefore(token, depth(), column, sequences)))) return;
    stream.consume();
    const Token& next = *tokens_.all[stream.index()];
    const bool block_ends = type == T::RBRACE && FirstOnLine(text_, next) && next.getType() != T::KW_ELSE;
    if (depth() > 0 || (type != T::SEMI && !block_ends) || !GoesOnAt(next, rule, column)) continue;
    endErrorCondition(parser);
    return;
  }
}

}  // namespace wf::parse
