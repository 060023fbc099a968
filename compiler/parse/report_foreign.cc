// Help for what other languages write where this one writes something else.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compiler/diag/foreign.h"
#include "compiler/diag/foreign_number.h"
#include "compiler/parse/report.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using diag::Foreign;
using diag::OursFor;
using P = grammar::WfParser;
using Help = std::optional<std::string>;

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

bool IsLiteral(size_t type) {
  return type == T::INT || type == T::FLOAT || type == T::STRING || type == T::RAW_STRING || type == T::KW_TRUE || type == T::KW_FALSE ||
         type == T::KW_NONE;
}

bool EndsValue(size_t type) { return type == T::NAME || type == T::RPAREN || type == T::RBRACKET || IsLiteral(type); }

std::string_view TypeOfLiteral(size_t type) {
  if (type == T::INT) return "i64";
  if (type == T::STRING || type == T::RAW_STRING) return "string";
  return type == T::KW_TRUE || type == T::KW_FALSE ? "bool" : "f32";
}

// A scalar's type for a word of ours or another language; empty: it is none.
std::string ScalarFor(std::string_view word) {
  const bool is_ours = IsOneOf("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64", word);
  return std::string(is_ours ? word : OursFor(Foreign::kType, word));
}

bool IsTypeWord(std::string_view word) {
  return IsOneOf("string bytes list map", word) || !ScalarFor(word).empty() || !OursFor(Foreign::kGeneric, word).empty();
}

bool BeginsWithCapital(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

}  // namespace

// `not x`, `lambda x: e`: the word is a name as far as the grammar goes, and the mistake behind it.
bool Reporter::ReportPrefix(const Mistake& mistake) {
  const size_t at = mistake.at, type = TypeAt(at);
  if (at < 2 || mistake.rule == P::RuleCallStmt || TypeAt(at - 1) != T::NAME || TypeAt(at - 2) == T::DOT) return false;
  const std::string word = Spelling(at - 1);
  const auto help = OursFor(Foreign::kPrefix, word);
  const bool begins = type == T::NAME || IsLiteral(type) || type == T::KW_MATCH || (type == T::COLON && word == "lambda");
  if (help.empty() || !begins) return false;
  emitter_.Emit(SpanAt(at - 1), diag::kUnexpectedToken, {Quoted(at - 1), "an expression"}).Help(std::string(help));
  return true;
}

// Where what stands at `at` ends: at a `,`, a `;`, the bracket around it or a word of the loop behind it.
size_t Reporter::EndOfValue(size_t at) const {
  const int32_t around = tokens_.opener[at];
  for (;; ++at) {
    const size_t type = TypeAt(at);
    if (type == Token::EOF || type == T::SEMI) return at;
    const bool ends = type == T::COMMA || type == T::KW_FOR || type == T::KW_ELSE || type == T::RBRACE || IsCloseBracket(type);
    if (ends && tokens_.opener[at] == around) return at;
  }
}

// Where what ends before `at` begins.
size_t Reporter::StartOfValue(size_t at) const {
  const int32_t around = tokens_.opener[at];
  for (; at > 0; --at) {
    const size_t type = TypeAt(at - 1);
    if (type == T::SEMI || type == T::LBRACE || type == T::RBRACE) return at;
    if (around >= 0 && at - 1 == static_cast<size_t>(around)) return at;
    const bool ends = type == T::ASSIGN || type == T::COMMA || type == T::COLON || type == T::FAT_ARROW || type == T::KW_RETURN ||
                      type == T::KW_REQUIRE || type == T::KW_EXPECT || type == T::KW_IF || type == T::KW_FAIL;
    if (ends && tokens_.opener[at - 1] == around) return at;
  }
  return 0;
}

// `(a=1)`: is it a call, a tuple or results, and no condition?
bool Reporter::IsNamedByAssign(size_t at) const {
  const int32_t around = tokens_.opener[at];
  if (TypeAt(at) != T::ASSIGN || around < 0 || at < 2 || TypeAt(static_cast<size_t>(around)) != T::LPAREN) return false;
  const auto open = static_cast<size_t>(around);
  if (TypeAt(at - 1) != T::NAME || (at - 2 != open && TypeAt(at - 2) != T::COMMA)) return false;
  const size_t before = open == 0 ? size_t{T::SEMI} : TypeAt(open - 1);
  if (before == T::NAME || before == T::RPAREN || before == T::RBRACKET || before == T::KW_RETURN) return true;
  return TypeAt(at - 2) == T::COMMA || TypeAt(EndOfValue(at)) == T::COMMA;
}

