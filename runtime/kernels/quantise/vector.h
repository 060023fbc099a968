#pragma once

#include "runtime/kernels/operation.h"

// AVX2 for tensors of one scale and zero point, in any format without padding.
namespace wf::kernels::avx2 {

base::Result<std::unique_ptr<Kernel>> MakeQuantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDequantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDynamicQuantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerBinary(const Operation&);

}  // namespace wf::kernels::avx2
