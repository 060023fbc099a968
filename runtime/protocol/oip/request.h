#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/abi/defaults.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"

namespace wf::oip {

inline constexpr uint32_t kMaxSamples = abi::kMostRows;  // of a call, unless the service's rows_max is less
inline constexpr uint32_t kMaxParameters = 64;           // of a call
inline constexpr size_t kMaxParameterBytes = 64 * 1024;  // of all of them, names and values: they are copied, wherever the call is read
inline constexpr size_t kMaxIdBytes = 1024;              // of a call
inline constexpr uint32_t kMaxFields = 64 * 1024;        // of a message and what it holds, but for the elements of contents
inline constexpr uint32_t kMaxAxes = WF_MAX_RANK + 1;    // with the axis of samples
inline constexpr uint64_t kLengthBytes = 4;              // before a raw element of BYTES

inline int64_t MostSamples(const wf_workflow& workflow) {
  return workflow.rows_max == 0 ? kMaxSamples : std::min<int64_t>(kMaxSamples, workflow.rows_max);
}

// How the data of an input is written.
enum class Coding : uint8_t {
  kJson,   // an array, flat or nested as the shape says
  kRaw,    // little-endian elements in row-major order; those of BYTES each behind its length in 4 bytes
  kWhole,  // one element of BYTES, without a length
  kTyped,  // the message InferTensorContents
};

// An input as the reader of a dialect found it.
struct GivenInput {
  std::string_view name, datatype;
  int64_t extent[kMaxAxes] = {};
  uint32_t axes = 0;
  Coding coding = Coding::kJson;
  bool base64 = false;  // elements of BYTES are base64 texts
  wf_bytes data = {};   // never null

  bool AddExtent(int64_t value) {  // false: there is no room for another
    if (axes == kMaxAxes) return false;
    extent[axes++] = value;
    return true;
  }
};

// An output as a call asks for it.
struct AskedOutput {
  enum class Binary : uint8_t { kUnsaid, kNo, kYes };
  uint32_t result = 0;
  Binary binary = Binary::kUnsaid;  // raw bytes rather than the dialect's own form; unsaid: as the call says for all
  uint32_t classes = 0;             // only so many of the greatest, as texts "value:index"; 0: as it is
};

// One `infer` call, read but not yet decoded: names, shapes, and where the data stands in the body. A reader of a dialect says between
// Begin and Finish what it finds; what holds for all dialects is checked here.
// Thread: loop-confined.
// Borrows: the body and the memory of the context that it was read with, until Fill; raw tensors of the body, as long as the bus.
// Errors: 5000, naming the input; 3000 for what is not built.
// Bounds: an input or output at most once, kMaxIdBytes, kMaxParameters, kMaxParameterBytes, kMaxSamples; elements follow the bytes.
// Cost: no allocation once used.
class InferRequest {
 public:
  // ---- for readers ----
  // `scratch` gives memory and takes the failure, since the number of samples decides what bus there will be. `text`: where byte 0 of JSON
  // is.
  void Begin(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, const uint8_t* text);
  wf_code SetId(std::string_view id);
  // `quoted`: the value is a string; numbers and bools come as written. Of one name Add takes one value, Set the last of several.
  wf_code AddParameter(std::string_view name, std::string_view value, bool quoted);
  wf_code SetParameter(std::string_view name, std::string_view value, bool quoted);
  wf_code AddInput(const GivenInput& given);
  wf_code AddOutput(std::string_view name, AskedOutput asked);
  void set_binary_unless_said(bool binary) { binary_ = binary; }  // before parameters that may say otherwise
  wf_code Finish();
  wf_ctx* ctx() const { return ctx_; }
  const wf_plan& plan() const { return *plan_; }
  const wf_workflow& workflow() const { return *workflow_; }

  // ---- for whoever serves the call ----
  // Copies what outlives the decoding (id, parameters) into the memory of the bus. Also after a reading that failed.
  wf_code KeepTexts(bus::Bus& bus);
  // Fills the root frames of every sample of `bus`, which has samples() of them. 64 bytes behind the body are readable.
  wf_code Fill(bus::Bus& bus);

