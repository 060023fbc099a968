#pragma once

#include <cstring>
#include <span>

#include "runtime/base/dtype.h"
#include "runtime/base/sink.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// One result of a call as an answer carries it: all samples, stacked. Numbers stay where they are; elements of BYTES are views, or in the
// memory of the bus.
// Thread: that which encodes the answer.   Borrows: the bus's values (outlive this).
class Result {
 public:
  // Errors: 9000, naming output and sample: results that cannot be stacked, values that have no text. Recorded in the bus's main job.
  wf_code Prepare(bus::Bus& bus, const InferRequest& request, AskedOutput asked);

  std::string_view name() const { return json::View(port_->name); }
  std::string_view datatype() const { return is_bytes() ? "BYTES" : shape_.datatype; }
  std::span<const int64_t> extents() const { return {extent_, axes_}; }
  uint8_t dtype() const { return shape_.dtype; }
  bool is_bytes() const { return elements_ != nullptr; }
  bool is_text() const { return is_text_; }  // of BYTES: each is UTF-8
  bool binary() const { return binary_; }
  uint64_t raw_bytes() const;
  std::span<const wf_bytes> elements() const { return {elements_, per_sample_ * samples_}; }  // is_bytes

  // Calls run(numbers, count) for each dense run of numbers in order; the first code that is not 0 ends it and names its sample.
  template <typename Run>
  wf_code ForRuns(bus::Bus& bus, Run&& run) const {
    for (uint32_t s = 0; s < samples_; ++s) {
      if (const wf_code code = ForRunsOf(bus, s, run); code != 0) return NameSample(bus, s, code);
    }
    return 0;
  }
  void PutRaw(bus::Bus& bus, wf_sink* out) const;

 private:
  const std::byte* ValueOf(const bus::Bus& bus, uint32_t sample) const;
  uint32_t ExtentsOf(const bus::Bus& bus, uint32_t sample, int64_t (&dim)[WF_MAX_RANK]) const;
  wf_code Stack(bus::Bus& bus);
  wf_code GatherBytes(bus::Bus& bus);
  wf_code TakeBytes(bus::Bus& bus, uint32_t sample, wf_bytes* elements);
  wf_code GatherClasses(bus::Bus& bus, uint32_t classes);
  wf_code PutClasses(bus::Bus& bus, uint32_t sample, uint64_t count, wf_bytes* elements);
  wf_code NameSample(bus::Bus& bus, uint32_t sample, wf_code code) const;
  template <typename Run>
  wf_code ForRunsOf(const bus::Bus& bus, uint32_t sample, Run&& run) const;

  const wf_port* port_ = nullptr;
  Shape shape_;
  int64_t extent_[kMaxAxes] = {};
  uint32_t axes_ = 0, samples_ = 1;
  uint64_t per_sample_ = 1;
  const wf_bytes* elements_ = nullptr;
  bool stacked_ = false, binary_ = false, is_text_ = true;
};

// All that the call answers, in its order, in the memory of the bus; empty: that failed.
std::span<const Result> PrepareAll(bus::Bus& bus, const InferRequest& request);

template <typename Run>
wf_code Result::ForRunsOf(const bus::Bus& bus, uint32_t sample, Run&& run) const {
  const std::byte* const value = ValueOf(bus, sample);
  if (shape_.form == Form::kScalars) {
    wf_list list;
    std::memcpy(&list, value, sizeof list);
    return list.len == 0 ? 0 : run(static_cast<const std::byte*>(list.ptr), list.len);
  }
  if (shape_.type->kind != WF_T_TENSOR) return run(value, uint64_t{1});
  if (per_sample_ == 0) return 0;
  wf_tensor tensor;
  std::memcpy(&tensor, value, sizeof tensor);
  // Axes are dense from `dense` on: one run for all of them.
  uint32_t dense = tensor.rank;
  int64_t count = 1;
  while (dense > 0 && tensor.stride[dense - 1] == count) count *= tensor.dim[--dense];
  const auto size = base::DTypeSize(tensor.dtype);
  int64_t index[WF_MAX_RANK] = {};
  while (true) {
    int64_t offset = 0;
    for (uint32_t axis = 0; axis < dense; ++axis) offset += index[axis] * tensor.stride[axis];
    if (const wf_code code = run(static_cast<const std::byte*>(tensor.data) + offset * size, static_cast<uint64_t>(count)); code != 0)
      return code;
    uint32_t axis = dense;
    while (axis > 0 && ++index[axis - 1] == tensor.dim[axis - 1]) index[--axis] = 0;
    if (axis == 0) return 0;
  }
}

}  // namespace wf::oip
