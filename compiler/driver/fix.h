#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"

namespace wf::driver {

struct Fixed {
  std::map<std::string, size_t> counts;  // by file
  std::vector<std::string> not_written;  // for each file that could not be, why
};

// Applies the fixes of the diagnostics to the files that they are in. Of fixes that overlap the first is applied. Files below `stdlib` are
// left alone. Returns how many were applied; in a file that cannot be written none are.
Fixed ApplyFixes(const diag::Emitter& emitter, const source::SourceMap& sources, const std::string& stdlib);

}  // namespace wf::driver
