#pragma once

#include <memory>
#include <string_view>

#include "compiler/parse/tokens.h"

namespace wf::parse {

// The lexer's tokens as their types and bytes, which is all that is asked of them: ANTLR's own also learn where they are from and in which
// line, which takes as long as finding them. Words, most of a program, are read without the lexer's tables.
// Borrows: bytes, lexer.
class Scanner {
 public:
  Scanner(std::string_view bytes, grammar::WfLexer& lexer);

  std::unique_ptr<Token> Read(size_t begin);  // what stands there, the end included
  size_t end() const { return end_; }         // of what was read

 private:
  size_t ReadType(size_t begin);

  const std::string_view bytes_;
  antlr4::CharStream& stream_;
  antlr4::atn::LexerATNSimulator& tables_;
  size_t end_ = 0;
};

}  // namespace wf::parse
