#pragma once

#include "runtime/kernels/operation.h"

// Operators on 16-bit floats of which no implementation takes such: that for f32, whose inputs are widened and whose results are rounded.
namespace wf::kernels {

bool HasNarrow(const Operation& operation);  // f16 or bf16 among its inputs and outputs

// As if all f16 and bf16 were f32. The constants among them are widened once for all plans of a model.
Operation Widened(const Operation& operation);

// Of `kernel`, which was made for Widened(operation), a kernel for `operation`. It takes scratch for what is widened. Errors: memory; no
// library converts between the memory formats that it wants.
base::Result<std::unique_ptr<Kernel>> MakeNarrow(const Operation& operation, std::unique_ptr<Kernel> kernel);

}  // namespace wf::kernels
