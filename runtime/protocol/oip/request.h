#pragma once

#include <string_view>
#include <vector>

#include "runtime/bus/bus.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"

namespace wf::oip {

inline constexpr uint32_t kMaxSamples = 1024;

// One `infer` call, read but not yet decoded: names, shapes, and where the data stands in the body.
// Thread: loop-confined.   Borrows: the body and the memory of the context that it was read with, until Fill.
// Errors: 5000, naming the member or input.
class InferRequest {
 public:
  // Reads the body; `scratch` gives memory and takes the failure, since the number of samples decides what bus there will be.
  wf_code Read(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body);
  // Copies what outlives the decoding (id, parameters) into the memory of the bus.
  wf_code KeepTexts(bus::Bus& bus);
  // Fills the root frames of every sample of `bus`, which has samples() of them.
  wf_code Fill(bus::Bus& bus);

  uint32_t samples() const { return samples_; }
  bool stacked() const { return stacked_; }  // shapes carry an axis of samples, answers do too
  bool wants(uint32_t output) const { return wanted_.empty() || wanted_[output]; }
  std::string_view id() const { return id_; }
  const std::vector<bus::Metadata>& parameters() const { return parameters_; }
  int64_t timeout_ns() const { return timeout_ns_; }  // of the parameter `timeout`, in us; 0: none

 private:
  struct Input {
    const uint8_t* data = nullptr;  // of its JSON value; null: absent
    const uint8_t* data_end = nullptr;
    std::vector<int64_t> shape;
    bool given = false, base64 = false;
    uint64_t per_sample = 1;  // elements
  };

  wf_code ReadMembers();
  wf_code ReadInputs();
  wf_code ReadInput();
  wf_code ReadInputParameters(bool* base64);
  wf_code ReadShape(std::vector<int64_t>* shape);
  wf_code ReadOutputs();
  wf_code ReadParameters();
  wf_code FindSamples();
  wf_code CheckShape(uint32_t port, const Shape& shape);
  wf_code Refuse(uint32_t port, std::string_view what);

  wf_code FillPort(bus::Bus& bus, uint32_t port);
  wf_code FillTensors(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in);
  wf_code FillBytes(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in);
  wf_code StoreBytes(bus::Bus& bus, uint32_t port, const Shape& shape, uint32_t sample, const wf_bytes* elements, uint64_t count);
  wf_code StoreMissing(bus::Bus& bus, uint32_t port);

  wf_json in_{};
  const wf_plan* plan_ = nullptr;
  const wf_workflow* workflow_ = nullptr;
  std::vector<Input> inputs_;  // by port
  std::vector<bool> wanted_;   // by result; empty: all
  std::vector<bus::Metadata> parameters_;
  std::string_view id_;
  int64_t timeout_ns_ = 0;
  uint32_t samples_ = 1;
  bool stacked_ = false;
};

}  // namespace wf::oip
