// Declarations and statements that begin as those of other languages do.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/diag/foreign.h"
#include "compiler/parse/report.h"
#include "compiler/parse/words.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using diag::Foreign;
using diag::OursFor;
using source::Span;
using P = grammar::WfParser;

constexpr std::string_view kFold = "what changes from step to step is the accumulator of a `fold`";

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

// `int f(..)`, `export fn f(..)`: a word that another language begins so is no slip of one of ours.
bool IsOfAnother(std::string_view word) { return diag::IsForeign(Foreign::kType, word) || diag::IsForeign(Foreign::kModifier, word); }

bool IsOfBlock(size_t rule) {
  return rule == P::RuleBlock || rule == P::RuleExpr || rule == P::RuleOp || rule == P::RulePrimary || rule == P::RuleForExpr;
}

}  // namespace

// Where a declaration, statement or member begins, or its sequence ends.
bool Reporter::IsAtMember(const Mistake& mistake) const {
  return !NameOfSequence(mistake.rule).empty() && mistake.rule != P::RuleCallStmt && !Expects(mistake, T::LBRACE);
}

// The first token of the statement, or of the value of a block, that `at` stands in; none: it stands in brackets of its own.
std::optional<size_t> Reporter::ItemAt(size_t at) const {
  while (at > 0) {
    const size_t before = at - 1, type = TypeAt(before);
    if (type == T::SEMI || type == T::LBRACE || type == T::RBRACE) return at;
    if (type == T::LPAREN || type == T::LBRACKET) return std::nullopt;
    if (IsCloseBracket(type) && tokens_.opener[before] < 0) return std::nullopt;
    at = IsCloseBracket(type) ? static_cast<size_t>(tokens_.opener[before]) : before;
  }
  return 0;
}

// The statement of a workflow, or what stands in its place in a block.
std::optional<size_t> Reporter::StatementAt(const Mistake& mistake) const {
  if (mistake.rule == P::RuleCallStmt) return mistake.statement;
  return IsOfBlock(mistake.rule) ? ItemAt(mistake.at) : std::nullopt;
}

size_t Reporter::CloserOf(size_t open) const {
  size_t at = open + 1;
  while (TypeAt(at) != Token::EOF && (tokens_.opener[at] != static_cast<int32_t>(open) || !IsCloseBracket(TypeAt(at)))) ++at;
  return at;
}

// Behind the name, members and indices that begin at `first`.
size_t Reporter::EndOfTarget(size_t first) const {
  size_t at = first + 1;
  while (true) {
    if (TypeAt(at) == T::DOT && TypeAt(at + 1) == T::NAME) {
      at += 2;
    } else if (TypeAt(at) == T::LBRACKET && TypeAt(CloserOf(at)) == T::RBRACKET) {
      at = CloserOf(at) + 1;
    } else {
      return at;
    }
  }
}

// The text of tokens on one line; `other` when it is long.
std::string Reporter::TextBetween(size_t first, size_t last, std::string_view other) const {
  constexpr size_t kMostShown = 24;
  if (first >= last) return std::string(other);
  const uint32_t begin = SpanAt(first).begin, end = SpanAt(last - 1).end;
  const std::string_view text = text_.bytes.substr(begin, end - begin);
  const bool is_long = text.size() > kMostShown || text.find('\n') != std::string_view::npos;
  return std::string(is_long ? other : text);
}

// Does what stands at `at` belong to the parameters of a declaration? Else to a call's arguments or to results.
bool Reporter::IsOfParameters(size_t at) const {
  const int32_t around = tokens_.opener[at];
  return around >= 2 && TypeAt(static_cast<size_t>(around) - 1) == T::NAME &&
         Starts(TypeAt(static_cast<size_t>(around) - 2), kDeclarations);
}

// Does a call of a model, a remote or a workflow stand between the two? Those have nodes of their own.
bool Reporter::HoldsWaitingCall(size_t first, size_t end) const {
  std::set<std::string> names;
  for (size_t at = 1; TypeAt(at) != Token::EOF; ++at) {
    const size_t before = TypeAt(at - 1);
    const bool declares = before == T::KW_MODEL || before == T::KW_REMOTE || before == T::KW_WORKFLOW;
    if (declares && TypeAt(at) == T::NAME) names.insert(Spelling(at));
  }
  for (size_t at = first; at < end; ++at) {
    if (TypeAt(at) == T::NAME && TypeAt(at + 1) == T::LPAREN && names.contains(Spelling(at))) return true;
  }
  return false;
}

