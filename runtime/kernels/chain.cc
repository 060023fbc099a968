#include "runtime/kernels/chain.h"

#include <algorithm>
#include <utility>

namespace wf::kernels {
namespace {

class ChainedCall final : public Call {
 public:
  ChainedCall(std::unique_ptr<Call> first, size_t first_inputs, std::unique_ptr<Call> second)
      : first_(std::move(first)), second_(std::move(second)), first_inputs_(first_inputs) {}

  const char* Run() override {
    const char* const failure = first_->Run();
    return failure != nullptr ? failure : second_->Run();
  }
  void SetIn(size_t i, const void* data) override { (i < first_inputs_ ? first_ : second_)->SetIn(i, data); }

 private:
  const std::unique_ptr<Call> first_, second_;
  const size_t first_inputs_;
};

class ChainedKernel final : public Kernel {
 public:
  ChainedKernel(std::unique_ptr<Kernel> first, int64_t between_at, std::unique_ptr<Kernel> second)
      : first_(std::move(first)), second_(std::move(second)), between_at_(between_at) {}

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    void* const between = static_cast<uint8_t*>(buffers.scratch) + between_at_;
    const auto inputs = static_cast<ptrdiff_t>(first_->in_format.size());
    auto first = first_->Bind({{buffers.in.begin(), buffers.in.begin() + inputs}, {between}, buffers.scratch});
    if (!first.ok()) return first;
    Buffers rest{{between}, buffers.out, buffers.scratch};
    for (size_t i = 1; i < second_->in_format.size(); ++i) rest.in.push_back(buffers.in[i]);
    auto second = second_->Bind(rest);
    if (!second.ok()) return second;
    return std::unique_ptr<Call>(new ChainedCall(*std::move(first), first_->in_format.size(), *std::move(second)));
  }

 private:
  const std::unique_ptr<Kernel> first_, second_;
  const int64_t between_at_;  // in scratch, behind what either needs
};

}  // namespace

std::unique_ptr<Kernel> Chained(std::unique_ptr<Kernel> first, const TensorInfo& between, std::unique_ptr<Kernel> second) {
  std::vector<FormatRef> in_format = first->in_format;
  std::vector<bool> packed_in = first->packed_in;
  for (size_t i = in_format.size(); i < second->in_format.size(); ++i) {
    in_format.push_back(second->in_format[i]);
    packed_in.push_back(second->packed_in[i]);
  }
  const int64_t between_at = Aligned(std::max(first->scratch_bytes, second->scratch_bytes));
  const FormatRef out_format = second->out_format;
  auto chained = std::make_unique<ChainedKernel>(std::move(first), between_at, std::move(second));
  chained->in_format = std::move(in_format);
  chained->packed_in = std::move(packed_in);
  chained->out_format = out_format;
  chained->scratch_bytes = between_at + Aligned(between.size_bytes());
  return chained;
}

}  // namespace wf::kernels
