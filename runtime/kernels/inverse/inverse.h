#pragma once

namespace wf::kernels {

// The inverse of each matrix: x [.., n, n] -> [.., n, n]. Of one that has none: NaN and infinities.
struct Inverse {};

}  // namespace wf::kernels
