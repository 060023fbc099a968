#include "compiler/parse/tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/utf8.h"
#include "compiler/parse/brackets.h"
#include "compiler/parse/direction.h"
#include "compiler/parse/limits.h"
#include "compiler/parse/scanner.h"

namespace wf::parse {
namespace {

using source::Span;

uint32_t Narrow(size_t offset) { return static_cast<uint32_t>(offset); }

// Where a value or a type begins: `&x`, `x: &T`.
bool BeginsOperand(std::string_view before) {
  const size_t last = before.find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && std::string_view("(,:=>[").find(before[last]) != std::string_view::npos;
}

// Where a declaration or a statement begins: `@cached` above a workflow.
bool BeginsStatement(std::string_view before) {
  const size_t last = before.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos || std::string_view(";{}").find(before[last]) != std::string_view::npos;
}

std::optional<std::string> HelpForCharacter(char32_t character, std::string_view before) {
  if (character == '&' && BeginsOperand(before)) return "a value is handed on as it is, and never changes; leave out the `&`";
  switch (character) {
    case '\'':
    case '`':
    case 0x201C:
    case 0x201D:
    case 0x2018:
    case 0x2019:
      return "strings stand between plain double quotes";
    case '&':
    case '~':
      return std::string(kNoOperatorsOfBits);
    case '@':
      if (BeginsStatement(before))
        return "nothing is decorated; what holds of a node stands in braces behind it, `node y = f(x) { timeout 2ms; }`, and what holds of "
               "a "
               "service in its own";
      return "a product of matrices is `[r, c] => sum[i](a[r, i] * b[i, c])`";
    case '^':
      return fmt::format("a power is written `pow(x, y)`; {}", kNoOperatorsOfBits);
    case '$':
      return "a name stands as it is, and a hole of a text is `{x}`: `\"x is {x}\"`";
    case '\\':
      return std::nullopt;
    default:
      if (character < 0x20) return std::nullopt;
      return "outside of strings and comments a program is plain ASCII";
  }
}

std::string NameOfCharacter(std::string_view bytes) {
  const source::CodePoint first = source::DecodeUtf8(bytes);
  if (first.value < 0x20 || (first.value >= 0x7F && first.value < 0xA1) || first.value == 0xFEFF || source::TurnsDirection(first.value)) {
    return fmt::format("U+{:04X}", static_cast<uint32_t>(first.value));
  }
  if (first.value == '`') return "U+0060, a backtick";
  const std::string shown(bytes.substr(0, first.length));
  return first.value < 0x80 ? fmt::format("`{}`", shown) : fmt::format("`{}` (U+{:04X})", shown, static_cast<uint32_t>(first.value));
}

// Where a string that ends with its line, at `end`, is closed below: at the only `"` of the next line that holds one, behind text that no
// string follows and before what follows a value. npos: nowhere.
size_t CloseBelow(std::string_view bytes, size_t end) {
  const size_t close = bytes.find('"', end);
  if (close == std::string_view::npos) return close;
  const size_t line = bytes.rfind('\n', close) + 1, line_end = std::min(bytes.find('\n', close), bytes.size());
  const std::string_view before = bytes.substr(line, close - line), after = bytes.substr(close + 1, line_end - close - 1);
  const size_t last = before.find_last_not_of(" \t"), next = after.find_first_not_of(" \t\r");
  const bool may_open = last != std::string_view::npos && std::string_view("=(,[+:{<>").find(before[last]) != std::string_view::npos;
  const bool follows_value = next == std::string_view::npos || std::string_view(";,)]}.+").find(after[next]) != std::string_view::npos;
  return may_open || !follows_value || after.find('"') != std::string_view::npos ? std::string_view::npos : close;
}

// Turns the lexer's tokens into a TokenList, one at a time.
class Reader {
 public:
  Reader(const Text& text, diag::Emitter& emitter) : text_(text), emitter_(emitter) {}

  // Takes the spaces and comments from `begin` on, and tells where they end; nothing: stop, reading on makes no sense. They are most of a
  // documented file, and the lexer's tables would take each of their bytes by itself.
  std::optional<size_t> TakeLayout(size_t begin);
  // Takes the next token. False: stop, as above.
  bool Take(std::unique_ptr<Token> token);
  size_t skip_end() const { return skip_end_; }  // where the lexer goes on, at least
  TokenList Finish() { return std::move(list_); }

