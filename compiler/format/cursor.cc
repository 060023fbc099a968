#include "compiler/format/cursor.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace wf::format {

std::string_view Cursor::Spelling() const {
  const source::Span& span = file_.tokens[next_];
  return text_.substr(span.begin, span.end - span.begin);
}

uint32_t Cursor::Begin() const { return AtEnd() ? static_cast<uint32_t>(text_.size()) : file_.tokens[next_].begin; }

size_t Cursor::LineBreaks(size_t begin, size_t end) const {
  size_t most = 0, run = 0;
  for (size_t at = begin; at < end; ++at) {
    const char c = text_[at];
    if (c == '\n') {
      most = std::max(most, ++run);
    } else if (c != ' ' && c != '\t' && c != '\r') {
      run = 0;  // a token that is left out
    }
  }
  return std::min<size_t>(most, 2);
}

bool Cursor::BreakAhead() const {
  const size_t end = CommentAhead() ? file_.comments[comment_].span.begin : Begin();
  return LineBreaks(end_, end) > 0;
}

Trivia Cursor::TakeTrivia() {
  std::vector<Doc> trailing, leading;
  bool blank_before = false;
  for (; CommentAhead(); ++comment_) {
    const ast::Comment& comment = file_.comments[comment_];
    const size_t breaks = LineBreaks(end_, comment.span.begin);
    std::string_view text = comment.text;
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
    if (breaks == 0 && next_ > 0 && leading.empty()) {
      trailing.push_back(docs_.TrailingComment(text));
    } else {
      if (breaks > 1 && !leading.empty()) leading.push_back(docs_.Blank());
      if (leading.empty()) blank_before = breaks > 1;
      leading.push_back(docs_.OwnComment(text));
    }
    end_ = std::max(end_, comment.span.end);
  }
  const bool blank = !AtEnd() && LineBreaks(std::min(end_, Begin()), Begin()) > 1;
  if (leading.empty()) blank_before = blank;
  if (!leading.empty() && blank) leading.push_back(docs_.Blank());
  const bool has_comments = !trailing.empty() || !leading.empty();
  return {docs_.Concat(std::move(trailing)), docs_.Concat(std::move(leading)), blank_before, has_comments};
}

Doc Cursor::Take() {
  WF_CHECK(!AtEnd());
  const Trivia before = CommentAhead() ? TakeTrivia() : Trivia{docs_.Empty(), docs_.Empty(), false, false};
  const Doc text = docs_.Text(Spelling());
  end_ = file_.tokens[next_++].end;
  return before.has_comments ? docs_.Concat({before.trailing, before.leading, text}) : text;
}

Doc Cursor::Take(std::string_view expected) {
  WF_CHECK(At(expected), expected, AtEnd() ? "" : Spelling());
  return Take();
}

Doc Cursor::Close(std::string_view expected) {
  Skip(expected);
  return docs_.Text(expected);
}

void Cursor::Skip(std::string_view expected) {
  WF_CHECK(At(expected), expected, AtEnd() ? "" : Spelling());
  if (!CommentAhead()) end_ = file_.tokens[next_].end;
  ++next_;
}

}  // namespace wf::format
