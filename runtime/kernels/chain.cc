#include "runtime/kernels/chain.h"

#include <algorithm>
#include <bit>
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

class EitherCall final : public Call {
 public:
  EitherCall(float most, const void* in, int64_t count, std::unique_ptr<Call> first, std::unique_ptr<Call> second)
      : most_(most), in_(static_cast<const float*>(in)), count_(count), first_(std::move(first)), second_(std::move(second)) {}

  const char* Run() override { return (AllBelow(most_, in_, count_) ? first_ : second_)->Run(); }
  void SetIn(size_t i, const void* data) override {
    if (i == 0) in_ = static_cast<const float*>(data);
    first_->SetIn(i, data);
    second_->SetIn(i, data);
  }

 private:
  const float most_;
  const float* in_;
  const int64_t count_;
  const std::unique_ptr<Call> first_, second_;
};

class EitherKernel final : public Kernel {
 public:
  EitherKernel(float most, int64_t count, std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second)
      : most_(most), count_(count), first_(std::move(first)), second_(std::move(second)) {}

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    auto first = first_->Bind(buffers);
    if (!first.ok()) return first;
    auto second = second_->Bind(buffers);
    if (!second.ok()) return second;
    return std::unique_ptr<Call>(new EitherCall(most_, buffers.in[0], count_, *std::move(first), *std::move(second)));
  }

 private:
  const float most_;
  const int64_t count_;  // of the input in its format
  const std::unique_ptr<Kernel> first_, second_;
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

bool AllBelow(float most, const float* elements, int64_t count) {
  const uint32_t bound = std::bit_cast<uint32_t>(most);  // positive floats are ordered as their bits are, NaN above them
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::bit_cast<uint32_t>(elements[i]) & 0x7FFF'FFFFu);
  return largest < bound;
}

std::unique_ptr<Kernel> WhereBelow(float most, const TensorInfo& in, std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second) {
  const bool alike =
      SameFormat(first->out_format, second->out_format) && first->packed_in == second->packed_in &&
      std::equal(first->in_format.begin(), first->in_format.end(), second->in_format.begin(), second->in_format.end(), SameFormat);
  if (!alike) return nullptr;
  TensorInfo read = in;
  read.format = first->in_format[0];
  std::vector<FormatRef> in_format = first->in_format;
  std::vector<bool> packed_in = first->packed_in;
  const FormatRef out_format = first->out_format;
  const int64_t scratch_bytes = std::max(first->scratch_bytes, second->scratch_bytes);
  const int64_t count = read.size_bytes() / int64_t{sizeof(float)};
  auto either = std::make_unique<EitherKernel>(most, count, std::move(first), std::move(second));
  either->in_format = std::move(in_format);
  either->packed_in = std::move(packed_in);
  either->out_format = out_format;
  either->scratch_bytes = scratch_bytes;
  return either;
}

}  // namespace wf::kernels
