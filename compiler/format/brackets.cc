// What stands between brackets, and runs of tokens.

#include "compiler/format/layout.h"

namespace wf::format {

Doc Layout::Braced(const Braces& braces, const Rule& rule) {
  std::vector<Doc> inside;
  const Doc open = Token("{");
  const bool broken = braces.always_broken || at_.BreakAhead();
  for (size_t number = 0; number < braces.count; ++number) {
    const Trivia before = at_.TakeTrivia();
    inside.push_back(before.trailing);
    inside.push_back(broken ? docs_.HardLine() : docs_.Line());
    if (before.blank_before && number > 0) inside.push_back(docs_.Blank());
    inside.push_back(before.leading);
    inside.push_back(rule(number));
  }
  const Trivia last = at_.TakeTrivia();
  inside.push_back(last.trailing);
  if (last.has_comments && last.blank_before && braces.count > 0) {
    inside.push_back(docs_.Line());
    inside.push_back(docs_.Blank());
  }
  inside.push_back(last.leading);
  if (braces.count == 0 && !last.has_comments) return Concat({open, Token("}")});
  const Doc whole = Concat({open, docs_.Nest(Concat(std::move(inside))), docs_.Line(), Token("}")});
  return braces.with_group ? whole : docs_.Group(whole);
}

Doc Layout::Bracketed(const Brackets& brackets, const Rule& rule) {
  const Doc open = Token(brackets.open);
  const bool broken = brackets.count > 0 && at_.BreakAhead();
  if (brackets.hug && !broken && !at_.CommentAhead()) {
    const Doc only = rule(0);
    if (brackets.trailing_comma && at_.At(",")) at_.Skip(",");
    return Concat({open, only, Token(brackets.close)});
  }
  std::vector<Doc> inside;
  for (size_t number = 0; number < brackets.count; ++number) {
    const Trivia before = at_.TakeTrivia();
    inside.push_back(before.trailing);
    if (number == 0) inside.push_back(docs_.SoftLine());
    if (number > 0) inside.push_back(brackets.fill ? docs_.Group(docs_.Line()) : docs_.Line());
    inside.push_back(before.leading);
    inside.push_back(rule(number));
    if (number + 1 < brackets.count) inside.push_back(at_.Close(","));
  }
  if (brackets.trailing_comma && at_.At(",")) at_.Skip(",");
  if (brackets.trailing_comma && brackets.count > 0) inside.push_back(docs_.IfBroken(","));
  const Trivia last = at_.TakeTrivia();
  inside.push_back(last.trailing);
  inside.push_back(last.leading);
  if (brackets.count == 0 && !last.has_comments) return Concat({open, Token(brackets.close)});
  return docs_.Group(Concat({open, docs_.Nest(Concat(std::move(inside))), docs_.SoftLine(), Token(brackets.close)}), broken);
}

Doc Layout::Words(size_t count) {
  std::vector<Doc> words;
  for (size_t number = 0; number < count; ++number) {
    if (number > 0) words.push_back(Space());
    words.push_back(at_.Take());
  }
  return Concat(std::move(words));
}

Doc Layout::Names() {
  std::vector<Doc> names = {at_.Take()};
  while (at_.At(",")) {
    names.push_back(at_.Close(","));
    names.push_back(Space());
    names.push_back(at_.Take());
  }
  return Concat(std::move(names));
}

Doc Layout::Path(const ast::Path& path) {
  std::vector<Doc> parts = {at_.Take()};
  for (size_t number = 1; number < path.parts.size(); ++number) {
    parts.push_back(Token("."));
    parts.push_back(at_.Take());
  }
  return Concat(std::move(parts));
}

}  // namespace wf::format
