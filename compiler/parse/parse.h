#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"

namespace wf::parse {

enum class Role : uint8_t { kProgram, kImport, kText };  // of a file; a text may lack declarations

// The tree of one file. Mistakes go to `emitter`, one for each statement at most; what failed stands in the tree as an error node, and its
// declaration has `has_errors`. Nothing when there is no tree to speak of: not UTF-8, or beyond a limit of limits.h.
// Thread: any; keeps no state between calls but ANTLR's own prediction cache.   Bounds: memory and time linear in the text, stack bounded.
std::optional<ast::File> Parse(source::FileId file, const source::SourceMap& sources, diag::Emitter& emitter, Role role = Role::kProgram);

// The same with `text` in place of the file's, whose places it has.
std::optional<ast::File> Parse(source::FileId file, std::string_view text, diag::Emitter& emitter, Role role);

// What Parse reads of a text before its tree: `tokens` and `comments` are those of ast::File, and mistakes are told to nobody. Nothing
// where Parse gives nothing because of the text alone.
struct Lexed {
  std::vector<source::Span> tokens;
  std::vector<ast::Comment> comments;
};
std::optional<Lexed> Lex(std::string_view text);

}  // namespace wf::parse