// `x`, `x = 1` and `float x` among parameters.
Help Reporter::HelpForParameter(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  if (at < 2 || TypeAt(at - 1) != T::NAME || (TypeAt(at - 2) != T::LPAREN && TypeAt(at - 2) != T::COMMA)) return std::nullopt;
  const std::string name = Spelling(at - 1);
  if (type == T::ASSIGN) {
    const size_t end = EndOfValue(at + 1);
    const bool is_literal = IsLiteral(TypeAt(at + 1)) && end == at + 2;
    return fmt::format("a parameter has a type: `{}: {} = {}`", name, is_literal ? TypeOfLiteral(TypeAt(at + 1)) : "f32",
                       TextBetween(at + 1, end, ".."));
  }
  if (type == T::NAME) {
    const auto ours = ScalarFor(name);
    return fmt::format("the name stands before the type: `{}: {}`", Spelling(at), ours.empty() ? name : ours);
  }
  return fmt::format("a parameter has a type: `{}: f32`", name);
}

// The name of `x i64`, where no more than the `:` is missing.
std::optional<size_t> Reporter::NameWithoutColon(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at < 2 || TypeAt(at) != T::NAME) return std::nullopt;
  const bool has_name_outside = at > 3 && TypeAt(at - 1) == T::STRING && TypeAt(at - 2) == T::KW_AS;
  const size_t name = has_name_outside ? at - 3 : at - 1;
  if (TypeAt(name) != T::NAME || !IsBetweenNameAndType(mistake, name)) return std::nullopt;
  if (TypeAt(at + 1) == T::NAME && !FirstOnLine(text_, At(at + 1))) return std::nullopt;  // `final int x`
  const std::string first = Spelling(name), second = Spelling(at);
  const bool is_type = IsTypeWord(second) || TypeAt(at + 1) == T::DOT || (BeginsWithCapital(second) && !BeginsWithCapital(first));
  return is_type && (has_name_outside || !IsTypeWord(first)) ? std::optional(name) : std::nullopt;
}

// Whether a `:` may stand before the mistake, and a type behind that.
bool Reporter::IsBetweenNameAndType(const Mistake& mistake, size_t name) const {
  const size_t before = TypeAt(name - 1);
  if (before == T::KW_CONST || before == T::KW_LET || before == T::KW_NODE)
    return Expects(mistake, T::ASSIGN) && TypeAt(EndOfType(mistake.at)) == T::ASSIGN;  // else the `=` is what is missing
  const bool is_typed =
      mistake.rule == P::RuleParam || mistake.rule == P::RuleParams || mistake.rule == P::RuleField || mistake.rule == P::RuleTypeField;
  return is_typed && Expects(mistake, T::COLON);
}

// Behind the type that begins at `at`, however it ends.
size_t Reporter::EndOfType(size_t at) const {
  size_t end = at + 1;
  while (TypeAt(end) == T::DOT || TypeAt(end - 1) == T::DOT) ++end;
  if (TypeAt(end) == T::LT) end = EndOfHeld(end);
  if (TypeAt(end) == T::LBRACKET) end = CloserOf(end) + 1;
  return TypeAt(end) == T::QUESTION ? end + 1 : end;
}

// `x i64`, and `i64 x` of results and of what is bound.
Help Reporter::HelpForNameAndType(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (const auto name = NameWithoutColon(mistake)) {
    const size_t end = EndOfType(at);
    const std::string scalar = end == at + 1 ? ScalarFor(Spelling(at)) : "";
    return fmt::format("a `:` parts a name from its type: `{}: {}`", TextBetween(*name, at, Spelling(*name)),
                       scalar.empty() ? TextBetween(at, end, "..") : scalar);
  }
  const bool are_names = at > 1 && TypeAt(at) == T::NAME && TypeAt(at - 1) == T::NAME;
  if (!are_names || mistake.rule == P::RuleTypeField || !IsBetweenNameAndType(mistake, at - 1)) return std::nullopt;
  const std::string type = Spelling(at - 1), scalar = ScalarFor(type);
  if (!IsTypeWord(type) && (!BeginsWithCapital(type) || TypeAt(at - 2) == T::KW_CONST)) return std::nullopt;
  return fmt::format("the name stands before the type: `{}: {}`", Spelling(at), scalar.empty() ? type : scalar);
}

