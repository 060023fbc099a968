#pragma once

#include <memory>
#include <string>

#include "compiler/lsp/analysis.h"
#include "compiler/parse/parse.h"

namespace wf::lsp {

// One text on its own, without a library.
inline std::unique_ptr<Analysis> AnalysisOfText(const std::string& text) {
  Host host;
  host.load = [&](const Root& root, const Overlay& overlay, source::SourceMap& sources, diag::Emitter& emitter) {
    std::vector<LoadedModule> modules(1);
    const FileId file = sources.Add(root.path, overlay(root.path).value());
    if (auto tree = parse::Parse(file, sources, emitter)) modules[0].file = std::make_unique<ast::File>(std::move(*tree));
    return modules;
  };
  return std::make_unique<Analysis>(Root{"/x.wf", "/"}, host, [&](const std::string&) { return std::optional(text); });
}

}  // namespace wf::lsp
