#pragma once

#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/format/doc.h"

namespace wf::format {

// What stands between two tokens and is not a space.
struct Trivia {
  Doc trailing;       // a comment on the line of the token before
  Doc leading;        // comments on lines of their own, each line break included
  bool blank_before;  // an empty line before those, or before the token
  bool has_comments;
};

// Walks over the tokens of a file while documents are made of them, so that no token and no comment is lost: what a rule does not place
// itself comes out just before the token that follows it. A rule that asks for a token that is not next is a bug.
// Borrows: file, text, docs.
class Cursor {
 public:
  Cursor(const ast::File& file, const source::SourceMap& sources, Docs& docs) : file_(file), text_(sources.text(file.id)), docs_(docs) {}

  Doc Take();                            // the next token, after the comments before it
  Doc Take(std::string_view expected);   // the same, which must be this one
  Doc Close(std::string_view expected);  // `;` and `,`: they follow what they end; comments before them come after
  void Skip(std::string_view expected);  // the token is left out; comments before it stay
  Trivia TakeTrivia();                   // the comments before the next token

  bool At(std::string_view text) const { return !AtEnd() && Spelling() == text; }
  bool AtEnd() const { return next_ == file_.tokens.size(); }
  bool CommentAhead() const { return comment_ < file_.comments.size() && file_.comments[comment_].span.begin < Begin(); }
  bool BreakAhead() const;  // whether the author broke the line after the last token
  uint32_t Begin() const;   // of the next token

 private:
  std::string_view Spelling() const;
  size_t LineBreaks(size_t begin, size_t end) const;  // 0, 1, or 2 when there is an empty line

  const ast::File& file_;
  const std::string_view text_;
  Docs& docs_;
  size_t next_ = 0, comment_ = 0;
  uint32_t end_ = 0;  // of the last token or comment
};

}  // namespace wf::format
