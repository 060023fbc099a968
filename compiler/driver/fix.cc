#include "compiler/driver/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

using Edits = std::vector<diag::Edit>;

// In order of their places, without those that touch what an earlier one changes.
Edits Chosen(Edits edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const diag::Edit& a, const diag::Edit& b) { return a.span.begin < b.span.begin; });
  Edits chosen;
  for (diag::Edit& edit : edits) {
    const bool apart = chosen.empty() || edit.span.begin > chosen.back().span.end ||
                       (edit.span.begin == chosen.back().span.end && !edit.span.empty() && !chosen.back().span.empty());
    if (apart) chosen.push_back(std::move(edit));
  }
  return chosen;
}

std::string Edited(std::string_view text, const Edits& edits) {
  std::string result;
  size_t done = 0;
  for (const diag::Edit& edit : edits) {
    result.append(text.substr(done, edit.span.begin - done)).append(edit.replacement);
    const bool whole_line =
        edit.replacement.empty() && (edit.span.begin == 0 || text[edit.span.begin - 1] == '\n') && text.substr(edit.span.end, 1) == "\n";
    done = edit.span.end + (whole_line ? 1 : 0);
  }
  return result.append(text.substr(done));
}

}  // namespace

size_t ApplyFixes(const diag::Emitter& emitter, const source::SourceMap& sources, const std::string& stdlib, Console& console) {
  std::map<source::FileId, Edits> by_file;
  for (const diag::Diagnostic& diagnostic : emitter.Sorted()) {
    for (const diag::Edit& fix : diagnostic.fixes) {
      if (!sources.name(fix.span.file).starts_with(stdlib)) by_file[fix.span.file].push_back(fix);
    }
  }
  size_t applied = 0;
  for (auto& [file, edits] : by_file) {
    const Edits chosen = Chosen(std::move(edits));
    const std::string name(sources.name(file));
    const base::Result<std::string> place = PlaceForProduct(name);
    const base::Status status = place.ok() ? WriteFile(*place, Edited(sources.text(file), chosen)) : place.status();
    if (!status.ok()) {
      console.err << fmt::format("wfc: cannot write `{}`: {}\n", name, status.message());
      continue;
    }
    applied += chosen.size();
    console.err << fmt::format("wfc: {}: {} {} applied\n", name, chosen.size(), chosen.size() == 1 ? "fix" : "fixes");
  }
  return applied;
}

}  // namespace wf::driver
