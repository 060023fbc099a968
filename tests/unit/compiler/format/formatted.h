#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/printer.h"
#include "compiler/format/format.h"
#include "compiler/parse/parse.h"

namespace wf::format {

// A text that parsed, and what formatting must keep of it.
struct Formatted {
  std::string text;                   // after formatting
  std::string tree;                   // the tree, without places and comments
  std::vector<std::string> comments;  // without spaces at their ends
};

// The tree's lines without their last word, the place.
inline std::string WithoutPlaces(const std::string& printed) {
  std::string kept;
  for (size_t at = 0; at < printed.size();) {
    const size_t end = printed.find('\n', at);
    const std::string line = printed.substr(at, end - at);
    const size_t space = line.rfind(' ');
    const bool placed =
        space != std::string::npos && line.find('-', space) != std::string::npos && line.find(':', space) != std::string::npos;
    if (!line.starts_with("  comment: ")) kept += (placed ? line.substr(0, space) : line) + "\n";
    at = end + 1;
  }
  return kept;
}

// Nothing when the text has mistakes.
inline std::optional<Formatted> FormatText(std::string text) {
  source::SourceMap sources;
  diag::Emitter emitter;
  const auto file = parse::Parse(sources.Add("a.wf", std::move(text)), sources, emitter);
  if (!file || emitter.has_errors()) return std::nullopt;
  Formatted formatted{Format(*file, sources), WithoutPlaces(ast::Print(*file, sources)), {}};
  for (const ast::Comment& comment : file->comments) {
    formatted.comments.push_back(comment.text.substr(0, comment.text.find_last_not_of(" \t") + 1));
  }
  return formatted;
}

// What formatting `text` did wrong; empty when it kept tree and comments and formats to itself, or when the text has mistakes.
inline std::string BrokenPromise(const std::string& text) {
  const auto once = FormatText(text);
  if (!once) return "";
  const auto twice = FormatText(once->text);
  if (!twice) return "the result does not parse:\n" + once->text;
  if (twice->tree != once->tree) return "the tree changed:\n" + once->text;
  if (twice->comments != once->comments) return "the comments changed:\n" + once->text;
  if (twice->text != once->text) return "not idempotent; once:\n" + once->text + "twice:\n" + twice->text;
  return "";
}

}  // namespace wf::format
