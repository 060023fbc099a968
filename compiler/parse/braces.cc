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

// One declaration, by the numbers of its tokens.
// Borrows: text, tokens, emitter.
class Braces {
 public:
  Braces(const Text& text, const TokenList& tokens, diag::Emitter& emitter, size_t first, size_t end)
      : text_(text), tokens_(tokens), emitter_(emitter), first_(first), end_(end) {
    OpenBrackets open;
    std::vector<size_t> nested;  // the types of those that are open
    for (size_t at = first; at < end; ++at) {
      const size_t type = TypeAt(at);
      opener_.push_back(open.innermost());
      if (IsOpenBracket(type)) nested.push_back(type);
      if (IsCloseBracket(type)) {
        is_nested_ = is_nested_ && !nested.empty() && Closes(type, nested.back());
        if (!nested.empty()) nested.pop_back();
      }
      open.Add(type, at);
      if (type == T::LBRACE || type == T::RBRACE) balance_ += type == T::LBRACE ? 1 : -1;
      if (type == T::LPAREN || type == T::RPAREN) parens_ += type == T::LPAREN ? 1 : -1;
      if (type == T::LBRACKET || type == T::RBRACKET) brackets_ += type == T::LBRACKET ? 1 : -1;
    }
    unclosed_ = open.innermost();
    is_nested_ = is_nested_ && nested.empty();
  }

  // How many `{` are left open where the parser finds a mistake in any case: a `(` or `[` is left open, or closes nothing.
  size_t LeftOpen() const { return balance_ > 0 && (parens_ != 0 || brackets_ != 0) ? static_cast<size_t>(balance_) : 0; }

  // The innermost `{` that is left open, where a `(` or `[` is, too: the parser tells of that one alone.
  void TellLeftOpen() const {
    int32_t open = parens_ + brackets_ > 0 ? unclosed_ : -1;
    while (open >= 0 && TypeAt(static_cast<size_t>(open)) != T::LBRACE) open = OpenerOf(static_cast<size_t>(open));
    if (open < 0) return;
    emitter_.Emit(SpanAt(static_cast<size_t>(open)), diag::kNeverClosed, {"{"}).Label(SpanAt(end_), std::string(AboutEnd(end_)));
  }

  // Nothing: they fit, or the layout does not say where they do not. `is_first`: of this declaration; of several `{` that are open to its
  // end, the innermost is told.
  std::optional<Repair> Find(bool is_first) {
    if (is_nested_) return std::nullopt;
    if (const auto closer = WrongCloser()) return closer;
    if (const auto open = WrongOpener()) return open;
    if (const auto kind = WrongKind()) return kind;
    if (parens_ != 0 || brackets_ != 0 || balance_ == 0) return std::nullopt;
    if (balance_ > 0) return Unclosed(is_first);
    const auto closer = Premature();
    if (!closer) return std::nullopt;
    if (const auto open = SettingsBefore(*closer)) return Opened(*open);
    return IsStray(*closer) ? Stray(*closer) : std::nullopt;
  }

 private:
  static constexpr size_t kMostSteps = 1'000'000;  // of what each bracket is looked at for: a hostile file would take long

  const Token& At(size_t at) const { return *tokens_.all[at]; }
  size_t TypeAt(size_t at) const { return tokens_.all[at]->getType(); }
  Span SpanAt(size_t at) const { return SpanOf(text_, At(at)); }
  std::string Quoted(size_t at) const { return fmt::format("`{}`", TextOf(text_, At(at))); }
  int32_t OpenerOf(size_t at) const { return opener_[at - first_]; }
  bool BeginsLine(size_t at) const { return FirstOnLine(text_, At(at)); }
  uint32_t ColumnAt(size_t at) const { return ColumnOf(text_, At(at)); }
  uint32_t IndentAt(size_t at) const { return IndentOf(text_, At(at)); }

