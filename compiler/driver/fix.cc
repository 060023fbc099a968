#include "compiler/driver/fix.h"

#include <fmt/format.h>

#include "compiler/diag/edits.h"
#include "compiler/driver/files.h"

namespace wf::driver {

Fixed ApplyFixes(const diag::Emitter& emitter, const source::SourceMap& sources, const std::string& stdlib) {
  std::map<source::FileId, std::vector<diag::Edit>> by_file;
  for (const diag::Diagnostic& diagnostic : emitter.Sorted()) {
    for (const diag::Edit& fix : diagnostic.fixes) {
      if (!sources.name(fix.span.file).starts_with(stdlib)) by_file[fix.span.file].push_back(fix);
    }
  }
  Fixed applied;
  for (auto& [file, edits] : by_file) {
    const std::vector<diag::Edit> chosen = diag::Apart(std::move(edits));
    const std::string name(sources.name(file));
    const base::Status status = RewriteFile(name, diag::Edited(sources.text(file), chosen));
    if (!status.ok()) {
      applied.not_written.push_back(fmt::format("cannot write `{}`: {}", name, status.message()));
      continue;
    }
    applied.counts[name] += chosen.size();
  }
  return applied;
}

}  // namespace wf::driver