// Is it bound above, in the declaration that `at` stands in?
bool Reporter::IsBoundAbove(std::string_view name, size_t at) const {
  for (; at > 1; --at) {
    const size_t type = TypeAt(at - 1), before = TypeAt(at - 2);
    if (Starts(type, kDeclarations) && ColumnOf(text_, At(at - 1)) == 1) return false;
    if (type != T::NAME || TextOf(text_, At(at - 1)) != name) continue;
    if (before == T::KW_LET || before == T::KW_NODE || before == T::KW_FOLD || before == T::KW_FOR) return true;
    if (TypeAt(at) == T::COLON && (before == T::LPAREN || before == T::COMMA) && IsOfParameters(at)) return true;
  }
  return false;
}

bool Reporter::IsElif(size_t at) const { return TypeAt(at) == T::NAME && OursFor(Foreign::kOperator, Spelling(at)) == "else if"; }

// `} elif c {`, behind an `if` of either kind.
bool Reporter::ReportElif(const Mistake& mistake) {
  const size_t at = mistake.rule == P::RuleCallStmt ? mistake.statement : mistake.at;
  if (at == 0 || TypeAt(at - 1) != T::RBRACE || !IsElif(at)) return false;
  emitter_.Emit(SpanAt(at), diag::kUnexpectedToken, {Quoted(at), "`else if`"}).Fix(SpanAt(at), "else if");
  return true;
}

// `s` in the block of `fold s = 0 for v in x { .. }`.
bool Reporter::IsAccumulator(size_t at) const {
  const int32_t block = tokens_.opener[at];
  for (auto before = static_cast<size_t>(std::max(block, 0)); before-- > 0 && TypeAt(before) != T::SEMI;) {
    if (TypeAt(before) == T::KW_FOLD && tokens_.opener[before] == tokens_.opener[static_cast<size_t>(block)])
      return Spelling(before + 1) == Spelling(at);
  }
  return false;
}

// What is written in place of `y[1] = 2.0;` and the like.
std::string Reporter::HelpToChange(const Assignment& it) const {
  const std::string name = Spelling(it.first);
  const std::string value = TextBetween(it.op + it.width, it.end, "..");
  if (TypeAt(it.op - 1) == T::RBRACKET) {
    const auto open = static_cast<size_t>(tokens_.opener[it.op - 1]);
    const std::string target = TextBetween(it.first, open, "y"), place = TextBetween(open + 1, it.op - 1, "..");
    const bool is_one = place.find_first_of(",:[") == std::string::npos;
    if (!is_one) return "a tensor does not change; another is made at once: `[i, j] => if i == 0 { 0.0 } else { y[i, j] }`";
    if (open + 2 == it.op - 1 && TypeAt(open + 1) == T::STRING)
      return "a map does not change, and none is made by a program: it comes with the request, or from a file: "
             "`const M: map<i64> = json(\"m.json\");`";
    const std::string index = place == "i" ? "k" : "i", old = target + "[" + index + "]";
    const std::string element = it.is_plain ? value : it.is_step ? old + " + 1" : old + " " + Spelling(it.op) + " " + value;
    return fmt::format("a tensor does not change; another is made at once: `[{0} < len({1})] => if {0} == {2} {{ {3} }} else {{ {4} }}`",
                       index, target, place, element, old);
  }
  if (it.op > it.first + 1) return "a record does not change; another is built: `Box(side: 1)`, with all of its fields";
  const std::string next = it.is_step ? "1" : value, sign = Spelling(it.op);
  if (IsAccumulator(it.first))
    return fmt::format("what the block of a `fold` comes to is the next `{0}`: `{1}`", name,
                       it.is_plain ? value : name + " " + sign + " " + next);
  if (it.is_plain) {
    const std::string_view word = HoldsWaitingCall(it.op, it.end) ? "node" : "let";
    return fmt::format("a name is bound once: `{0} {1}2 = {2};` binds another; {3}", word, name, value, kFold);
  }
  return fmt::format("a name is bound once: `let {0}2 = {0} {1} {2};` binds another; {3}", name, sign, next, kFold);
}

