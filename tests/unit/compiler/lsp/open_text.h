#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lsp/analysis.h"
#include "compiler/parse/parse.h"

namespace wf::lsp {

// Modules by path, the root's "" first, without a library.
inline std::unique_ptr<Analysis> AnalysisOfModules(const std::vector<std::pair<std::string, std::string>>& texts) {
  Host host;
  host.load = [&](const Root&, const Overlay&, source::SourceMap& sources, diag::Emitter& emitter) {
    std::vector<LoadedModule> modules(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto& [path, text] = texts[i];
      modules[i].path = path;
      const FileId file = sources.Add("/" + (path.empty() ? "x" : path) + ".wf", text);
      if (auto tree = parse::Parse(file, sources, emitter)) modules[i].file = std::make_unique<ast::File>(std::move(*tree));
    }
    return modules;
  };
  return std::make_unique<Analysis>(Root{"/x.wf", "/"}, host, [&](const std::string&) { return std::optional(texts[0].second); });
}

inline std::unique_ptr<Analysis> AnalysisOfText(const std::string& text) { return AnalysisOfModules({{"", text}}); }

}  // namespace wf::lsp
