#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Layers of f32 with constant weights: the inputs of all steps as one product, the steps with packed weights, the usual functions as
// vectors.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeRecurrent(const Operation&);

}  // namespace wf::kernels::avx2
