#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Of f32, where scale and shift are one row each and nobody reads mean and inverse.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeLayerNorm(const Operation&);

// Of f32, with sums of f64. The same.
base::Result<std::unique_ptr<Kernel>> MakeGroupNorm(const Operation&);

}  // namespace wf::kernels::avx2
