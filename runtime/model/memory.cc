#include "runtime/model/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace wf::model {

using base::Result;
using base::Status;

std::shared_ptr<uint8_t> Allocate(int64_t bytes) {
  constexpr int64_t kHuge = int64_t{2} << 20;
  const int64_t size = bytes >= kHuge ? (bytes + kHuge - 1) / kHuge * kHuge : std::max(Aligned(bytes), kAlign);
  void* memory = std::aligned_alloc(static_cast<size_t>(bytes >= kHuge ? kHuge : kAlign), static_cast<size_t>(size));
  if (memory == nullptr) return nullptr;
  if (bytes >= kHuge) (void)madvise(memory, static_cast<size_t>(size), MADV_HUGEPAGE);  // only a wish
  std::memset(memory, 0, static_cast<size_t>(size));
  return {static_cast<uint8_t*>(memory), std::free};
}

Result<std::shared_ptr<const uint8_t>> FileConstant::Load() const {
  if (auto loaded = loaded_.lock()) return loaded;
  const auto memory = Allocate(weight_.size_bytes());
  if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory for weight `" + weight_.name + "`");
  WF_RETURN_IF_ERROR(onnx::ReadElements(*file_, weight_, {memory.get(), static_cast<size_t>(weight_.size_bytes())}));
  loaded_ = memory;
  return std::shared_ptr<const uint8_t>(memory);
}

namespace {
template <typename T>
void Scale(const uint8_t* from, uint8_t* to, const std::vector<double>& factor, int64_t count) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  const int64_t per_filter = count / static_cast<int64_t>(factor.size());
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(static_cast<double>(in[i]) * factor[static_cast<size_t>(i / per_filter)]);
}
}  // namespace

Result<std::shared_ptr<const uint8_t>> ScaledConstant::Load() const {
  if (auto loaded = loaded_.lock()) return loaded;
  auto elements = base_->Load();
  if (!elements.ok()) return elements;
  const auto memory = Allocate(count_ * base::DTypeSize(dtype_));
  if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory for weights");
  if (dtype_ == WF_F32) Scale<float>(elements->get(), memory.get(), factor_, count_);
  if (dtype_ == WF_F64) Scale<double>(elements->get(), memory.get(), factor_, count_);
  loaded_ = memory;
  return std::shared_ptr<const uint8_t>(memory);
}

}  // namespace wf::model
