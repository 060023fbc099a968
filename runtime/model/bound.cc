#include "runtime/model/bound.h"

#include <fmt/format.h>

namespace wf::model {

using base::Result;
using base::Status;

void Describe(const kernels::TensorInfo& info, void* data, wf_tensor& tensor) {
  tensor = {};
  tensor.data = data;
  tensor.dtype = info.dtype;
  tensor.rank = static_cast<uint8_t>(info.dim.size());
  int64_t stride = 1;
  for (size_t i = info.dim.size(); i-- > 0;) {
    tensor.dim[i] = info.dim[i];
    tensor.stride[i] = stride;
    stride *= info.dim[i];
  }
}

Result<std::unique_ptr<BoundPlan>> BoundPlan::Bind(std::shared_ptr<const Plan> plan, size_t inputs, uint8_t* memory,
                                                   kernels::Texts* texts) {
  auto bound = std::make_unique<BoundPlan>();
  bound->plan_ = std::move(plan);
  bound->memory_ = memory;
  bound->uses_.resize(inputs);
  bound->data_.assign(inputs, nullptr);
  const Plan& of = *bound->plan_;
  for (const Plan::Step& step : of.steps()) {
    kernels::Buffers buffers;
    for (size_t i = 0; i < step.in.size(); ++i) {
      const void* address = nullptr;
      if (step.in[i] >= 0) {
        const Plan::Buffer& buffer = of.buffers()[static_cast<size_t>(step.in[i])];
        if (buffer.input >= 0) bound->uses_[static_cast<size_t>(buffer.input)].push_back({bound->calls_.size(), i});
        address = buffer.constant != nullptr ? buffer.constant.get() : buffer.offset >= 0 ? memory + buffer.offset : nullptr;
      }
      buffers.in.push_back(address);
    }
    for (const int out : step.out) buffers.out.push_back(out < 0 ? nullptr : memory + of.buffers()[static_cast<size_t>(out)].offset);
    buffers.scratch = memory + of.scratch_offset();
    buffers.texts = texts;
    auto call = step.kernel->Bind(buffers);
    if (!call.ok()) return call.status();
    bound->calls_.push_back(*std::move(call));
  }
  for (const Plan::Output& output : of.outputs()) {
    Describe(output.info, memory + of.buffers()[static_cast<size_t>(output.buffer)].offset, bound->outputs_.emplace_back());
  }
  return bound;
}

Status BoundPlan::Run(std::span<const void* const> inputs) {
  Take(inputs);
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (const char* failure = calls_[i]->Run()) return Status(base::kInvalidArgument, fmt::format("{}: {}", plan_->Where(i), failure));
  }
  return Status::Ok();
}

void BoundPlan::Trace(std::span<const void* const> inputs, Origin& origin) {
  Take(inputs);
  origin.Begin();
  for (size_t i = 0; i < calls_.size(); ++i) {
    calls_[i]->Run();
    origin.Note(i, memory_);
  }
}

void BoundPlan::Take(std::span<const void* const> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == data_[i]) continue;
    data_[i] = inputs[i];
    for (const Use& use : uses_[i]) calls_[use.call]->SetIn(use.operand, data_[i]);
  }
}

}  // namespace wf::model
