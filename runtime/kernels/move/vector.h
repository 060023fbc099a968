#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Of elements of 4 bytes, where the last axis of the result is another than the last of the input: squares of 8x8 are turned in registers.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeTranspose(const Operation&);

}  // namespace wf::kernels::avx2