std::optional<Reporter::Assignment> Reporter::AssignmentAt(size_t first) const {
  if (TypeAt(first) != T::NAME) return std::nullopt;
  Assignment it{.first = first, .op = EndOfTarget(first)};
  const size_t type = TypeAt(it.op), next = type == Token::EOF ? type : TypeAt(it.op + 1);
  const bool is_joined = type != Token::EOF && SpanAt(it.op).end == SpanAt(it.op + 1).begin;
  const bool is_sign = type == T::PLUS || type == T::MINUS || type == T::STAR || type == T::SLASH || type == T::PERCENT;
  const bool is_walrus = is_joined && type == T::COLON && next == T::ASSIGN;
  it.is_plain = type == T::ASSIGN || is_walrus;
  it.is_step = is_joined && next == type && (type == T::PLUS || type == T::MINUS);
  if (!it.is_plain && !it.is_step && !(is_joined && is_sign && next == T::ASSIGN)) return std::nullopt;
  it.width = type == T::ASSIGN ? 1 : 2;
  if (it.is_step && TypeAt(it.op + 2) != T::SEMI) return std::nullopt;
  it.end = it.op + it.width;
  const auto closes_around = [&](size_t at) { return IsCloseBracket(TypeAt(at)) && tokens_.opener[at] < static_cast<int>(first); };
  while (TypeAt(it.end) != T::SEMI && TypeAt(it.end) != Token::EOF && !closes_around(it.end)) ++it.end;
  return it;
}

// `y = 1;`, `y += 1;`, `y[0] = 1.0;`, `y++;`: nothing that has a name changes.
bool Reporter::ReportAssignment(const Mistake& mistake) {
  const auto first = StatementAt(mistake);
  const auto it = first && mistake.at > *first ? AssignmentAt(*first) : std::nullopt;
  if (!it || mistake.at > it->op + it->width) return false;
  const std::string name = Spelling(it->first);
  if (it->is_plain && it->op == it->first + 1) {
    auto built = emitter_.Emit(SpanAt(it->first), diag::kAssignment, {name});
    const bool may_be_node = mistake.rule == P::RuleCallStmt;
    if (name == "depends_on" || name == "needs") {
      built.Help("a node waits for what it reads, and for nothing else; leave `" + name + "` out");
    } else if (IsBoundAbove(name, it->first)) {
      built.Help(HelpToChange(*it));
    } else if (may_be_node && HoldsWaitingCall(it->op, it->end)) {
      built.Help(fmt::format("write `node {} = {};`", name, TextBetween(it->op + it->width, it->end, "…")));
    } else {
      built.Help(may_be_node ? fmt::format("write `let {} = …` or `node {} = …`", name, name) : fmt::format("write `let {} = …`", name));
    }
    return true;
  }
  const Span whole = source::Join(SpanAt(it->first), SpanAt(it->op + it->width - 1));
  const std::string target = TextBetween(it->first, it->op, name + ".."), sign = it->is_step ? "" : " ";
  const std::string op = TextBetween(it->op, it->op + it->width, "=");
  emitter_.Emit(whole, diag::kUnknownStart, {target + sign + op, "statement"}).Help(HelpToChange(*it));
  return true;
}

// `print(x);` in a block. Those of a workflow's body parse.
bool Reporter::ReportCallInBlock(const Mistake& mistake) {
  const size_t at = mistake.at;
  const auto first = IsOfBlock(mistake.rule) && TypeAt(at) == T::SEMI ? ItemAt(at) : std::nullopt;
  if (!first || TypeAt(*first) != T::NAME || TypeAt(at - 1) != T::RPAREN || tokens_.opener[at - 1] < 0) return false;
  const size_t open = EndOfTarget(*first);
  if (static_cast<size_t>(tokens_.opener[at - 1]) != open) return false;
  const std::string last = Spelling(open - 1);
  const std::string callee = TextBetween(*first, open, last);
  auto told = OursFor(Foreign::kCall, callee);
  if (told.empty() && TypeAt(open - 2) == T::DOT) told = OursFor(Foreign::kMember, last);
  const bool is_value = TypeAt(at + 1) == T::RBRACE;  // of the block
  const bool annotates = last == "annotate" && open == *first + 1;
  if (told.empty() && is_value && !annotates) return false;
  if (annotates) {
    emitter_.Emit(source::Join(SpanAt(*first), SpanAt(at - 1)), diag::kUnknownStart, {"annotate(..)", "statement of a block"})
        .Help(IsInFor(at) ? "it annotates the reply, so it stands in no `for`: which of its calls would be the last? yield the text, and "
                            "annotate after the loop"
                          : "it annotates the reply, so it stands in the workflow itself, outside of values");
    return true;
  }
  auto built = emitter_.Emit(source::Join(SpanAt(*first), SpanAt(at - 1)), diag::kUnknownStart, {callee + "(..)", "statement"});
  built.Help(told.empty() ? fmt::format("a value is kept by `let NAME = {}(..);`", callee) : std::string(told));
  return true;
}

