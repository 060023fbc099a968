#pragma once

#include <llvm/Support/JSON.h>

#include <cstdint>

#include "compiler/base/source.h"

namespace wf::lsp {

namespace json = llvm::json;
using source::FileId;
using source::Span;

// A position of LSP: from 0, `character` in units of UTF-16.
struct Position {
  uint32_t line = 0, character = 0;
};

Position ReadPosition(const json::Object* position);  // the first where there is none
Position PositionOf(const source::SourceMap& sources, FileId file, uint32_t byte);
uint32_t ByteOf(std::string_view text, Position position);  // the nearest that there is
uint32_t Utf16Length(std::string_view text);

json::Value RangeOf(const source::SourceMap& sources, const Span& span);
json::Value LocationOf(const source::SourceMap& sources, const Span& span);
json::Value TextEdit(const source::SourceMap& sources, const Span& span, std::string text);

}  // namespace wf::lsp
