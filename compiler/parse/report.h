#pragma once

#include <antlr4-runtime.h>

#include <map>
#include <optional>
#include <string>

#include "compiler/diag/emitter.h"
#include "compiler/parse/tokens.h"

namespace wf::parse {

// A place where the parser could not go on.
struct Mistake {
  size_t at;         // number of the token that fits nothing
  size_t statement;  // number of the first token of the statement it stands in
  size_t rule;       // of the grammar
  const antlr4::misc::IntervalSet& expected;
  bool brace_is_missing;  // reading goes on at the token as if a `{` stood before it
};

// Says which mistake it is in the user's words: a targeted message where one is known, else what was found and what fits.
// Borrows: text, tokens, names of token types, emitter.
class Reporter {
 public:
  Reporter(const Text& text, const TokenList& tokens, const antlr4::dfa::Vocabulary& names, diag::Emitter& emitter)
      : text_(text), tokens_(tokens), names_(names), emitter_(emitter) {}
  void Report(const Mistake& mistake);
  size_t count() const { return count_; }
  void StopCounting() { emitter_.StopCounting(); }
  static bool IsKeyword(size_t type);
  // A comment that is meant as a division.
  struct Division {
    source::Span slashes;
    std::string_view rest;  // of the line
  };
  std::optional<Division> DivisionBehind(size_t at) const;
  bool LeavesSettings(size_t at) const;  // a statement begins there, or after the `;` that stands for a `}`

  // A `}` that ends a declaration which left brackets open.
  bool IsInserted(size_t number) const { return TypeAt(number) == T::RBRACE && SpanAt(number).begin == SpanAt(number).end; }

 private:
  // `y[0] += 1.0;`, in numbers of tokens.
  struct Assignment {
    size_t first, op;
    size_t width = 0, end = 0;  // of the operator; of the statement, its `;`
    bool is_plain = false;      // `=`
    bool is_step = false;       // `++`, `--`
  };

  struct Braces {
    size_t open, closer;
  };

  static constexpr std::string_view kDivision = "`//` begins a comment; `/` of two integers is one, rounded toward 0";

  void LabelDivision(size_t at, diag::Builder& built) const;
  std::optional<Braces> UnclosedWithin(size_t open, size_t end) const;
  bool ReportDivision(const Mistake& mistake);
  bool ReportPoint(const Mistake& mistake);
  bool ReportBrackets(const Mistake& mistake);
  bool ReportMissingBrace(const Mistake& mistake);
  bool ReportElif(const Mistake& mistake);
  bool ReportPrefix(const Mistake& mistake);
  bool ReportAssignment(const Mistake& mistake);
  bool ReportCallInBlock(const Mistake& mistake);
  bool ReportOpenSettings(const Mistake& mistake);
  bool ReportElse(const Mistake& mistake);
  bool ReportGlued(const Mistake& mistake);
  bool ReportForeignStatement(const Mistake& mistake);
  bool ReportStart(const Mistake& mistake);
  bool ReportMissingElse(const Mistake& mistake);
  bool ReportMissingSemicolon(const Mistake& mistake);
  bool ReportWord(const Mistake& mistake);
  bool IsToldWord(const Mistake& mistake) const;
  void ReportUnexpected(const Mistake& mistake);
  std::string_view HelpForNoResult(const Mistake& mistake) const;
  std::optional<std::string> HelpForNothing(const Mistake& mistake) const;
  std::optional<std::string> HelpForFloat(size_t at) const;
  std::optional<std::string> HelpForPlace(const Mistake& mistake) const;
  std::optional<std::string> HelpForHabit(const Mistake& mistake) const;
  std::optional<std::string> HelpForForeign(const Mistake& mistake) const;
  std::optional<std::string> HelpForInfix(const Mistake& mistake) const;
  std::optional<std::string> HelpForIn(size_t at, bool holds) const;
  std::optional<size_t> FoldWithoutFor(size_t in) const;
  std::optional<std::string> HelpForChoice(const Mistake& mistake) const;
  std::optional<std::string> HelpForParameter(const Mistake& mistake) const;
  std::optional<std::string> HelpForNameAndType(const Mistake& mistake) const;
  std::optional<std::string> HelpForNameOutside(const Mistake& mistake) const;
  std::optional<std::string> HelpForQuestion(const Mistake& mistake) const;
  std::optional<std::string> HelpForStep(size_t open, size_t at) const;
  std::optional<std::string> HelpForField(const Mistake& mistake) const;
  std::optional<std::string> HelpForHead(const Mistake& mistake) const;
  std::optional<std::string> HelpForValueOfBody(const Mistake& mistake) const;
  std::optional<std::string> HelpForAssign(const Mistake& mistake) const;
  std::optional<std::string> HelpForComma(const Mistake& mistake) const;
  std::optional<std::string> WordOfSecond(const Mistake& mistake) const;
  std::optional<std::string> HelpForArm(const Mistake& mistake) const;
  std::optional<std::string> HelpForDeclaration(const Mistake& mistake) const;
  std::optional<std::string> HelpForRecord(const Mistake& mistake) const;
  std::optional<std::string> HelpForUnnamed(const Mistake& mistake) const;
  std::optional<std::string> HelpForTypeOfCpp(size_t at) const;
  std::string HelpForDimension(size_t at) const;
  std::optional<std::string> HelpForListOfPython(const Mistake& mistake) const;
  std::optional<std::string> HelpForResult(size_t at) const;
  std::optional<std::string> HelpForColon(const Mistake& mistake) const;
  std::optional<std::string> HelpFor(const Mistake& mistake) const;
  std::optional<std::string> FixFor(const Mistake& mistake) const;
  std::optional<std::string> HelpForPlaceOfSettings(const Mistake& mistake) const;
  std::optional<std::string> HelpForSetting(const Mistake& mistake) const;
  std::optional<std::string> HelpForSeparator(size_t at) const;
  std::optional<std::string> HelpToRequire(std::optional<size_t> at) const;
  std::optional<std::string> HelpForEnd(size_t at) const;
  std::optional<std::string> HelpToDeclare(size_t word) const;
  std::optional<std::string> HelpToImport(size_t word) const;
  void HelpToStart(const Mistake& mistake, size_t word, diag::Builder& built) const;
  std::string HelpToChange(const Assignment& it) const;
  bool IsAccumulator(size_t at) const;
  std::optional<Assignment> AssignmentAt(size_t first) const;

