// The numbers of fields are those of open_inference_grpc.proto.
#include "runtime/protocol/oip/message_answer.h"

#include <algorithm>

#include "runtime/base/dtype.h"
#include "runtime/protocol/oip/result.h"
#include "runtime/protocol/oip/typed.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {
namespace {

using protobuf::FieldBytes;
using protobuf::PutHead;
using protobuf::PutMessage;
using protobuf::PutText;

template <typename T>
void PutVarints(const std::byte* run, uint64_t count, wf_sink* out) {
  for (uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, run + i * sizeof value, sizeof value);
    protobuf::PutVarint(out, static_cast<uint64_t>(static_cast<int64_t>(value)));
  }
}

// Numbers as a packed field holds them.
void PutPacked(uint8_t dtype, const std::byte* run, uint64_t count, wf_sink* out) {
  switch (dtype) {
    case WF_I8:
      return PutVarints<int8_t>(run, count, out);
    case WF_I16:
      return PutVarints<int16_t>(run, count, out);
    case WF_I32:
      return PutVarints<int32_t>(run, count, out);
    case WF_U16:
      return PutVarints<uint16_t>(run, count, out);
    case WF_U32:
      return PutVarints<uint32_t>(run, count, out);
    case WF_I64:
    case WF_U64:
      return PutVarints<int64_t>(run, count, out);
    case WF_BOOL:
    case WF_U8:
      return PutVarints<uint8_t>(run, count, out);
    default:  // floats are as they are
      out->Put(run, count * static_cast<uint64_t>(base::DTypeSize(dtype)));
  }
}

void PutContents(bus::Bus& bus, const Result& result, wf_sink* out) {
  if (result.is_bytes()) {
    for (const wf_bytes& element : result.elements()) PutText(out, TypedFieldOf(0).number, json::View(element));
    return;
  }
  wf_sink packed;
  result.ForRuns(bus, [&](const std::byte* run, uint64_t count) {
    PutPacked(result.dtype(), run, count, &packed);
    return 0;
  });
  if (!packed.empty() || packed.failed()) PutMessage(out, TypedFieldOf(result.dtype()).number, &packed);  // a failure goes on to `out`
}

// Its length stands before it, so that of its parts is found first; contents, which are long, are moved behind it.
void PutOutput(bus::Bus& bus, const Result& result, bool raw, wf_sink* message) {
  constexpr uint32_t kName = 1, kDatatype = 2, kShape = 3, kContents = 5, kOutputs = 5;
  wf_sink contents;
  if (!raw) PutContents(bus, result, &contents);
  size_t shape = 0;
  for (const int64_t extent : result.extents()) shape += protobuf::VarintBytes(static_cast<uint64_t>(extent));
  PutHead(message, kOutputs,
          FieldBytes(kName, result.name().size()) + FieldBytes(kDatatype, result.datatype().size()) +
              (shape == 0 ? 0 : FieldBytes(kShape, shape)) + (raw ? 0 : FieldBytes(kContents, contents.size())));
  PutText(message, kName, result.name());
  PutText(message, kDatatype, result.datatype());
  if (shape != 0) PutHead(message, kShape, shape);
  for (const int64_t extent : result.extents()) protobuf::PutVarint(message, static_cast<uint64_t>(extent));
  if (!raw) PutMessage(message, kContents, &contents);
}

// The InferParameter in `value` becomes an entry of map<string, InferParameter>.
void PutParameter(std::string_view key, wf_sink* value, wf_sink* message) {
  constexpr uint32_t kParameters = 4, kKey = 1, kValue = 2;
  PutHead(message, kParameters, FieldBytes(kKey, key.size()) + FieldBytes(kValue, value->size()));
  PutText(message, kKey, key);
  PutMessage(message, kValue, value);
}

// Annotations.
void PutParameters(const bus::Bus& bus, wf_sink* message) {
  constexpr uint32_t kString = 3;
  for (const bus::Annotation* at : StandingAnnotations(bus)) {
    wf_sink value;
    PutText(&value, kString, at->value);
    PutParameter(at->key, &value, message);
  }
}

bool PutResponse(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* message) {
  constexpr uint32_t kModelName = 1, kModelVersion = 2, kId = 3, kRawOutputContents = 6;
  const std::span<const Result> results = PrepareAll(bus, request);
  if (results.size() != request.n_answered()) return false;
  base::TextBuilder number;
  number << served.version;
  PutText(message, kModelName, served.model);
  PutText(message, kModelVersion, number.view());
  if (!request.id().empty()) PutText(message, kId, request.id());
  PutParameters(bus, message);
  const bool raw = std::any_of(results.begin(), results.end(), [](const Result& result) { return result.binary(); });
  for (const Result& result : results) PutOutput(bus, result, raw, message);
  for (const Result& result : results) {
    if (!raw) break;
    PutHead(message, kRawOutputContents, result.raw_bytes());
    result.PutRaw(bus, message);
  }
  return true;
}

}  // namespace

bool WriteMessage(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* message, protocol::ErrorText* error) {
  if (bus.failure() != nullptr) {
    *error = FailureOf(bus, *bus.failure(), request);
    return false;
  }
  const bool prepared = PutResponse(bus, request, served, message);
  if (prepared && !message->failed()) return true;
  *error = FailureOf(bus, prepared ? bus::WhyFailed(*message) : bus.main.TakeFailure(WF_FAILED), request);
  message->Clear();
  return false;
}

// Triton marks the last answer of each call, whether or not its client has asked for one that is empty: clients wait for the mark.
void WriteStreamed(wf_sink* response, wf_sink* message) {
  constexpr uint32_t kResponse = 2, kBool = 1;
  wf_sink value;
  protobuf::PutInteger(&value, kBool, 1);
  PutParameter("triton_final_response", &value, response);
  PutMessage(message, kResponse, response);
}

void WriteStreamedError(std::string_view id, const protocol::ErrorText& error, wf_sink* message) {
  constexpr uint32_t kErrorMessage = 1, kResponse = 2, kId = 3, kInt64 = 2, kString = 3;
  wf_sink response;
  const auto put_text = [&response](std::string_view key, std::string_view text) {
    wf_sink value;
    PutText(&value, kString, text);
    if (!text.empty()) PutParameter(key, &value, &response);
  };
  const auto put_number = [&response](std::string_view key, uint64_t number) {
    wf_sink value;
    protobuf::PutInteger(&value, kInt64, number);
    PutParameter(key, &value, &response);
  };
  if (!id.empty()) PutText(&response, kId, id);
  put_number("code", static_cast<uint64_t>(error.code));
  put_text("name", error.name);
  put_text("path", error.path);
  put_number("data_id", error.data_id);
  put_text("log_id", error.log_id);
  PutText(message, kErrorMessage, error.text());
  PutMessage(message, kResponse, &response);
}

}  // namespace wf::oip
