#include "compiler/parse/brackets.h"

#include "compiler/parse/tokens.h"

namespace wf::parse {

uint32_t& OpenBrackets::CountOf(size_t opener) { return opener == T::LPAREN ? parens_ : opener == T::LBRACKET ? brackets_ : braces_; }

void OpenBrackets::Pop() {
  --CountOf(open_.back().type);
  open_.pop_back();
}

void OpenBrackets::Close(size_t closer) {
  const size_t fitting = closer == T::RPAREN ? T::LPAREN : closer == T::RBRACKET ? T::LBRACKET : T::LBRACE;
  if (CountOf(fitting) == 0) return;
  while (open_.back().type != fitting) Pop();
  Pop();
}

void OpenBrackets::Add(size_t type, size_t number) {
  if (IsCloseBracket(type)) Close(type);
  while (type == T::SEMI && !open_.empty() && open_.back().type != T::LBRACE) Pop();
  if (!IsOpenBracket(type)) return;
  ++CountOf(type);
  open_.push_back({type, static_cast<int32_t>(number)});
}

}  // namespace wf::parse