 private:
  bool Keep(std::unique_ptr<Token> token);
  bool IsWithin(const std::optional<diag::Code>& broken, const Span& span);  // false: reported
  bool TakeComment(const Span& span);
  bool TakeBadCharacter(std::unique_ptr<Token> token);
  size_t EndOfTripled(const Span& third) const;
  bool TakeSingleQuoted(std::unique_ptr<Token> token, size_t close);
  void TakeHash(size_t begin);
  void NoteCommentOfC(const Token& star);
  bool CountMistake();  // false: reading stops

  const Text& text_;
  diag::Emitter& emitter_;
  TokenList list_;
  LimitCheck limits_;
  OpenBrackets open_;
  size_t bad_end_ = SIZE_MAX, comment_of_c_end_ = 0, mistakes_ = 0;
  size_t skip_end_ = 0;  // of what has been taken as a whole
};

bool Reader::CountMistake() {
  const bool goes_on = ++mistakes_ <= kMaxMistakes;
  if (!goes_on) emitter_.StopCounting();
  return goes_on;
}

std::optional<size_t> Reader::TakeLayout(size_t begin) {
  const std::string_view bytes = text_.bytes;
  while (true) {
    begin = std::min(bytes.find_first_not_of(" \t\r\n", begin), bytes.size());
    if (!bytes.substr(begin).starts_with("//")) return begin;
    const size_t end = source::EndOfLine(bytes, begin).end;
    if (!TakeComment({text_.file, Narrow(begin), Narrow(end)})) return std::nullopt;
    begin = end;
  }
}

bool Reader::TakeComment(const Span& span) {
  if (!IsWithin(limits_.AddComment(), span)) return false;
  const std::string_view comment = text_.bytes.substr(span.begin, span.end - span.begin);
  list_.comments.push_back({span, std::string(comment)});
  return CheckDirection(comment, span, Kind::kComment, emitter_) || CountMistake();
}

bool Reader::Take(std::unique_ptr<Token> token) {
  switch (token->getType()) {
    case T::BAD:
      return TakeBadCharacter(std::move(token));
    case T::BAD_STRING: {
      const Span span = SpanOf(text_, *token);
      auto built = emitter_.Emit(span, diag::kUnterminatedString);
      const size_t tripled = EndOfTripled(span);
      if (tripled != std::string_view::npos) {
        built.Help("a text stands between two quotes, and a line break in it is `\\n`: `\"one\\ntwo\"`");
        skip_end_ = tripled;
      } else if (const size_t close = CloseBelow(text_.bytes, span.end); close != std::string_view::npos) {
        built.Label({text_.file, Narrow(close), Narrow(close + 1)}, "closed here").Help("a line break in a text is written `\\n`");
        skip_end_ = close + 1;
      } else {
        built.Here("the closing `\"` is missing");
      }
      list_.damaged.push_back(list_.owned.size());
      static_cast<antlr4::CommonToken&>(*token).setType(T::STRING);
      return CountMistake() && Keep(std::move(token));
    }
    case T::STRING:
    case T::RAW_STRING: {
      const Kind kind = token->getType() == T::STRING ? Kind::kString : Kind::kRawString;
      if (!CheckDirection(TextOf(text_, *token), SpanOf(text_, *token), kind, emitter_) && !CountMistake()) return false;
      return Keep(std::move(token));
    }
    default:
      return Keep(std::move(token));
  }
}

// Where the text ends that `"""` opens, two quotes of which are a string of their own; npos: it is none.
size_t Reader::EndOfTripled(const Span& third) const {
  constexpr std::string_view kTripled = "\"\"\"";
  if (third.begin < 2 || text_.bytes.substr(third.begin - 2, kTripled.size()) != kTripled) return std::string_view::npos;
  const size_t close = text_.bytes.find(kTripled, third.end);
  return close == std::string_view::npos ? close : close + kTripled.size();
}

// Where the string ends that `'` at `begin` opens; npos: on another line, or never.
size_t CloseOfSingle(std::string_view bytes, size_t begin) {
  size_t at = begin + 1;
  while (at < bytes.size() && bytes[at] != '\'' && bytes[at] != '\n') at += bytes[at] == '\\' ? 2 : 1;
  return at < bytes.size() && bytes[at] == '\'' ? at : std::string_view::npos;
}

// The bytes of one stretch of such characters come as one token each and are reported once.
bool Reader::TakeBadCharacter(std::unique_ptr<Token> token) {
  const size_t begin = token->getStartIndex();
  const bool continues = begin == bad_end_;
  bad_end_ = token->getStopIndex() + 1;
  if (!IsWithin(limits_.AddBad(), SpanOf(text_, *token))) return false;
  if (continues || begin < comment_of_c_end_) return true;
  const std::string_view rest = text_.bytes.substr(begin);
  if (rest.front() == '#') {
    TakeHash(begin);
    return CountMistake();
  }
  const size_t close = rest.front() == '\'' ? CloseOfSingle(text_.bytes, begin) : std::string_view::npos;
  if (close != std::string_view::npos) return TakeSingleQuoted(std::move(token), close);
  const source::CodePoint first = source::DecodeUtf8(rest);
  emitter_.Emit({text_.file, Narrow(begin), Narrow(begin + first.length)}, diag::kStrayCharacter, {NameOfCharacter(rest)})
      .HelpIf(HelpForCharacter(first.value, text_.bytes.substr(0, begin)));
  list_.damaged.push_back(list_.owned.size());
  return CountMistake();
}

// `'text'` is read as the string that is meant.
bool Reader::TakeSingleQuoted(std::unique_ptr<Token> token, size_t close) {
  const size_t begin = token->getStartIndex();
  const std::string inside(text_.bytes.substr(begin + 1, close - begin - 1));
  const bool is_torn = inside.find('"') != std::string::npos || inside.find("//") != std::string::npos;
  const bool has_prefix = !list_.all.empty() && list_.all.back()->getType() == T::NAME && list_.all.back()->getStopIndex() + 1 == begin;
  const Span span{text_.file, Narrow(begin), Narrow(close + 1)};
  auto built = emitter_.Emit(span, diag::kStrayCharacter, {"`'`"});
  built.Help(has_prefix ? "strings stand between plain double quotes, and have holes as they are: `\"x is {x}\"`"
                        : "strings stand between plain double quotes");
  if (!is_torn && !has_prefix) built.Fix(span, '"' + inside + '"');
  if (is_torn || has_prefix) list_.damaged.push_back(list_.owned.size());
  skip_end_ = close + 1;
  auto& string = static_cast<antlr4::CommonToken&>(*token);
  string.setType(T::STRING);
  string.setStopIndex(close);
  return CountMistake() && Keep(std::move(token));
}

// `# text`: read as the comment that is meant.
void Reader::TakeHash(size_t begin) {
  const std::string_view rest = text_.bytes.substr(begin);
  const Span span{text_.file, Narrow(begin), Narrow(begin + 1)};
  auto built = emitter_.Emit(span, diag::kStrayCharacter, {"`#`"});
  if (rest.starts_with("#include")) {
    built.Help("a module is read by `import`, as in `import std.nn;`");
  } else if (rest.starts_with("#define")) {
    built.Help("a value that is known when compiled is a `const`: `const N: i64 = 3;`");
  } else {
    built.Help("comments begin with `//`").Fix(span, "//");
  }
  skip_end_ = std::min(text_.bytes.find('\n', begin), text_.bytes.size());
}

// `/*` fits nothing, and says all there is to say about what stands before the next `*/`.
void Reader::NoteCommentOfC(const Token& star) {
  const size_t begin = star.getStartIndex();
  if (list_.all.empty() || list_.all.back()->getType() != T::SLASH || list_.all.back()->getStopIndex() + 1 != begin) return;
  comment_of_c_end_ = std::min(text_.bytes.find("*/", begin + 1), text_.bytes.size());
}

bool Reader::IsWithin(const std::optional<diag::Code>& broken, const Span& span) {
  if (!broken) return true;
  const size_t limit = *broken == diag::kNestedTooDeep      ? kMaxBracketDepth
                       : *broken == diag::kTooManyPrefixes  ? kMaxPrefixRun
                       : *broken == diag::kTooManyOperators ? kMaxOperators
                                                            : kMaxTokens;
  auto built = emitter_.Emit(span, *broken, {limit});
  if (*broken == diag::kTooManyOperators) built.Help("`if`, `match`, `for`, `fold`, `??` and `=>` inside one another count for 16 each");
  return false;
}

bool Reader::Keep(std::unique_ptr<Token> token) {
  const size_t type = token->getType();
  if (!IsWithin(limits_.Add(type), SpanOf(text_, *token))) return false;
  if (type == T::STRING && !IsWithin(limits_.AddHoles(TextOf(text_, *token)), SpanOf(text_, *token))) return false;
  list_.opener.push_back(open_.innermost());
  list_.braces.push_back(open_.braces());
  open_.Add(type, list_.all.size());
  if (type == T::STAR) NoteCommentOfC(*token);
  list_.all.push_back(token.get());
  list_.owned.push_back(std::move(token));
  return true;
}

}  // namespace

bool TokenList::DamagedWithin(size_t first, size_t last) const {
  const auto at = std::lower_bound(damaged.begin(), damaged.end(), first);
  return at != damaged.end() && *at <= last;
}

Span SpanOf(const Text& text, const Token& token) {
  const size_t begin = std::min(token.getStartIndex(), text.bytes.size());
  if (token.getType() == Token::EOF) return {text.file, Narrow(begin), Narrow(begin)};
  return {text.file, Narrow(begin), Narrow(token.getStopIndex() + 1)};
}

std::vector<Span> SpansOf(const Text& text, const TokenList& tokens) {
  std::vector<Span> spans;
  spans.reserve(tokens.all.size());
  for (const Token* token : tokens.all) {
    if (token->getType() != Token::EOF) spans.push_back(SpanOf(text, *token));
  }
  return spans;
}

std::string_view TextOf(const Text& text, const Token& token) {
  const Span span = SpanOf(text, token);
  return text.bytes.substr(span.begin, span.end - span.begin);
}

bool FirstOnLine(const Text& text, const Token& token) {
  const std::string_view before = text.bytes.substr(text.begin, SpanOf(text, token).begin - text.begin);
  const size_t last = before.find_last_not_of(" \t\r");
  return last == std::string_view::npos || before[last] == '\n';
}

uint32_t ColumnOf(const Text& text, const Token& token) {
  const std::string_view before = text.bytes.substr(text.begin, SpanOf(text, token).begin - text.begin);
  const size_t line_break = before.rfind('\n');
  return Narrow(line_break == std::string_view::npos ? before.size() : before.size() - line_break - 1) + 1;
}

uint32_t IndentOf(const Text& text, const Token& token) {
  const size_t begin = SpanOf(text, token).begin, line = begin + 1 - ColumnOf(text, token);
  return Narrow(std::min(text.bytes.find_first_not_of(" \t", line), begin) - line) + 1;
}

bool IsOpenBracket(size_t type) { return type == T::LPAREN || type == T::LBRACKET || type == T::LBRACE; }
bool IsCloseBracket(size_t type) { return type == T::RPAREN || type == T::RBRACKET || type == T::RBRACE; }
bool Closes(size_t closer, size_t opener) {
  return (closer == T::RPAREN && opener == T::LPAREN) || (closer == T::RBRACKET && opener == T::LBRACKET) ||
         (closer == T::RBRACE && opener == T::LBRACE);
}

std::optional<TokenList> ReadTokens(const Text& text, grammar::WfLexer& lexer, diag::Emitter& emitter) {
  Reader reader(text, emitter);
  Scanner scanner(text.bytes, lexer);
  for (size_t end = text.begin;; end = std::max(scanner.end(), reader.skip_end())) {
    const std::optional<size_t> begin = reader.TakeLayout(end);
    if (!begin) return std::nullopt;
    std::unique_ptr<Token> token = scanner.Read(*begin);
    const bool at_end = token->getType() == Token::EOF;
    if (!reader.Take(std::move(token))) return std::nullopt;
    if (at_end) return reader.Finish();
  }
}

}  // namespace wf::parse
