#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Maxima of row-major f32 in lines, of which oneDNN has plain code alone, and in wide images. The rows of a window become one line, with
// its padding, and eight windows that lie side by side are gone through at a time. Null: the operation is another, and the next row of the
// table is asked.
base::Result<std::unique_ptr<Kernel>> MakePool(const Operation&);

}  // namespace wf::kernels::avx2