  // Another bracket in the place of a `}`: it begins a line as far left as that of its `{`; or a `)` or `]` ends a statement, and one of
  // each is missing and left over.
  std::optional<Repair> WrongCloser() {
    const bool may_end = balance_ == 1 && parens_ + brackets_ == -1;
    for (size_t at = first_ + 1; at < end_; ++at) {
      const bool is_opener = TypeAt(at) == T::LBRACE && BeginsLine(at + 1);
      if ((TypeAt(at) != T::RPAREN && TypeAt(at) != T::RBRACKET && !is_opener) || OpenerOf(at) < 0) continue;
      const auto open = static_cast<size_t>(OpenerOf(at));
      if (TypeAt(open) != T::LBRACE) continue;
      const bool is_beside = BeginsLine(at) && ColumnAt(at) == IndentAt(open);
      const bool ends_statement = TypeAt(at - 1) == T::SEMI || TypeAt(at - 1) == T::RBRACE;
      if (!is_beside && (is_opener || !may_end || !ends_statement)) continue;
      auto built = is_opener ? emitter_.Emit(SpanAt(at), diag::kUnexpectedToken, {"`{`", "`}`"})
                             : emitter_.Emit(SpanAt(at), diag::kWrongCloser, {TextOf(text_, At(at)), "{"});
      built.Label(SpanAt(open), "opened here").Fix(SpanAt(at), "}");
      return Repair{Repair::Kind::kReplace, at, T::RBRACE};
    }
    return std::nullopt;
  }

  // Whether the bracket that the `}` at `at` closes stands on its line.
  bool ClosesOnLine(size_t at) const {
    const int32_t open = OpenerOf(at);
    for (; open >= 0 && at > static_cast<size_t>(open); --at) {
      if (BeginsLine(at)) return false;
    }
    return open >= 0;
  }

  // Whether `at`, another bracket that ends its line, may stand where a `{` is meant.
  bool MayOpen(size_t at) const {
    const size_t type = TypeAt(at), before = TypeAt(at - 1);
    if (!BeginsLine(at + 1) || BeginsLine(at)) return false;
    if (type == T::LPAREN || type == T::LBRACKET) return true;
    if (type == T::RBRACE) return before != T::SEMI && before != T::LBRACE && before != T::RBRACE && !ClosesOnLine(at);
    return IsCloseBracket(type) && (OpenerOf(at) < 0 || TypeAt(static_cast<size_t>(OpenerOf(at))) == T::LBRACE);
  }

  // `if x (`: another bracket in the place of a `{`. The first line that is as far left begins with a `}`, which is that of no `{` there.
  std::optional<Repair> WrongOpener() {
    size_t steps = kMostSteps;
    for (size_t at = first_ + 1; at + 1 < end_; ++at) {
      if (!MayOpen(at)) continue;
      const auto closes = [&](size_t closer) { return IsCloseBracket(TypeAt(closer)) && OpenerOf(closer) == static_cast<int32_t>(at); };
      size_t closer = at + 1;
      while (closer < end_ && !(closes(closer) && TypeAt(closer) != T::RBRACE) && !(BeginsLine(closer) && ColumnAt(closer) <= IndentAt(at)))
        ++closer;
      if (closer - at >= steps) return std::nullopt;
      steps -= closer - at;
      const bool is_beside = closer != end_ && closer > at + 1 && BeginsLine(closer) && ColumnAt(closer) == IndentAt(at);
      if (!is_beside || TypeAt(closer) != T::RBRACE) continue;
      const int32_t open = OpenerOf(closer);
      const bool is_inside = open > static_cast<int32_t>(at);
      const bool fits =
          open >= 0 && TypeAt(static_cast<size_t>(open)) == T::LBRACE && IndentAt(static_cast<size_t>(open)) >= ColumnAt(closer);
      if (is_inside || fits) continue;
      emitter_.Emit(SpanAt(at), diag::kUnexpectedToken, {Quoted(at), "`{`"}).Label(SpanAt(closer), "closed here").Fix(SpanAt(at), "{");
      return Repair{Repair::Kind::kReplace, at, T::LBRACE};
    }
    return std::nullopt;
  }

