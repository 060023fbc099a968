#include "compiler/parse/braces.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "compiler/parse/brackets.h"
#include "compiler/parse/limits.h"
#include "compiler/parse/words.h"

namespace wf::parse {
namespace {

using source::Span;

// What makes the braces of one declaration fit better.
struct Repair {
  enum class Kind { kInsert, kRemove, kReplace };
  Kind kind;
  size_t at;        // number of the token: what is inserted comes before it
  size_t type = 0;  // of the token that is inserted, or takes its place
};

// One declaration, by the numbers of its tokens. Borrows: text, tokens, emitter.
class Braces {
 public:
  Braces(const Text& text, const TokenList& tokens, diag::Emitter& emitter, size_t first, size_t end)
      : text_(text), tokens_(tokens), emitter_(emitter), first_(first), end_(end) {
    OpenBrackets open;
    for (size_t at = first; at < end; ++at) {
      const size_t type = TypeAt(at);
      opener_.push_back(open.innermost());
      open.Add(type, at);
      if (type == T::LBRACE || type == T::RBRACE) balance_ += type == T::LBRACE ? 1 : -1;
      if (type == T::LPAREN || type == T::RPAREN) parens_ += type == T::LPAREN ? 1 : -1;
      if (type == T::LBRACKET || type == T::RBRACKET) brackets_ += type == T::LBRACKET ? 1 : -1;
    }
    unclosed_ = open.innermost();
  }

  // Nothing: they fit, or the layout does not say where they do not. `is_first`: of this declaration; of several `{` that are open to its
  // end, the innermost is told.
  std::optional<Repair> Find(bool is_first) {
    if (parens_ != 0 || brackets_ != 0 || balance_ == 0) return std::nullopt;
    if (balance_ > 0) return Unclosed(is_first);
    const auto closer = Premature();
    if (!closer) return std::nullopt;
    if (const auto open = SettingsBefore(*closer)) return Opened(*open);
    return IsStray(*closer) ? Stray(*closer) : std::nullopt;
  }

 private:
  const Token& At(size_t at) const { return *tokens_.all[at]; }
  size_t TypeAt(size_t at) const { return tokens_.all[at]->getType(); }
  Span SpanAt(size_t at) const { return SpanOf(text_, At(at)); }
  std::string Quoted(size_t at) const { return fmt::format("`{}`", TextOf(text_, At(at))); }
  int32_t OpenerOf(size_t at) const { return opener_[at - first_]; }
  bool BeginsLine(size_t at) const { return FirstOnLine(text_, At(at)); }
  uint32_t ColumnAt(size_t at) const { return ColumnOf(text_, At(at)); }
  uint32_t IndentAt(size_t at) const { return IndentOf(text_, At(at)); }

  // The `{` whose `}` is missing, and what stands where it would: a line as far left as that of the `{`.
  std::optional<Repair> Unclosed(bool is_first) {
    std::optional<size_t> closer;
    size_t open = unclosed_ < 0 ? first_ : static_cast<size_t>(unclosed_);
    for (size_t at = first_; at < end_ && !closer; ++at) {
      if (TypeAt(at) != T::RBRACE || OpenerOf(at) < 0 || !BeginsLine(at)) continue;
      const auto inner = static_cast<size_t>(OpenerOf(at));
      if (ColumnAt(at) >= IndentAt(inner)) continue;
      closer = at;
      open = inner;
    }
    if (TypeAt(open) != T::LBRACE || (closer ? !BeginsLine(open + 1) : !HoldsLines(open))) return std::nullopt;
    size_t next = open + 1;
    while (next < end_ && (!BeginsLine(next) || ColumnAt(next) > IndentAt(open))) ++next;
    if (TypeAt(next) == T::SEMI) return std::nullopt;  // it stands for the `}`, which the parser tells
    if (is_first || next < end_) emitter_.Emit(SpanAt(open), diag::kNeverClosed, {"{"}).Label(SpanAt(next), std::string(AboutEnd(next)));
    return Repair{Repair::Kind::kInsert, next, T::RBRACE};
  }

