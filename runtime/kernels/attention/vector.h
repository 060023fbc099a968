#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Of q, k and v given apart in f32, with nothing of before and no mask but what is added: heads are read where they lie, and the scores of
// a block of rows stay in the cache.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation&);

}  // namespace wf::kernels::avx2
