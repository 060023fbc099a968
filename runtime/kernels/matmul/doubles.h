#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/status.h"
#include "runtime/kernels/matmul/product.h"

// Products of f64, for CPUs with AVX2 and FMA and for those with AVX-512. Each sum takes its factors in order, so what a row gives depends
// neither on the others nor on how the second factor lies.
namespace wf::kernels {
struct Operation;
class Kernel;

// c [m, n] = a [m, k] b [k, n], or c + a b. Rows and columns of factors may lie in any order.
struct DoubleProduct {
  int64_t m, n, k;
  Matrix<double> a, b;
  const double* panels;  // b as the namespace packs it; null: it is not packed
  double* c;
  int64_t c_row;
  bool adds = false;
};

namespace avx512 {

bool HasDoubles();                                                   // whether this CPU has the instructions
void MultiplyDoubles(const DoubleProduct&);                          // REQUIRES: HasDoubles()
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation&);  // Constant second factors are packed once

}  // namespace avx512

namespace avx2 {

void MultiplyDoubles(const DoubleProduct&);  // REQUIRES: Available() of unary/vector.h
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation&);

}  // namespace avx2
}  // namespace wf::kernels
