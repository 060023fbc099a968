#pragma once

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// Writes every diagnostic to the console in the form asked for, then how many there were. Returns kProgramHasErrors if one is an error.
ExitStatus Report(const diag::Emitter& emitter, const source::SourceMap& sources, const Options& options, Console& console);

}  // namespace wf::driver
