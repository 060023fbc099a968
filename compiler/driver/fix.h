#pragma once

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"

namespace wf::driver {

// Applies the fixes of the diagnostics to the files that they are in, and says on stderr how many. Of fixes that overlap the first is
// applied. Files below `stdlib` are left alone. Returns how many were applied; writing a file that cannot be written applies none.
size_t ApplyFixes(const diag::Emitter& emitter, const source::SourceMap& sources, const std::string& stdlib, Console& console);

}  // namespace wf::driver
