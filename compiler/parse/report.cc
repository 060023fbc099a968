#include "compiler/parse/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "compiler/diag/foreign.h"
#include "compiler/parse/strings.h"
#include "compiler/parse/units.h"
#include "compiler/parse/words.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using source::Span;
using P = grammar::WfParser;

// "`,`, `)` or an expression"; the long lists of operators and of what begins an expression are told by one word.
std::string Describe(const antlr4::misc::IntervalSet& expected, const antlr4::dfa::Vocabulary& names) {
  const auto has = [&](size_t type) { return expected.contains(static_cast<ssize_t>(type)); };
  const bool expression = has(T::INT) && has(T::LPAREN);
  const bool label = has(T::NAME) && has(T::KW_PACKAGE);
  std::vector<std::string> words;
  if (expression) words.emplace_back("an expression");
  if (!expression && has(T::NAME)) words.emplace_back("a name");
  for (const ssize_t signed_type : expected.toList()) {
    const auto type = static_cast<size_t>(signed_type);
    const bool primary = type == T::NAME || type == T::LPAREN || type == T::LBRACKET || type == T::MINUS || type == T::BANG ||
                         (type >= T::INT && type <= T::RAW_STRING) || Reporter::IsKeyword(type);
    const bool operation = type >= T::EQ && type <= T::COALESCE;
    if (expression && primary) continue;
    if (label && Reporter::IsKeyword(type)) continue;
    if (type == T::NAME || type == T::DOT || type == T::FAT_ARROW) continue;
    if (operation && type != T::GT && !(type == T::STAR && !has(T::PLUS))) continue;
    if (type == Token::EOF) {
      words.emplace_back("the end of the file");
    } else if (type == T::STRING) {
      words.emplace_back("a string");
    } else if (type == T::INT) {
      words.emplace_back(has(T::FLOAT) ? "a number" : "an integer");
    } else if (type != T::FLOAT && type != T::MEASURE && type != T::RAW_STRING) {
      const std::string literal = names.getLiteralName(type);
      if (literal.size() > 2) words.push_back("`" + literal.substr(1, literal.size() - 2) + "`");
    }
  }
  if (words.empty() && has(T::FAT_ARROW)) words.emplace_back("`=>`");
  std::string text;
  for (size_t at = 0; at < words.size(); ++at) text += (at == 0 ? "" : at + 1 == words.size() ? " or " : ", ") + words[at];
  return text.empty() ? "something else" : text;
}

}  // namespace

bool Reporter::IsKeyword(size_t type) { return type >= T::KW_PACKAGE && type <= T::KW_NONE; }

std::string_view Reporter::NameOfSequence(size_t rule) {
  switch (rule) {
    case P::RuleFile:
      return "declaration";
    case P::RuleBody:
    case P::RuleCallStmt:
      return "statement";
    case P::RuleStageBody:
      return "node";
    case P::RuleSettings:
      return "setting";
    case P::RuleTypeBody:
      return "field";
    case P::RuleServiceBody:
      return "member or setting of a service";
    case P::RuleTestBody:
      return "statement of a test";
    default:
      return "";
  }
}

std::string Reporter::Quoted(size_t number) const {
  if (TypeAt(number) == Token::EOF) return "end of the file";
  std::string text = Spelling(number);
  if (TypeAt(number) == T::STRING || TypeAt(number) == T::RAW_STRING) {
    if (text.size() > 24) return "this string";
  } else if (text.size() > 40) {
    text = text.substr(0, 40) + "…";
  }
  return "`" + text + "`";
}

void Reporter::Report(const Mistake& mistake) {
  ++count_;
  if (IsToldWord(mistake)) return;
  if (ReportDivision(mistake) || ReportPoint(mistake) || ReportBrackets(mistake) || ReportMissingBrace(mistake) ||
      ReportOpenSettings(mistake) || ReportElif(mistake) || ReportElse(mistake) || ReportGlued(mistake) || ReportPrefix(mistake) ||
      ReportForeignStatement(mistake) || ReportAssignment(mistake) || ReportCallInBlock(mistake) || ReportStart(mistake) ||
      ReportMissingElse(mistake) || ReportMissingSemicolon(mistake) || ReportWord(mistake)) {
    return;
  }
  ReportUnexpected(mistake);
}

