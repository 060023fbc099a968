#pragma once

#include <vector>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

// Running kernels of several outputs.
namespace wf::testing {

inline Tensor None() { return {}; }

struct Outputs {
  std::vector<Tensor> out;
  const char* failure = nullptr;
};

// Runs the first implementation that fits. out: what each output is, dtype 0 where nobody reads it. The memory of results is not 0 before.
inline Outputs RunOutputs(const kernels::Params& params, const std::vector<Tensor>& in, const std::vector<kernels::TensorInfo>& out) {
  kernels::UseOneThread();
  kernels::Operation operation{params, {}, out};
  for (const Tensor& each : in) operation.in.push_back(each.info);
  auto made = kernels::MakeKernel(operation);
  WF_CHECK(made.ok(), made.status().message());
  const kernels::Kernel& kernel = **made;
  kernels::Buffers buffers;
  for (size_t i = 0; i < in.size(); ++i) buffers.in.push_back(in[i].info.dtype == 0 || kernel.packed_in[i] ? nullptr : in[i].data.get());
  Outputs outputs;
  for (const kernels::TensorInfo& info : out) {
    Tensor tensor{info, info.dtype == 0 ? nullptr : kernels::Allocate(info.size_bytes())};
    if (tensor.data != nullptr) std::memset(tensor.data.get(), 0x5a, static_cast<size_t>(info.size_bytes()));
    buffers.out.push_back(tensor.data.get());
    outputs.out.push_back(std::move(tensor));
  }
  const auto scratch = kernels::Allocate(kernel.scratch_bytes);
  std::memset(scratch.get(), 0x5a, static_cast<size_t>(kernel.scratch_bytes));
  buffers.scratch = scratch.get();
  auto call = kernel.Bind(buffers);
  WF_CHECK(call.ok(), call.status().message());
  outputs.failure = (*call)->Run();
  return outputs;
}

inline kernels::TensorInfo F32(std::vector<int64_t> dim) { return {WF_F32, std::move(dim), nullptr, nullptr}; }

// One output of f32.
inline std::vector<float> RunFloats(const kernels::Params& params, const std::vector<Tensor>& in, std::vector<int64_t> dim) {
  const Outputs outputs = RunOutputs(params, in, {F32(std::move(dim))});
  WF_CHECK(outputs.failure == nullptr, outputs.failure);
  return outputs.out[0].As<float>();
}

#define EXPECT_FLOATS(is, want, tolerance)                                            \
  do {                                                                                \
    const std::vector<float> is_ = (is), want_ = (want);                              \
    ASSERT_EQ(is_.size(), want_.size());                                              \
    for (size_t i_ = 0; i_ < want_.size(); ++i_) {                                    \
      ASSERT_NEAR(is_[i_], want_[i_], (tolerance) * (1 + std::abs(want_[i_]))) << i_; \
    }                                                                                 \
  } while (false)

}  // namespace wf::testing
