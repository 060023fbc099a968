#pragma once

#include <map>
#include <string>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"

namespace wf::driver {

struct Fixed {
  std::map<std::string, size_t> counts;  // by file
  bool all_written = true;
};

// Applies the fixes of the diagnostics to the files that they are in. Of fixes that overlap the first is applied. Files below `stdlib` are
// left alone. Returns how many were applied; writing a file that cannot be written applies none, which is said on stderr.
Fixed ApplyFixes(const diag::Emitter& emitter, const source::SourceMap& sources, const std::string& stdlib, Console& console);

}  // namespace wf::driver