// A `{` behind the one at `open` whose `}` stands further left than its line: it is the one that nothing closes.
std::optional<Reporter::Braces> Reporter::UnclosedWithin(size_t open, size_t end) const {
  for (size_t at = open + 1; at < end; ++at) {
    if (TypeAt(at) != T::RBRACE || tokens_.opener[at] <= static_cast<int32_t>(open) || !FirstOnLine(text_, At(at))) continue;
    const auto inner = static_cast<size_t>(tokens_.opener[at]);
    if (TypeAt(inner) == T::LBRACE && ColumnOf(text_, At(at)) < IndentOf(text_, At(inner))) return Braces{inner, at};
  }
  return std::nullopt;
}

// Brackets that are left open, closed by another kind, or closed without being open.
bool Reporter::ReportBrackets(const Mistake& mistake) {
  const int32_t opener = tokens_.opener[mistake.at];
  size_t next = mistake.at;
  while (IsInserted(next)) ++next;
  const size_t type = TypeAt(next);
  const bool new_declaration = Starts(type, kDeclarations) && FirstOnLine(text_, At(next)) && ColumnOf(text_, At(next)) == 1;
  const bool opened_here = opener >= 0 && (next != mistake.at || static_cast<size_t>(opener) >= mistake.statement);
  if (opened_here && (type == Token::EOF || (new_declaration && mistake.rule != P::RuleServiceBody))) {
    const auto open = static_cast<size_t>(opener);
    if (const auto inner = UnclosedWithin(open, mistake.at)) {
      emitter_.Emit(SpanAt(inner->open), diag::kNeverClosed, {Spelling(inner->open)})
          .Label(SpanAt(inner->closer), "by where it stands, this closes what is around");
      return true;
    }
    emitter_.Emit(SpanAt(open), diag::kNeverClosed, {Spelling(open)})
        .Label(SpanAt(next), type == Token::EOF ? "the file ends here" : "the next declaration begins here");
    return true;
  }
  if (!IsCloseBracket(type)) return false;
  if (opener < 0) {
    emitter_.Emit(SpanAt(mistake.at), diag::kClosesNothing, {Spelling(mistake.at)});
    return true;
  }
  const auto open = static_cast<size_t>(opener);
  if (Closes(type, TypeAt(open))) return false;
  emitter_.Emit(SpanAt(mistake.at), diag::kWrongCloser, {Spelling(mistake.at), Spelling(open)}).Label(SpanAt(open), "opened here");
  return true;
}

bool Reporter::ReportMissingBrace(const Mistake& mistake) {
  if (!mistake.brace_is_missing) return false;
  const Span before = SpanAt(mistake.at - 1);
  const Span gap{before.file, before.end, before.end};
  auto built = emitter_.Emit(gap, diag::kMissingBrace, {Quoted(mistake.at - 1)});
  if (DivisionBehind(mistake.at - 1)) {
    LabelDivision(mistake.at, built);
  } else {
    built.Fix(gap, " {");
  }
  return true;
}

bool Reporter::LeavesSettings(size_t at) const {
  const size_t next = at + (TypeAt(at) == T::SEMI ? 1 : 0);
  return Starts(TypeAt(next), kStatements) && FirstOnLine(text_, At(next));
}

// Settings that are not closed: all after them would be none.
bool Reporter::ReportOpenSettings(const Mistake& mistake) {
  if (mistake.rule != P::RuleSettings || tokens_.opener[mistake.at] < 0 || !LeavesSettings(mistake.at)) return false;
  const Span open = SpanAt(static_cast<size_t>(tokens_.opener[mistake.at]));
  const Span here = SpanAt(mistake.at);
  if (TypeAt(mistake.at) == T::SEMI) {
    emitter_.Emit(here, diag::kUnexpectedToken, {"`;`", "`}`"}).Label(open, "closes this").Fix(here, "}");
  } else {
    emitter_.Emit(open, diag::kNeverClosed, {"{"}).Label(here, "the next statement begins here");
  }
  return true;
}

