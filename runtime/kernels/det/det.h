#pragma once

namespace wf::kernels {

// The determinant of each matrix: x [.., n, n] -> [..]. That of an empty one is 1.
struct Det {};

}  // namespace wf::kernels
