#pragma once

#include <antlr4-runtime.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/emitter.h"
#include "compiler/parse/byte_stream.h"
#include "grammar/WfLexer.h"

namespace wf::parse {

using T = grammar::WfLexer;  // token types: T::SEMI
using antlr4::Token;

// Help for `&`, `|`, `^`, `~`, `<<` and `>>`.
inline constexpr std::string_view kNoOperatorsOfBits = "there are no operators of bits; `&&`, `||` and `!` are those of conditions";

// One file on its way through the parser.
struct Text {
  source::FileId file;
  std::string_view bytes;
  size_t begin;  // after a byte order mark
};

// The tokens that the parser sees, and what is known about each by its number.
// Owns: tokens until the parser's stream takes them; `all` stays valid as long as that stream.
struct TokenList {
  std::vector<std::unique_ptr<Token>> owned;
  std::vector<Token*> all;       // ends with EOF
  std::vector<int32_t> opener;   // number of the innermost bracket open before the token, -1 for none
  std::vector<uint32_t> braces;  // how many `{` are open before the token
  std::vector<size_t> damaged;   // sorted numbers of tokens at or just after a mistake that is already reported
  std::vector<ast::Comment> comments;

  // Whether a token of [first, last] is damaged.
  bool DamagedWithin(size_t first, size_t last) const;
};

source::Span SpanOf(const Text& text, const Token& token);
std::string_view TextOf(const Text& text, const Token& token);
std::vector<source::Span> SpansOf(const Text& text, const TokenList& tokens);  // without the end
bool FirstOnLine(const Text& text, const Token& token);
uint32_t ColumnOf(const Text& text, const Token& token);  // from 1, in bytes
uint32_t IndentOf(const Text& text, const Token& token);  // the column of the first token of its line

bool IsOpenBracket(size_t type);
bool IsCloseBracket(size_t type);
bool Closes(size_t closer, size_t opener);

// Reads all tokens of `text`. Reports characters that belong to no token and strings that are not closed, and goes on; nothing after a
// broken limit, which is reported too. `lexer` must outlive the list.
std::optional<TokenList> ReadTokens(const Text& text, grammar::WfLexer& lexer, diag::Emitter& emitter);

}  // namespace wf::parse