// `fn f(x: i64) -> i64 = { x }`, and no record.
bool Reporter::IsBodyBehindAssign(size_t at) const {
  const auto item = ItemAt(at);
  if (!item || TypeAt(at - 1) != T::ASSIGN || TypeAt(at + 2) == T::COLON) return false;
  return TypeAt(*item) == T::KW_FN && TypeAt(at + 1) != T::STRING;
}

// An `if` that yields a value: its arms stand in braces, and it has both.
bool Reporter::ReportElse(const Mistake& mistake) {
  const bool after_else = mistake.at > 0 && TypeAt(mistake.at - 1) == T::KW_ELSE;
  if (after_else && (Expects(mistake, T::LBRACE) || Expects(mistake, T::KW_ELSE))) {
    auto built = emitter_.Emit(SpanAt(mistake.at), diag::kElseWithoutBrace, {Quoted(mistake.at)});
    built.Label(SpanAt(mistake.at - 1), "this `else` belongs to the `if`");
    if (Starts(TypeAt(mistake.at), kStatements)) {
      built.Help(fmt::format("as in `if c {{ .. }} else {{ {} ..; }}`", Spelling(mistake.at)));
    } else {
      built.Help("`if c { a } else { b }`; the fallback of a node comes after all of it");
    }
    return true;
  }
  if (mistake.rule == P::RuleIfExpr && Expects(mistake, T::KW_ELSE)) {
    size_t start = mistake.at;
    for (int depth = 0; start > mistake.statement; --start) {
      const size_t type = TypeAt(start - 1);
      if (IsCloseBracket(type)) ++depth;
      if (IsOpenBracket(type)) --depth;
      if (depth == 0 && type == T::KW_IF) break;
    }
    emitter_.Emit(SpanAt(start > mistake.statement ? start - 1 : mistake.at), diag::kIfWithoutElse)
        .Label(SpanAt(mistake.at), "`else {` is expected before this")
        .HelpIf(start > mistake.statement ? HelpToRequire(FirstOfBlock(start - 1)) : std::nullopt);
    return true;
  }
  if (TypeAt(mistake.at) == T::LBRACE && ExpectsExpression(mistake)) {
    std::string_view help = "a record is written `Name(field: value)` or `(field: value)`";
    if (TypeAt(mistake.at + 1) == T::STRING || TypeAt(mistake.at + 1) == T::RBRACE)
      help =
          "a map is not written out; it comes from a file, as `const M: map<i64> = json(\"m.json\");`, from a request or from `json.parse`";
    if (after_else) {
      const bool raised = TypeAt(mistake.statement) == T::KW_REQUIRE;
      help = raised ? "what is raised stands behind `else` without braces: `require c else fail E;`"
                    : "a fallback stands behind `else` without braces: `node y = f(x) else e;`";
    }
    if (mistake.at > 0 && TypeAt(mistake.at - 1) == T::FAT_ARROW)
      help = TypeAt(mistake.at - 2) == T::RBRACKET
                 ? "what stands behind `=>` is one expression, without braces; what needs a `let` is a `fn` of its own: `[i] => f(x[i])`"
                 : "an arm is one expression, without braces; what needs a `let` is a `fn` of its own: `0 => f(x)`";
    if (TypeAt(mistake.at + 1) == T::DOT) {  // `{ ...b, x: 1 }`
      help = "a record does not change; another is built, with all of its fields: `Box(x: 1.0, y: b.y)`";
    } else if (IsBodyBehindAssign(mistake.at))
      help = "a body in braces stands where `=` does: `fn f(x: f32) -> f32 { x }`";
    emitter_.Emit(SpanAt(mistake.at), diag::kBraceInExpression).Help(std::string(help));
    return true;
  }
  return false;
}

// What the lexer joins.
bool Reporter::ReportGlued(const Mistake& mistake) {
  const size_t type = TypeAt(mistake.at);
  if (type == T::GE && Expects(mistake, T::GT)) {
    emitter_.Emit(SpanAt(mistake.at), diag::kGluedOperator, {">=", "> ="}).Fix(SpanAt(mistake.at), "> =");
    return true;
  }
  if (type == T::COALESCE && !ExpectsExpression(mistake)) {  // after a type; between values it is an operator
    emitter_.Emit(SpanAt(mistake.at), diag::kGluedOperator, {"??", "?"}).Help("a type is optional once: `T?`");
    return true;
  }
  return false;
}

