#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Of f32 along an axis that is not the last: for eight places behind it at a time.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeArgExtreme(const Operation&);

}  // namespace wf::kernels::avx2