Help Reporter::HelpForAssign(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at > 1 && TypeAt(at - 2) == T::KW_SERVICE)  // `service S = W;`
    return fmt::format("a service publishes what stands in its braces: `service {} {{ workflow {}; }}`", Spelling(at - 1),
                       TypeAt(at + 1) == T::NAME ? Spelling(at + 1) : "W");
  if (at > 1 && TypeAt(at - 2) == T::KW_FN && TypeAt(at - 1) == T::NAME)
    return fmt::format("a function has parameters and a result: `fn {0}(x: f32) -> f32 = ..;`; a value of its own is `const {0} = ..;`",
                       Spelling(at - 1));
  if (mistake.rule == P::RuleSetting) return std::nullopt;
  if (mistake.rule == P::RuleTypeField) {
    const int32_t braces = tokens_.opener[at];
    const std::string record = braces > 0 ? Spelling(static_cast<size_t>(braces) - 1) : "P";
    return fmt::format("a field has no default; leave it out, and give each field a value where the record is built, in `{}(..)`", record);
  }
  if ((mistake.rule == P::RuleBody || mistake.rule == P::RuleWorkflowHead) && Expects(mistake, T::LBRACE) && !Expects(mistake, T::SEMI))
    return "a workflow has a body: `{ return (y: x); }`";
  if ((mistake.rule == P::RuleParams || mistake.rule == P::RuleStubStmt) && at > 1 && TypeAt(at - 2) == T::KW_STUB)
    return fmt::format("a stub says what it is given, as the model does: `stub {}(x: f32[n]) = ..;`", Spelling(at - 1));
  if (Expects(mistake, T::RBRACKET))
    return "`n` of `f32[n]` takes its value from what is given; a number is a dimension of its own: `f32[3]`";
  if (at > 0 && TypeAt(at - 1) == T::COLON) return "a type stands between `:` and `=`; without one, `let` and `node` take `=` alone";
  if (IsNamedByAssign(at))
    return fmt::format("a name and its value are parted by `:`, as in `{}: {}`", Spelling(at - 1),
                       TextBetween(at + 1, EndOfValue(at + 1), ".."));
  if (at > 0 && TypeAt(at - 1) == T::RPAREN && Expects(mistake, T::ARROW))
    return "the type of the result is written between `)` and `=`, as in `-> f32`";
  if (Expects(mistake, T::RBRACE) && !Expects(mistake, T::SEMI))
    return "a name is bound once, by `let`; what changes from step to step is the accumulator of a `fold`";
  const bool steps = at > 0 && Spelling(at - 1).find_first_not_of("+-*/%") == std::string::npos;  // `f(x += 1)`
  return steps ? "a name is bound once, and no value changes it" : "`==` compares";
}

// The first `,` of `(a, b)`.
bool Reporter::IsInUnnamedTuple(const Mistake& mistake) const {
  const int32_t around = tokens_.opener[mistake.at];
  if (TypeAt(mistake.at) != T::COMMA || around <= 0 || TypeAt(static_cast<size_t>(around)) != T::LPAREN) return false;
  return (ExpectsExpression(mistake) || Expects(mistake, T::RPAREN)) && EndsValue(TypeAt(mistake.at - 1));
}

// `(a, b)`, `return a, b;`, and the types of such.
Help Reporter::HelpForComma(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (mistake.rule == P::RuleTypeField) return "each field ends with `;`";
  if (const Help word = WordOfSecond(mistake)) return fmt::format("each name has a `{0}` of its own: `{0} a = 1; {0} b = 2;`", *word);
  const int32_t braces = tokens_.opener[at];
  if (braces >= 2 && TypeAt(static_cast<size_t>(braces) - 2) == T::KW_SERVICE)
    return "each of them ends with `;`: `workflow V; workflow W;`";
  if ((mistake.rule == P::RuleComprehension || mistake.rule == P::RuleList) && Expects(mistake, T::RBRACKET)) {
    return "a comprehension goes through one source; `zip(xs, ys)` pairs two, and a list of lists is made by one inside the other: "
           "`[[x * y for y in ys] for x in xs]`";
  }
  if (mistake.rule == P::RuleField && Expects(mistake, T::COLON)) return "what a tuple holds has names: `(a: i64, b: i64)`";
  if (at > 2 && Expects(mistake, T::GT) && TypeAt(at - 2) == T::LT) {  // `map<i64, string>`
    const std::string generic = Spelling(at - 3);
    if (IsOneOf("map Map dict Dict HashMap BTreeMap unordered_map", generic))
      return fmt::format("the keys of a map are always strings: `map<{}>`", TypeAt(at + 2) == T::GT ? Spelling(at + 1) : "i64");
    if (generic == "Result") return fmt::format("a type says nothing of failures; the result is `{}`", Spelling(at - 1));
    if (IsOneOf("tensor Tensor array Array ndarray", generic)) return "a tensor is the type of its elements and its extents: `f32[3, 4]`";
  }
  if (mistake.rule == P::RuleRequireStmt && Expects(mistake, T::SEMI)) {
    const std::string text = TypeAt(at + 1) == T::STRING ? TextBetween(at + 1, at + 2, "\"..\"") : "\"..\"";
    return fmt::format("what is raised stands behind `else`: `require c else fail InputParams({});`", text);
  }
  if (mistake.rule == P::RuleExpectStmt) return "an `expect` that fails shows both sides; what it is about says the name of the test";
  const int32_t around = tokens_.opener[at];
  if (around > 0 && TypeAt(static_cast<size_t>(around)) == T::LPAREN) {  // `(a, b) => e`
    const size_t closer = CloserOf(static_cast<size_t>(around));
    if (TypeAt(closer) != Token::EOF && TypeAt(closer + 1) == T::FAT_ARROW) return std::string(OursFor(Foreign::kPrefix, "lambda"));
  }
  const bool is_bare = mistake.rule == P::RuleReturnStmt && Expects(mistake, T::SEMI);
  const bool in_parentheses = IsInUnnamedTuple(mistake);
  if (!is_bare && !in_parentheses) return std::nullopt;
  const bool returned = is_bare || TypeAt(static_cast<size_t>(around) - 1) == T::KW_RETURN;
  const std::string_view generic = returned ? "results have names: `return (a: x, b: y);`" : "what a tuple holds has names: `(a: x, b: y)`";
  std::string fields;
  std::set<std::string> names;
  for (size_t from = StartOfValue(at); TypeAt(from) != Token::EOF; ++from) {
    const size_t end = EndOfValue(from);
    if (end == from) break;  // of `(a, )`
    const bool is_name = end == from + 1 && TypeAt(from) == T::NAME;
    if (!is_name) return std::string(generic);
    const std::string name = Spelling(from);
    if (!names.insert(name).second) return std::string(generic);
    fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", name, name);
    from = end;
    if (TypeAt(from) != T::COMMA) break;
  }
  return returned ? fmt::format("results have names, those of the workflow: `return ({});`", fields)
                  : fmt::format("what a tuple holds has names: `({})`", fields);
}

