#include "runtime/workbench/convert.h"

#include <utility>

#include "runtime/kernels/operation.h"

namespace wf::workbench {

using base::Result;

Result<Tensor> Convert(const Tensor& tensor, uint8_t dtype) {
  auto converted = MakeTensor(dtype, tensor.dim);
  if (!converted.ok()) return converted;
  kernels::UseOneThread();
  const kernels::TensorInfo from{tensor.dtype, tensor.dim, nullptr, nullptr}, to{dtype, tensor.dim, nullptr, nullptr};
  const auto kernel = kernels::MakeKernel({kernels::Cast{}, {from}, {to}});
  if (!kernel.ok()) return kernel.status();
  const auto call = (*kernel)->Bind({{tensor.elements.get()}, {converted->elements.get()}, nullptr});
  if (!call.ok()) return call.status();
  if (const char* failure = (*call)->Run()) return base::Status(base::kInvalidArgument, failure);
  return converted;
}

}  // namespace wf::workbench
