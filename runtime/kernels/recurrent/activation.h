#pragma once

#include "runtime/kernels/recurrent/recurrent.h"

namespace wf::kernels {

// Applies the function to each of n elements in place; float and double only.
template <typename T>
void Activate(const Activation& activation, T* x, int64_t n);
extern template void Activate<float>(const Activation&, float*, int64_t);
extern template void Activate<double>(const Activation&, double*, int64_t);

}  // namespace wf::kernels
