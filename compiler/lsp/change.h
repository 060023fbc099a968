#pragma once

#include <string>

#include "compiler/lsp/place.h"

namespace wf::lsp {

// One of the `contentChanges` of an editor: text in place of a range, or of everything. What is neither changes nothing.
void ApplyChange(const json::Value& change, std::string& text);

}  // namespace wf::lsp