// `std::vector<f32>`, `std::string`.
Help Reporter::HelpForTypeOfCpp(size_t at) const {
  if (Spelling(at - 1) != "std" || TypeAt(at + 1) != T::COLON || TypeAt(at + 2) != T::NAME) return std::nullopt;
  const std::string word = Spelling(at + 2);
  std::string ours(OursFor(Foreign::kGeneric, word));
  const bool holds_name = TypeAt(at + 3) == T::LT && TypeAt(at + 4) == T::NAME;
  const std::string held = holds_name ? ScalarFor(Spelling(at + 4)) : "";
  if (const size_t gap = ours.find(".."); gap != std::string::npos && holds_name)
    ours.replace(gap, 2, held.empty() ? Spelling(at + 4) : held);
  if (ours.empty()) ours = word == "string" ? word : ScalarFor(word);
  if (ours.empty()) return std::nullopt;
  return fmt::format("that is `{}` here", ours);
}

// `Item[]`, `float[]`, and what else stands between the brackets of a type.
std::string Reporter::HelpForDimension(size_t at) const {
  if (TypeAt(at) != T::RBRACKET || TypeAt(at - 1) != T::LBRACKET || TypeAt(at - 2) != T::NAME)
    return "a dimension is a number, a name, or `_` for any: `f32[3, h, _]`";
  const std::string element = Spelling(at - 2), scalar = ScalarFor(element), ours = scalar.empty() ? element : scalar;
  const bool is_number = !scalar.empty() && scalar != "string";
  return is_number ? fmt::format("a list is `list<{0}>`, a tensor `{0}[n]`", ours) : fmt::format("a list is `list<{}>`", ours);
}

// `-> y: i64`.
Help Reporter::HelpForResult(size_t at) const {
  if (at < 2 || TypeAt(at - 1) != T::NAME || TypeAt(at - 2) != T::ARROW) return std::nullopt;
  const auto item = ItemAt(at);
  size_t end = at + 1;
  while (TypeAt(end) != Token::EOF && TypeAt(end) != T::LBRACE && TypeAt(end) != T::ASSIGN && TypeAt(end) != T::SEMI) ++end;
  if (item && (TypeAt(*item) == T::KW_FN || TypeAt(*item + 1) == T::KW_FN))
    return fmt::format("the result of a function has no name: `-> {}`", TextBetween(at + 1, end, "i64"));
  return fmt::format("results stand in parentheses: `-> ({})`", TextBetween(at - 1, end, "y: i64"));
}

