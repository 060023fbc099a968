#include "compiler/lsp/outline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/parse/words.h"

namespace wf::lsp {
namespace {

using source::Span;

// What may be left out of a declaration.
struct Body {
  bool is_function;
  Span name;          // of a test: its title
  uint32_t declared;  // where the declaration begins
  uint32_t begin, end;
  std::string_view left;  // in its place, with a `}` at its end
};

// Finds the bodies of a text by its brackets.
class BodyReader {
 public:
  explicit BodyReader(const TokenText& tokens) : tokens_(tokens), end_(tokens.tokens.size()) {}

  std::vector<Body> Read() {
    std::vector<Body> bodies;
    while (at_ < end_) {
      if (const auto body = ReadDecl()) bodies.push_back(*body);
    }
    return bodies;
  }

 private:
  std::string_view Word(size_t at) const { return tokens_.Of(tokens_.tokens[at]); }
  bool BeginsLine(size_t at) const {
    const uint32_t begin = tokens_.tokens[at].begin;
    return begin == 0 || tokens_.text[begin - 1] == '\n' || tokens_.text[begin - 1] == '\r';
  }

  // Goes on behind the declaration, or before the next that begins a line where this one is not closed.
  std::optional<Body> ReadDecl() {
    const size_t first = at_;
    std::optional<size_t> body;  // its `{` or `=`
    bool is_closed = false;
    for (int depth = 0; at_ < end_ && depth >= 0 && !is_closed; ++at_) {
      const std::string_view word = Word(at_);
      if (at_ > first && BeginsLine(at_) && std::find(starters_.begin(), starters_.end(), word) != starters_.end()) return std::nullopt;
      if (word == "(" || word == "[" || word == "{") ++depth;
      if (word == ")" || word == "]" || word == "}") --depth;
      if (!body && ((word == "{" && depth == 1) || (word == "=" && depth == 0))) body = at_;
      const bool is_value = body && Word(*body) == "=";
      is_closed = depth == 0 && (word == ";" || (word == "}" && !is_value));
    }
    if (!is_closed || !body || *body - first < 2) return std::nullopt;
    const std::string_view word = Word(first);
    if (word != "fn" && word != "workflow" && word != "test") return std::nullopt;
    const auto& spans = tokens_.tokens;
    return Body{word == "fn", spans[first + 1], spans[first].begin, spans[*body - 1].end, spans[at_ - 1].end, word == "fn" ? "{x" : "{"};
  }

  const TokenText& tokens_;
  const std::vector<std::string> starters_ = parse::Starters(parse::kDeclarations);
  const size_t end_;
  size_t at_ = 0;
};

// Functions that constants, extents and defaults may call: those that are named outside of bodies, and in the bodies of such.
class Named {
 public:
  Named(const TokenText& tokens, const std::vector<Body>& bodies) : tokens_(tokens) {
    for (const Body& body : bodies) {
      if (body.is_function) functions_.emplace(tokens.Of(body.name), &body);
    }
    uint32_t outside = 0;
    for (const Body& body : bodies) {
      Read(std::exchange(outside, body.name.end), body.name.begin);
      Read(outside, body.begin);
      outside = body.end;
    }
    Read(outside, static_cast<uint32_t>(tokens.text.size()));
    while (!unread_.empty()) {
      const Body* body = unread_.back();
      unread_.pop_back();
      Read(body->begin, body->end);
    }
  }
  bool Holds(const Body& body) const { return named_.contains(&body); }

 private:
  void Read(uint32_t begin, uint32_t end) {
    const auto is_before = [](const Span& token, uint32_t byte) { return token.begin < byte; };
    const auto& spans = tokens_.tokens;
    for (auto at = std::lower_bound(spans.begin(), spans.end(), begin, is_before); at != spans.end() && at->begin < end; ++at) {
      const auto [first, last] = functions_.equal_range(tokens_.Of(*at));
      for (auto function = first; function != last; ++function) {
        if (named_.insert(function->second).second) unread_.push_back(function->second);
      }
    }
  }

  const TokenText& tokens_;
  std::multimap<std::string_view, const Body*> functions_;
  std::set<const Body*> named_;
  std::vector<const Body*> unread_;
};

}  // namespace

std::string OutlineAround(const TokenText& tokens, uint32_t byte) {
  std::string text(tokens.text);
  const std::vector<Body> bodies = BodyReader(tokens).Read();
  const Named named(tokens, bodies);
  for (const Body& body : bodies) {
    const bool is_around = body.declared <= byte && byte <= body.end;
    if (is_around || named.Holds(body) || body.end - body.begin <= body.left.size()) continue;
    std::fill(text.begin() + body.begin, text.begin() + body.end, ' ');
    text.replace(body.begin, body.left.size(), body.left);
    text[body.end - 1] = '}';
  }
  return text;
}

}  // namespace wf::lsp
