#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/model/version.h"

namespace wf::model {

// bf16 is taken by `precision auto` where it is as near as this, and by so much faster that noise does not decide.
inline constexpr double kNearEnough = 0.02, kFasterBy = 1.07;

struct PrecisionFound {
  bool bf16 = false;
  std::string reason;  // why it is that one
  double error = 0;    // of a result: the root of the mean square of what is between the two, over that of the one in f32; the largest
};

// Runs one file loaded in f32 and in bf16 on rows of made-up numbers (samples.h) and holds results and times against each other: integers
// have to be equal, floats near.
// Thread: as Run of the instance of both.   Bounds: 2 samples whose results are finite, then 20 runs or 50 ms of each.
PrecisionFound FindPrecision(Version& f32, Version& bf16, int instance, const base::Clock& clock);

}  // namespace wf::model
