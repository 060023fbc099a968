#include "compiler/parse/strings.h"

#include <algorithm>

#include "compiler/base/ascii.h"
#include "compiler/base/utf8.h"
#include "compiler/diag/shorten.h"

namespace wf::parse {
namespace {

using ast::ExprPtr;
using base::IsDigit;
using source::Span;

bool BeginsName(char c) { return base::IsLetter(c) || c == '_'; }

// The name, fields and indices that spaces stand around; empty: something else is there.
std::string_view SpacedName(std::string_view inner) {
  const size_t begin = inner.find_first_not_of(' '), end = inner.find_last_not_of(' ');
  if (begin == std::string_view::npos || end - begin + 1 == inner.size() || !BeginsName(inner[begin])) return {};
  const std::string_view name = inner.substr(begin, end - begin + 1);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) { return BeginsName(c) || IsDigit(c) || c == '.'; });
  return is_name ? name : std::string_view();
}

// A call or an index that is not closed.
bool LeavesOpen(std::string_view inner) {
  const auto count = [&](char c) { return std::count(inner.begin(), inner.end(), c); };
  return count('(') > count(')') || count('[') > count(']');
}

// Reads the inside of a string, left to right.
class StringReader {
 public:
  StringReader(std::string_view inside, Span span, diag::Emitter& emitter) : inside_(inside), span_(span), emitter_(emitter) {}

  std::vector<ast::StringExpr::Piece> Read(bool with_holes);

 private:
  Span SpanFrom(size_t begin, size_t end) const {
    return {span_.file, span_.begin + static_cast<uint32_t>(begin), span_.begin + static_cast<uint32_t>(end)};
  }
  bool At(char c) const { return at_ < inside_.size() && inside_[at_] == c; }
  void ReadEscape();
  void ReadCodePoint(size_t begin);
  void ReadHole();
  ExprPtr ReadHoleExpr();
  ExprPtr ReadMember(ExprPtr object, size_t begin);
  ExprPtr ReadIndex(ExprPtr object, size_t begin);
  void EndText();

  const std::string_view inside_;
  const Span span_;  // of inside_
  diag::Emitter& emitter_;
  size_t at_ = 0;
  std::string text_;
  std::vector<ast::StringExpr::Piece> pieces_;
};

std::vector<ast::StringExpr::Piece> StringReader::Read(bool with_holes) {
  while (at_ < inside_.size()) {
    const char c = inside_[at_];
    const bool doubled = at_ + 1 < inside_.size() && inside_[at_ + 1] == c;
    if (c == '\\') {
      ReadEscape();
    } else if (with_holes && (c == '{' || c == '}') && doubled) {
      text_ += c;
      at_ += 2;
    } else if (with_holes && c == '{') {
      ReadHole();
    } else {
      if (with_holes && c == '}') {
        emitter_.Emit(SpanFrom(at_, at_ + 1), diag::kLoneBrace).Help("a hole begins with `{`, which may be what is missing");
      }
      text_ += c;
      ++at_;
    }
  }
  EndText();
  return std::move(pieces_);
}

void StringReader::EndText() {
  if (!text_.empty()) pieces_.push_back({std::move(text_), nullptr});
  text_.clear();
}

void StringReader::ReadEscape() {
  const size_t begin = at_++;
  if (at_ == inside_.size()) return;  // a string that is not closed, reported already
  switch (inside_[at_]) {
    case 'n':
      text_ += '\n';
      break;
    case 't':
      text_ += '\t';
      break;
    case 'r':
      text_ += '\r';
      break;
    case '"':
    case '\\':
      text_ += inside_[at_];
      break;
    case 'u':
      return ReadCodePoint(begin);
    default: {
      const size_t length = source::DecodeUtf8(inside_.substr(at_)).length;
      const bool is_brace = inside_[at_] == '{' || inside_[at_] == '}';
      emitter_.Emit(SpanFrom(begin, at_ + length), diag::kUnknownEscape, {inside_.substr(begin, 1 + length)})
          .Help(is_brace ? "a brace in a text is written twice: `{{` and `}}`" : R"(there are \n \t \r \" \\ and \u{1F600})");
      at_ += length;
      return;
    }
  }
  ++at_;
}

// \u{..}: one to six hexadecimal digits.
void StringReader::ReadCodePoint(size_t begin) {
  ++at_;
  char32_t value = 0;
  size_t digits = 0;
  const bool opened = At('{');
  if (opened) ++at_;
  for (; opened && at_ < inside_.size() && digits < 7; ++at_, ++digits) {
    const char c = inside_[at_];
    const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!IsDigit(c) && !letter) break;
    value = value << 4 | static_cast<char32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  const bool closed = At('}');
  if (closed) ++at_;
  if (opened && closed && digits >= 1 && digits <= 6 && source::IsScalarValue(value)) {
    source::AppendUtf8(value, text_);
    return;
  }
  const bool is_written = opened && closed && digits >= 1 && digits <= 6;
  const bool is_half = value >= 0xD800 && value <= 0xDFFF;
  emitter_.Emit(SpanFrom(begin, at_), diag::kUnknownEscape, {inside_.substr(begin, at_ - begin)})
      .Help(!is_written ? R"(a code point is written `\u{1F600}`, one to six hexadecimal digits)"
            : is_half   ? "half of a surrogate pair is no code point; what the pair stands for is written at once, as `\\u{1F600}`"
                        : "code points end at `\\u{10FFFF}`");
}

