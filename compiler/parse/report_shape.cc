// Help where the shape of a value or a declaration is told as other languages tell it: what may be missing, fields, heads.

#include <fmt/format.h>

#include "compiler/diag/foreign.h"
#include "compiler/parse/report.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

using diag::Foreign;
using diag::OursFor;
using P = grammar::WfParser;
using Help = std::optional<std::string>;

constexpr std::string_view kAsRest =
    "what is called takes as many values as it has parameters; many of one type are a list: `rest: list<i64>`";

}  // namespace

// `a?.x`, `a ?: 3`, `age?: i64`.
Help Reporter::HelpForQuestion(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at == 0 || TypeAt(at) != T::QUESTION) return std::nullopt;
  const bool is_name = TypeAt(at - 1) == T::NAME;
  const std::string value = is_name ? Spelling(at - 1) : "a";
  const size_t next = TypeAt(at + 1);
  if (mistake.rule == P::RuleTypeField && is_name && next == T::COLON)
    return fmt::format("what may be `none` has a `?` behind its type: `{}: {}?`", value,
                       TypeAt(at + 2) == T::NAME ? Spelling(at + 2) : "i64");
  if (next == T::COLON && SpanAt(at).end == SpanAt(at + 1).begin)
    return fmt::format("what may be `none` is given a value by `??`: `{} ?? {}`", value, TextBetween(at + 2, EndOfValue(at + 2), ".."));
  if (next == T::DOT && is_name && TypeAt(at + 2) == T::NAME)
    return fmt::format("what may be `none` is asked for before its member is read: `match {} {{ none => .., v => v.{} }}`", value,
                       Spelling(at + 2));
  return std::nullopt;
}

// `x[::2]`, `x[1:6:2]`, `x[::-1]`. An example stands only for a slice of the first axis alone.
Help Reporter::HelpForStep(size_t open, size_t at) const {
  const bool is_back = TypeAt(at + 1) == T::MINUS, has_bounds = open + 2 != at;
  const size_t step = is_back ? at + 2 : at + 1;
  const bool is_known = (TypeAt(step) == T::INT || TypeAt(step) == T::NAME) && TypeAt(step + 1) == T::RBRACKET;
  bool is_first = true;
  for (size_t i = open + 1; i < at; ++i) is_first = is_first && (TypeAt(i) != T::COMMA || tokens_.opener[i] != static_cast<int32_t>(open));
  if (!is_known || !is_first || (is_back && (has_bounds || Spelling(step) != "1")))
    return "a slice has no step; `[i < n] => e` makes a tensor of the elements that are meant";
  size_t from = open - 1;
  while (from > 1 && TypeAt(from - 1) == T::DOT && TypeAt(from - 2) == T::NAME) from -= 2;
  const std::string name = TypeAt(open - 1) == T::NAME ? TextBetween(from, open, "x") : "x";
  const std::string bounds = has_bounds ? TextBetween(open + 1, at, "..") : "";
  const std::string value = has_bounds ? name + "[" + bounds + "]" : name;
  const auto names_it = [&](const std::string& index) {
    for (size_t i = open - 1; i <= step; ++i) {
      if (TypeAt(i) == T::NAME && Spelling(i) == index) return true;
    }
    return false;
  };
  const std::string index = !names_it("i") ? "i" : !names_it("k") ? "k" : "at";
  if (is_back) return fmt::format("a slice has no step; backwards it is `[{1} < len({0})] => {0}[len({0}) - 1 - {1}]`", value, index);
  const std::string every = Spelling(step), most = every == "2" ? "1" : every + " - 1";
  if (bounds == "..")
    return fmt::format(
        "a slice has no step; with `y` for the slice without it, in steps of {0} it is `[{1} < (len(y) + {2}) / {0}] => y[{0} * {1}]`",
        every, index, most);
  return fmt::format("a slice has no step; in steps of {2} it is `[{1} < (len({0}) + {3}) / {2}] => {0}[{2} * {1}]`", value, index, every,
                     most);
}

// The `let` of `let a = 1, b = 2;`.
Help Reporter::WordOfSecond(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (TypeAt(at) != T::COMMA || !Expects(mistake, T::SEMI) || TypeAt(at + 1) != T::NAME) return std::nullopt;
  if (TypeAt(at + 2) != T::ASSIGN && TypeAt(at + 2) != T::COLON) return std::nullopt;
  const std::optional<size_t> item = ItemAt(at);
  const size_t head = item ? TypeAt(*item) : 0;
  const bool names = head == T::KW_LET || head == T::KW_CONST || head == T::KW_NODE;
  return names ? Help(Spelling(*item)) : std::nullopt;
}