  // The work of Fill in bytes of JSON.
  uint64_t fill_bytes() const;

  uint32_t samples() const { return samples_; }
  bool stacked() const { return stacked_; }  // shapes carry an axis of samples, answers do too
  // The results that are answered, in the order that the call asks for; all, as declared, when it does not ask.
  uint32_t n_answered() const { return asked_.empty() ? workflow_->n_out : static_cast<uint32_t>(asked_.size()); }
  AskedOutput answered(uint32_t index) const { return asked_.empty() ? AskedOutput{.result = index} : asked_[index]; }
  bool is_binary(AskedOutput asked) const {
    return asked.binary == AskedOutput::Binary::kUnsaid ? binary_ : asked.binary == AskedOutput::Binary::kYes;
  }
  std::string_view id() const { return id_; }
  const std::vector<bus::Metadata>& parameters() const { return parameters_; }
  int64_t timeout_ns() const { return timeout_ns_; }  // of the parameter `timeout`, in us; 0: none

 private:
  struct Input : GivenInput {
    bool given = false;
    uint64_t per_sample = 1;   // elements
    uint8_t* nulls = nullptr;  // of each sample 1 where it is none; null: none is
  };

  wf_code ReadTimeout(std::string_view value, bool quoted);
  wf_code NotBuilt(std::string_view what);
  wf_code Fail(std::string_view what);
  wf_code Refuse(uint32_t port, std::string_view what);

  // samples.cc: what the shapes say
  wf_code FindSamples();
  wf_code FindAxis(uint32_t port, const Shape& shape, int32_t* plain, int32_t* stacked, bool* flexible);
  wf_code CheckShape(uint32_t port, const Shape& shape);
  wf_code CheckCount(uint32_t port, const Shape& shape);
  wf_code CheckRawBytes(uint32_t port, const Shape& shape, uint64_t per_sample, uint64_t all);
  wf_code CheckResults();

  // fill.cc
  wf_code FillPort(bus::Bus& bus, uint32_t port);
  wf_json Cursor(bus::Bus& bus, uint32_t port) const;
  wf_code FillNumbers(bus::Bus& bus, uint32_t port, const Shape& shape);
  const std::byte* ReadNumbers(bus::Bus& bus, uint32_t port, const Shape& shape);
  wf_code StoreTensors(bus::Bus& bus, uint32_t port, const Shape& shape, const std::byte* all);
  wf_code FillBytes(bus::Bus& bus, uint32_t port, const Shape& shape);
  wf_code ReadElements(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements);
  wf_code SplitRaw(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements);
  wf_code DecodeBase64(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements);
  wf_code CheckTexts(bus::Bus& bus, uint32_t port, uint64_t count, const wf_bytes* elements);
  // typed.cc
  wf_code ReadTyped(bus::Bus& bus, uint32_t port, uint8_t dtype, uint64_t count, std::byte* out);
  wf_code ReadTypedBytes(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements);
  wf_code RefuseTyped(bus::Bus& bus, uint32_t port, uint64_t count, uint64_t found, std::string_view broken);

  wf_code RefuseElement(bus::Bus& bus, uint32_t port, uint64_t element, std::string_view what);
  wf_code StoreBytes(bus::Bus& bus, uint32_t port, const Shape& shape, uint32_t sample, const wf_bytes* elements);
  void StoreMissing(bus::Bus& bus, uint32_t port);

  wf_ctx* ctx_ = nullptr;
  const wf_plan* plan_ = nullptr;
  const wf_workflow* workflow_ = nullptr;
  const uint8_t* text_ = nullptr;
  std::vector<Input> inputs_;       // by port
  std::vector<AskedOutput> asked_;  // in the call's order; empty: all
  std::vector<bus::Metadata> parameters_;
  size_t parameter_bytes_ = 0;
  std::string_view id_;
  int64_t timeout_ns_ = 0;
  uint32_t samples_ = 1;
  bool stacked_ = false, binary_ = false;
};

}  // namespace wf::oip