// Whether the `fail` goes on with what stands before it. At the start of a line, as far left as the statement before, it is one of its own.
bool Reporter::FailsOn(const Mistake& mistake) const {
  const Token& fail = At(mistake.at);
  return TypeAt(mistake.at) == T::KW_FAIL && (!FirstOnLine(text_, fail) || ColumnOf(text_, fail) > ColumnOf(text_, At(mistake.statement)));
}

// Whether the token stands in the braces of a `for`.
bool Reporter::IsInFor(size_t at) const {
  const int32_t opener = tokens_.opener[at];
  if (opener < 0) return false;
  for (auto before = static_cast<size_t>(opener); before > 0; --before) {
    const size_t type = TypeAt(before - 1);
    if (type == T::KW_FOR) return true;
    if (type == T::SEMI || type == T::LBRACE || type == T::RBRACE || type == T::KW_IF || type == T::KW_MATCH || type == T::KW_FN)
      return false;
  }
  return false;
}

// `require c fail E;`: where an `else` may stand, a `;` would make what fails always of it.
bool Reporter::ReportMissingElse(const Mistake& mistake) {
  if (!FailsOn(mistake)) return false;
  std::string_view help;
  if (mistake.rule == P::RuleRequireStmt && Expects(mistake, T::SEMI))
    help = "what is raised stands behind `else`: `require c else fail E;`";
  if (mistake.rule == P::RuleNodeStmt && Expects(mistake, T::SEMI)) help = "a fallback stands behind `else`: `node y = f(x) else fail E;`";
  if (mistake.rule == P::RuleBlock && Expects(mistake, T::RBRACE) && IsInFor(mistake.at))
    help = "the fallback of an element stands behind `else`: `for x in xs { f(x) else fail E }`";
  if (help.empty()) return false;
  emitter_.Emit(SpanAt(mistake.at), diag::kUnexpectedToken, {"`fail`", "`else`"})
      .Help(std::string(help))
      .Fix(SpanAt(mistake.at), "else fail");
  return true;
}

bool Reporter::ReportMissingSemicolon(const Mistake& mistake) {
  if (mistake.at == 0 || !Expects(mistake, T::SEMI)) return false;
  const size_t type = TypeAt(mistake.at);
  const bool next_begins = type == T::RBRACE || type == Token::EOF || (Starts(type, kDeclarations | kInBody) && type != T::KW_IF) ||
                           FirstOnLine(text_, At(mistake.at));
  if (!next_begins || FailsOn(mistake)) return false;
  const Span before = SpanAt(mistake.at - 1);
  const Span gap{before.file, before.end, before.end};
  auto built = emitter_.Emit(gap, diag::kMissingSemicolon, {Quoted(mistake.at - 1)});
  if (DivisionBehind(mistake.at - 1)) {
    built.Help(std::string(kDivision));
  } else {
    built.Fix(gap, ";");
  }
  return true;
}

// A use of what was given a keyword as its name, in the same declaration.
bool Reporter::IsToldWord(const Mistake& mistake) const {
  const auto told = words_.find(TypeAt(mistake.at));
  if (told == words_.end() || !ExpectsExpression(mistake)) return false;
  for (size_t at = told->second + 1; at < mistake.at; ++at) {
    if (Starts(TypeAt(at), kDeclarations) && FirstOnLine(text_, At(at)) && ColumnOf(text_, At(at)) == 1) return false;
  }
  return true;
}

bool Reporter::ReportWord(const Mistake& mistake) {
  if (!IsKeyword(TypeAt(mistake.at))) return false;
  const bool wants_name = Expects(mistake, T::NAME) && !ExpectsExpression(mistake) && !Expects(mistake, T::SEMI);
  const bool parameter = mistake.rule == P::RuleParams && TypeAt(mistake.at + 1) == T::COLON;  // a keyword is never the last token
  if (!wants_name && !parameter) return false;
  words_[TypeAt(mistake.at)] = mistake.at;
  emitter_.Emit(SpanAt(mistake.at), diag::kKeywordAsName, {Spelling(mistake.at)})
      .Help(fmt::format("add something to it, as in `{}_`", Spelling(mistake.at)));
  return true;
}

