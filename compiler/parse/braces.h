#pragma once

#include "compiler/diag/emitter.h"
#include "compiler/parse/tokens.h"

namespace wf::parse {

// Where a declaration has more `{` than `}`, or fewer, or another bracket in the place of one, and the layout says which, reports that and
// makes the tokens what is meant: the grammar alone finds mistakes in all that follows. The place is left as damaged. What the layout does
// not tell is the parser's, which finds a `}` without text at the end of a declaration that leaves brackets open.
void RepairBraces(const Text& text, TokenList& tokens, diag::Emitter& emitter);

}  // namespace wf::parse
