#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/batch/row.h"

namespace wf::test {

// A row over i64[w] with its own memory.
class TestRow final : public batch::Row {
 public:
  explicit TestRow(std::vector<int64_t> values) : values_(std::move(values)) {
    x_.data = values_.data();
    x_.dtype = WF_I64;
    x_.rank = 1;
    x_.dim[0] = static_cast<int64_t>(values_.size());
    x_.stride[0] = 1;
    inputs = input_;
    outputs = output_;
  }
  void* Allocate(uint64_t bytes) noexcept override {
    memory_.assign((bytes + 7) / 8, 0);
    return memory_.data();
  }
  int64_t memory_left() const noexcept override { return left; }
  void Fail(wf_code code, std::string_view text) noexcept override {
    failed = code;
    message = text;
  }
  void Deliver() noexcept override { ++delivered; }

  std::vector<int64_t> result() const {
    const auto* const data = static_cast<const int64_t*>(y_.data);
    return {data, data + y_.dim[0]};
  }
  const wf_tensor& y() const { return y_; }
  wf_tensor& x() { return x_; }

  int64_t left = INT64_MAX;
  wf_code failed = 0;
  std::string message;
  int delivered = 0;

 private:
  std::vector<int64_t> values_, memory_;
  wf_tensor x_{}, y_{};
  const wf_tensor* input_[1] = {&x_};
  wf_tensor* output_[1] = {&y_};
};

}  // namespace wf::test