// `raise E;`, `assert c;` where a value is made.
std::string_view HelpToFail(std::string_view word) {
  const auto ours = OursFor(Foreign::kStart, word);
  if (ours == "require") return "what has to hold stands behind `require`: `require x > 0.0 else fail E;`";
  return ours == "fail" ? "where a value is made, `require` fails: `require x > 0.0 else fail E;`" : "";
}

// `while (c) {`, `try {`, `int y = 1;`: statements of other languages.
bool Reporter::ReportForeignStatement(const Mistake& mistake) {
  const auto first = StatementAt(mistake);
  if (!first || mistake.at <= *first || TypeAt(*first) != T::NAME) return false;
  const std::string name = Spelling(*first);
  const size_t next = TypeAt(*first + 1);
  const bool is_typed = next == T::NAME && TypeAt(*first + 2) == T::NAME;  // `final int y = 1;`
  const size_t bound = *first + (is_typed ? 2 : 1);
  const bool declares = mistake.at == *first + 1 && next == T::NAME && TypeAt(bound + 1) == T::ASSIGN;
  const bool is_call = next == T::LPAREN && mistake.at != CloserOf(*first + 1) + 1;
  const bool has_value = mistake.at == *first + 1 && (next == T::NAME || next == T::INT || next == T::FLOAT || next == T::MEASURE);
  auto help = is_call || next == T::ASSIGN ? std::string_view() : OursFor(Foreign::kStatement, name);
  if (help.empty() && has_value) help = OursFor(Foreign::kSetting, name);
  if (help.empty() && has_value && IsOfBlock(mistake.rule)) help = HelpToFail(name);
  if (help.empty() && !declares) return false;
  auto built = emitter_.Emit(SpanAt(*first), diag::kUnknownStart, {name, "statement"});
  const auto words = Starters(mistake.rule == P::RuleCallStmt ? kInBody : kInBlock);
  const bool is_known = diag::IsForeign(Foreign::kType, name) || diag::IsForeign(Foreign::kStart, name);
  if (!help.empty()) {
    built.Help(std::string(help));
  } else if (!is_known && diag::Suggest(name, words)) {
    built.DidYouMean(SpanAt(*first), name, words);
  } else {
    const auto type = OursFor(Foreign::kType, Spelling(bound - 1));
    const std::string_view colon = type.empty() ? "" : ": ";
    built.Help(fmt::format("a value is named by `let`: `let {}{}{} = …;`", Spelling(bound), colon, type));
  }
  return true;
}

// `async def f(x):`, `int f(int x) {`.
std::optional<std::string> Reporter::HelpToDeclare(size_t word) const {
  const std::string name = Spelling(word);
  size_t next = word + 1;
  if (TypeAt(word) == Token::EOF) return std::nullopt;
  if (!diag::IsForeign(Foreign::kModifier, name)) {
    const bool is_function = TypeAt(word) == T::NAME && TypeAt(next) == T::NAME && TypeAt(next + 1) == T::LPAREN;
    const bool is_other = OursFor(Foreign::kStart, name) == "fn" || OursFor(Foreign::kStart, name).empty();
    if (!is_function || !is_other) return std::nullopt;
    const auto near = IsOfAnother(name) ? std::nullopt : diag::Suggest(name, Starters(kDeclarations));
    if (near) return near;
    return fmt::format("a function is written `fn {}(x: f32) -> f32 {{ .. }}`", Spelling(next));
  }
  while (TypeAt(next) == T::NAME && diag::IsForeign(Foreign::kModifier, Spelling(next))) ++next;
  const std::string said = fmt::format("leave out `{}`", TextBetween(word, next, name));
  if (Starts(TypeAt(next), kDeclarations)) return fmt::format("{}: `{} ..`", said, Spelling(next));
  if (TypeAt(next) == T::NAME && (TypeAt(next + 1) == T::COLON || TypeAt(next + 1) == T::ASSIGN))
    return fmt::format("{}; a value outside of braces is a `const`: `const {} ..`", said, Spelling(next));
  const auto declared = HelpToDeclare(next);
  return declared ? said + "; " + *declared : said;
}

// `from a.b import c`.
std::optional<std::string> Reporter::HelpToImport(size_t word) const {
  if (Spelling(word) != "from" || TypeAt(word + 1) != T::NAME) return std::nullopt;
  const size_t end = EndOfTarget(word + 1);
  if (TypeAt(end) != T::KW_IMPORT) return std::nullopt;
  const std::string path = TextBetween(word + 1, end, "std.nn");
  if (TypeAt(end + 1) == T::STAR) return fmt::format("a module is imported whole: `import {};`", path);
  if (TypeAt(end + 1) != T::NAME) return std::nullopt;
  if (path == "std") {  // no module, a folder of them
    std::string imports;
    for (size_t at = end + 1; TypeAt(at) == T::NAME; at += TypeAt(at + 1) == T::COMMA ? 2 : 1) {
      imports += fmt::format("{}import std.{};", imports.empty() ? "" : " ", Spelling(at));
    }
    return fmt::format("a module is imported by its path: `{}`", imports);
  }
  return fmt::format("a module is imported whole: `import {};`, and then `{}.{}` is what it declares", path, Spelling(end - 1),
                     Spelling(end + 1));
}

