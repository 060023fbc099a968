#include "runtime/kernels/alike.h"

namespace wf::kernels {
namespace {

template <typename T>
void Put(T value, std::string& key) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Elementwise kernels read constants where they lie, but for 16-bit floats, which they keep widened (wide.h).
bool PutTensor(const TensorInfo& info, std::string& key) {
  if (info.format != nullptr) return false;
  if (info.constant != nullptr && (info.dtype == WF_F16 || info.dtype == WF_BF16)) return false;
  Put(info.constant != nullptr, key);
  Put(info.dtype, key);
  Put(info.meaning, key);
  Put(info.dim.size(), key);
  for (const int64_t extent : info.dim) Put(extent, key);
  return true;
}

}  // namespace

std::string ElementwiseKey(const Operation& operation) {
  std::string key;
  Put(operation.params.index(), key);
  if (const auto* unary = std::get_if<Unary>(&operation.params)) {
    Put(unary->op, key);
    Put(unary->alpha, key);
    Put(unary->beta, key);
  } else if (const auto* binary = std::get_if<Binary>(&operation.params)) {
    Put(binary->op, key);
  } else {
    return {};
  }
  if (!operation.way.empty()) return {};
  Put(operation.bf16, key);
  Put(operation.bf16_out, key);
  for (const auto* tensors : {&operation.in, &operation.out}) {
    Put(tensors->size(), key);
    for (const TensorInfo& info : *tensors) {
      if (!PutTensor(info, key)) return {};
    }
  }
  return key;
}

}  // namespace wf::kernels
