#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/printer.h"
#include "compiler/parse/parse.h"

namespace wf::parse {

// One text, parsed.
struct Parsed {
  explicit Parsed(std::string text) : file(Parse(sources.Add("t.wf", std::move(text)), sources, emitter)) {}

  std::vector<diag::Code> codes() const {
    std::vector<diag::Code> found;
    for (const diag::Diagnostic& one : emitter.Sorted()) found.push_back(one.code);
    return found;
  }
  std::string tree() const { return file ? ast::Print(*file, sources) : "nothing"; }
  bool Has(std::string_view line) const { return tree().find(line) != std::string::npos; }

  source::SourceMap sources;
  diag::Emitter emitter;
  std::optional<ast::File> file;
};

}  // namespace wf::parse
