#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/emitter.h"

namespace wf::diag {

// In order of their places, without those that touch what an earlier one changes.
std::vector<Edit> Apart(std::vector<Edit> edits);

// What an edit takes away in `text`: its span, and the line break too when it empties a whole line.
source::Span Removed(std::string_view text, const Edit& edit);

// REQUIRES: edits as Apart leaves them, of the file that `text` is.
std::string Edited(std::string_view text, const std::vector<Edit>& edits);

}  // namespace wf::diag
