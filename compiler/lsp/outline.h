#pragma once

#include <cstdint>
#include <string>

#include "compiler/lsp/analysis.h"

namespace wf::lsp {

// The text of an analysis's root without what stands in other bodies than the one at `byte`: what may be known there is what it was, stands
// where it stood, and costs a fraction to read and check. Bodies of functions that constants call stay.
std::string OutlineAround(const Analysis& analysis, uint32_t byte);

}  // namespace wf::lsp