// Between the brackets of a type.
bool Reporter::WantsDimension(const Mistake& mistake) const {
  return (mistake.rule == P::RuleType || mistake.rule == P::RuleDim) && Expects(mistake, T::INT);
}

constexpr std::string_view kCommentHelp = "a comment begins with `//` and ends with its line";

bool Reporter::IsCommentOfC(size_t at) const {
  return at + 1 < tokens_.all.size() && TypeAt(at) == T::SLASH && TypeAt(at + 1) == T::STAR && SpanAt(at).end == SpanAt(at + 1).begin;
}

// A unit of a value, and a setting without its braces, or before those of a `for`.
std::optional<std::string> Reporter::HelpForSetting(const Mistake& mistake) const {
  const size_t at = mistake.at, value = TypeAt(at + 1);
  if (at > 0 && (TypeAt(at - 1) == T::INT || TypeAt(at - 1) == T::FLOAT) && IsUnit(Spelling(at)))
    return "units stand only in settings; a number that is computed with has none";
  const bool is_number = (value == T::INT || value == T::FLOAT) && diag::IsForeign(diag::Foreign::kSetting, Spelling(at));
  if (!Expects(mistake, T::LBRACE)) return std::nullopt;
  if (!is_number && value != T::MEASURE) {
    const bool begins_block = mistake.rule == P::RuleBlock;  // `if c x else y`
    return begins_block
               ? std::optional<std::string>("what belongs to an `if`, a `for` or a `fold` stands in braces: `if c { a } else { b }`")
               : std::nullopt;
  }
  const std::string setting = fmt::format("{{ {} {}; }}", Spelling(at), Spelling(at + 1));
  if (Expects(mistake, T::SEMI)) return fmt::format("settings stand in braces: `{}`", setting);
  return fmt::format("settings stand after the block, in braces of their own: `{}`", setting);
}

// `Box { x: 1.0 }`, and `b { x: 1.0 }` of one that is there.
std::optional<std::string> Reporter::HelpForRecord(const Mistake& mistake) const {
  constexpr std::array<size_t, 4> kEnds = {T::SEMI, T::RBRACE, T::RPAREN, T::RBRACKET};  // of an expression
  const bool may_end = std::ranges::any_of(kEnds, [&](size_t end) { return Expects(mistake, end); });
  if (mistake.at == 0 || TypeAt(mistake.at - 1) != T::NAME || !may_end) return std::nullopt;
  const std::string name = Spelling(mistake.at - 1);
  if (std::islower(static_cast<unsigned char>(name.front())) == 0) return fmt::format("a record is built `{}(field: value)`", name);
  return "a record does not change; another is built, with all of its fields: `Box(x: 1.0, y: b.y)`";
}

// The first token in the braces behind the condition that begins at `at`.
std::optional<size_t> Reporter::FirstOfBlock(size_t at) const {
  const int32_t around = tokens_.opener[at];
  while (TypeAt(at) != Token::EOF && TypeAt(at) != T::SEMI && (TypeAt(at) != T::LBRACE || tokens_.opener[at] != around)) ++at;
  return TypeAt(at) == T::LBRACE ? std::optional(at + 1) : std::nullopt;
}

// `if c { fail E; }` in a block: the `fail` at `at` is the whole of the braces, and no `else` stands behind them.
std::optional<std::string> Reporter::HelpToRequire(std::optional<size_t> at) const {
  if (!at || *at == 0 || TypeAt(*at) != T::KW_FAIL || TypeAt(*at - 1) != T::LBRACE) return std::nullopt;
  const size_t open = *at - 1, closer = CloserOf(open);
  if (TypeAt(closer) == Token::EOF || TypeAt(closer + 1) == T::KW_ELSE) return std::nullopt;
  size_t word = open;
  while (word > 0 && (TypeAt(word) != T::KW_IF || tokens_.opener[word] != tokens_.opener[open])) --word;
  if (TypeAt(word) != T::KW_IF) return std::nullopt;
  size_t end = closer;
  while (end > *at && TypeAt(end - 1) == T::SEMI) --end;
  return fmt::format("where a value is made, `require` fails: `require !({}) else {};`", TextBetween(word + 1, open, "c"),
                     TextBetween(*at, end, "fail E"));
}

