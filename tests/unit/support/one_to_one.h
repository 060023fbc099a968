#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/abi/view.h"
#include "runtime/batch/runnable.h"

namespace wf::test {

// A port; an open extent is -1.
struct OnePort {
  std::string_view name;
  uint8_t dtype;
  std::vector<int64_t> dims;
};

// A model from one input to one output of the same port, of which a test says what a run gives.
class OneToOne : public batch::Runnable {
 public:
  OneToOne(std::string_view name, OnePort port, int batch_axis, bool batched = true)
      : dims_(std::move(port.dims)), axes_{static_cast<int8_t>(batch_axis), static_cast<int8_t>(batch_axis)} {
    port_.name = abi::BytesOf(port.name);
    port_.dim = dims_.data();
    port_.rank = static_cast<uint8_t>(dims_.size());
    port_.dtype = port.dtype;
    row_.name = abi::BytesOf(name);
    row_.in = row_.out = &port_;
    row_.n_in = row_.n_out = 1;
    row_.batch_axis = axes_;
    row_.batched = batched ? 1 : 0;
  }
  OneToOne(const OneToOne&) = delete;
  OneToOne& operator=(const OneToOne&) = delete;

  const wf_model& model() const override { return row_; }
  int64_t version() const override { return 1; }
  int64_t max_rows() const override { return 8; }
  int instance_count() const override { return 1; }
  base::Status Run(int, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs, const base::Wanted*) override {
    outputs[0] = inputs[0];
    Give(rows, inputs[0], outputs[0]);
    return {};
  }

 protected:
  // y is x until this changes it.
  virtual void Give(int64_t rows, const wf_tensor& x, wf_tensor& y) = 0;
  int batch_axis() const { return axes_[0]; }
  static int64_t CountOf(const wf_tensor& x) {
    int64_t count = 1;
    for (int i = 0; i < x.rank; ++i) count *= x.dim[i];
    return count;
  }

 private:
  const std::vector<int64_t> dims_;
  const int8_t axes_[2];
  wf_port port_{};
  wf_model row_{};
};

}  // namespace wf::test
