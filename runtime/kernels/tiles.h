#pragma once

#include <functional>
#include <memory>

#include "runtime/kernels/operation.h"

namespace wf::kernels {

using Maker = std::function<base::Result<std::unique_ptr<Kernel>>(const Operation&)>;

// The kernel of a large operation as several of one thread, each of which computes some rows of the result: the team of the thread that
// runs it shares them out (team.h); without one they run one after the other. Which there are follows from the operation and `threads`
// alone, and so do the bits of the result, whoever helps. Cut are convolutions (samples, or rows of an image whose channels lie last),
// products with constant weights, attention (rows of q), layer norms and functions of each element.
// Null: it is too small, or cannot be cut.
base::Result<std::unique_ptr<Kernel>> MakeTiles(const Operation& operation, int threads, const Maker& make);

}  // namespace wf::kernels
