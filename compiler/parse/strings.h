#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/expr.h"
#include "compiler/diag/emitter.h"

namespace wf::parse {

enum class Holes { kRead, kNone };  // kNone: names and paths, in which braces are plain characters

// What the token "..." or r"..." at `span` says. Mistakes are reported and left out.
// `token`: its text with quotes.   Holes become NameExpr, MemberExpr and IndexExpr with the spans they have in the file.
std::vector<ast::StringExpr::Piece> ReadString(std::string_view token, const source::Span& span, Holes holes, diag::Emitter& emitter);

// Whether the quote that ends the token stands in braces: `"{join(xs, "` of `"{join(xs, "/")}"`.
bool EndsInHole(std::string_view token);

// ReadString for a place where only text may stand.
std::string ReadPlainString(std::string_view token, const source::Span& span, diag::Emitter& emitter);

}  // namespace wf::parse
