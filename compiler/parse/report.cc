#include "compiler/parse/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/parse/strings.h"
#include "compiler/parse/units.h"
#include "compiler/parse/words.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using source::Span;
using P = grammar::WfParser;

bool IsKeyword(size_t type) { return type >= T::KW_PACKAGE && type <= T::KW_NONE; }

std::string_view NameOfSequence(size_t rule) {
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

uint16_t SequenceOf(size_t rule) {
  switch (rule) {
    case P::RuleFile:
      return kInFile;
    case P::RuleBody:
    case P::RuleCallStmt:
      return kInBody;
    case P::RuleStageBody:
      return kInStage;
    case P::RuleServiceBody:
      return kInService;
    case P::RuleTestBody:
      return kInTest;
    default:
      return 0;
  }
}

struct Foreign {
  std::string_view word, ours;
};
// Words of other languages that begin what ours begin with another.
constexpr std::array<Foreign, 13> kForeignStarts = {{{"def", "fn"},
                                                     {"func", "fn"},
                                                     {"function", "fn"},
                                                     {"class", "type"},
                                                     {"struct", "type"},
                                                     {"from", "import"},
                                                     {"include", "import"},
                                                     {"use", "import"},
                                                     {"using", "import"},
                                                     {"var", "let"},
                                                     {"val", "let"},
                                                     {"assert", "require"},
                                                     {"raise", "fail"}}};
constexpr std::array<Foreign, 5> kForeignStatements = {{{"for", "a `for` is a value: `node ys = for x in xs { .. };`"},
                                                        {"while", "nothing repeats until a condition holds; `fold` goes from step to step"},
                                                        {"loop", "nothing repeats until a condition holds; `fold` goes from step to step"},
                                                        {"try", "what may fail has its fallback behind `else`: `node y = f(x) else e;`"},
                                                        {"switch", "a choice is a value: `node y = match x { 1 => .., _ => .. };`"}}};
constexpr std::array<Foreign, 4> kForeignWords = {{{"and", "&&"}, {"or", "||"}, {"not", "!"}, {"elif", "else if"}}};

template <size_t N>
std::string_view OursFor(const std::array<Foreign, N>& table, std::string_view word) {
  for (const Foreign& row : table) {
    if (row.word == word) return row.ours;
  }
  return {};
}

struct Habit {
  size_t before;
  std::string_view words;  // parted by spaces; empty: any
  size_t found, after;
  std::array<size_t, 2> wanted;
  std::string_view help;
};
struct Tokens : T {
  static constexpr size_t kAny = 0;  // the types of tokens are greater
};
constexpr Habit kHabits[] = {
#define HABIT(before, words, found, after, wanted, wanted_too, help) \
  {Tokens::before, words, Tokens::found, Tokens::after, {Tokens::wanted, Tokens::wanted_too}, help},
#include "compiler/parse/habits.def"
#undef HABIT
};

bool IsOneOf(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return !word.empty();
  }
  return false;
}

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
                         (type >= T::INT && type <= T::RAW_STRING) || IsKeyword(type);
    const bool operation = type >= T::EQ && type <= T::COALESCE;
    if (expression && primary) continue;
    if (label && IsKeyword(type)) continue;
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
  if (ReportBrackets(mistake) || ReportMissingBrace(mistake) || ReportOpenSettings(mistake) || ReportElse(mistake) ||
      ReportGlued(mistake) || ReportForeignStatement(mistake) || ReportStart(mistake) || ReportMissingElse(mistake) ||
      ReportMissingSemicolon(mistake) || ReportWord(mistake)) {
    return;
  }
  ReportUnexpected(mistake);
}