void StringReader::ReadHole() {
  const size_t begin = at_++;
  ExprPtr hole = ReadHoleExpr();
  if (hole != nullptr && At('}')) {
    ++at_;
    EndText();
    pieces_.push_back({{}, std::move(hole)});
    return;
  }
  if (hole != nullptr && at_ == inside_.size()) {
    emitter_.Emit(SpanFrom(begin, at_), diag::kOpenHole, {inside_.substr(begin)}).Help("`{{` is a brace").Fix(SpanFrom(at_, at_), "}");
    return;
  }
  const size_t close = inside_.find('}', at_);
  const size_t end = close == std::string_view::npos ? inside_.size() : close + 1;
  const size_t inner_end = close == std::string_view::npos ? end : close;
  const std::string_view inner = inside_.substr(begin + 1, inner_end - begin - 1);
  auto error = emitter_.Emit(SpanFrom(begin, end), diag::kBadHole, {inner.empty() ? "nothing" : "`" + diag::Shorten(inner) + "`"});
  at_ = end;
  if (inner.empty()) {
    error.Help("a value is put in by its name, `{x}`; a brace itself is written `{{`");
  } else if (const std::string_view name = SpacedName(inner); !name.empty()) {
    error.Help("leave out the spaces").Fix(SpanFrom(begin + 1, inner_end), std::string(name));
  } else if (close == std::string_view::npos && LeavesOpen(inner)) {
    error.Help("the next `\"` ends the text, in braces too; give the value a name first: `let part = f(\"x\");`, and then `\"{part}\"`");
  } else {
    error.Help(
        "give it a name first (by `let`, or as a parameter of a `fn`), or join texts: `\"..\" + str(..)`; a brace itself is written `{{`");
  }
}

ExprPtr StringReader::ReadHoleExpr() {
  const size_t begin = at_;
  if (at_ == inside_.size() || !BeginsName(inside_[at_])) return nullptr;
  while (at_ < inside_.size() && (BeginsName(inside_[at_]) || IsDigit(inside_[at_]))) ++at_;
  auto name = std::make_unique<ast::NameExpr>(SpanFrom(begin, at_));
  name->name = inside_.substr(begin, at_ - begin);
  ExprPtr expr = std::move(name);
  constexpr int kMaxSteps = 64;
  for (int step = 0; expr != nullptr && (At('.') || At('[')); ++step) {
    if (step == kMaxSteps) return nullptr;
    expr = At('.') ? ReadMember(std::move(expr), begin) : ReadIndex(std::move(expr), begin);
  }
  return expr;
}

ExprPtr StringReader::ReadMember(ExprPtr object, size_t begin) {
  const size_t name = ++at_;
  if (at_ == inside_.size() || !BeginsName(inside_[at_])) return nullptr;
  while (at_ < inside_.size() && (BeginsName(inside_[at_]) || IsDigit(inside_[at_]))) ++at_;
  auto member = std::make_unique<ast::MemberExpr>(SpanFrom(begin, at_));
  member->object = std::move(object);
  member->member = {std::string(inside_.substr(name, at_ - name)), SpanFrom(name, at_)};
  return member;
}

ExprPtr StringReader::ReadIndex(ExprPtr object, size_t begin) {
  const size_t digits = ++at_;
  while (at_ < inside_.size() && IsDigit(inside_[at_])) ++at_;
  if (at_ == digits || !At(']')) return nullptr;
  auto number = std::make_unique<ast::NumberExpr>(SpanFrom(digits, at_));
  number->text = inside_.substr(digits, at_ - digits);
  ++at_;
  auto index = std::make_unique<ast::IndexExpr>(SpanFrom(begin, at_));
  index->object = std::move(object);
  const Span span = number->span;
  index->subscripts.push_back({false, std::move(number), nullptr, span});
  return index;
}

}  // namespace

std::vector<ast::StringExpr::Piece> ReadString(std::string_view token, const Span& span, Holes holes, diag::Emitter& emitter) {
  const bool raw = token.starts_with('r');
  const size_t open = raw ? 2 : 1;
  const bool closed = token.size() > open && token.ends_with(token[open - 1]);  // `'`, where that was told
  const std::string_view inside = token.substr(open, token.size() - open - (closed ? 1 : 0));
  if (raw) {
    std::vector<ast::StringExpr::Piece> pieces;
    if (!inside.empty()) pieces.push_back({std::string(inside), nullptr});
    return pieces;
  }
  const Span inner{span.file, span.begin + 1, span.begin + 1 + static_cast<uint32_t>(inside.size())};
  return StringReader(inside, inner, emitter).Read(holes == Holes::kRead);
}

bool EndsInHole(std::string_view token) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
  const std::string_view inside = token.substr(1, token.size() - 2);
  for (size_t at = 0; at < inside.size(); ++at) {
    const bool doubled = at + 1 < inside.size() && inside[at + 1] == inside[at];
    if (inside[at] == '\\' || (inside[at] == '{' && doubled)) {
      ++at;
    } else if (inside[at] == '{') {
      at = inside.find('}', at);
      if (at == std::string_view::npos) return true;
    }
  }
  return false;
}

std::string ReadPlainString(std::string_view token, const Span& span, diag::Emitter& emitter) {
  const auto pieces = ReadString(token, span, Holes::kNone, emitter);
  return pieces.empty() ? std::string() : pieces.front().text;
}

}  // namespace wf::parse
