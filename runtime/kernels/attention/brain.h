#pragma once

#include <memory>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx512 {

// As avx2::MakeAttention (vector.h), with both products of bf16: q, k and v are read as they are stored, in f32 or bf16, and the weights
// are rounded before they are multiplied with v. Null: the operation is another, or asks for f32.
base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation&);

}  // namespace wf::kernels::avx512