// A `;` behind the value of a block.
std::optional<std::string> Reporter::HelpForEnd(size_t at) const {
  return HelpToRequire(ItemAt(at)).value_or("the last expression of a block is its value; no `;` follows it");
}

// `timeout: 5s;`, `batch 32, within 2ms;`, `queue 8, retry 1;`
std::optional<std::string> Reporter::HelpForSeparator(size_t at) const {
  const auto is_separator = [&](size_t number) {
    return TypeAt(number) == T::COLON || TypeAt(number) == T::ASSIGN || TypeAt(number) == T::COMMA;
  };
  const auto first = is_separator(at) ? ItemAt(at) : std::nullopt;
  if (!first) return std::nullopt;
  if (Spelling(*first) == "within") return "`within` belongs to a `batch`: `batch 32 within 2ms;`";
  size_t end = at + 1;
  while (TypeAt(end) != Token::EOF && TypeAt(end) != T::SEMI && TypeAt(end) != T::RBRACE && !FirstOnLine(text_, At(end))) ++end;
  // A comma before the next setting, as none stands before what goes on with a batch.
  const auto is_next = [&](size_t number) {
    return TypeAt(number) == T::COMMA && TypeAt(number + 1) == T::NAME && Spelling(number + 1) != "within";
  };
  std::string text;
  for (size_t from = *first, to = from; from < end; from = to + 1) {
    to = from;
    while (to < end && !(is_separator(to) && tokens_.opener[to] == tokens_.opener[at])) ++to;
    const std::string piece = TextBetween(from, to, "..");
    const bool is_text = to == from + 1 && TypeAt(from) == T::STRING;  // `priority: "high"`
    text += is_text ? piece.substr(1, piece.size() - 2) : piece;
    if (to < end) text += is_next(to) ? "; " : " ";
  }
  return fmt::format("{}: `{};`", is_next(at) ? "each setting ends with `;`" : "a setting is a word and its values", text);
}

// Settings where none stand: before the value of a node, behind its fallback, at a `let`.
std::optional<std::string> Reporter::HelpForPlaceOfSettings(const Mistake& mistake) const {
  const size_t at = mistake.at, word = at + 1, value = TypeAt(word) == Token::EOF ? TypeAt(word) : TypeAt(word + 1);
  const auto item = ItemAt(at);
  if (TypeAt(word) != T::NAME || value == T::COLON || value == T::RBRACE || !item) return std::nullopt;
  const std::string setting = TextBetween(word, EndOfValue(word), "timeout 2ms");
  if (IsInFor(at) && Expects(mistake, T::RBRACE))
    return fmt::format("settings stand behind the braces of the `for`, in their own: `node ys = for x in xs {{ f(x) }} {{ {}; }}`",
                       setting);
  const size_t head = TypeAt(*item);
  if (head == T::KW_NODE && Expects(mistake, T::ASSIGN))
    return fmt::format("settings stand behind the value: `node y = f(x) {{ {}; }}`", setting);
  if (head == T::KW_NODE && Expects(mistake, T::SEMI))
    return fmt::format("settings stand before the `else`: `node y = f(x) {{ {}; }} else e;`", setting);
  if (head == T::KW_LET && Expects(mistake, T::SEMI))
    return fmt::format("a `let` has no settings, a node has: `node y = f(x) {{ {}; }}`", setting);
  return std::nullopt;
}

// Whether the mistake stands in the head of a workflow, which begins with its parameters.
bool Reporter::IsOfWorkflow(const Mistake& mistake) const {
  return mistake.statement >= 2 && TypeAt(mistake.statement - 2) == T::KW_WORKFLOW;
}