  // What stands at `next`, where a `}` is missing.
  std::string_view AboutEnd(size_t next) const {
    if (TypeAt(next) == Token::EOF) return "the file ends here";
    if (next == end_) return "the next declaration begins here";
    if (TypeAt(next) == T::RBRACE) return "by where it stands, this closes what is around";
    return Starts(TypeAt(next), kStatements) ? "the next statement begins here" : "what is around goes on here";
  }

  // Whether what is open there goes on in lines further right.
  bool HoldsLines(size_t open) const {
    for (size_t at = open + 1; at < end_; ++at) {
      if (BeginsLine(at) && ColumnAt(at) > IndentAt(open)) return true;
    }
    return false;
  }

  // A `}` that stands further right than what it closes, or closes the declaration in front of statements.
  std::optional<size_t> Premature() const {
    for (size_t at = first_ + 1; at + 1 < end_; ++at) {
      if (TypeAt(at) != T::RBRACE || !BeginsLine(at)) continue;
      const int32_t open = OpenerOf(at);
      const uint32_t indent = open < 0 ? 1 : IndentAt(static_cast<size_t>(open));
      if (ColumnAt(at) > indent) return at;
      const bool closes_all = open >= 0 && OpenerOf(static_cast<size_t>(open)) < 0;
      if (closes_all && Starts(TypeAt(at + 1), kStatements) && BeginsLine(at + 1) && ColumnAt(at + 1) > indent) return at;
    }
    return std::nullopt;
  }

  // The first setting that stands behind a node or stage without a `{`, in what `closer` closes.
  std::optional<size_t> SettingsBefore(size_t closer) const {
    size_t owner = closer;
    const auto is_beside = [&](size_t at) { return OpenerOf(at) == OpenerOf(closer) && BeginsLine(at); };
    while (owner > first_ && !(is_beside(owner) && (TypeAt(owner) == T::KW_NODE || TypeAt(owner) == T::KW_STAGE))) --owner;
    if (owner == first_) return std::nullopt;
    for (size_t at = owner + 1; at < closer; ++at) {
      const size_t value = TypeAt(at + 1);
      const bool has_value = value == T::NAME || value == T::INT || value == T::FLOAT || value == T::MEASURE || value == T::STRING;
      if (is_beside(at) && TypeAt(at) == T::NAME && has_value && ColumnAt(at) > ColumnAt(owner)) return at;
    }
    return std::nullopt;
  }

  std::optional<Repair> Opened(size_t setting) {
    const Span before = SpanAt(setting - 1);
    if (TypeAt(setting - 1) == T::SEMI) {
      emitter_.Emit(before, diag::kUnexpectedToken, {"`;`", "`{`"}).Label(SpanAt(setting), "settings stand in braces").Fix(before, " {");
      return Repair{Repair::Kind::kReplace, setting - 1, T::LBRACE};
    }
    const Span gap{before.file, before.end, before.end};
    emitter_.Emit(gap, diag::kMissingBrace, {Quoted(setting - 1)}).Fix(gap, " {");
    return Repair{Repair::Kind::kInsert, setting, T::LBRACE};
  }

  // Whether all is said before `closer`: no line that is as far left begins what the lines between belong to.
  bool IsStray(size_t closer) const {
    const size_t before = TypeAt(closer - 1), after = TypeAt(closer + 1);
    if ((before != T::SEMI && before != T::RBRACE) || after == T::KW_ELSE || after == T::SEMI || ClosesWithin(closer)) return false;
    size_t line = closer - 1;
    const auto is_beside = [&](size_t at) { return OpenerOf(at) == OpenerOf(closer) && BeginsLine(at); };
    while (line > first_ && !(is_beside(line) && ColumnAt(line) <= ColumnAt(closer))) --line;
    for (size_t at = line + 1; at < closer; ++at) {
      const bool begins = TypeAt(at) == T::NAME || Starts(TypeAt(at), kStatements);
      if (begins && is_beside(at)) return line == first_;
    }
    return true;
  }

  // Whether a `}` within a line closes what stands on another, before `closer`: the line may lack a `{`.
  bool ClosesWithin(size_t closer) const {
    for (size_t at = first_; at < closer; ++at) {
      if (TypeAt(at) != T::RBRACE || OpenerOf(at) < 0 || BeginsLine(at)) continue;
      const uint32_t begin = SpanAt(static_cast<size_t>(OpenerOf(at))).end;
      if (text_.bytes.substr(begin, SpanAt(at).begin - begin).find('\n') != std::string_view::npos) return true;
    }
    return false;
  }

