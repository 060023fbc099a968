#pragma once

#include <cstdint>

namespace wf::kernels {

// Of any number of tensors, which broadcast. Integers wrap, and the mean of integers is cut; kMax and kMin give NaN where one is.
struct Variadic {
  enum class Op : uint8_t { kSum, kMean, kMax, kMin };
  Op op = Op::kSum;
};

}  // namespace wf::kernels
