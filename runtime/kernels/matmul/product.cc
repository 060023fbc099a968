#include "runtime/kernels/matmul/product.h"

#include "runtime/kernels/onednn/onednn.h"

namespace wf::kernels {

template <>
void FastProduct<float>(const Product<float>& p) {
  constexpr int64_t kWorthwhile = int64_t{1} << 15;  // below it our own is done before the library has started
  if (p.m > 1 && p.m * p.n * p.k >= kWorthwhile && onednn::AddProduct(p)) return;
  AddProduct(p);
}

}  // namespace wf::kernels