// `[for x in xs: e]`, `[for x in xs => e]`.
Help Reporter::HelpForListOfPython(const Mistake& mistake) const {
  size_t at = mistake.at;
  const int32_t around = tokens_.opener[at];
  if (around < 0 || TypeAt(static_cast<size_t>(around)) != T::LBRACKET || !Expects(mistake, T::LBRACE)) return std::nullopt;
  const auto loop = static_cast<size_t>(around) + 1;
  if (TypeAt(loop) != T::KW_FOR) return std::nullopt;
  if (TypeAt(at) == T::RBRACKET) {
    at = loop;
    while (at < mistake.at && (TypeAt(at) != T::FAT_ARROW || tokens_.opener[at] != around)) ++at;
    if (at == mistake.at) return std::nullopt;
  }
  const size_t end = EndOfValue(at + 1);
  bool is_value = TypeAt(end) == T::RBRACKET;
  for (size_t i = at + 1; i < end; ++i) is_value = is_value && TypeAt(i) != T::KW_IF;
  return fmt::format("what an element is stands in front: `[{} {}]`", is_value ? TextBetween(at + 1, end, "..") : "..",
                     TextBetween(loop, at, "for x in xs"));
}

// `x[::2]`, `if c:`, `a::b`, `-> y: i64`.
Help Reporter::HelpForColon(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at == 0) return std::nullopt;
  if (Expects(mistake, T::ARROW)) return "what is called tells the type of its value behind `->`";
  const auto item = ItemAt(at);
  if (item && TypeAt(*item) == T::KW_FOR && Expects(mistake, T::LBRACE))
    return "`fold y = 0 for i in [k < 10] => k { y + i }` goes from step to step, `sum[i < 10](i)` adds, `[i < 10] => i` makes a tensor";
  if (const auto result = HelpForResult(at)) return result;
  if (const auto list = HelpForListOfPython(mistake)) return list;
  if (Expects(mistake, T::LBRACE)) return "a block stands in braces, `{ .. }`";
  if (const auto type = HelpForTypeOfCpp(at)) return type;
  if (TypeAt(at - 1) == T::NAME && TypeAt(at + 1) == T::COLON) return "the parts of a name are joined by `.`, as in `nn.softmax`";
  const int32_t around = tokens_.opener[at];
  if (around <= 0 || TypeAt(static_cast<size_t>(around)) != T::LBRACKET || !Expects(mistake, T::RBRACKET)) return std::nullopt;
  return EndsValue(TypeAt(static_cast<size_t>(around) - 1)) ? HelpForStep(static_cast<size_t>(around), at) : std::nullopt;
}

// `a if c else b`.
Help Reporter::HelpForChoice(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (TypeAt(at) != T::KW_IF || at == 0 || !EndsValue(TypeAt(at - 1))) return std::nullopt;
  const size_t otherwise = EndOfValue(at);
  if (TypeAt(otherwise) != T::KW_ELSE) return std::nullopt;
  const std::string condition = TextBetween(at + 1, otherwise, "c"), value = TextBetween(StartOfValue(at), at, "a");
  const std::string other = TextBetween(otherwise + 1, EndOfValue(otherwise + 1), "b");
  return fmt::format("a choice is written `if {} {{ {} }} else {{ {} }}`", condition, value, other);
}

// `fold y = 0 in xs { .. }`: where it begins.
std::optional<size_t> Reporter::FoldWithoutFor(size_t in) const {
  for (size_t at = in; at-- > 0 && TypeAt(at) != T::SEMI && TypeAt(at) != T::KW_FOR;) {
    if (TypeAt(at) == T::KW_FOLD && tokens_.opener[at] == tokens_.opener[in]) return at;
  }
  return std::nullopt;
}

// `x in [1, 2]`, `x not in xs`.
Help Reporter::HelpForIn(size_t at, bool holds) const {
  const int32_t around = tokens_.opener[at];
  if (around >= 0 && TypeAt(static_cast<size_t>(around)) == T::LBRACKET) {
    const auto bracket = static_cast<size_t>(around);
    const bool reduces = bracket > 0 && IsOneOf("sum prod min max any all", Spelling(bracket - 1));
    if (reduces || TypeAt(CloserOf(bracket) + 1) == T::FAT_ARROW)
      return fmt::format("how far an index goes stands behind `<`: `{}[{} < {}]{}`", reduces ? Spelling(bracket - 1) : "", Spelling(at - 1),
                         reduces ? "n" : Spelling(at + 1), reduces ? "(..)" : " => ..");
  }
  if (const auto fold = FoldWithoutFor(at)) {
    const std::string list = TypeAt(at + 1) == T::NAME ? Spelling(at + 1) : "xs";
    return fmt::format("a `fold` has a name for each value: `{} for x in {} {{ .. }}`", TextBetween(*fold, at, "fold y = .."), list);
  }
  const std::string value = at > 1 && StartOfValue(at) + 1 == at ? Spelling(at - 1) : "x";
  const size_t first = at + (holds ? 1 : 2);
  const std::string_view compares = holds ? "==" : "!=", joins = holds ? " || " : " && ";
  if (TypeAt(first) == T::LBRACKET || TypeAt(first) == T::LPAREN) {
    std::string text;
    size_t next = first + 1, count = 0;
    for (; IsLiteral(TypeAt(next)) || TypeAt(next) == T::NAME; ++next) {
      text += fmt::format("{}{} {} {}", text.empty() ? "" : joins, value, compares, Spelling(next));
      ++count;
      if (TypeAt(++next) != T::COMMA) break;
    }
    if (count > 0 && count < 5 && IsCloseBracket(TypeAt(next))) return "each is compared: `" + text + "`";
  }
  const std::string list = TypeAt(first) == T::NAME ? Spelling(first) : "xs", index = value == "i" ? "k" : "i";
  return fmt::format("each is compared: `{4}[{3} < len({1})]({1}[{3}] {2} {0})`; of a map, `{1}[{0}] {5} none`", value, list, compares,
                     index, holds ? "any" : "all", holds ? "!=" : "==");
}

