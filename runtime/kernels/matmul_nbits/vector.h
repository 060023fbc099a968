#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Of f32 and weights of 4 bits in blocks of whole 16, each element of the block that it lies in. A few rows are multiplied as weights are
// unpacked, in registers; for more of them columns are unpacked once and multiplied by oneDNN.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeMatMulNBits(const Operation&);

}  // namespace wf::kernels::avx2
