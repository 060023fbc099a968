#include "runtime/kernels/derive.h"

#include <utility>

namespace wf::kernels {
namespace {

class DerivedConstant final : public Constant {
 public:
  DerivedConstant(const Constant& from, int64_t bytes, Derivation derive)
      : Constant(from.shared_packed_memory()), from_(from), bytes_(bytes), derive_(std::move(derive)) {}

  base::Result<std::shared_ptr<const uint8_t>> Load() const override {
    if (auto loaded = loaded_.lock()) return loaded;
    auto elements = from_.Load();
    if (!elements.ok()) return elements;
    const auto memory = Allocate(bytes_);
    if (memory == nullptr) return base::Status(base::kResourceExhausted, "out of memory for weights");
    derive_(elements->get(), memory.get());
    loaded_ = memory;
    return std::shared_ptr<const uint8_t>(memory);
  }

 private:
  const Constant& from_;
  const int64_t bytes_;
  const Derivation derive_;
  mutable std::weak_ptr<const uint8_t> loaded_;
};

}  // namespace

std::shared_ptr<const Constant> Derived(const TensorInfo& of, const std::string& key, int64_t bytes, Derivation derive) {
  std::shared_ptr<const void>& held = of.constant->Packed(key);
  if (held == nullptr) held = std::make_shared<const DerivedConstant>(*of.constant, bytes, std::move(derive));
  return {of.constant, static_cast<const DerivedConstant*>(held.get())};  // which keeps both
}

}  // namespace wf::kernels
