#pragma once

#include <string_view>
#include <vector>

#include "runtime/abi/defaults.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"

namespace wf::oip {

inline constexpr uint32_t kMaxSamples = abi::kMostRows;  // of a call, unless the service's rows_max is less
inline constexpr uint32_t kMaxParameters = 64;           // of a call
inline constexpr size_t kMaxIdBytes = 1024;              // of a call
inline constexpr uint32_t kMaxAxes = WF_MAX_RANK + 1;    // with the axis of samples

// One `infer` call, read but not yet decoded: names, shapes, and where the data stands in the body.
// Thread: loop-confined.   Borrows: the body and the memory of the context that it was read with, until Fill.
// Errors: 5000, naming the member or input; 3000 for what only raw tensors can carry.
// Bounds: an input or output at most once, kMaxIdBytes, kMaxParameters, kMaxSamples; elements follow the text.   Cost: no allocation once
// used.
class InferRequest {
 public:
  // Reads the body; `scratch` gives memory and takes the failure, since the number of samples decides what bus there will be.
  wf_code Read(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body);
  // Copies what outlives the decoding (id, parameters) into the memory of the bus. Also after a Read that failed.
  wf_code KeepTexts(bus::Bus& bus);
  // Fills the root frames of every sample of `bus`, which has samples() of them.
  wf_code Fill(bus::Bus& bus);

  uint32_t samples() const { return samples_; }
  bool stacked() const { return stacked_; }  // shapes carry an axis of samples, answers do too
  // The results that are answered, in the order that the call asks for; all, as declared, when it does not ask.
  uint32_t n_answered() const { return asked_.empty() ? workflow_->n_out : static_cast<uint32_t>(asked_.size()); }
  uint32_t answered(uint32_t index) const { return asked_.empty() ? index : asked_[index]; }
  std::string_view id() const { return id_; }
  const std::vector<bus::Metadata>& parameters() const { return parameters_; }
  int64_t timeout_ns() const { return timeout_ns_; }  // of the parameter `timeout`, in us; 0: none

 private:
  struct Input {
    const uint8_t* data = nullptr;  // of its JSON value; null: absent
    const uint8_t* data_end = nullptr;
    int64_t extent[kMaxAxes] = {};
    uint32_t axes = 0;
    bool given = false, base64 = false;
    uint64_t per_sample = 1;  // elements
  };
  struct InputTexts;

  // request.cc: the members
  wf_code ReadMembers();
  wf_code ReadMember(uint32_t index);
  wf_code ReadParameters();
  wf_code ReadParameter(std::string_view name);
  wf_code ReadInputs();
  wf_code ReadInput();
  wf_code ReadInputMember(uint32_t index, InputTexts* texts, Input* input);
  wf_code ReadInputParameters(bool* base64);
  wf_code ReadExtents(Input* input);
  wf_code PlaceInput(const InputTexts& texts, const Input& input);
  wf_code ReadOutputs();
  wf_code ReadOutput();
  wf_code ReadOutputParameters();
  wf_code NotBuilt(std::string_view what);

  // samples.cc: what the shapes say
  wf_code FindSamples();
  wf_code FindAxis(uint32_t port, const Shape& shape, int32_t* plain, int32_t* stacked, bool* flexible);
  wf_code CheckShape(uint32_t port, const Shape& shape);
  wf_code CheckCount(uint32_t port, const Shape& shape);
  wf_code CheckResults();
  wf_code Refuse(uint32_t port, std::string_view what);

  // fill.cc
  wf_code FillPort(bus::Bus& bus, uint32_t port);
  wf_code FillNumbers(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in);
  wf_code FillBytes(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in);
  wf_code DecodeBase64(bus::Bus& bus, uint32_t port, const Shape& shape, uint64_t count, wf_bytes* elements);
  wf_code RefuseElement(bus::Bus& bus, uint32_t port, uint64_t element, std::string_view what);
  wf_code StoreBytes(bus::Bus& bus, uint32_t port, const Shape& shape, uint32_t sample, const wf_bytes* elements);
  void StoreMissing(bus::Bus& bus, uint32_t port);

  wf_json in_{};
  const wf_plan* plan_ = nullptr;
  const wf_workflow* workflow_ = nullptr;
  std::vector<Input> inputs_;    // by port
  std::vector<uint32_t> asked_;  // results in the call's order; empty: all
  std::vector<bus::Metadata> parameters_;
  std::string_view id_;
  int64_t timeout_ns_ = 0;
  uint32_t samples_ = 1;
  bool stacked_ = false;
};

}  // namespace wf::oip
