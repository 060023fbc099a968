#include "compiler/parse/scanner.h"

#include "compiler/base/ascii.h"
#include "compiler/parse/words.h"

namespace wf::parse {
namespace {

using base::IsDigit;

bool GoesOnWord(char c) { return base::IsLetter(c) || c == '_' || IsDigit(c); }

// Where the word at `begin` ends; `begin`: none is there, or it is the `r` of a string.
size_t EndOfWord(std::string_view bytes, size_t begin) {
  if (IsDigit(bytes[begin]) || bytes.substr(begin).starts_with("r\"")) return begin;
  size_t end = begin;
  while (end < bytes.size() && GoesOnWord(bytes[end])) ++end;
  return end;
}

}  // namespace

Scanner::Scanner(std::string_view bytes, grammar::WfLexer& lexer)
    : bytes_(bytes), stream_(*lexer.getInputStream()), tables_(*lexer.getInterpreter<antlr4::atn::LexerATNSimulator>()) {}

size_t Scanner::ReadType(size_t begin) {
  end_ = begin;
  if (begin >= bytes_.size()) return Token::EOF;
  end_ = EndOfWord(bytes_, begin);
  if (end_ > begin) return TypeOfWord(bytes_.substr(begin, end_ - begin));
  stream_.seek(begin);
  const size_t type = tables_.match(&stream_, antlr4::Lexer::DEFAULT_MODE);
  end_ = stream_.index();
  return type;
}

std::unique_ptr<Token> Scanner::Read(size_t begin) {
  auto token = std::make_unique<antlr4::CommonToken>(ReadType(begin));
  token->setStartIndex(begin);
  token->setStopIndex(end_ - 1);
  return token;
}

}  // namespace wf::parse