// What stands in the place of a first word that begins nothing.
void Reporter::HelpToStart(const Mistake& mistake, size_t word, diag::Builder& built) const {
  const std::string name = Spelling(word);
  const auto words = Starters(SequenceOf(mistake.rule));
  const bool of_file = mistake.rule == P::RuleFile;
  if (TypeAt(word) == T::KW_ELSE && word > 0) {
    built.Help(TypeAt(word - 1) == T::SEMI ? "an `else` comes before the `;`: `node y = f(x) else e;`"
                                           : "an `if` has one `else`, which is its last; those between are `else if c { .. }`");
  } else if (mistake.rule == P::RuleStageBody) {
    built.Help("a stage holds nodes alone; what else the workflow has stands outside of its braces");
  } else if (mistake.rule == P::RuleTestBody && (name.starts_with("assert") || name == "check")) {
    built.Help("what has to hold stands behind `expect`: `expect f(1.0) == 2.0;`");
  } else if (SequenceOf(mistake.rule) == kInBody &&
             (TypeAt(word) == T::KW_FN || TypeAt(word) == T::KW_WORKFLOW || TypeAt(word) == T::KW_TYPE)) {
    built.Help(fmt::format("a `{}` is declared in no braces, above the workflow", name));
  } else if (TypeAt(word) == T::KW_PACKAGE) {
    built.Help("`package` stands once, before everything else");
  } else if (of_file && (TypeAt(word) == T::KW_LET || OursFor(Foreign::kStart, name) == "let")) {
    built.Help("a value outside of braces is a `const`: `const N: i64 = 5;`");
  } else if (const auto import = of_file ? HelpToImport(word) : std::nullopt) {
    built.Help(*import);
  } else if (const auto ours = OursFor(Foreign::kStart, name); std::find(words.begin(), words.end(), ours) != words.end()) {
    built.Help(fmt::format("that is `{}` here", ours)).HelpIf(of_file ? HelpToDeclare(word) : std::nullopt);
  } else if (const auto help = OursFor(Foreign::kStatement, name); !help.empty() && (of_file || SequenceOf(mistake.rule) == kInBody)) {
    built.Help(std::string(help));
  } else if (!IsOfAnother(name) && diag::Suggest(name, words)) {
    built.DidYouMean(SpanAt(word), name, words);
  } else if (const auto declared = of_file ? HelpToDeclare(word) : std::nullopt) {
    built.Help(*declared);
  } else if (!words.empty()) {
    built.Help(fmt::format("one of {}", fmt::join(words, ", ")));
  }
}

// The first word of a declaration, statement or member is none of those that may stand there.
bool Reporter::ReportStart(const Mistake& mistake) {
  const size_t type = TypeAt(mistake.at);
  const bool call = mistake.rule == P::RuleCallStmt && mistake.at == mistake.statement + 1;
  const size_t word = call ? mistake.statement : mistake.at;
  const bool at_start = call ? type == T::NAME : IsAtMember(mistake);
  if (!at_start || Expects(mistake, T::LPAREN) != call) return false;
  const std::string sequence(NameOfSequence(mistake.rule));
  if (TypeAt(word) != T::NAME && !IsKeyword(TypeAt(word))) {
    if (TypeAt(word) != T::SEMI) return false;
    auto built = emitter_.Emit(SpanAt(word), diag::kUnexpectedToken, {"`;`", "a " + sequence});
    built.Help(word > 0 && TypeAt(word - 1) == T::RBRACE ? "no `;` follows a `}`" : "leave it out; there is nothing that it ends");
    built.Fix(SpanAt(word), "");
    return true;
  }
  const std::string name = Spelling(word);
  if (mistake.rule == P::RuleFile && name == "data") {  // a later language's (docs/semantics.md 45)
    emitter_.Emit(SpanAt(word), diag::kNotBuiltYet, {"`data`"});
    return true;
  }
  auto built = emitter_.Emit(SpanAt(word), diag::kUnknownStart, {name, sequence});
  HelpToStart(mistake, word, built);
  return true;
}

}  // namespace wf::parse
