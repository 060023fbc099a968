#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/model/version.h"

namespace wf::model {

// So many rows of three sorts, side by side, show a node that takes one row's numbers for another's, or counts rows.
inline constexpr int64_t kRowsBesideOthers = 8;

// Runs rows of made-up numbers (samples.h) alone and then beside each other, in one run: whether each is given the same. Integers and bools
// have to be equal, floats but for rounding: another number of rows may be computed by another kernel.   Thread: as Run of the instance.
// Errors: kFailedPrecondition when rows depend on one another, with the output and the two numbers; kCancelled once it is to stop, before
// the next run; any other code when it could not be found out. Bounds: `rows`, from 2 to kRowsBesideOthers, run at once; fewer where there
// is no memory for so many.
base::Status CheckRowsApart(Version& version, int instance, int64_t rows, const std::atomic<bool>& stop);

}  // namespace wf::model