// A word between two values, or a type in parentheses in front of one.
Help Reporter::HelpForInfix(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  if (at == 0 || type == Token::EOF || !EndsValue(TypeAt(at - 1))) return std::nullopt;
  const bool converts = type == T::KW_AS && !ScalarFor(Spelling(at + 1)).empty();  // `(x as i64)`: `(` may begin `(x: ..)`
  if (ExpectsExpression(mistake) && !converts) return std::nullopt;
  const std::string word = Spelling(at);
  if (type == T::KW_IN) return HelpForIn(at, true);
  if (word == "not" && TypeAt(at + 1) == T::KW_IN) return HelpForIn(at, false);
  if (type == T::BAR && IsOneOf("None none null nullptr", Spelling(at + 1))) {
    const auto ours = ScalarFor(Spelling(at - 1));
    return fmt::format("what may be `none` has a `?` behind its type: `{}?`", ours.empty() ? Spelling(at - 1) : ours);
  }
  if (type == T::KW_AS && mistake.rule == P::RuleSetting) {  // of a service
    return fmt::format("what is published is told by `workflow` or `model`: `workflow {} as ..;`", Spelling(at - 1));
  }
  if (type == T::KW_AS) {
    if (TypeAt(at + 1) == T::STRING) return std::nullopt;
    const auto ours = ScalarFor(Spelling(at + 1));
    const std::string value = TextBetween(StartOfValue(at), at, "x");
    return fmt::format("numbers are converted by a call: `{}({})`", ours.empty() ? "f32" : ours, value);
  }
  if (const auto help = OursFor(Foreign::kInfix, word); !help.empty()) return std::string(help);
  const bool is_cast = TypeAt(at - 1) == T::RPAREN && at >= 3 && tokens_.opener[at - 1] + 2 == static_cast<int32_t>(at) - 1;
  if (!is_cast || (type != T::NAME && !IsLiteral(type)) || ScalarFor(Spelling(at - 2)).empty()) return std::nullopt;
  return fmt::format("numbers are converted by a call: `{}({})`", ScalarFor(Spelling(at - 2)), word);
}

// `5.` and `.5`.
Help Reporter::HelpForFloat(size_t at) const {
  const size_t before = TypeAt(at - 1);
  if (TypeAt(at) != T::DOT || before == T::DOT || EndsValue(before) || TypeAt(at + 1) != T::INT) return std::nullopt;
  return fmt::format("a digit stands on both sides of the point: `0.{}`", Spelling(at + 1));
}

// `5. * x`; `0. else`, where the word reads as a member of the number, and the mistake is met behind it.
bool Reporter::ReportPoint(const Mistake& mistake) {
  const auto is_point = [this](size_t at) {
    return at > 0 && TypeAt(at) == T::DOT && TypeAt(at - 1) == T::INT && SpanAt(at - 1).end == SpanAt(at).begin &&
           (at < 2 || TypeAt(at - 2) != T::DOT);
  };
  size_t point = mistake.at;
  if (point > 0 && TypeAt(point) != T::DOT && is_point(point - 1)) {
    --point;
  } else {
    while (point > mistake.statement && TypeAt(point - 1) != T::SEMI && !(is_point(point - 1) && IsKeyword(TypeAt(point)))) --point;
    if (point <= mistake.statement || TypeAt(point - 1) == T::SEMI) return false;
    --point;
  }
  const source::Span number = source::Join(SpanAt(point - 1), SpanAt(point));
  const std::string text = Spelling(point - 1);
  emitter_.Emit(number, diag::kUnexpectedToken, {"`" + text + ".`", "a digit behind the point"}).Fix(number, text + ".0");
  return true;
}