  std::optional<Repair> Stray(size_t closer) {
    emitter_.Emit(SpanAt(closer), diag::kClosesNothing, {"}"}).Label(SpanAt(closer + 1), "what is around goes on here");
    return Repair{Repair::Kind::kRemove, closer};
  }

  const Text& text_;
  const TokenList& tokens_;
  diag::Emitter& emitter_;
  size_t first_, end_;
  std::vector<int32_t> opener_;
  int32_t balance_ = 0, parens_ = 0, brackets_ = 0, unclosed_ = -1;
};

// Whether a declaration begins at `at`, and no field or member of one.
bool BeginsDeclaration(const Text& text, const TokenList& tokens, size_t at) {
  const auto type = [&](size_t number) { return tokens.all[number]->getType(); };
  if (!Starts(type(at), kDeclarations) || type(at + 1) == T::COLON) return false;
  if (!FirstOnLine(text, *tokens.all[at]) || ColumnOf(text, *tokens.all[at]) != 1) return false;
  if (type(at) != T::KW_WORKFLOW && type(at) != T::KW_MODEL) return true;
  size_t end = at + 1;
  while (type(end) == T::NAME || type(end) == T::DOT) ++end;
  return type(end) != T::SEMI && type(end) != T::KW_AS;
}

std::unique_ptr<Token> TokenBefore(const TokenList& tokens, size_t at, size_t type) {
  auto token = std::make_unique<antlr4::CommonToken>(type);
  token->setStartIndex(tokens.all[at - 1]->getStopIndex() + 1);
  token->setStopIndex(tokens.all[at - 1]->getStopIndex());
  return token;
}

void Apply(TokenList& tokens, const Repair& repair) {
  const auto place = static_cast<std::ptrdiff_t>(repair.at);
  if (repair.kind == Repair::Kind::kReplace) static_cast<antlr4::CommonToken&>(*tokens.all[repair.at]).setType(repair.type);
  if (repair.kind == Repair::Kind::kInsert) tokens.owned.insert(tokens.owned.begin() + place, TokenBefore(tokens, repair.at, repair.type));
  if (repair.kind == Repair::Kind::kRemove) tokens.owned.erase(tokens.owned.begin() + place);
  const size_t damaged = repair.kind == Repair::Kind::kRemove ? repair.at - 1 : repair.at;
  tokens.all.clear();
  for (const auto& token : tokens.owned) tokens.all.push_back(token.get());
  const auto behind = std::lower_bound(tokens.damaged.begin(), tokens.damaged.end(), repair.at);
  for (auto it = behind; it != tokens.damaged.end(); ++it) {
    if (repair.kind == Repair::Kind::kInsert) ++*it;
    if (repair.kind == Repair::Kind::kRemove) --*it;
  }
  tokens.damaged.insert(behind, damaged);
}

}  // namespace

void RepairBraces(const Text& text, TokenList& tokens, diag::Emitter& emitter) {
  size_t n_repairs = 0;
  for (size_t first = 0, end = 0; tokens.all[first]->getType() != Token::EOF; first = end) {
    end = first + 1;
    while (tokens.all[end]->getType() != Token::EOF && !BeginsDeclaration(text, tokens, end)) ++end;
    if (tokens.DamagedWithin(first, end - 1)) continue;  // brackets may be missing there
    for (bool is_first = true; n_repairs < kMaxMistakes; ++n_repairs, is_first = false) {
      const auto repair = Braces(text, tokens, emitter, first, end).Find(is_first);
      if (!repair) break;
      Apply(tokens, *repair);
      end += repair->kind == Repair::Kind::kInsert ? 1 : 0;
      end -= repair->kind == Repair::Kind::kRemove ? 1 : 0;
    }
  }
  if (n_repairs == 0) return;
  OpenBrackets open;
  tokens.opener.resize(tokens.all.size());
  tokens.braces.resize(tokens.all.size());
  for (size_t at = 0; at < tokens.all.size(); ++at) {
    tokens.opener[at] = open.innermost();
    tokens.braces[at] = open.braces();
    open.Add(tokens.all[at]->getType(), at);
  }
}

}  // namespace wf::parse
