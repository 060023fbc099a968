#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/render.h"
#include "compiler/parse/parse.h"
#include "compiler/sema/check.h"

namespace wf::test {

// One text, parsed and checked, with what was said about it.
struct Checked {
  explicit Checked(std::string text, sema::CheckOptions options = {}, std::string module = {}, sema::Folded* folded = nullptr) {
    file = parse::Parse(sources.Add("test.wf", std::move(text)), sources, diag);
    if (!file) return;
    sema::CheckInput input{{{std::move(module), &*file}}, sources, options};
    input.folded = folded;
    program = sema::Check(input, diag);
  }
  // Codes in the order of the text: "3001 3002".
  std::string Codes() const {
    std::string codes;
    for (const diag::Diagnostic& d : diag.Sorted()) codes += (codes.empty() ? "" : " ") + std::to_string(static_cast<int>(d.code));
    return codes;
  }
  std::string Text() const {
    std::string text;
    for (const diag::Diagnostic& d : diag.Sorted()) text += diag::RenderText(d, sources, diag::Color::kNever);
    return text;
  }
  source::SourceMap sources;
  diag::Emitter diag;
  std::optional<ast::File> file;
  std::optional<sema::Program> program;
};

}  // namespace wf::test