// `fn f(x: f32) {`, `workflow W(x: f32) {`.
std::string_view Reporter::HelpForNoResult(const Mistake& mistake) const {
  return IsOfWorkflow(mistake) ? "a workflow yields named results, which are told behind `)`: `-> (label: string)`"
                               : "the type of the result is told behind `)`: `-> f32`";
}

// `()` where a type or a value stands.
std::optional<std::string> Reporter::HelpForNothing(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at < 2 || TypeAt(at - 1) != T::LPAREN) return std::nullopt;
  if (TypeAt(at - 2) == T::KW_RETURN) return "a workflow yields named results: `return (label: text);`";
  if (TypeAt(at - 2) != T::ARROW) return std::nullopt;
  return IsOfWorkflow(mistake) ? "a workflow yields at least one named result: `-> (label: string)`"
                               : "what is called yields a value; there is no type of nothing";
}

bool BeginsBlock(size_t type) { return type == T::LBRACE || type == T::RBRACE || type == T::SEMI; }

// What stands elsewhere, or without quotes.
std::optional<std::string> Reporter::HelpForPlace(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  if (type == T::KW_RETURN && at > 0 && FirstOnLine(text_, At(at)) && !BeginsBlock(TypeAt(at - 1)) && ExpectsExpression(mistake))
    return fmt::format("a value is missing behind `{}`", Spelling(at - 1));
  if (type == T::KW_RETURN) return "the last expression of a block is its value, without `return` and `;`";
  if (type == T::KW_NODE) return "nodes stand in the workflow itself; inside an expression `let` names a value";
  if (type == T::STRING && mistake.rule == P::RuleFile && TypeAt(at + 1) == T::STRING)
    return "what documents a declaration stands above it, behind `///`";
  if (type == T::STRING && at > 0 && TypeAt(at - 1) == T::KW_IMPORT) return "a module is named without quotes, as in `import std.nn;`";
  if (type == T::STRING || !ExpectsExpression(mistake)) return std::nullopt;
  return fmt::format("a `{}` stands in no braces, above what uses it; here `let` names a value", Spelling(at));
}

namespace {

// Of one behind a statement that ends there.
std::string HelpForElse(size_t rule) {
  if (rule == P::RuleNodeStmt) return "a node has one `else`; what may fail in a fallback gets a node of its own";
  if (rule == P::RuleRequireStmt) return "a `require` has one `else`";
  return "only a `node`, a `require` and the elements of a `for` have an `else`";
}

}  // namespace

