#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

enum class ReduceOp : uint8_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLp, kLogSum, kLogSumExp, kSumSquare };

// One function over the marked axes; the output has them as 1 or not at all. Floats are summed in f64, integers wrap, and roots and
// logarithms of integers are cut. Of nothing: a sum 0, a product 1, a mean NaN (0 of integers), a maximum the lowest value of the type and
// a minimum its highest. Maxima and minima propagate NaN and take bool. kLp: the p-th root of the sum of |x|^p.
struct Reduce {
  std::vector<bool> axis;  // one per axis of the input
  ReduceOp op = ReduceOp::kSum;
  double p = 2;
};

}  // namespace wf::kernels
