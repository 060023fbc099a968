#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/model/version.h"

namespace wf::model {

// Runs rows of made-up numbers (samples.h) alone and then beside each other: whether each is given the same. Integers and bools have to be
// equal, floats but for rounding: another number of rows may be computed by another kernel. In a run of 8 rows all are compared; in one of
// `rows`, at least 2, some have numbers so large that whatever takes them together with another row's shows.   Thread: as Run of the
// instance. Errors: kFailedPrecondition when rows depend on one another, with the output and the two numbers; kCancelled once it is to
// stop, before the next run; any other code when it could not be found out. Bounds: two runs, the larger of fewer than `rows`, but not of
// fewer than 8, where so many would take longer than 200 ms, by what one of the first run took; fewer where there is no memory for so many.
base::Status CheckRowsApart(Version& version, int instance, int64_t rows, const std::atomic<bool>& stop);

}  // namespace wf::model