// `1 -> e`, `case 1 => e`.
Help Reporter::HelpForArm(const Mistake& mistake) const {
  if (mistake.rule != P::RuleArm || !Expects(mistake, T::FAT_ARROW)) return std::nullopt;
  if (TypeAt(mistake.at) == T::ARROW) return "an arm is written `1 => value`";
  if (!IsOneOf("case when default", Spelling(mistake.at - 1))) return std::nullopt;
  return fmt::format("an arm begins with what it takes, without `{}`: `1 => value`", Spelling(mistake.at - 1));
}

// `-> (f32[4])`.
Help Reporter::HelpForUnnamed(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (mistake.rule != P::RuleField || at < 3 || TypeAt(at - 2) != T::LPAREN || TypeAt(at - 3) != T::ARROW) return std::nullopt;
  const std::string type = TextBetween(at - 1, EndOfValue(at), "f32[n]");
  const auto item = ItemAt(at - 2);
  const bool is_workflow = item && TypeAt(*item) == T::KW_WORKFLOW;
  if (!is_workflow && TypeAt(EndOfValue(at)) == T::COMMA) return "what a tuple holds has names: `(a: i64, b: i64)`";
  return is_workflow ? fmt::format("what a workflow yields has names: `-> (y: {})`", type)
                     : fmt::format("the type of a result stands without parentheses: `-> {}`", type);
}

// Does it stand behind the `for` of a `[x for x in xs]`?
bool Reporter::IsOfComprehension(size_t at) const {
  const int32_t around = tokens_.opener[at];
  if (around < 0 || TypeAt(static_cast<size_t>(around)) != T::LBRACKET) return false;
  while (--at > static_cast<size_t>(around)) {
    if (TypeAt(at) == T::KW_FOR && tokens_.opener[at] == around) return true;
  }
  return false;
}

// What is written otherwise in a declaration or statement that begins so.
Help Reporter::HelpForDeclaration(const Mistake& mistake) const {
  const size_t at = mistake.at, found = TypeAt(at);
  const auto item = ItemAt(at);
  const size_t head = item ? TypeAt(*item) : size_t{Token::EOF};
  if (head == T::KW_IMPORT && found == T::SLASH && TypeAt(at + 1) == T::NAME) {
    std::string path;
    for (size_t part = *item + 1; TypeAt(part) == T::NAME || TypeAt(part) == T::SLASH || TypeAt(part) == T::DOT; ++part)
      path += TypeAt(part) == T::SLASH ? "." : Spelling(part);
    return fmt::format("the parts of a path are joined by `.`: `import {};`", path);
  }
  if (head == T::KW_STAGE && found == T::NAME && Expects(mistake, T::LBRACE))
    return "a stage has a name and nothing else; its nodes wait for what they read";
  if (mistake.rule == P::RuleExpectStmt && found == T::LPAREN && Expects(mistake, T::SEMI))
    return "`fails` compares the error and not its message: `expect e fails Bad;`";
  if (mistake.rule == P::RuleTupleField && found == T::RPAREN && Expects(mistake, T::COLON) && TypeAt(at - 1) == T::NAME)
    return fmt::format("what a tuple holds has names: `{0}: {0}`", Spelling(at - 1));
  return std::nullopt;
}

