#pragma once

#include <cstdint>
#include <optional>

namespace wf::kernels {

// Minus the score of each target's class times the class's weight. Inputs: scores [n, c, ...], targets [n, ...] of i32 or i64, weights [c]
// or absent. softmax: the scores are logarithms of a softmax over the classes first; output 1, when somebody reads it, is these. Targets
// that are to be ignored count 0. The mean is by weight. A class that is not there fails the call.
struct ClassLoss {
  enum class Reduction : uint8_t { kNone, kSum, kMean };
  bool softmax = false;
  Reduction reduction = Reduction::kMean;
  std::optional<int64_t> ignored;
};

}  // namespace wf::kernels
