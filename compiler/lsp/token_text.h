#pragma once

#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"

namespace wf::lsp {

// A text as its tokens, parsed or not.
// Borrows: all.
struct TokenText {
  std::string_view text;
  const std::vector<source::Span>& tokens;
  const std::vector<ast::Comment>& comments;

  std::string_view Of(const source::Span& token) const { return text.substr(token.begin, token.end - token.begin); }
};

}  // namespace wf::lsp
