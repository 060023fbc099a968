// `n // 2` of Python, where `//` begins a comment, and the mistake is met on a line below.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "compiler/parse/report.h"

namespace wf::parse {
namespace {

using source::Span;

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What joins two values in a line of Python or of .wf.
bool Joins(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"if", "else", "for", "in", "and", "or"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// Whether the text is code that begins with a value, all of whose names are known, and no remark: there, words stand side by side.
bool IsCode(std::string_view text, const std::function<bool(std::string_view)>& is_known) {
  bool follows_value = false, has_value = false;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (IsOfWord(c)) {
      const size_t begin = at;
      while (at < text.size() && (IsOfWord(text[at]) || text[at] == '.')) ++at;
      const std::string_view word = text.substr(begin, at - begin);
      const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0, joins = has_value && Joins(word);
      const bool is_call = at < text.size() && text[at] == '(';
      if (!joins && (follows_value || (!is_number && !is_call && !is_known(word.substr(0, word.find('.')))))) return false;
      follows_value = !joins;
      has_value = true;
      continue;
    }
    const bool may_begin = c == '(' || c == '-' || c == ' ' || c == '\t';
    constexpr std::string_view kSigns = "()[]{}<>=!+-*/%&|?:;,. \t\r";
    if (kSigns.find(c) == std::string_view::npos || (!has_value && !may_begin)) return false;
    if (c != ' ' && c != '\t') follows_value = c == ')' || c == ']';
    ++at;
  }
  return has_value;
}

char CloserFor(size_t opener) { return opener == T::LPAREN ? ')' : ']'; }

}  // namespace

// The comment behind the token, on its line, that is meant as a division.
std::optional<Reporter::Division> Reporter::DivisionBehind(size_t at) const {
  constexpr size_t kLongest = 120;
  const size_t type = TypeAt(at), begin = SpanAt(at).end;
  const bool ends_value = type == T::NAME || type == T::INT || type == T::FLOAT || type == T::RPAREN || type == T::RBRACKET;
  if (!ends_value) return std::nullopt;
  const size_t slashes = text_.bytes.find_first_not_of(" \t", begin);
  if (slashes == std::string_view::npos || text_.bytes.substr(slashes, 2) != "//") return std::nullopt;
  std::string_view rest = text_.bytes.substr(slashes + 2);
  rest = rest.substr(0, rest.find('\n'));
  rest = rest.substr(0, std::min(rest.find("//"), rest.find('#')));
  const auto is_known = [&](std::string_view name) {
    const auto is_it = [&](const Token* token) { return token->getType() == T::NAME && TextOf(text_, *token) == name; };
    return std::any_of(tokens_.all.begin(), tokens_.all.end(), is_it);
  };
  if (rest.size() > kLongest || !IsCode(rest, is_known)) return std::nullopt;
  const auto first = static_cast<uint32_t>(slashes);
  return Division{{text_.file, first, first + 2}, rest};
}

// `f(n // 2);`: the bracket that would close it stands in a comment, on one of the lines down to the mistake.
bool Reporter::ReportDivision(const Mistake& mistake) {
  const int32_t opener = tokens_.opener[mistake.at];
  if (opener < 0 || (TypeAt(static_cast<size_t>(opener)) != T::LPAREN && TypeAt(static_cast<size_t>(opener)) != T::LBRACKET)) return false;
  const auto open = static_cast<size_t>(opener);
  const char closer = CloserFor(TypeAt(open));
  for (size_t at = mistake.at; at-- > open;) {
    const auto division = DivisionBehind(at);
    if (!division || division->rest.find(closer) == std::string_view::npos) continue;
    emitter_.Emit(SpanAt(open), diag::kNeverClosed, {Spelling(open)})
        .Label(division->slashes, fmt::format("a comment begins here, in which the `{}` stands", closer))
        .Help(std::string(kDivision));
    return true;
  }
  return false;
}

// Said beside what fits nothing at the start of a line, behind one that ends so.
void Reporter::LabelDivision(size_t at, diag::Builder& built) const {
  const auto division = at > 0 ? DivisionBehind(at - 1) : std::nullopt;
  if (division) built.Label(division->slashes, "a comment begins here").Help(std::string(kDivision));
}

}  // namespace wf::parse