std::optional<std::string> Reporter::HelpFor(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  if (at > 0 && TypeAt(at - 1) == T::STRING && EndsInHole(TextOf(text_, At(at - 1))))
    return "the text before this ends at the `\"` in its braces; give the value a name first, by `let`";
  if (const auto foreign = HelpForForeign(mistake)) return foreign;
  if (WantsDimension(mistake)) return HelpForDimension(at);
  if (mistake.rule == P::RuleErrorDecl && type != T::NAME) {
    return TypeAt(at - 1) == T::KW_AS ? "behind `as` stands the name of a status: `as not_found`"
                                      : "an error has a code and a text: `error Bad = 100001 \"what happened\";`";
  }
  if (mistake.rule == P::RuleTypeBody && Expects(mistake, T::LBRACE)) return "a type is made of fields: `type T { x: i64; }`";
  const bool ends_block = Expects(mistake, T::RBRACE) && !Expects(mistake, T::SEMI);
  switch (type) {
    case T::ASSIGN:
      return HelpForAssign(mistake);
    case T::COLON:
      return HelpForColon(mistake);
    case T::QUESTION:
      return "a choice is written `if c { a } else { b }`";
    case T::STAR:
      if (at > 0 && IsCommentOfC(at - 1)) return std::string(kCommentHelp);
      return at > 0 && TypeAt(at - 1) == T::STAR ? std::optional<std::string>("a power is written `pow(x, y)`") : std::nullopt;
    case T::SLASH:
      return IsCommentOfC(at) ? std::optional<std::string>(kCommentHelp) : std::nullopt;
    case T::KW_CONST:
    case T::KW_FN:
    case T::KW_TYPE:
    case T::KW_NODE:
    case T::KW_RETURN:
    case T::STRING:
      return HelpForPlace(mistake);
    case T::KW_FAIL:
      return mistake.rule == P::RuleLetStmt
                 ? std::optional<std::string>("a `let` has no fallback; a node has: `node y = f(x) else fail E;`")
                 : std::nullopt;
    case T::KW_ELSE:
      if (const int32_t opener = tokens_.opener[at]; opener >= 0 && TypeAt(static_cast<size_t>(opener)) != T::LBRACE)
        return "a fallback stands behind the whole of a node: `node y = f(x) else e;`, which is read where `y` is written";
      return Expects(mistake, T::SEMI) ? std::optional<std::string>(HelpForElse(mistake.rule)) : std::nullopt;
    case T::RPAREN:
      return HelpForNothing(mistake);
    case T::RBRACE:
      return at > 0 && TypeAt(at - 1) == T::SEMI && ExpectsExpression(mistake)
                 ? std::optional<std::string>("the last expression of a block is its value: `{ let y = f(x); y }`")
                 : std::nullopt;
    case T::KW_FAILS:
      return "`expect e fails E` wants the failure `E` of `e`";
    case T::SEMI:
      if (at > 0 && TypeAt(at - 1) == T::KW_RETURN) return "a workflow yields named results: `return (r: x);`";
      if (mistake.rule == P::RuleModelDecl) return "a model is bound to its file: `= onnx(\"path\");`";
      return ends_block ? HelpForEnd(at) : std::nullopt;
    case T::DOT:
      if (at == 0 || TypeAt(at - 1) != T::NAME || TypeAt(at + 1) != T::NAME || !Expects(mistake, T::RBRACKET)) return std::nullopt;
      if (mistake.rule != P::RuleType && mistake.rule != P::RuleDim) return std::nullopt;
      return fmt::format("a dimension is named in one word; write `const {0}: i64 = {1}.{0};` above, and `{0}` here", Spelling(at + 1),
                         Spelling(at - 1));
    case T::NAME:
      return HelpForSetting(mistake);
    case T::COMMA:
      return HelpForComma(mistake);
    case T::LBRACE:
      if (Expects(mistake, T::ARROW)) return std::string(HelpForNoResult(mistake));
      if (const auto settings = HelpForPlaceOfSettings(mistake)) return settings;
      if (Expects(mistake, T::KW_AS)) return "settings stand in the service itself, or at the nodes of the workflow: `timeout 5s;`";
      return HelpForRecord(mistake);
    default:
      return std::nullopt;
  }
}

void Reporter::ReportUnexpected(const Mistake& mistake) {
  std::string expected = Describe(mistake.expected, names_);
  const auto rule = mistake.rule;
  const std::string_view sequence = NameOfSequence(rule);
  if (IsAtMember(mistake)) expected = fmt::format("a {}", sequence);
  if (WantsDimension(mistake)) expected = "a dimension";
  if (IsNamedByAssign(mistake.at)) expected = "`:`";
  if (IsInUnnamedTuple(mistake)) expected = "`)`";
  const bool lacks_colon = NameWithoutColon(mistake).has_value();
  if (lacks_colon) expected = "`:`";
  auto built = emitter_.Emit(SpanAt(mistake.at), diag::kUnexpectedToken, {Quoted(mistake.at), expected});
  const int32_t opener = tokens_.opener[mistake.at];
  const bool closer = Expects(mistake, T::RPAREN) || Expects(mistake, T::RBRACKET);
  if (opener >= 0 && closer && sequence.empty()) {
    built.Label(SpanAt(static_cast<size_t>(opener)), fmt::format("inside of this `{}`", Spelling(static_cast<size_t>(opener))));
  }
  auto help = HelpFor(mistake);
  if (!help && rule == P::RuleSetting) help = HelpForSeparator(mistake.at);
  built.HelpIf(help);
  LabelDivision(mistake.at, built);
  if (const auto fix = FixFor(mistake)) built.Fix(SpanAt(mistake.at), *fix);
  if (lacks_colon) {
    const Span before = SpanAt(mistake.at - 1);
    built.Fix({before.file, before.end, before.end}, ":");
  }
}

}  // namespace wf::parse