  static std::string_view NameOfSequence(size_t rule);
  bool IsAtMember(const Mistake& mistake) const;
  bool IsElif(size_t at) const;
  bool IsNamedByAssign(size_t at) const;
  bool IsInUnnamedTuple(const Mistake& mistake) const;
  bool IsOfParameters(size_t at) const;
  bool HoldsWaitingCall(size_t first, size_t end) const;
  bool IsBoundAbove(std::string_view name, size_t at) const;
  bool IsBodyBehindAssign(size_t at) const;
  bool IsOfWorkflow(const Mistake& mistake) const;
  bool FailsOn(const Mistake& mistake) const;
  bool IsInFor(size_t at) const;
  bool IsCommentOfC(size_t at) const;
  bool IsOfComprehension(size_t at) const;
  bool WantsDimension(const Mistake& mistake) const;

  std::optional<size_t> ItemAt(size_t at) const;
  std::optional<size_t> StatementAt(const Mistake& mistake) const;
  bool IsBetweenNameAndType(const Mistake& mistake, size_t name) const;
  std::optional<size_t> NameWithoutColon(const Mistake& mistake) const;
  std::optional<size_t> FirstOfBlock(size_t at) const;
  size_t CloserOf(size_t open) const;
  size_t EndOfHeld(size_t open) const;
  size_t EndOfType(size_t at) const;
  size_t EndOfTarget(size_t first) const;
  size_t StartOfValue(size_t at) const;
  size_t EndOfValue(size_t at) const;
  std::string TextBetween(size_t first, size_t last, std::string_view other) const;

  // Beyond the last token is the end of the file: who looks ahead asks for nothing else.
  const Token& At(size_t number) const { return number < tokens_.all.size() ? *tokens_.all[number] : *tokens_.all.back(); }
  size_t TypeAt(size_t number) const { return At(number).getType(); }
  bool Expects(const Mistake& mistake, size_t type) const { return mistake.expected.contains(static_cast<ssize_t>(type)); }
  bool ExpectsExpression(const Mistake& mistake) const { return Expects(mistake, T::INT) && Expects(mistake, T::LPAREN); }
  std::string Quoted(size_t number) const;
  std::string Spelling(size_t number) const { return std::string(TextOf(text_, At(number))); }
  source::Span SpanAt(size_t number) const { return SpanOf(text_, At(number)); }

  const Text& text_;
  const TokenList& tokens_;
  const antlr4::dfa::Vocabulary& names_;
  diag::Emitter& emitter_;
  size_t count_ = 0;
  std::map<size_t, size_t> words_;  // keywords that were told to be no names, by type: where last
};

}  // namespace wf::parse
