#include "runtime/kernels/matmul/product.h"

#include "runtime/kernels/matmul/doubles.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/unary/vector.h"

namespace wf::kernels {

template <>
void FastProduct<float>(const Product<float>& p) {
  constexpr int64_t kWorthwhile = int64_t{1} << 15;  // below it our own is done before the library has started
  if (p.m > 1 && p.m * p.n * p.k >= kWorthwhile && onednn::AddProduct(p)) return;
  AddProduct(p);
}

template <>
void FastProduct<double>(const Product<double>& p) {
  const DoubleProduct product{p.m, p.n, p.k, p.a, {p.b, p.b_row, 1}, nullptr, p.c, p.c_row, /*adds=*/true};
  if (avx512::HasDoubles()) return avx512::MultiplyDoubles(product);
  avx2::Available() ? avx2::MultiplyDoubles(product) : AddProduct(p);
}

}  // namespace wf::kernels