Help Reporter::HelpForHabit(const Mistake& mistake) const {
  if (mistake.at == 0) return std::nullopt;
  if (auto point = HelpForFloat(mistake.at)) return point;
  if (TypeAt(mistake.at - 1) == T::KW_FOR && TypeAt(mistake.at) == T::LPAREN) {  // `for (i, x) in xs`
    const size_t closer = CloserOf(mistake.at);
    const std::string names = TextBetween(mistake.at + 1, closer, "i, x");
    for (size_t inside = mistake.at + 1; inside < closer && TypeAt(inside) != Token::EOF; ++inside) {
      if (TypeAt(inside) == T::KW_IN) return fmt::format("a loop stands without parentheses: `for {} {{ .. }}`", names);
    }
    if (TypeAt(closer) != Token::EOF && TypeAt(closer + 1) == T::KW_IN)
      return fmt::format("the names of a loop stand without parentheses: `for {} in ..`", names);
  }
  const size_t before = TypeAt(mistake.at - 1), found = TypeAt(mistake.at);
  const size_t after = found == Token::EOF ? found : TypeAt(mistake.at + 1);
  size_t word = mistake.at - 1;
  if ((before == T::RBRACKET || before == T::RPAREN) && tokens_.opener[word] > 0) word = static_cast<size_t>(tokens_.opener[word]) - 1;
  if (const auto item = ItemAt(mistake.at); item && TypeAt(*item) == T::KW_EXTERN && before != T::COLON &&
                                            (Expects(mistake, T::ASSIGN) || before == T::ASSIGN) && !Expects(mistake, T::ARROW))
    return "an extern is bound to its file: `= cpp(\"file.cc\");`";
  const auto fits = [](size_t row, size_t type) { return row == Tokens::kAny || row == type; };
  for (const Habit& habit : kHabits) {
    if (!fits(habit.before, before) || !fits(habit.found, found) || !fits(habit.after, after)) continue;
    if (!habit.words.empty() && !IsOneOf(habit.words, Spelling(word))) continue;
    const auto is_wanted = [&](size_t type) { return type == Tokens::kAny || Expects(mistake, type); };
    if (std::all_of(habit.wanted.begin(), habit.wanted.end(), is_wanted)) return std::string(habit.help);
  }
  if (auto declared = HelpForDeclaration(mistake)) return declared;
  if (const auto arm = HelpForArm(mistake)) return arm;
  if (const auto unnamed = HelpForUnnamed(mistake)) return unnamed;
  if (found == T::NAME && Spelling(mistake.at) == "where")
    return IsOfComprehension(mistake.at) ? "which elements are taken is told by `if`: `[x for x in xs if x > 1]`"
                                         : "what is named stands before it is read: `fn f(x: i64) -> i64 { let y = 2 * x; y + 1 }`";
  if (found == T::COLON && mistake.at == mistake.statement + 2 && TypeAt(mistake.statement) == T::KW_RETURN)
    return fmt::format("results stand in parentheses: `return ({}: ..);`", Spelling(mistake.at - 1));
  if (IsKeyword(before) && Expects(mistake, T::COLON) && !ExpectsExpression(mistake))
    return fmt::format("`{}` is a word of the language, so no value has this name", Spelling(mistake.at - 1));
  return std::nullopt;
}

// What other languages write here, and what this one does.
Help Reporter::HelpForForeign(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (const auto number = TypeAt(at) == T::MEASURE ? diag::ReadForeignNumber(Spelling(at)) : std::nullopt) return number->help;
  if (auto outside = HelpForNameOutside(mistake)) return outside;
  if (auto infix = HelpForInfix(mistake)) return infix;
  for (const size_t place : {at, at - (at > 0 ? 1 : 0)}) {
    const std::string word = TypeAt(place) == Token::EOF ? "" : Spelling(place);
    const auto ours = OursFor(Foreign::kOperator, word);
    if (!ours.empty()) return fmt::format("`{}` is written `{}`", word, ours);
  }
  if (auto choice = HelpForChoice(mistake)) return choice;
  if (auto typed = HelpForNameAndType(mistake)) return typed;
  const bool of_params = mistake.rule == P::RuleParam || mistake.rule == P::RuleParams;
  if (of_params && Expects(mistake, T::COLON)) {
    if (auto parameter = HelpForParameter(mistake)) return parameter;
  }
  if (auto question = HelpForQuestion(mistake)) return question;
  if (auto field = HelpForField(mistake)) return field;
  if (auto head = HelpForHead(mistake)) return head;
  if (auto value = HelpForValueOfBody(mistake)) return value;
  if (auto listed = TypeAt(at) == T::RBRACKET ? HelpForListOfPython(mistake) : std::nullopt) return listed;
  return HelpForHabit(mistake);
}

// What stands in the place of a token when only one thing can be meant.
Help Reporter::FixFor(const Mistake& mistake) const {
  const size_t type = TypeAt(mistake.at);
  if (type == T::COMMA && mistake.rule == P::RuleTypeField) return ";";
  if (const Help word = WordOfSecond(mistake)) return "; " + *word;
  if ((type == T::COLON || type == T::FAT_ARROW) && Expects(mistake, T::ARROW) && TypeAt(mistake.at - 1) == T::RPAREN) return "->";
  if (type == T::ARROW && mistake.rule == P::RuleArm && Expects(mistake, T::FAT_ARROW)) return "=>";
  if (type == T::FAT_ARROW && Expects(mistake, T::ASSIGN) && Expects(mistake, T::LBRACE)) return "=";
  if (IsNamedByAssign(mistake.at) && mistake.rule != P::RuleParam && mistake.rule != P::RuleParams) return ":";
  if (type != T::NAME) return std::nullopt;
  const std::string word = Spelling(mistake.at);
  const bool is_sure = word == "and" || word == "or";  // `not a == b` is `!(a == b)` elsewhere
  return is_sure ? Help(std::string(OursFor(Foreign::kOperator, word))) : std::nullopt;
}

}  // namespace wf::parse