// Brackets that are left open, closed by another kind, or closed without being open.
bool Reporter::ReportBrackets(const Mistake& mistake) {
  const size_t type = TypeAt(mistake.at);
  const int32_t opener = tokens_.opener[mistake.at];
  const bool new_declaration = Starts(type, kDeclarations) && FirstOnLine(text_, At(mistake.at)) && ColumnOf(text_, At(mistake.at)) == 1;
  const bool opened_here = opener >= 0 && static_cast<size_t>(opener) >= mistake.statement;
  if (opened_here && (type == Token::EOF || (new_declaration && mistake.rule != P::RuleServiceBody))) {
    const auto open = static_cast<size_t>(opener);
    emitter_.Emit(SpanAt(open), diag::kNeverClosed, {Spelling(open)})
        .Label(SpanAt(mistake.at), type == Token::EOF ? "the file ends here" : "the next declaration begins here");
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
  emitter_.Emit(gap, diag::kMissingBrace, {Quoted(mistake.at - 1)}).Fix(gap, " {");
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

// An `if` that yields a value: its arms stand in braces, and it has both.
bool Reporter::ReportElse(const Mistake& mistake) {
  const bool after_else = mistake.at > 0 && TypeAt(mistake.at - 1) == T::KW_ELSE;
  if (after_else && (Expects(mistake, T::LBRACE) || Expects(mistake, T::KW_ELSE))) {
    auto built = emitter_.Emit(SpanAt(mistake.at), diag::kElseWithoutBrace, {Quoted(mistake.at)});
    built.Label(SpanAt(mistake.at - 1), "this `else` belongs to the `if`");
    built.Help("`if c { a } else { b }`; the fallback of a node comes after all of it");
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
        .Label(SpanAt(mistake.at), "`else {` is expected before this");
    return true;
  }
  if (TypeAt(mistake.at) == T::LBRACE && ExpectsExpression(mistake)) {
    std::string_view help = "a record is written `Name(field: value)` or `(field: value)`";
    if (TypeAt(mistake.at + 1) == T::STRING) help = "a map is a constant from a file: `const M: map<i64> = json(\"m.json\");`";
    if (after_else) {
      const bool raised = TypeAt(mistake.statement) == T::KW_REQUIRE;
      help = raised ? "what is raised stands behind `else` without braces: `require c else fail E;`"
                    : "a fallback stands behind `else` without braces: `node y = f(x) else e;`";
    }
    emitter_.Emit(SpanAt(mistake.at), diag::kBraceInExpression).Help(std::string(help));
    return true;
  }
  return false;
}

// What the lexer joins or the user parted.
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
  const size_t previous = mistake.at > 0 ? TypeAt(mistake.at - 1) : size_t{T::SEMI};
  if (type == T::NAME && (previous == T::INT || previous == T::FLOAT) && IsUnit(Spelling(mistake.at))) {
    const Span both = source::Join(SpanAt(mistake.at - 1), SpanAt(mistake.at));
    const std::string joined = Spelling(mistake.at - 1) + Spelling(mistake.at);
    emitter_.Emit(both, diag::kUnitApart, {joined}).Fix(both, joined);
    return true;
  }
  return false;
}

// Where a declaration, statement or member begins, or its sequence ends.
bool Reporter::IsAtMember(const Mistake& mistake) const {
  return !NameOfSequence(mistake.rule).empty() && mistake.rule != P::RuleCallStmt && !Expects(mistake, T::LBRACE);
}

// `while (c) {`, `try {`: a statement of other languages where a call would end.
bool Reporter::ReportForeignStatement(const Mistake& mistake) {
  if (mistake.rule != P::RuleCallStmt || TypeAt(mistake.at) != T::LBRACE) return false;
  const std::string name = Spelling(mistake.statement);
  const auto help = OursFor(kForeignStatements, name);
  if (help.empty()) return false;
  emitter_.Emit(SpanAt(mistake.statement), diag::kUnknownStart, {name, NameOfSequence(mistake.rule)}).Help(std::string(help));
  return true;
}

// The first word of a declaration, statement or member is none of those that may stand there.
bool Reporter::ReportStart(const Mistake& mistake) {
  const size_t type = TypeAt(mistake.at);
  const bool call = mistake.rule == P::RuleCallStmt && mistake.at == mistake.statement + 1;
  if (call && type == T::ASSIGN) {
    const std::string name = Spelling(mistake.statement);
    emitter_.Emit(SpanAt(mistake.statement), diag::kAssignment, {name})
        .Help(fmt::format("write `let {} = …` or `node {} = …`", name, name));
    return true;
  }
  const size_t word = call ? mistake.statement : mistake.at;
  const bool at_start = call ? type == T::NAME : IsAtMember(mistake);
  if (!at_start || Expects(mistake, T::LPAREN) != call) return false;
  if (TypeAt(word) != T::NAME && !IsKeyword(TypeAt(word))) {
    if (TypeAt(word) != T::SEMI) return false;
    emitter_.Emit(SpanAt(word), diag::kUnexpectedToken, {"`;`", fmt::format("a {}", NameOfSequence(mistake.rule))})
        .Help("no `;` follows a `}`");
    return true;
  }
  const std::string name = Spelling(word);
  if (mistake.rule == P::RuleFile && name == "data") {  // a later language's (semantics.md 45)
    emitter_.Emit(SpanAt(word), diag::kNotBuiltYet, {"`data`"});
    return true;
  }
  const auto words = Starters(SequenceOf(mistake.rule));
  auto built = emitter_.Emit(SpanAt(word), diag::kUnknownStart, {name, NameOfSequence(mistake.rule)});
  if (TypeAt(word) == T::KW_ELSE && word > 0) {
    built.Help(TypeAt(word - 1) == T::SEMI ? "an `else` comes before the `;`: `node y = f(x) else e;`"
                                           : "an `if` has one `else`, which is its last; those between are `else if c { .. }`");
  } else if (mistake.rule == P::RuleStageBody) {
    built.Help("a stage holds nodes alone; what else the workflow has stands outside of its braces");
  } else if (TypeAt(word) == T::KW_PACKAGE) {
    built.Help("`package` stands once, before everything else");
  } else if (const auto ours = OursFor(kForeignStarts, name); std::find(words.begin(), words.end(), ours) != words.end()) {
    built.Help(fmt::format("that is `{}` here", ours));
  } else if (const auto help = OursFor(kForeignStatements, name); !help.empty() && SequenceOf(mistake.rule) == kInBody) {
    built.Help(std::string(help));
  } else if (diag::Suggest(name, words)) {
    built.DidYouMean(SpanAt(word), name, words);
  } else if (!words.empty()) {
    built.Help(fmt::format("one of {}", fmt::join(words, ", ")));
  }
  return true;
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
  if (CommentEndsStatement(mistake.at - 1)) {
    built.Help("`/` divides integers, `//` begins a comment");
  } else {
    built.Fix(gap, ";");
  }
  return true;
}

// `a = n // 2;`: the comment is a division of Python, not a remark.
bool Reporter::CommentEndsStatement(size_t at) const {
  const std::string_view after = text_.bytes.substr(SpanAt(at).end);
  const std::string_view line = after.substr(0, after.find('\n'));
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first != std::string_view::npos && line.substr(first).starts_with("//") && line[last] == ';';
}

bool Reporter::ReportWord(const Mistake& mistake) {
  if (!IsKeyword(TypeAt(mistake.at))) return false;
  const bool wants_name = Expects(mistake, T::NAME) && !ExpectsExpression(mistake) && !Expects(mistake, T::SEMI);
  const bool parameter = mistake.rule == P::RuleParams && TypeAt(mistake.at + 1) == T::COLON;  // a keyword is never the last token
  if (!wants_name && !parameter) return false;
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

// A setting without its braces, or before those of a `for`.
std::optional<std::string> Reporter::HelpForSetting(const Mistake& mistake) const {
  const size_t at = mistake.at, value = TypeAt(at + 1);
  if (!Expects(mistake, T::LBRACE) || (value != T::INT && value != T::FLOAT && value != T::MEASURE)) return std::nullopt;
  const std::string setting = fmt::format("{{ {} {}; }}", Spelling(at), Spelling(at + 1));
  if (Expects(mistake, T::SEMI)) return fmt::format("settings stand in braces: `{}`", setting);
  return fmt::format("settings stand after the block, in braces of their own: `{}`", setting);
}

// `()` where a type or a value stands.
std::optional<std::string> Reporter::HelpForNothing(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at < 2 || TypeAt(at - 1) != T::LPAREN) return std::nullopt;
  if (TypeAt(at - 2) == T::KW_RETURN) return "a workflow yields named results: `return (label: text);`";
  if (TypeAt(at - 2) != T::ARROW) return std::nullopt;
  const size_t head = mistake.statement;  // of a workflow it begins with its parameters
  return head >= 2 && TypeAt(head - 2) == T::KW_WORKFLOW ? "a workflow yields at least one named result: `-> (label: string)`"
                                                         : "what is called yields a value; there is no type of nothing";
}

std::optional<std::string> Reporter::HelpForHabit(const Mistake& mistake) const {
  if (mistake.at == 0) return std::nullopt;
  const size_t before = TypeAt(mistake.at - 1), found = TypeAt(mistake.at);
  const size_t after = found == Token::EOF ? found : TypeAt(mistake.at + 1);
  size_t word = mistake.at - 1;
  if (before == T::RBRACKET && tokens_.opener[word] > 0) word = static_cast<size_t>(tokens_.opener[word]) - 1;
  const auto fits = [](size_t row, size_t type) { return row == Tokens::kAny || row == type; };
  for (const Habit& habit : kHabits) {
    if (!fits(habit.before, before) || !fits(habit.found, found) || !fits(habit.after, after)) continue;
    if (!habit.words.empty() && !IsOneOf(habit.words, Spelling(word))) continue;
    const auto is_wanted = [&](size_t type) { return type == Tokens::kAny || Expects(mistake, type); };
    if (std::all_of(habit.wanted.begin(), habit.wanted.end(), is_wanted)) return std::string(habit.help);
  }
  if (found == T::COLON && mistake.at == mistake.statement + 2 && TypeAt(mistake.statement) == T::KW_RETURN)
    return fmt::format("results stand in parentheses: `return ({}: ..);`", Spelling(mistake.at - 1));
  if (IsKeyword(before) && Expects(mistake, T::COLON) && !ExpectsExpression(mistake))
    return fmt::format("`{}` is a word of the language, so no value has this name", Spelling(mistake.at - 1));
  return std::nullopt;
}

// What other languages write here, and what this one does.
std::optional<std::string> Reporter::HelpFor(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  for (const size_t place : {at, at - (at > 0 ? 1 : 0)}) {
    const std::string word = TypeAt(place) == Token::EOF ? "" : Spelling(place);
    if (const auto ours = OursFor(kForeignWords, word); !ours.empty()) return fmt::format("`{}` is written `{}`", word, ours);
  }
  if (at > 0 && TypeAt(at - 1) == T::STRING && EndsInHole(TextOf(text_, At(at - 1))))
    return "the text before this ends at the `\"` in its braces; give the value a name first, by `let`";
  if (const auto habit = HelpForHabit(mistake)) return habit;
  if (WantsDimension(mistake)) return "a dimension is a number, a name, or `_` for any: `f32[3, h, _]`";
  const bool ends_block = Expects(mistake, T::RBRACE) && !Expects(mistake, T::SEMI);
  switch (type) {
    case T::ASSIGN:
      if (mistake.rule == P::RuleSetting) return std::nullopt;
      if (mistake.rule == P::RuleTypeBody) return "a type is made of fields: `type T { x: i64; }`";
      if (at > 0 && TypeAt(at - 1) == T::COLON) return "a type stands between `:` and `=`; without one, `let` and `node` take `=` alone";
      if (ends_block) return "a name is bound once, by `let`; what changes from step to step is the accumulator of a `fold`";
      return "`==` compares";
    case T::QUESTION:
      return "a choice is written `if c { a } else { b }`";
    case T::STAR:
      if (at > 0 && IsCommentOfC(at - 1)) return std::string(kCommentHelp);
      return at > 0 && TypeAt(at - 1) == T::STAR ? std::optional<std::string>("a power is written `pow(x, y)`") : std::nullopt;
    case T::SLASH:
      return IsCommentOfC(at) ? std::optional<std::string>(kCommentHelp) : std::nullopt;
    case T::STRING:
      return at > 0 && TypeAt(at - 1) == T::KW_IMPORT
                 ? std::optional<std::string>("a module is named without quotes, as in `import std.nn;`")
                 : std::nullopt;
    case T::KW_RETURN:
      return "the last expression of a block is its value, without `return` and `;`";
    case T::KW_NODE:
      return "nodes stand in the workflow itself; inside an expression `let` names a value";
    case T::KW_FAIL:
      return mistake.rule == P::RuleLetStmt
                 ? std::optional<std::string>("a `let` has no fallback; a node has: `node y = f(x) else fail E;`")
                 : std::nullopt;
    case T::KW_ELSE:
      if (!Expects(mistake, T::SEMI)) return std::nullopt;
      if (mistake.rule == P::RuleNodeStmt) return "a node has one `else`; what may fail in a fallback gets a node of its own";
      if (mistake.rule == P::RuleRequireStmt) return "a `require` has one `else`";
      return "only a `node`, a `require` and the elements of a `for` have an `else`";
    case T::RPAREN:
      return HelpForNothing(mistake);
    case T::RBRACE:
      return at > 0 && TypeAt(at - 1) == T::SEMI && ExpectsExpression(mistake)
                 ? std::optional<std::string>("the last expression of a block is its value: `{ let y = f(x); y }`")
                 : std::nullopt;
    case T::KW_FAILS:
      return "`expect e fails E` wants the failure `E` of `e`";
    case T::SEMI:
      return ends_block ? std::optional<std::string>("the last expression of a block is its value; no `;` follows it") : std::nullopt;
    case T::DOT:
      if (at == 0 || TypeAt(at - 1) != T::NAME || TypeAt(at + 1) != T::NAME || !Expects(mistake, T::RBRACKET)) return std::nullopt;
      if (mistake.rule != P::RuleType && mistake.rule != P::RuleDim) return std::nullopt;
      return fmt::format("a dimension is named in one word; write `const {0}: i64 = {1}.{0};` above, and `{0}` here", Spelling(at + 1),
                         Spelling(at - 1));
    case T::NAME:
      return HelpForSetting(mistake);
    case T::COMMA:
      return mistake.rule == P::RuleTypeField ? std::optional<std::string>("each field ends with `;`") : std::nullopt;
    case T::LBRACE:
      if (at == 0 || TypeAt(at - 1) != T::NAME || !Expects(mistake, T::SEMI)) return std::nullopt;
      if (Expects(mistake, T::KW_AS)) return "settings stand in the service itself, or at the nodes of the workflow: `timeout 5s;`";
      return fmt::format("a record is built `{}(field: value)`", Spelling(at - 1));
    default:
      return std::nullopt;
  }
}

// What stands in the place of a token when only one thing can be meant.
std::optional<std::string> Reporter::FixFor(const Mistake& mistake) const {
  const size_t type = TypeAt(mistake.at);
  if (type == T::COMMA && mistake.rule == P::RuleTypeField) return ";";
  if (type != T::NAME) return std::nullopt;
  const std::string word = Spelling(mistake.at);
  const bool is_sure = word == "and" || word == "or";  // `not a == b` is `!(a == b)` elsewhere
  return is_sure ? std::optional(std::string(OursFor(kForeignWords, word))) : std::nullopt;
}

void Reporter::ReportUnexpected(const Mistake& mistake) {
  std::string expected = Describe(mistake.expected, names_);
  const auto rule = mistake.rule;
  const std::string_view sequence = NameOfSequence(rule);
  if (IsAtMember(mistake)) expected = fmt::format("a {}", sequence);
  if (WantsDimension(mistake)) expected = "a dimension";
  auto built = emitter_.Emit(SpanAt(mistake.at), diag::kUnexpectedToken, {Quoted(mistake.at), expected});
  const int32_t opener = tokens_.opener[mistake.at];
  const bool closer = Expects(mistake, T::RPAREN) || Expects(mistake, T::RBRACKET);
  if (opener >= 0 && closer && sequence.empty()) {
    built.Label(SpanAt(static_cast<size_t>(opener)), fmt::format("inside of this `{}`", Spelling(static_cast<size_t>(opener))));
  }
  built.HelpIf(HelpFor(mistake));
  if (const auto fix = FixFor(mistake)) built.Fix(SpanAt(mistake.at), *fix);
  const bool separator = TypeAt(mistake.at) == T::COLON || TypeAt(mistake.at) == T::ASSIGN;
  if (rule == P::RuleSetting && separator) built.Help("a setting is a word and its values, as in `batch 32 within 2ms;`");
}

}  // namespace wf::parse