  // `x[i}`, `x}i]`: a `}` within a line in the place of a bracket of another kind, one of which is missing.
  std::optional<Repair> WrongKind() {
    if (balance_ != -1 || (parens_ == 0) == (brackets_ == 0)) return std::nullopt;
    const bool is_paren = parens_ != 0;
    const int32_t missing = is_paren ? parens_ : brackets_;
    const size_t opener = is_paren ? size_t{T::LPAREN} : size_t{T::LBRACKET}, closer = is_paren ? size_t{T::RPAREN} : size_t{T::RBRACKET};
    for (size_t at = first_ + 1; at < end_; ++at) {
      if (TypeAt(at) != T::RBRACE || BeginsLine(at)) continue;
      const int32_t open = OpenerOf(at);
      if (missing == 1 && open >= 0 && TypeAt(static_cast<size_t>(open)) == opener) {
        const std::string_view meant = is_paren ? ")" : "]", around = is_paren ? "(" : "[";
        const Span opened = SpanAt(static_cast<size_t>(open));
        emitter_.Emit(SpanAt(at), diag::kWrongCloser, {"}", around}).Label(opened, "opened here").Fix(SpanAt(at), std::string(meant));
        return Repair{Repair::Kind::kReplace, at, closer};
      }
      if (missing == -1 && ClosedOnLine(at, closer)) {
        const std::string meant = is_paren ? "(" : "[";
        emitter_.Emit(SpanAt(at), diag::kUnexpectedToken, {"`}`", "`" + meant + "`"}).Fix(SpanAt(at), meant);
        return Repair{Repair::Kind::kReplace, at, opener};
      }
    }
    return std::nullopt;
  }

  // Whether the first bracket that is closed behind `at` without being opened there is a `closer` on its line.
  bool ClosedOnLine(size_t at, size_t closer) const {
    int32_t depth = 0;
    for (++at; at < end_ && !BeginsLine(at); ++at) {
      if (IsOpenBracket(TypeAt(at))) ++depth;
      if (IsCloseBracket(TypeAt(at)) && --depth < 0) return TypeAt(at) == closer;
    }
    return false;
  }

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
    const bool ends_with_declaration = !closer && TypeAt(end_) != Token::EOF;
    if (TypeAt(open) != T::LBRACE || (closer ? !BeginsLine(open + 1) : !ends_with_declaration && !HoldsLines(open))) return std::nullopt;
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
  bool is_nested_ = true;  // each closes the innermost that is open
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

// `is_told`: what is repaired is reported, so the parser says nothing of the place.
void Apply(TokenList& tokens, const Repair& repair, bool is_told) {
  const auto place = static_cast<std::ptrdiff_t>(repair.at);
  if (repair.kind == Repair::Kind::kReplace) static_cast<antlr4::CommonToken&>(*tokens.all[repair.at]).setType(repair.type);
  if (repair.kind == Repair::Kind::kInsert) tokens.owned.insert(tokens.owned.begin() + place, TokenBefore(tokens, repair.at, repair.type));
  if (repair.kind == Repair::Kind::kRemove) tokens.owned.erase(tokens.owned.begin() + place);
  tokens.all.clear();
  for (const auto& token : tokens.owned) tokens.all.push_back(token.get());
  const auto behind = std::lower_bound(tokens.damaged.begin(), tokens.damaged.end(), repair.at);
  for (auto it = behind; it != tokens.damaged.end(); ++it) {
    if (repair.kind == Repair::Kind::kInsert) ++*it;
    if (repair.kind == Repair::Kind::kRemove) --*it;
  }
  if (is_told) tokens.damaged.insert(behind, repair.kind == Repair::Kind::kRemove ? repair.at - 1 : repair.at);
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
      Apply(tokens, *repair, true);
      end += repair->kind == Repair::Kind::kInsert ? 1 : 0;
      end -= repair->kind == Repair::Kind::kRemove ? 1 : 0;
    }
    // What the parser tells of this declaration is no reason to read the next as a part of it.
    if (tokens.all[end]->getType() == Token::EOF) continue;
    const Braces left(text, tokens, emitter, first, end);
    size_t n_open = left.LeftOpen();
    if (n_open > 0) left.TellLeftOpen();
    for (; n_open > 0 && n_repairs < kMaxMistakes; --n_open, ++n_repairs) {
      Apply(tokens, {Repair::Kind::kInsert, end, T::RBRACE}, false);
      ++end;
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
