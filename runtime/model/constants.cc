#include "runtime/model/constants.h"

namespace wf::model {

using base::Result;
using base::Status;

Result<std::shared_ptr<const uint8_t>> FileConstant::Load() const {
  if (auto loaded = loaded_.lock()) return loaded;
  const auto memory = kernels::Allocate(weight_->size_bytes());
  if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory for weight `" + weight_->name + "`");
  WF_RETURN_IF_ERROR(onnx::ReadElements(*file_, *weight_, {memory.get(), static_cast<size_t>(weight_->size_bytes())}));
  loaded_ = memory;
  return std::shared_ptr<const uint8_t>(memory);
}

namespace {
template <typename T>
void Scale(const uint8_t* from, uint8_t* to, const std::vector<double>& factor, int64_t run, int64_t count) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  const auto filters = static_cast<int64_t>(factor.size());
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(static_cast<double>(in[i]) * factor[static_cast<size_t>(i / run % filters)]);
}
}  // namespace

Result<std::shared_ptr<const uint8_t>> ScaledConstant::Load() const {
  if (auto loaded = loaded_.lock()) return loaded;
  auto elements = base_->Load();
  if (!elements.ok()) return elements;
  const auto memory = kernels::Allocate(count_ * base::DTypeSize(dtype_));
  if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory for weights");
  if (dtype_ == WF_F32) Scale<float>(elements->get(), memory.get(), factors_.factor, factors_.run, count_);
  if (dtype_ == WF_F64) Scale<double>(elements->get(), memory.get(), factors_.factor, factors_.run, count_);
  loaded_ = memory;
  return std::shared_ptr<const uint8_t>(memory);
}

}  // namespace wf::model
