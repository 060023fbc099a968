#pragma once

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernels/operation.h"

// Running one kernel on small tensors.
namespace wf::testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

class HeldConstant final : public kernels::Constant {
 public:
  explicit HeldConstant(std::shared_ptr<const uint8_t> elements)
      : Constant(std::make_shared<kernels::PackedMemory>()), elements_(std::move(elements)) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override { return elements_; }

 private:
  const std::shared_ptr<const uint8_t> elements_;
};

struct Tensor {
  kernels::TensorInfo info;
  std::shared_ptr<uint8_t> data;

  template <typename T>
  std::vector<T> As() const {
    std::vector<T> values(static_cast<size_t>(info.count()));
    if (!values.empty()) std::memcpy(values.data(), data.get(), values.size() * sizeof(T));
    return values;
  }
};

template <typename T>
Tensor Of(uint8_t dtype, std::vector<int64_t> dim, const std::vector<T>& values) {
  Tensor tensor{{dtype, std::move(dim), nullptr, nullptr}, nullptr};
  WF_CHECK(tensor.info.count() == static_cast<int64_t>(values.size()), tensor.info.count(), values.size());
  tensor.data = kernels::Allocate(tensor.info.size_bytes());
  if (!values.empty()) std::memcpy(tensor.data.get(), values.data(), values.size() * sizeof(T));
  return tensor;
}
inline Tensor Floats(std::vector<int64_t> dim, const std::vector<float>& values) { return Of<float>(WF_F32, std::move(dim), values); }
inline Tensor Longs(std::vector<int64_t> dim, const std::vector<int64_t>& values) { return Of<int64_t>(WF_I64, std::move(dim), values); }

inline Tensor Random(std::vector<int64_t> dim, uint32_t seed) {
  Tensor tensor{{WF_F32, std::move(dim), nullptr, nullptr}, nullptr};
  tensor.data = kernels::Allocate(tensor.info.size_bytes());
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.info.count(); ++i) reinterpret_cast<float*>(tensor.data.get())[i] = uniform(random);
  return tensor;
}

inline Tensor Constant(Tensor tensor) {
  tensor.info.constant = std::make_shared<HeldConstant>(tensor.data);
  return tensor;
}

struct Outcome {
  Tensor out;
  const char* failure = nullptr;
  bool made = false;  // the implementation takes the case
};

inline const void* InFormat(const Tensor& tensor, const kernels::FormatRef& format, std::vector<std::shared_ptr<uint8_t>>& memory) {
  if (kernels::SameFormat(tensor.info.format, format)) return tensor.data.get();
  auto kernel = *kernels::MakeReorder(tensor.info, format);
  kernels::TensorInfo to = tensor.info;
  to.format = format;
  memory.push_back(kernels::Allocate(to.size_bytes()));
  const auto scratch = kernels::Allocate(kernel->scratch_bytes);
  kernels::Buffers buffers{{tensor.data.get()}, {memory.back().get()}, scratch.get()};
  WF_CHECK((*kernel->Bind(buffers))->Run() == nullptr);
  return memory.back().get();
}

// The tensor as another kernel would leave it.
inline Tensor Formatted(const Tensor& tensor, const kernels::FormatRef& format) {
  std::vector<std::shared_ptr<uint8_t>> memory;
  Tensor formatted = tensor;
  if (InFormat(tensor, format, memory) != tensor.data.get()) formatted.data = memory.back();
  formatted.info.format = format;
  return formatted;
}

// Runs one implementation, or with null the first that fits; formats are converted as a plan would.
inline Outcome RunKernel(kernels::MakeFn make, const kernels::Params& params, const std::vector<Tensor>& in, uint8_t dtype,
                         std::vector<int64_t> dim) {
  kernels::UseOneThread();
  kernels::Operation operation{params, {}, {{dtype, std::move(dim), nullptr, nullptr}}};
  for (const Tensor& each : in) operation.in.push_back(each.info);
  auto made = make != nullptr ? make(operation) : kernels::MakeKernel(operation);
  WF_CHECK(made.ok(), made.status().message());
  Outcome outcome;
  if (*made == nullptr) return outcome;
  outcome.made = true;
  const kernels::Kernel& kernel = **made;
  kernels::Buffers buffers;
  std::vector<std::shared_ptr<uint8_t>> memory;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool needed = in[i].info.dtype != 0 && !kernel.packed_in[i];
    buffers.in.push_back(needed ? InFormat(in[i], kernel.in_format[i], memory) : nullptr);
  }
  const auto scratch = kernels::Allocate(kernel.scratch_bytes);
  Tensor raw{operation.out[0], nullptr};
  raw.info.format = kernel.out_format;
  raw.data = kernels::Allocate(raw.info.size_bytes());
  buffers.out = {raw.data.get()};
  buffers.scratch = scratch.get();
  auto call = kernel.Bind(buffers);
  WF_CHECK(call.ok(), call.status().message());
  outcome.failure = (*call)->Run();
  outcome.out = raw;
  if (kernel.out_format != nullptr) {
    auto back = *kernels::MakeReorder(raw.info, nullptr);
    outcome.out.info.format = nullptr;
    outcome.out.data = kernels::Allocate(outcome.out.info.size_bytes());
    kernels::Buffers plain{{raw.data.get()}, {outcome.out.data.get()}, nullptr};
    const auto space = kernels::Allocate(back->scratch_bytes);
    plain.scratch = space.get();
    WF_CHECK((*back->Bind(plain))->Run() == nullptr);
  }
  return outcome;
}

// The one output of a kernel that is there and does not fail.
inline std::vector<float> RunFloats(kernels::MakeFn make, const kernels::Params& params, const std::vector<Tensor>& in,
                                    std::vector<int64_t> dim) {
  const auto outcome = RunKernel(make, params, in, WF_F32, std::move(dim));
  WF_CHECK(outcome.made && outcome.failure == nullptr);
  return outcome.out.As<float>();
}

struct Outcomes {
  std::vector<Tensor> out;
  const char* failure = nullptr;
};

// Runs the last implementation of a contract, which keeps all row-major, with an output for each of `wanted`; dtype 0: left out.
inline Outcomes RunOutputs(kernels::MakeFn make, const kernels::Params& params, const std::vector<Tensor>& in,
                           const std::vector<kernels::TensorInfo>& wanted) {
  kernels::Operation operation{params, {}, wanted};
  kernels::Buffers buffers;
  Outcomes outcomes;
  for (const Tensor& each : in) {
    operation.in.push_back(each.info);
    buffers.in.push_back(each.data.get());
  }
  auto made = make(operation);
  WF_CHECK(made.ok() && *made != nullptr);
  for (const kernels::TensorInfo& info : wanted) {
    outcomes.out.push_back({info, info.dtype == 0 ? nullptr : kernels::Allocate(info.size_bytes())});
    buffers.out.push_back(outcomes.out.back().data.get());
  }
  const auto scratch = kernels::Allocate((*made)->scratch_bytes);
  buffers.scratch = scratch.get();
  auto call = (*made)->Bind(buffers);
  WF_CHECK(call.ok(), call.status().message());
  outcomes.failure = (*call)->Run();
  return outcomes;
}

}  // namespace wf::testing