// `string name = 1;`, `repeated string names = 1;`, `readonly id: i64;` among the fields of a type.
Help Reporter::HelpForField(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at == 0 || mistake.rule != P::RuleTypeField || TypeAt(at) != T::NAME || TypeAt(at - 1) != T::NAME) return std::nullopt;
  const std::string word = Spelling(at - 1);
  const auto ours = [](const std::string& type) {
    const std::string_view known = OursFor(Foreign::kType, type);
    return known.empty() ? type : std::string(known);
  };
  if (TypeAt(at + 1) == T::COLON || diag::IsForeign(Foreign::kModifier, word))
    return fmt::format("a field has a name and a type, and no word before them; leave `{}` out", word);
  if (TypeAt(at + 1) == T::NAME && word == "repeated")
    return fmt::format("what is there many times is a list: `{}: list<{}>;`", Spelling(at + 1), ours(Spelling(at)));
  if (TypeAt(at + 1) == T::NAME && word == "optional")
    return fmt::format("what may be `none` has a `?` behind its type: `{}: {}?;`", Spelling(at + 1), ours(Spelling(at)));
  return fmt::format("the name stands before the type: `{}: {};`", Spelling(at), ours(word));
}

// Behind the `>` that closes the `<` at `open`.
size_t Reporter::EndOfHeld(size_t open) const {
  size_t at = open, depth = 0;
  do {
    if (TypeAt(at) == T::LT) ++depth;
    if (TypeAt(at) == T::GT) --depth;
    ++at;
  } while (depth > 0 && TypeAt(at) != T::SEMI && TypeAt(at) != T::ASSIGN && TypeAt(at) != T::ARROW && TypeAt(at) != T::LBRACE &&
           TypeAt(at) != Token::EOF);
  return at;
}

// `x: i64 as "count"`, of parameters, results and fields.
Help Reporter::HelpForNameOutside(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (at < 3 || TypeAt(at) != T::KW_AS || TypeAt(at + 1) != T::STRING) return std::nullopt;
  if (mistake.rule == P::RuleTypeField) return "a field has one name, inside and outside; inputs and results may have two";
  const int32_t around = tokens_.opener[at];
  if (around < 1 || TypeAt(static_cast<size_t>(around)) != T::LPAREN) return std::nullopt;
  if (!IsOfParameters(at) && TypeAt(static_cast<size_t>(around) - 1) != T::ARROW) return std::nullopt;
  const size_t type = StartOfValue(at);
  const bool has_name = type > 1 && TypeAt(type - 1) == T::COLON && TypeAt(type - 2) == T::NAME;
  return fmt::format("the name outside stands before the type: `{} as {}: {}`", has_name ? Spelling(type - 2) : "x",
                     TextBetween(at + 1, at + 2, "\"..\""), has_name ? TextBetween(type, at, "..") : "i64");
}

// `workflow W {`, `model M {`, `f(*rest: i64)`, `f(...rest: i64)`: heads of declarations.
Help Reporter::HelpForHead(const Mistake& mistake) const {
  const size_t at = mistake.at, type = TypeAt(at);
  if ((mistake.rule == P::RuleParams || mistake.rule == P::RuleParam) && (type == T::STAR || type == T::DOT)) return std::string(kAsRest);
  if (type != T::LBRACE || at < 2 || TypeAt(at - 1) != T::NAME) return std::nullopt;
  const size_t word = TypeAt(at - 2);
  const std::string name = Spelling(at - 1);
  if (word == T::KW_MODEL && mistake.rule != P::RuleServiceBody && Expects(mistake, T::ASSIGN))
    return fmt::format("a model is bound to its file: `model {} = onnx(\"model.onnx\");`", name);
  if (word == T::KW_WORKFLOW && Expects(mistake, T::LPAREN))
    return fmt::format("what a workflow takes and yields stands behind its name: `workflow {}(x: f32) -> (y: f32) {{ .. }}`", name);
  if (word == T::KW_FN && Expects(mistake, T::LPAREN))
    return fmt::format("what a function takes and yields stands behind its name: `fn {}(x: f32) -> f32 {{ .. }}`", name);
  if ((word == T::KW_WORKFLOW || word == T::KW_MODEL) && Expects(mistake, T::SEMI))  // in a service
    return "settings stand in the service itself, or at the nodes of the workflow: `timeout 5s;`";
  return std::nullopt;
}

// `y` in front of the `}` of a workflow, where a block would have its value.
Help Reporter::HelpForValueOfBody(const Mistake& mistake) const {
  const size_t at = mistake.at;
  if (mistake.rule != P::RuleCallStmt || at != mistake.statement + 1 || TypeAt(at) != T::RBRACE) return std::nullopt;
  return fmt::format("a workflow yields named results, by `return`: `return ({0}: {0});`", Spelling(at - 1));
}

}  // namespace wf::parse
