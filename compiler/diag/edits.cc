#include "compiler/diag/edits.h"

#include <algorithm>

namespace wf::diag {

std::vector<Edit> Apart(std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
  std::vector<Edit> chosen;
  for (Edit& edit : edits) {
    const bool apart = chosen.empty() || edit.span.begin > chosen.back().span.end ||
                       (edit.span.begin == chosen.back().span.end && !edit.span.empty() && !chosen.back().span.empty());
    if (apart) chosen.push_back(std::move(edit));
  }
  return chosen;
}

source::Span Removed(std::string_view text, const Edit& edit) {
  source::Span span = edit.span;
  const bool whole_line = edit.replacement.empty() && (span.begin == 0 || text[span.begin - 1] == '\n') && text.substr(span.end, 1) == "\n";
  if (whole_line) ++span.end;
  return span;
}

std::string Edited(std::string_view text, const std::vector<Edit>& edits) {
  std::string result;
  size_t done = 0;
  for (const Edit& edit : edits) {
    result.append(text.substr(done, edit.span.begin - done)).append(edit.replacement);
    done = Removed(text, edit).end;
  }
  return result.append(text.substr(done));
}

}  // namespace wf::diag
