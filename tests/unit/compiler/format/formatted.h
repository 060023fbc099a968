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
  std::string text;  // after formatting
  std::string tree;  // the tree, without places and comments
  std::vector<std::string>
      words;  // tokens, but for `,` and `;`, which may change sides with a comment, and comments without spaces at their ends
  std::vector<bool> trails;  // of each comment: it stands behind a token on its line
};

inline void AddWords(const ast::File& file, const source::SourceMap& sources, Formatted& formatted) {
  size_t token = 0;
  const auto add_tokens = [&](uint32_t before) {
    for (; token < file.tokens.size() && file.tokens[token].begin < before; ++token) {
      const std::string_view text = sources.Text(file.tokens[token]);
      if (text != "," && text != ";") formatted.words.emplace_back(text);
    }
  };
  const std::string_view text = sources.text(file.id);
  for (const ast::Comment& comment : file.comments) {
    add_tokens(comment.span.begin);
    formatted.words.push_back(comment.text.substr(0, comment.text.find_last_not_of(" \t") + 1));
    const size_t before = comment.span.begin == 0 ? std::string_view::npos : text.find_last_not_of(" \t", comment.span.begin - 1);
    formatted.trails.push_back(before != std::string_view::npos && text[before] != '\n');
  }
  add_tokens(UINT32_MAX);
}

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
  Formatted formatted{Format(*file, sources), WithoutPlaces(ast::Print(*file, sources)), {}, {}};
  AddWords(*file, sources, formatted);
  return formatted;
}

// What formatting `text` did wrong; empty when it kept tree and comments, each between the same tokens, and formats to itself, or when the
// text has mistakes.
inline std::string BrokenPromise(const std::string& text) {
  const auto once = FormatText(text);
  if (!once) return "";
  const auto twice = FormatText(once->text);
  if (!twice) return "the result does not parse:\n" + once->text;
  if (twice->tree != once->tree) return "the tree changed:\n" + once->text;
  if (twice->words != once->words) return "tokens or comments changed:\n" + once->text;
  if (twice->text != once->text) return "not idempotent; once:\n" + once->text + "twice:\n" + twice->text;
  if (once->text.find(" \n") != std::string::npos) return "a line ends with a space:\n" + once->text;
  return "";
}

// The same of a text where no two comments follow each other; they stay behind what they stand behind, or on lines of their own.
inline std::string BrokenPlace(const std::string& text) {
  std::string broken = BrokenPromise(text);
  const auto once = FormatText(text);
  if (!broken.empty() || !once) return broken;
  return FormatText(once->text)->trails == once->trails ? "" : "a comment left its line:\n" + once->text;
}

}  // namespace wf::format
